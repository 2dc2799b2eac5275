"""Smallest: the smallest whole number that satisfies a monotone condition."""

from collections.abc import Callable

from ragstone.core.errors import InputError

MOST = 10**12
"""Larger sizes are of no practical use."""


def smallest(enough: Callable[[int], bool], *, least: int = 1, most: int = MOST) -> int:
    """The smallest whole number from ``least`` that is enough; every larger one must be too.

    Raises:
        InputError: Not even ``most`` is enough.
    """
    high = least
    while not enough(high):
        if high >= most:
            raise InputError(f"Not even {most:,} would be enough. Ask for less precision.")
        high = min(2 * high, most)
    low = least
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return low
