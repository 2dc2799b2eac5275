"""Concordance: how often a composite puts two answers in the same order as people do."""

import numpy as np
from numpy.typing import NDArray

from ragstone.stats import mean_interval

from .opinions import Sort

Floats = NDArray[np.float64]

MOST_RATED = 2000
"""If there are more ratings, a random subset of this size is used to form pairs."""


def concordance(
    sort: Sort,
    placed: Floats,
    said: Floats,
    cluster: NDArray[np.int64],
    level: float,
    rng: np.random.Generator,
) -> tuple[float | None, float | None, float | None]:
    """Share of pairs put in people's order, with its interval; the composite's ties count half.

    Args:
        sort: Whether people gave preferences or ratings.
        placed: Shape (n,). The composite's difference for a pair, or its value for a rating.
        said: Shape (n,). People's preference or rating.
        cluster: Shape (n,). The question of each row.
        level: Confidence level of the interval.
        rng: Draws a subset of many ratings.

    Every rating is compared with every other: a U-statistic, whose standard error is twice that
    of the mean over its rows (Hoeffding, 1948).
    """
    if sort == Sort.PREFERENCE:
        ordered = said != 0
        right = (np.sign(placed[ordered]) * np.sign(said[ordered]) + 1) / 2
        if not len(right):
            return None, None, None
        _, place = np.unique(cluster[ordered], return_inverse=True)
        sums, squares = (np.bincount(place, weights=one) for one in (right, right**2))
        found = mean_interval(sums, np.bincount(place), squares, rate=False, low=0, high=1,
                              level=level)  # fmt: skip
        ends = found.interval
        if ends is None:
            return found.value, None, None
        return found.value, ends.low, ends.high
    right, counts, of = _against_each_other(placed, said, cluster, rng)
    if not len(right):
        return None, None, None
    _, place = np.unique(of, return_inverse=True)
    sums, totals = np.bincount(place, weights=right), np.bincount(place, weights=counts)
    found = mean_interval(sums, totals, rate=False, low=None, high=None, level=level)
    value, ends = float(right.sum() / counts.sum()), found.interval
    if ends is None:
        return value, None, None
    half = ends.high - ends.low
    return value, max(0.0, value - half), min(1.0, value + half)


def _against_each_other(
    placed: Floats, said: Floats, cluster: NDArray[np.int64], rng: np.random.Generator
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """For each rated example: its correctly ordered pairs, its pairs in all, its question."""
    if len(said) > MOST_RATED:
        rows = rng.choice(len(said), MOST_RATED, replace=False)
        placed, said, cluster = placed[rows], said[rows], cluster[rows]
    right, counts = np.zeros(len(said)), np.zeros(len(said))
    for row in range(len(said)):
        above = np.sign(said[row] - said)
        right[row] = ((np.sign(placed[row] - placed) * above + 1) / 2)[above != 0].sum()
        counts[row] = np.count_nonzero(above)
    used = counts > 0
    return right[used], counts[used], cluster[used]
