"""Equivalence: the margin that a number of pairs can show if two systems are truly equal."""

from math import sqrt

from ragstone.core.errors import InputError
from ragstone.stats.student import t_quantile


def equivalence_margin(
    deviation: float, pairs: int, *, power: float = 0.8, level: float = 0.95, unseen: float = 0.0
) -> float:
    """The smallest margin at which two one-sided t tests show equivalence if the difference is 0.

        (t(level, n - 1) + t((1 + power) / 2, n - 1)) · sqrt(deviation² / n + (unseen / n)²)

    For clustered pairs, ``pairs`` is the number of clusters, and ``deviation`` is the standard
    deviation per cluster (``Pilot.cluster_deviation``).

    Args:
        deviation: Standard deviation of the differences, 0 or more, in the unit of the scores.
        pairs: At least 2.
        power: Wanted probability of showing equivalence, in (0, 1).
        level: 1 minus the significance level of each one-sided test, in (.5, 1); in a family of k
            tests adjusted by Holm, 1 - .05 / k.
        unseen: The width of the scores' range, for the additional cluster in the variance of
            ``paired_difference``; 0 for unbounded scores.

    Raises:
        InputError: An argument is out of its range.

    Source: Chow, Shao & Wang (2008), "Sample Size Calculations in Clinical Research", section
    3.2.3, solved for the margin; Schuirmann (1987) for the tests.
    """
    if not (deviation >= 0 and pairs >= 2 and 0 < power < 1 and 0.5 < level < 1):
        raise InputError(
            "A margin needs a deviation of 0 or more, two pairs, power in (0, 1) and level in "
            f"(.5, 1), got {deviation}, {pairs}, {power} and {level}."
        )
    reach = t_quantile(level, pairs - 1) + t_quantile((1 + power) / 2, pairs - 1)
    return reach * sqrt(deviation**2 / pairs + (unseen / pairs) ** 2)
