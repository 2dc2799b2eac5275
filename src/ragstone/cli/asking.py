"""Asking: whether something that cannot be undone, or that costs money, is agreed to."""

import typer

from .failures import INTERRUPTED, fail
from .output import say


def agreed(question: str, *, yes: bool, json: bool = False) -> bool:
    """Whether to go on: it was said before, or somebody says so now.

    Who reads JSON is not asked, and where nobody answers nothing is agreed to.

    Args:
        question: Asked on standard error.
        yes: It was said before, by ``--yes``.
        json: Whether the result is printed as JSON.
    """
    if yes:
        return True
    if json:
        say("With --json nobody is asked: --yes agrees to it.", err=True)
        return False
    try:
        return typer.confirm(question, err=True)
    except typer.Abort as error:
        say("", err=True)
        if isinstance(error.__context__, KeyboardInterrupt):
            fail("Interrupted. Nothing was done.", INTERRUPTED)
        say("Not agreed to: no answer came. --yes agrees without being asked.", err=True)
        return False
