"""Bootstrap: intervals by resampling, for means, functions of several means, and ratios of sums.

A cluster, such as the answers to a question, contributes to both sums of a ratio. The ratio is
therefore computed from the clusters' sums, and clusters are the independent units. Clusters are
merged by hash where too many of them make resampling expensive.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError

from .cluster_means import Clusters, bounded_interval
from .cluster_moments import ClusterMoments, moments_of
from .distributions import Interval, Method, clamp, t_quantile, upper_quantile
from .weights_and_groups import Floats, Ints

MOST_CLUSTERS = 10_000

# Hashes of clusters, of which the upper half is used.
Keys = NDArray[np.uint64]

# A hash in each of the ranges that clusters are joined by.
GROUPS: Keys = (np.arange(MOST_CLUSTERS, dtype=np.uint64) << np.uint64(32)) // np.uint64(
    MOST_CLUSTERS
) + np.uint64(1) << np.uint64(32)


def part_of(keys: Keys, parts: int) -> Ints:
    """In which of fewer than 2^31 equal ranges of all hashes each one lies, from 0."""
    return ((keys >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)).astype(np.int64)


def join_clusters(totals: Floats, keys: Keys | None, rng: np.random.Generator) -> Floats:
    """Merge clusters into 10,000 groups, some of which may be empty; fewer are left alone.

    The result has shape (at most 10,000, ...), with the same sum.

    Args:
        totals: Shape (C, ...), each cluster's contribution to the sums.
        keys: Shape (C,), a hash of what each is called, which determines its group whatever their
            order. None: they have no names, and chance determines it.
    """
    if len(totals) <= MOST_CLUSTERS:
        return totals
    if keys is None:
        keys = rng.integers(2**64, size=len(totals), dtype=np.uint64)
    return _joined(totals, keys)


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTotals:
    """The sums of several columns of scores in each cluster; pieces of whole clusters merge.

    Attributes:
        keys: Shape (K,), a hash of each cluster; of the group, where more than 10,000 were joined.
        totals: Shape (K, 2 m): of the m columns the sums, then the counts.
        clusters: How many there are, joined or not.
    """

    keys: Keys
    totals: Floats
    clusters: int

    @property
    def sums(self) -> Floats:
        """Shape (K, m)."""
        return self.totals[:, : self.totals.shape[1] // 2]

    @property
    def counts(self) -> Floats:
        """Shape (K, m)."""
        return self.totals[:, self.totals.shape[1] // 2 :]

    def __add__(self, other: "ClusterTotals") -> "ClusterTotals":
        """Return the totals of both, which have no cluster in common."""
        keys = np.concatenate([self.keys, other.keys])
        totals = np.concatenate([self.totals, other.totals])
        return _merged(keys, totals, self.clusters + other.clusters)


def totals_of(keys: Keys, columns: Sequence[Clusters]) -> ClusterTotals:
    """The totals of clusters, joined if there are more than 10,000.

    Args:
        keys: Shape (C,), a hash of each cluster.
        columns: Each over these clusters, some of which may be empty.
    """
    totals = np.stack(
        [*(column.sums for column in columns), *(column.counts for column in columns)], axis=1
    )
    return _merged(keys, totals, len(keys))


def _merged(keys: Keys, totals: Floats, clusters: int) -> ClusterTotals:
    if clusters > MOST_CLUSTERS:
        keys, totals = GROUPS, _joined(totals, keys)
    return ClusterTotals(keys, totals, clusters)


def _joined(totals: Floats, keys: Keys) -> Floats:
    groups = part_of(keys, MOST_CLUSTERS)
    columns = totals.reshape(len(totals), -1).T
    joined = [np.bincount(groups, column, minlength=MOST_CLUSTERS) for column in columns]
    return np.array(joined, dtype=np.float64).T.reshape(MOST_CLUSTERS, *totals.shape[1:])


DRAWS_AT_ONCE = 1_000_000
ROUNDING = 1e-12


def cluster_bootstrap(
    sums: ArrayLike,
    counts: ArrayLike,
    combine: Callable[[Floats], Floats],
    *,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
    keys: Keys | None = None,
) -> Interval | None:
    """Interval for a function of the means of several columns, such as their harmonic mean.

    Percentile bootstrap: whole clusters are drawn with replacement, all columns of a cluster
    together. Too narrow for few clusters and for rates near 0 or 1: for a single mean use
    ``mean_interval``.

    More than 10,000 clusters are first merged into 10,000 groups, which changes the width by about
    1 % and keeps a million clusters cheap. The interval is in the unit of the statistic; it is None
    for fewer than two clusters, or if both ends coincide. A resample in which some column has no
    row is left out.

    Args:
        sums: Shape (C, m). Sum of the scores of each cluster in each column.
        counts: Shape (C, m). Number of rows in each sum, 0 or more; every column has some.
        combine: Takes means of shape (B, m), returns a finite statistic of shape (B,).
        resamples: Number of resamples of C clusters. With 2,000 the simulation error of each end is
            about 1.5 % of the interval's width.
        keys: Shape (C,). A hash of each cluster's name, by which they are merged; None: by chance.

    Source: Davison & Hinkley (1997), "Bootstrap Methods and their Application", sections 3.8 and
    5.3.1.
    """
    totals = np.hstack([sums, counts], dtype=np.float64)
    upper_quantile(level)
    if resamples < 2:
        raise InputError(f"A bootstrap needs at least two resamples, got {resamples}.")
    if len(totals) < 2:
        return None
    rng = np.random.default_rng(seed)
    means = _resampled_means(join_clusters(totals, keys, rng), resamples, rng)
    return percentile_interval(combine(means), level, "cluster_bootstrap") if len(means) else None


def percentile_interval(draws: Floats, level: float, method: Method) -> Interval | None:
    """The central ``level`` of the draws; None if both ends coincide, up to rounding.

    Args:
        draws: Shape (B,), at least one, finite: the statistic in each resample.

    Source: Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13.
    """
    upper = upper_quantile(level)
    low, high = np.quantile(draws, [1 - upper, upper])
    if high - low <= ROUNDING * float(np.abs(draws).max()):
        return None
    return Interval(float(low), float(high), level, method)


def _resampled_means(totals: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    clusters, columns = len(totals), totals.shape[1] // 2
    by_column = np.ascontiguousarray(totals.T)
    drawn = np.empty((resamples, 2 * columns))
    block = max(1, DRAWS_AT_ONCE // clusters)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        picks = rng.integers(clusters, size=(size, clusters))
        # Each resample's picks get a range of their own, so that one bincount counts the block.
        picks += clusters * np.arange(size)[:, None]
        times = np.bincount(picks.ravel(), minlength=size * clusters).reshape(size, clusters)
        # Not BLAS: its order of summation, and so the last digit, depends on the number of threads.
        drawn[start : start + size] = np.einsum("rc,mc->rm", times.astype(np.float64), by_column)
    sums, counts = drawn[:, :columns], drawn[:, columns:]
    whole = (counts > 0).all(axis=1)
    return np.asarray(sums[whole] / counts[whole])


@dataclass(frozen=True, slots=True)
class RatioEstimate:
    """A ratio of two sums over ``clusters`` clusters.

    ``value`` is None (undefined) if the denominators sum to 0. ``interval`` is None for fewer than
    two clusters with a denominator, and if all clusters have the same ratio and its range is not
    known.
    """

    value: float | None
    interval: Interval | None
    clusters: int


def ratio_of_sums(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    low: float | None = None,
    high: float | None = None,
    level: float = 0.95,
) -> RatioEstimate:
    """Ratio of two sums, with an interval by the delta method.

        R        = sum of a_c / sum of b_c
        Var(R)   = C / (C - 1) · sum of (a_c - R b_c)² / (sum of b_c)²
        interval = R ± t(df) · sqrt(Var(R)),  df = (sum of b_c)² / sum of b_c² - 1, at least 1

    A bounded ratio is the mean of the clusters' ratios, weighted by their denominators. It has the
    interval of such a mean, ``bounded_wilson`` with clusters as rows: never beyond the range, never
    a single point.

    Args:
        numerators: Shape (C,). Sum of each cluster, in any unit.
        denominators: Shape (C,). At least 0. Clusters in which both are 0 are left out.

    Source: Cochran (1977), "Sampling Techniques", sections 2.11 and 6.3; the form for a range as in
    ``bounded_wilson``.
    """
    upper_quantile(level)
    a, b = (np.asarray(of, dtype=np.float64) for of in (numerators, denominators))
    not_empty = (a != 0) | (b != 0)
    a, b = a[not_empty], b[not_empty]
    if not b.any():
        return RatioEstimate(None, None, len(b))
    read = Clusters(a, b, np.divide(a * a, b, out=np.zeros_like(a), where=b > 0))
    clusters, interval = read.moments, None
    if low is not None and high is not None:
        # Each cluster as a row of its own; divided by their mean, denominators need no unit.
        rows = [column / b.mean() for column in (a, b, read.squares)]
        interval = bounded_interval(moments_of(*rows), level, low, high)
    elif clusters.size > 1:
        interval = _delta(clusters, low, high, level)
    return RatioEstimate(clamp(clusters.mean, low, high), interval, clusters.size)


def _delta(
    clusters: ClusterMoments, low: float | None, high: float | None, level: float
) -> Interval | None:
    ratio = clusters.mean
    half = t_quantile(upper_quantile(level), clusters.df) * sqrt(clusters.variance)
    ends = clamp(ratio - half, low, high), clamp(ratio + half, low, high)
    interval = Interval(*ends, level, "ratio_delta")
    return None if interval.high - interval.low <= ROUNDING * abs(ratio) else interval
