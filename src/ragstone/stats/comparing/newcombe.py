"""Newcombe's interval for the difference of two rates on the same rows."""

from math import sqrt

from ragstone.core.errors import InputError
from ragstone.stats.interval import Interval
from ragstone.stats.wilson import wilson


def newcombe_paired(
    both: float, only_a: float, only_b: float, neither: float, *, level: float = 0.95
) -> Interval | None:
    """Interval for rate a - rate b, inside [-1, 1] and never a single point.

    Combines the distances from each rate to the ends of its Wilson interval by the
    law of cosines, with the correlation of a and b as the cosine:

        low  = d - sqrt(l_a² - 2 φ l_a u_b + u_b²),   l_a = rate a - its lower end, …
        high = d + sqrt(u_a² - 2 φ u_a l_b + l_b²)

    φ is the correlation of the 2 × 2 table; if it is positive, its numerator is
    reduced by n / 2, but not below 0. Rows must be independent: for clustered rows
    use ``paired_difference``.

    Args:
        both: Rows on which both succeed, 0 or more; need not be whole.
        only_a: Rows on which only a succeeds.
        only_b: Rows on which only b succeeds.
        neither: Rows on which neither succeeds.
        level: Share of intervals that should hold the true difference, in (0, 1).

    Returns:
        The interval; None for no rows.

    Raises:
        InputError: A count below 0.

    Source: Newcombe (1998), "Improved confidence intervals for the difference
    between binomial proportions based on paired data", method 10.
    """
    if min(both, only_a, only_b, neither) < 0:
        raise InputError(
            f"Counts cannot be negative, got {both}, {only_a}, {only_b} and {neither}."
        )
    n = both + only_a + only_b + neither
    of_a, of_b = wilson(both + only_a, n, level=level), wilson(both + only_b, n, level=level)
    if of_a is None or of_b is None:
        return None
    rate_a, rate_b = (both + only_a) / n, (both + only_b) / n
    below_a, above_a = rate_a - of_a.low, of_a.high - rate_a
    below_b, above_b = rate_b - of_b.low, of_b.high - rate_b
    phi = _correlation(both, only_a, only_b, neither)
    difference = (only_a - only_b) / n
    low = difference - sqrt(_third_side(below_a, above_b, phi))
    high = difference + sqrt(_third_side(above_a, below_b, phi))
    return Interval(max(-1.0, low), min(1.0, high), level, "newcombe")


def _third_side(one: float, other: float, cosine: float) -> float:
    """The square of a triangle's third side; not below 0, where rounding may carry it."""
    return max(0.0, one * one - 2 * cosine * one * other + other * other)


def _correlation(both: float, only_a: float, only_b: float, neither: float) -> float:
    n = both + only_a + only_b + neither
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    if margins == 0:
        return 0.0
    numerator = both * neither - only_a * only_b
    if numerator > 0:
        numerator = max(numerator - n / 2, 0.0)
    return numerator / sqrt(margins)
