"""Told: what a reason says, for an error that rests on it.

The report room has the words. It stands above the rooms that raise errors, so these do not import
it: the package names it here, and it is loaded with the first error that is told.
"""

from collections.abc import Callable

Words = Callable[[str], str]

_load: list[Callable[[], Words]] = []


def told_by(load: Callable[[], Words]) -> None:
    """Say who makes words of reasons; loaded when it is needed."""
    _load[:] = [load]


def told(reason: str) -> str:
    """What a reason says to people."""
    return _load[0]()(reason)
