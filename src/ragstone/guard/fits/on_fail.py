"""On fail: what is given in place of an answer that is held back."""

from ragstone.core.errors import InputError

from .ruling import IfNotJudged

HELD = "I cannot answer that from the sources I have."

OnFail = str | int | None
"""A text, the status of an error, or None: the answer all the same."""


def see_that_it_holds(on_fail: object, if_not_judged: IfNotJudged) -> None:
    """See that something is given where answers that are not judged are held back.

    Raises:
        InputError: Nothing is.
    """
    if on_fail is None and if_not_judged == "closed":
        raise InputError(
            "if_not_judged='closed' holds answers back; give on_fail= what is given instead."
        )
