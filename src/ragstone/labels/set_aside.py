"""Set aside: why a label that nobody discarded does not count, as codes."""

TWO_LABELS = "two_labels"
SAME_TWICE = "same_twice"
NO_EXAMPLE = "no_example"
NO_CONTEXT = "no_context"

SET_ASIDE = (TWO_LABELS, SAME_TWICE, NO_EXAMPLE, NO_CONTEXT)
"""The reasons that are ours; any other stands in the file, and a person gave it."""
