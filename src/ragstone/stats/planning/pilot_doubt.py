"""Pilot doubt: larger sample sizes to allow for the uncertainty of a pilot's variance."""

from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.stats.beta import beta_cdf, beta_quantile
from ragstone.stats.interval import upper_quantile

Floats = NDArray[np.float64]

NODES = tuple((at + 0.5) / 20 for at in range(20))
"""Probabilities of the quantiles that represent an uncertain variance."""

STEPS = 60
ROUNDING = 1e-9


def doubt_of_deviation(clusters: int) -> Floats:
    """The ratio of the true variance to that of a pilot of normal values, at ``NODES``.

        (clusters - 1) / chi²,   chi² by Wilson and Hilferty's approximation

    Raises:
        InputError: Fewer than two clusters.
    """
    if clusters < 2:
        raise InputError(f"A variance needs at least two values, got {clusters}.")
    df = clusters - 1
    z = np.array([NormalDist().inv_cdf(1 - node) for node in NODES])
    cube = 1 - 2 / (9 * df) + z * sqrt(2 / (9 * df))
    return np.asarray(1 / np.maximum(cube, 0.05) ** 3)


def doubt_of_share(successes: int, rows: int, *, least: float = 0.0) -> Floats:
    """The ratio of the true share to a pilot's, at ``NODES`` of the posterior with Jeffreys' prior.

    Args:
        successes: Of the pilot, at least 1.
        rows: Of the pilot.
        least: A known lower bound of the true share, in [0, 1]. The posterior is truncated there,
            and a pilot's share below it is replaced by it.

    Raises:
        InputError: No success, more successes than rows, or a bound out of its range.
    """
    if not (0 < successes <= rows and 0 <= least <= 1):
        raise InputError(
            f"A share needs at least one success and a lower bound in [0, 1], got {successes} of "
            f"{rows} and {least}."
        )
    a, b = successes + 0.5, rows - successes + 0.5
    below = beta_cdf(least, a, b)
    if below > 1 - ROUNDING:
        return np.ones(len(NODES))
    found = [beta_quantile(below + node * (1 - below), a, b) for node in NODES]
    return np.array(found) / max(successes / rows, least)


def inflation(ratios: Floats, *, power: float = 0.8, level: float = 0.95) -> float:
    """The factor on the sample size that gives the power on average over the uncertain variance.

        mean over the ratios of Phi((z + z_power) · sqrt(factor / ratio) - z) = power

    A plan by the pilot's variance has the wanted power only if that is the true variance; on
    average it has less, because a larger variance costs more power than a smaller one gains.

    Args:
        ratios: Ratios of the true to the pilot's variance, equally likely.
        power: Wanted, in (.5, 1).
        level: 1 minus the significance level of the two-sided test.

    Returns:
        At least 1.

    Raises:
        InputError: An argument is out of its range.

    Source: O'Hagan, Stevens & Campbell (2005), "Assurance in clinical trial design".
    """
    if not 0 < power < 1:
        raise InputError(f"A power must lie inside (0, 1), got {power}.")
    normal = NormalDist()
    z = normal.inv_cdf(upper_quantile(level))
    shift = z + normal.inv_cdf(power)

    def mean(factor: float) -> float:
        return float(np.mean([normal.cdf(shift * sqrt(factor / one) - z) for one in ratios]))

    low, high = 1.0, 1.0
    while mean(high) < power:
        high *= 2
    for _ in range(STEPS if high > 1 else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < power else (low, middle)
    return high


def mcnemar_inflation(
    difference: float, differing: float, ratios: Floats, *, power: float = 0.8, level: float = 0.95
) -> float:
    """As ``inflation``, for McNemar's test with an uncertain share of differing pairs.

        mean over the shares d of Phi((difference · sqrt(n) - z · sqrt(d)) / sqrt(d - difference²))

    A share below the difference is impossible and is replaced by the difference.

    Source: Connor (1987), "Sample size for testing differences in proportions for the
    paired-sample design", for the power at a known share.
    """
    normal, by = NormalDist(), abs(difference)
    z = normal.inv_cdf(upper_quantile(level))

    def rows(shares: Floats) -> float:
        there = np.maximum(shares, by)
        spread = np.sqrt(np.maximum(there - by**2, 1e-12))
        low, high = 0.0, 1.0

        def mean(n: float) -> float:
            shifts = (by * sqrt(n) - z * np.sqrt(there)) / spread
            return float(np.mean([normal.cdf(float(one)) for one in shifts]))

        while mean(high) < power:
            high *= 2
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if mean(middle) < power else (low, middle)
        return high

    return max(1.0, rows(ratios * differing) / rows(np.array([differing])))
