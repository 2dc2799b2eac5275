"""Not told: a channel did not take a message; it is tried again later."""


class NotTold(Exception):
    """Says why in a few words, with no secret in them."""
