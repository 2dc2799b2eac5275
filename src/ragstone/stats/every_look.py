"""Every look: how wide an interval must be to hold at all looks while labels come in."""

from math import log, sqrt

from .interval import upper_quantile

FIRST = 50
"""Labels, or clusters of them, from which on such an interval holds; it is narrowest at as many."""

ROUNDS = 100
"""More than enough: each round leaves at most a third of the error at usual levels."""


def look_quantile(n: float, level: float) -> float:
    """What takes the place of the normal quantile, so that intervals hold at all looks together.

        √( (1 + 1/x) (log(1 + x) - 2 log α) ),   x = n r²,   α = 1 - level

    The mean of n values, whose variance is estimated from them, stays within as many standard
    errors of the true mean, for all n from ``FIRST`` on together, with about the probability
    ``level``. r² is such that it is least for ``FIRST``: there x = log(1 + x) - 2 log α.

    Args:
        n: Number of values so far, at least 1. More than are independent is on the safe side.
        level: In (0, 1).

    Source: Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), "Time-uniform central limit
    theory and asymptotic confidence sequences", theorem 2.2 and section 2.2, with ρ² there as r²
    here.
    """
    upper_quantile(level)
    far = -2 * log(1 - level)
    best = far
    for _ in range(ROUNDS):
        best = log(1 + best) + far
    x = n / FIRST * best
    return sqrt((1 + 1 / x) * (log(1 + x) + far))
