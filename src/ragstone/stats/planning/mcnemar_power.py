"""McNemar power: how many pairs are needed to detect a difference between two rates."""

from collections.abc import Callable
from functools import lru_cache
from math import exp, floor, lgamma, log, log1p, sqrt

from ragstone.core.errors import InputError
from ragstone.stats.beta import beta_cdf
from ragstone.stats.comparing.mcnemar import mcnemar_exact
from ragstone.stats.smallest import smallest

from .power import paired_power, paired_sample_size

LARGE = 2000
"""Above this many differing pairs the normal approximation is accurate enough."""

TINY = 1e-9
REACH = 5.0
"""The sum runs over this many standard deviations of the number of differing pairs, each side."""

STEPS = 40


def mcnemar_power(difference: float, differing: float, pairs: int, *, level: float = 0.95) -> float:
    """Power of McNemar's exact test of the difference of two rates.

        sum over k of P(k pairs differ) · P(the test of k such pairs reaches 1 - level)

    ``k`` is binomial with probability ``differing``; in such a pair the better system succeeds with
    probability (1 + difference / differing) / 2.

    Args:
        difference: True difference of the rates; its sign does not matter.
        differing: Share of the pairs on which exactly one succeeds, in (0, 1], at least the
            difference.
        pairs: At least 1.
        level: 1 minus the significance level, in (0, 1).

    Returns:
        In [0, 1].

    Raises:
        InputError: An argument is out of its range.

    Source: Duffy (1984), "Asymptotic and exact power for the McNemar test and its analogue with
    R controls per case".
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
    """The fewest pairs with which McNemar's exact test has the wanted power.

    Args:
        difference: True difference of the rates, not 0.
        differing: Share of the pairs on which exactly one succeeds, at least the difference.
        power: Wanted, in (0, 1).
        level: 1 minus the significance level, in (0, 1).

    Raises:
        InputError: An argument is out of its range.
    """
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

    Args:
        differing: Share of the pairs on which exactly one succeeds.
        pairs: At least 1.
        power: Wanted, in (0, 1).
        level: 1 minus the significance level, in (0, 1).
        worth: The effective number of pairs for a difference, if ``differing`` is uncertain; None:
            ``pairs``.

    Returns:
        In (0, 1]; None if even a difference of 1 is not detected with this power.

    Raises:
        InputError: An argument is out of its range.
    """

    def found(difference: float) -> bool:
        most = max(differing, difference)
        rows = pairs if worth is None else worth(difference)
        return mcnemar_power(difference, most, rows, level=level) >= power

    if not found(1.0):
        return None
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


@lru_cache(maxsize=200_000)
def _fewest(k: int, alpha: float) -> int | None:
    """The fewest of k differing pairs on one side that are significant; None if no number is."""
    if k == 0 or mcnemar_exact(k, 0) > alpha:
        return None
    return smallest(lambda more: mcnemar_exact(more, k - more) <= alpha, least=(k + 1) // 2, most=k)


def _at_least(fewest: int, k: int, share: float) -> float:
    """P(X >= fewest) for X ~ Binomial(k, share)."""
    return 1.0 if fewest == 0 else beta_cdf(share, fewest, k - fewest + 1)


def _binomial(k: int, n: int, share: float) -> float:
    if share == 1:
        return float(k == n)
    # By logarithms: binomial coefficients overflow long before 2,000 pairs.
    ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    return exp(ways + k * log(share) + (n - k) * log1p(-share))
