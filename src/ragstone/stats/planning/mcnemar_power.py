"""McNemar power: pairs needed to detect a difference between two rates; allowance for pilot doubt.

A pilot's variance is uncertain, so the sample size of a paired comparison is enlarged.
"""

from collections.abc import Callable
from functools import lru_cache
from math import exp, floor, lgamma, log, log1p, sqrt
from statistics import NormalDist

import numpy as np

from ragstone.core.errors import InputError
from ragstone.stats.comparison.differences import mcnemar_exact
from ragstone.stats.distributions import beta_cdf, beta_quantile, bisected, upper_quantile
from ragstone.stats.weights_and_groups import Floats, smallest

from .sample_size import paired_power, paired_sample_size

# Above this many differing pairs the normal approximation is accurate enough.
LARGE = 2000

TINY = 1e-9
# The sum runs over this many standard deviations of the number of differing pairs, each side.
REACH = 5.0

STEPS = 40


def mcnemar_power(difference: float, differing: float, pairs: int, *, level: float = 0.95) -> float:
    """Power of McNemar's exact test of the difference of two rates.

        sum over k of P(k pairs differ) · P(the test of k such pairs reaches 1 - level)

    ``k`` is binomial with probability ``differing``; in such a pair the better system succeeds with
    probability (1 + difference / differing) / 2. The result lies in [0, 1].

    Args:
        difference: True difference of the rates; its sign does not matter.
        differing: Share of the pairs on which exactly one succeeds, in (0, 1], at least the
            difference.

    Source: Duffy (1984), "Asymptotic and exact power for the McNemar test and its analogue with R
    controls per case".
    """
    ahead = abs(difference)
    if not (0 < differing <= 1 and ahead <= differing and pairs >= 1 and 0 < level < 1):
        raise InputError(
            f"McNemar's power needs a difference of at most the share of pairs that differ, got "
            f"{difference} and {differing}, for {pairs} pairs at level {level}."
        )
    if pairs * differing > LARGE:
        return paired_power(ahead, sqrt(differing - ahead**2) or TINY, pairs, level=level)
    alpha = 1 - level
    share = (1 + ahead / differing) / 2
    mean, deviation = pairs * differing, sqrt(pairs * differing * (1 - differing))
    first = max(0, floor(mean - REACH * deviation) - 1)
    last = min(pairs, floor(mean + REACH * deviation) + 2)
    power = 0.0
    for k in range(first, last + 1):
        chance = _binomial(k, pairs, differing)
        fewest = _fewest(k, alpha)
        if fewest is not None and chance > 0:
            power += chance * (_at_least(fewest, k, share) + _at_least(fewest, k, 1 - share))
    return min(1.0, power)


def mcnemar_sample_size(
    difference: float, differing: float, *, power: float = 0.8, level: float = 0.95
) -> int:
    """The fewest pairs with which McNemar's exact test has the wanted power."""
    if difference == 0 or not 0 < power < 1:
        raise InputError(
            f"Needs a difference other than 0 and a power inside (0, 1), got {difference} and "
            f"{power}."
        )
    deviation = sqrt(max(differing - difference**2, 0.0)) or TINY
    about = paired_sample_size(difference, deviation, power=power, level=level)
    return smallest(
        lambda pairs: mcnemar_power(difference, differing, pairs, level=level) >= power,
        least=max(1, about // 2),
    )


def mcnemar_detectable(
    differing: float,
    pairs: int,
    *,
    power: float = 0.8,
    level: float = 0.95,
    worth: Callable[[float], int] | None = None,
) -> float | None:
    """The smallest difference of two rates that can be detected with the wanted power.

    For differences above the share of pairs that differ, that share is raised to the difference.
    The result lies in (0, 1]; None if even a difference of 1 is not detected with this power.

    Args:
        worth: The effective number of pairs for a difference, if ``differing`` is uncertain; None:
            ``pairs``.
    """

    def detected(difference: float) -> bool:
        most = max(differing, difference)
        rows = pairs if worth is None else worth(difference)
        return mcnemar_power(difference, most, rows, level=level) >= power

    if not detected(1.0):
        return None
    return bisected(lambda difference: not detected(difference), 0.0, 1.0, STEPS)[1]


@lru_cache(maxsize=200_000)
def _fewest(k: int, alpha: float) -> int | None:
    if k == 0 or mcnemar_exact(k, 0) > alpha:
        return None
    return smallest(lambda more: mcnemar_exact(more, k - more) <= alpha, least=(k + 1) // 2, most=k)


def _at_least(fewest: int, k: int, share: float) -> float:
    return 1.0 if fewest == 0 else beta_cdf(share, fewest, k - fewest + 1)


def _binomial(k: int, n: int, share: float) -> float:
    if share == 1:
        return float(k == n)
    # By logarithms: binomial coefficients overflow long before 2,000 pairs.
    ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    return exp(ways + k * log(share) + (n - k) * log1p(-share))


# Probabilities of the quantiles that represent an uncertain variance.
NODES = tuple((at + 0.5) / 20 for at in range(20))

INFLATION_STEPS = 60
ROUNDING = 1e-9


def doubt_of_deviation(clusters: int) -> Floats:
    """The ratio of the true variance to that of a pilot of normal values, at ``NODES``.

    (clusters - 1) / chi²,   chi² by Wilson and Hilferty's approximation
    """
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
    """
    a, b = successes + 0.5, rows - successes + 0.5
    below = beta_cdf(least, a, b)
    if below > 1 - ROUNDING:
        return np.ones(len(NODES))
    quantiles = [beta_quantile(below + node * (1 - below), a, b) for node in NODES]
    return np.array(quantiles) / max(successes / rows, least)


def inflation(ratios: Floats, *, power: float = 0.8, level: float = 0.95) -> float:
    """The factor on the sample size that gives the power on average over the uncertain variance.

        mean over the ratios of Phi((z + z_power) · sqrt(factor / ratio) - z) = power

    A plan by the pilot's variance has the wanted power only if that is the true variance; on
    average it has less, because a larger variance costs more power than a smaller one gains. The
    result is at least 1.

    Args:
        ratios: Ratios of the true to the pilot's variance, equally likely.

    Source: O'Hagan, Stevens & Campbell (2005), "Assurance in clinical trial design".
    """
    if not 0 < power < 1:
        raise InputError(f"A power must lie inside (0, 1), got {power}.")
    normal = NormalDist()
    z = normal.inv_cdf(upper_quantile(level))
    shift = z + normal.inv_cdf(power)

    def mean(factor: float) -> float:
        return float(np.mean([normal.cdf(shift * sqrt(factor / ratio) - z) for ratio in ratios]))

    return _reaching(power, mean, 1.0)


def _reaching(power: float, mean: Callable[[float], float], low: float) -> float:
    """From where on, at least ``low`` up, a mean power that rises reaches ``power``."""
    high = 1.0
    while mean(high) < power:
        high *= 2
    steps = INFLATION_STEPS if high > low else 0
    return bisected(lambda n: mean(n) < power, low, high, steps)[1]


def mcnemar_inflation(
    difference: float, differing: float, ratios: Floats, *, power: float = 0.8, level: float = 0.95
) -> float:
    """Return ``inflation`` for McNemar's test with an uncertain share of differing pairs.

        mean over the shares d of Phi((difference · sqrt(n) - z · sqrt(d)) / sqrt(d - difference²))

    A share below the difference is impossible and is replaced by the difference.

    Source: Connor (1987), "Sample size for testing differences in proportions for the paired-sample
    design", for the power at a known share.
    """
    normal, by = NormalDist(), abs(difference)
    z = normal.inv_cdf(upper_quantile(level))

    def rows(shares: Floats) -> float:
        differing_shares = np.maximum(shares, by)
        spread = np.sqrt(np.maximum(differing_shares - by**2, 1e-12))

        def mean(n: float) -> float:
            shifts = (by * sqrt(n) - z * np.sqrt(differing_shares)) / spread
            return float(np.mean([normal.cdf(float(shift)) for shift in shifts]))

        return _reaching(power, mean, 0.0)

    return max(1.0, rows(ratios * differing) / rows(np.array([differing])))
