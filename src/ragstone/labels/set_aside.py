"""Set aside: codes for why a label does not count although nobody discarded it."""

TWO_LABELS = "two_labels"
SAME_TWICE = "same_twice"
NO_EXAMPLE = "no_example"
NO_CONTEXT = "no_context"

SET_ASIDE = (TWO_LABELS, SAME_TWICE, NO_EXAMPLE, NO_CONTEXT)
"""The reasons that Ragstone gives; any other reason was given by a person in the file."""
