"""Intervals for a rate whose rows are independent: Wilson's, and Clopper and Pearson's."""

from math import sqrt
from statistics import NormalDist

from ragstone.core.errors import InputError

from .beta import beta_quantile
from .interval import Interval, upper_quantile


def wilson(successes: float, n: float, *, level: float = 0.95) -> Interval | None:
    """Score interval for a rate: inside [0, 1], never a single point.

    Too narrow for rows that share questions: use ``cluster_wilson`` for those.

    Args:
        successes: In [0, n].
        n: Number of rows, at least 0; need not be whole.
        level: Share of intervals that should hold the true rate, in (0, 1).

    Returns:
        The interval; None for no rows.

    Raises:
        InputError: An argument is out of its range.

    Source: Wilson (1927), "Probable inference, the law of succession, and
    statistical inference".
    """
    z = NormalDist().inv_cdf(upper_quantile(level))
    _check(successes, n)
    if n == 0:
        return None
    low, high = wilson_ends(successes / n, n, z)
    return Interval(low, high, level, "wilson")


def wilson_ends(rate: float, n: float, quantile: float) -> tuple[float, float]:
    """The true rates p for which ``rate`` is ``quantile`` standard errors sqrt(p (1 - p) / n) away.

    Args:
        rate: In [0, 1].
        n: Sample size, or effective sample size. Above 0.
        quantile: Above 0, of the normal or of Student's t distribution.
    """
    weight = quantile * quantile / n
    centre = (rate + weight / 2) / (1 + weight)
    half = sqrt(weight * (rate * (1 - rate) + weight / 4)) / (1 + weight)
    return max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half))


def clopper_pearson(successes: float, n: float, *, level: float = 0.95) -> Interval | None:
    """Exact interval for a rate: its coverage is at least ``level``, so it is often wider.

    Args:
        successes: In [0, n].
        n: Number of rows, at least 0.
        level: In (0, 1).

    Returns:
        The interval; None for no rows.

    Raises:
        InputError: An argument is out of its range.

    Source: Clopper & Pearson (1934), "The use of confidence or fiducial limits
    illustrated in the case of the binomial".
    """
    upper = upper_quantile(level)
    _check(successes, n)
    if n == 0:
        return None
    failures = n - successes
    low = beta_quantile(1 - upper, successes, failures + 1) if successes else 0.0
    high = beta_quantile(upper, successes + 1, failures) if failures else 1.0
    return Interval(low, high, level, "clopper_pearson")


def _check(successes: float, n: float) -> None:
    if not 0 <= successes <= n < float("inf"):
        raise InputError(f"A rate needs 0 <= successes <= n, got {successes} of {n}.")
