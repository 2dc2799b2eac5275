"""Smallest: the first whole number that is enough."""

from collections.abc import Callable

from ragstone.errors import InputError

MOST = 10**12
"""A size beyond it is as good as none."""


def smallest(enough: Callable[[int], bool], *, least: int = 1, most: int = MOST) -> int:
    """The smallest whole number from ``least`` on that is enough, where every larger one is too.

    Raises:
        InputError: Not even ``most`` is.
    """
    high = least
    while not enough(high):
        if high >= most:
            raise InputError(f"Not even {most:,} would do. Ask for less precision.")
        high = min(2 * high, most)
    low = least
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return low
