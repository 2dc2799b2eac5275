"""Power of a paired comparison: how many pairs show a difference, and what so many can show."""

from functools import lru_cache
from math import erf, lgamma, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import InputError
from ragstone.stats.interval import upper_quantile
from ragstone.stats.smallest import smallest
from ragstone.stats.student import t_quantile

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)
SPAN = 10.0
"""Standard deviations of chi on each side that the integral goes over."""

LARGE_DF = 100_000
STEPS = 200


def paired_power(difference: float, deviation: float, pairs: int, *, level: float = 0.95) -> float:
    """How likely a two-sided t test over so many pairs finds a difference that is there.

        P(|T| > t(level, n - 1)),  T noncentral t,  ncp = difference / deviation · sqrt(n)

    For clusters of pairs: ``pairs`` counts clusters, and ``deviation`` is what one
    brings to the mean (``Pilot.cluster_deviation``).

    Args:
        difference: True mean difference, in the unit of the scores.
        deviation: Standard deviation of the differences, above 0.
        pairs: At least 2.
        level: 1 - the level of the test, in (0, 1).

    Returns:
        In (0, 1).

    Raises:
        InputError: An argument is out of its range.

    Source: Cohen (1988), "Statistical Power Analysis for the Behavioral
    Sciences", chapter 2; the noncentral t distribution by quadrature over chi.
    """
    if not deviation > 0 or pairs < 2:
        raise InputError(
            f"Power needs differences that vary and two pairs, got a deviation of {deviation} and "
            f"{pairs} pairs."
        )
    df = pairs - 1
    critical = t_quantile(upper_quantile(level), df)
    shift = abs(difference) / deviation * sqrt(pairs)
    return _above(critical, df, shift) + _above(critical, df, -shift)


def paired_sample_size(
    difference: float, deviation: float, *, power: float = 0.8, level: float = 0.95
) -> int:
    """The fewest pairs with which a two-sided t test finds a difference so often.

    Args:
        difference: To be found, in the unit of the scores, not 0; its sign does
            not matter.
        deviation: Standard deviation of the differences, above 0.
        power: How often, in (0, 1) and above 1 - ``level``.
        level: 1 - the level of the test, in (0, 1).

    Raises:
        InputError: An argument is out of its range.
    """
    _check_power(power, level)
    if difference == 0:
        raise InputError("No number of pairs can show a difference of 0.")

    def enough(pairs: int) -> bool:
        return paired_power(difference, deviation, pairs, level=level) >= power

    return smallest(enough, least=2)


def detectable_difference(
    deviation: float, pairs: int, *, power: float = 0.8, level: float = 0.95
) -> float:
    """The least difference that a two-sided t test over so many pairs finds so often.

    Args:
        deviation: Standard deviation of the differences, above 0.
        pairs: At least 2.
        power: How often, in (0, 1) and above 1 - ``level``.
        level: 1 - the level of the test, in (0, 1).

    Returns:
        Above 0, in the unit of ``deviation``.

    Raises:
        InputError: An argument is out of its range.
    """
    _check_power(power, level)
    low, high = 0.0, deviation
    while paired_power(high, deviation, pairs, level=level) < power:
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if paired_power(middle, deviation, pairs, level=level) < power:
            low = middle
        else:
            high = middle
    return high


def _check_power(power: float, level: float) -> None:
    upper_quantile(level)
    if not 1 - level < power < 1:
        raise InputError(
            f"Power lies between the test's own level and 1, so inside ({1 - level:g}, 1), "
            f"got {power}."
        )


def _above(critical: float, df: int, shift: float) -> float:
    """P(T > critical) for the noncentral t: the normal tail, averaged over chi."""
    if df >= LARGE_DF:
        return NormalDist().cdf(shift - critical)
    scale, share = _chi(df)
    tails = [(1 + erf((shift - critical * s) / sqrt(2))) / 2 for s in scale]
    return float(share @ np.array(tails))


@lru_cache(maxsize=1024)
def _chi(df: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of sqrt(chi² / df), and how much each counts."""
    width = SPAN / sqrt(2 * df)
    low, high = max(0.0, 1 - width), 1 + width
    scale = low + (high - low) * (NODES + 1) / 2
    log_density = (
        log(2) + df / 2 * log(df / 2) - lgamma(df / 2) + (df - 1) * np.log(scale)
        - df * scale**2 / 2
    )  # fmt: skip
    share = WEIGHTS * np.exp(log_density)
    return scale, share / share.sum()
