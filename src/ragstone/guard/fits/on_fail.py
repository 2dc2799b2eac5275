"""On fail: what is given in place of an answer that is held back."""

HELD = "I cannot answer that from the sources I have."

OnFail = str | int | None
"""A text, the status of an error, or None: the answer all the same."""
