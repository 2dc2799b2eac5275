"""Power of a paired comparison: pairs to detect a difference, and the detectable difference."""

from functools import lru_cache
from math import erf, lgamma, log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.stats.interval import upper_quantile
from ragstone.stats.smallest import smallest
from ragstone.stats.student import t_quantile

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)
SPAN = 10.0
"""The integral runs over this many standard deviations of chi on each side."""

LARGE_DF = 100_000
STEPS = 200


def paired_power(difference: float, deviation: float, pairs: int, *, level: float = 0.95) -> float:
    """Power of the two-sided paired t test.

        P(|T| > t(level, n - 1)),  T noncentral t,  ncp = difference / deviation · sqrt(n)

    For clustered pairs, ``pairs`` is the number of clusters, and ``deviation`` is the
    standard deviation per cluster (``Pilot.cluster_deviation``).

    Args:
        difference: True mean difference, in the unit of the scores.
        deviation: Standard deviation of the differences, above 0.
        pairs: At least 2.
        level: 1 minus the significance level, in (0, 1).

    Returns:
        In (0, 1).

    Raises:
        InputError: An argument is out of its range.

    Source: Cohen (1988), "Statistical Power Analysis for the Behavioral
    Sciences", chapter 2; the noncentral t distribution by quadrature over chi.
    """
    if not deviation > 0 or pairs < 2:
        raise InputError(
            "Power needs a deviation above 0 and at least two pairs, got a deviation of "
            f"{deviation} and {pairs} pairs."
        )
    df = pairs - 1
    critical = t_quantile(upper_quantile(level), df)
    shift = abs(difference) / deviation * sqrt(pairs)
    return _above(critical, df, shift) + _above(critical, df, -shift)


def paired_sample_size(
    difference: float, deviation: float, *, power: float = 0.8, level: float = 0.95
) -> int:
    """The fewest pairs with which the two-sided paired t test has the wanted power.

    Args:
        difference: True mean difference, in the unit of the scores, not 0; its
            sign does not matter.
        deviation: Standard deviation of the differences, above 0.
        power: Wanted, in (0, 1) and above 1 - ``level``.
        level: 1 minus the significance level, in (0, 1).

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
    """The smallest difference that the two-sided paired t test detects with the wanted power.

    Args:
        deviation: Standard deviation of the differences, above 0.
        pairs: At least 2.
        power: Wanted, in (0, 1) and above 1 - ``level``.
        level: 1 minus the significance level, in (0, 1).

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
            f"Power must lie between the test's significance level and 1, inside "
            f"({1 - level:g}, 1), got {power}."
        )


def _above(critical: float, df: int, shift: float) -> float:
    """P(T > critical) for the noncentral t: the normal tail probability, averaged over chi."""
    if df >= LARGE_DF:
        return NormalDist().cdf(shift - critical)
    scale, share = _chi(df)
    tails = [(1 + erf((shift - critical * s) / sqrt(2))) / 2 for s in scale]
    return float(share @ np.array(tails))


@lru_cache(maxsize=1024)
def _chi(df: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Quadrature nodes for sqrt(chi² / df), and their weights."""
    width = SPAN / sqrt(2 * df)
    low, high = max(0.0, 1 - width), 1 + width
    scale = low + (high - low) * (NODES + 1) / 2
    log_density = (
        log(2) + df / 2 * log(df / 2) - lgamma(df / 2) + (df - 1) * np.log(scale)
        - df * scale**2 / 2
    )  # fmt: skip
    share = WEIGHTS * np.exp(log_density)
    # Normalised: cancels the error of truncating the integral and of lgamma for large df.
    return scale, share / share.sum()
