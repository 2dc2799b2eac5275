"""Set aside: why a label that nobody discarded does not count."""

TWO_LABELS = "two labels by one annotator"
SAME_TWICE = "the same label twice"
NO_EXAMPLE = "no such example"
NO_CONTEXT = "no such context"

SET_ASIDE = (TWO_LABELS, SAME_TWICE, NO_EXAMPLE, NO_CONTEXT)
"""The reasons that are ours; any other stands in the file, and a person gave it."""
