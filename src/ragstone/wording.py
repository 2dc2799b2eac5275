"""The wording of a reason code, for errors that quote one.

``ragstone.report`` has the words. It depends on the packages that raise errors, so these cannot
import it: ``ragstone`` registers it here, and it is imported when the first such error is printed.
"""

from collections.abc import Callable

Words = Callable[[str], str]

_load: list[Callable[[], Words]] = []


def register_wording(load: Callable[[], Words]) -> None:
    """Register the function that imports the wording of reasons."""
    _load[:] = [load]


def worded(reason: str) -> str:
    """A reason in words, for people."""
    return _load[0]()(reason)
