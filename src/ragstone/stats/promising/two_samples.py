"""Two samples: whether two samples of scores come from one distribution."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.codes import Floats

MOST_POINTS = 500
"""Scores of a sample that are compared; more are thinned to as many evenly spaced ranks."""

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class TwoSamples:
    """How far two distributions lie apart.

    Attributes:
        distance: The largest difference of the two cumulative shares, in [0, 1].
        p: Chance of a distance at least as large between two samples of one distribution.
        n: Scores compared of each sample.
    """

    distance: float
    p: float
    n: tuple[int, int]


def two_samples(first: ArrayLike, second: ArrayLike) -> TwoSamples | None:
    """Kolmogorov and Smirnov's test, with its exact p-value.

    Where scores have ties, p is too large rather than too small. Rows must be independent: give one
    a cluster.

    Args:
        first: Shape (n,), finite; thinned if longer than 500.
        second: Shape (m,), as the first.

    Returns:
        None if either is empty.

    Raises:
        InputError: Wrong shapes, or a score that is not finite.

    Source: Smirnov (1939); Hodges (1958), "The significance probability of the Smirnov two-sample
    test", for the exact p-value by counting paths.
    """
    one, other = thinned(first), thinned(second)
    if not len(one) or not len(other):
        return None
    n, m = len(one), len(other)
    at = np.unique(np.concatenate([one, other]))
    apart = (np.searchsorted(one, at, side="right") / n
             - np.searchsorted(other, at, side="right") / m)  # fmt: skip
    distance = float(np.abs(apart).max())
    return TwoSamples(distance, _chance(n, m, distance), (n, m))


def thinned(scores: ArrayLike) -> Floats:
    """The scores in ascending order; of more than 500, as many at evenly spaced ranks.

    Raises:
        InputError: The wrong shape, or a score that is not finite.
    """
    values = np.sort(np.asarray(scores, dtype=np.float64))
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError("Scores must be of shape (n,) and finite.")
    if len(values) <= MOST_POINTS:
        return values
    ranks = (np.arange(MOST_POINTS) + 0.5) * len(values) / MOST_POINTS
    return np.asarray(values[ranks.astype(np.int64)])


def _chance(n: int, m: int, distance: float) -> float:
    """The share of the orders of n and m scores in which the distance is reached.

    An order is a path from (0, 0) to (n, m). Points are taken by their sum, and each holds the
    share of its paths that stayed nearer than the distance.
    """
    stayed = np.zeros(n + 1)
    stayed[0] = 1.0
    i = np.arange(n + 1)
    for total in range(1, n + m + 1):
        j = total - i
        inside = (j >= 0) & (j <= m)
        # Of the orders of i and j scores, the share i / (i + j) ends with one of the first sample.
        by_first = np.concatenate([[0.0], stayed[:-1]]) * i / total
        by_second = stayed * j / total
        near = np.abs(i / n - j / m) < distance - ROUNDING
        stayed = np.where(inside & near, by_first + by_second, 0.0)
    return float(min(1.0, max(0.0, 1 - stayed[n])))
