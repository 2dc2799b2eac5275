"""Unpaired: the difference of two means of different rows, from the interval of each."""

from math import sqrt

from ragstone.stats.interval import Interval


def unpaired_difference(
    a: float, of_a: Interval, b: float, of_b: Interval, *, level: float
) -> Interval:
    """Interval for mean a - mean b, of two samples that have nothing to do with each other.

        low  = a - b - sqrt( (a - low a)² + (high b - b)² )
        high = a - b + sqrt( (high a - a)² + (b - low b)² )

    Each side keeps the shape of the means' own intervals, so that rates near 0 or 1 have one that
    is not symmetric.

    Args:
        a: A mean.
        of_a: Its interval.
        b: The other mean.
        of_b: Its interval, of the same level.
        level: Theirs.

    Source: Newcombe (1998), "Interval estimation for the difference between independent
    proportions", method 10; Zou & Donner (2008), "Construction of confidence limits about effect
    measures", for any two estimates.
    """
    difference = a - b
    low = difference - sqrt((a - of_a.low) ** 2 + (of_b.high - b) ** 2)
    high = difference + sqrt((of_a.high - a) ** 2 + (b - of_b.low) ** 2)
    return Interval(low, high, level, "square_and_add")
