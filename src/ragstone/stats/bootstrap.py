"""Cluster bootstrap: intervals for what is computed from several means at once."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.errors import InputError

from .interval import Interval, upper_quantile

Floats = NDArray[np.float64]

MOST_CLUSTERS = 10_000
DRAWS_AT_ONCE = 1_000_000


def cluster_bootstrap(
    sums: ArrayLike,
    counts: ArrayLike,
    combine: Callable[[Floats], Floats],
    *,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
) -> Interval | None:
    """Interval for a function of the means of several columns, such as their harmonic mean.

    Percentile bootstrap: clusters are drawn with replacement, whole, and all
    columns of a cluster together. Too narrow for few clusters and for rates
    near 0 or 1: for a single mean use ``mean_interval``.

    More than 10,000 clusters are first joined at random into 10,000 groups,
    which moves the width by about 1 % and keeps a million clusters cheap.

    Args:
        sums: Shape (C, m). Sum of the scores of each cluster in each column.
        counts: Shape (C, m). Rows they come from, 0 or more; every column has some.
        combine: Takes means of shape (B, m), returns a finite statistic of
            shape (B,).
        seed: The same seed gives the same draws on every machine.
        resamples: Draws of C clusters. 2,000 settle each end to about 1.5 %
            of the interval's width.
        level: Share of intervals that should hold the true value, in (0, 1).

    Returns:
        The interval, in the unit of the statistic; None for fewer than two
        clusters, or where all resamples agree, for then they cannot tell. A
        resample without any row of some column is left out.

    Raises:
        InputError: Wrong shapes, numbers that are not finite or not in range.

    Source: Davison & Hinkley (1997), "Bootstrap Methods and their Application",
    sections 3.8 and 5.3.1.
    """
    totals = _read(sums, counts)
    upper = upper_quantile(level)
    if resamples < 2:
        raise InputError(f"A bootstrap needs at least two resamples, got {resamples}.")
    if len(totals) < 2:
        return None
    rng = np.random.default_rng(seed)
    means = _resampled_means(_joined(totals, rng), resamples, rng)
    if len(means) == 0:
        return None
    statistics = np.asarray(combine(means), dtype=np.float64)
    if statistics.shape != (len(means),) or not np.isfinite(statistics).all():
        raise InputError("combine must return one finite number for every row of means.")
    if statistics.min() == statistics.max():
        return None
    low, high = np.quantile(statistics, [1 - upper, upper])
    return Interval(float(low), float(high), level, "cluster_bootstrap")


def _read(sums: ArrayLike, counts: ArrayLike) -> Floats:
    """Sums and counts side by side, shape (C, 2 m)."""
    try:
        s, n = np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sums and counts must be arrays of numbers: {error}.") from error
    faults = []
    if s.ndim != 2 or s.shape != n.shape or s.shape[1] == 0:
        faults.append(f"sums and counts must be of one shape (C, m), got {s.shape} and {n.shape}")
    if not np.isfinite(s).all():
        faults.append("sums must be finite")
    if not (np.isfinite(n) & (n >= 0)).all():
        faults.append("counts must be finite and at least 0")
    if n.ndim == 2 and len(n) and not n.any(axis=0).all():
        faults.append("every column needs a row")
    if faults:
        raise InputError(f"Clusters cannot be used: {'; '.join(faults)}.")
    return np.hstack([s, n])


def _joined(totals: Floats, rng: np.random.Generator) -> Floats:
    clusters = len(totals)
    if clusters <= MOST_CLUSTERS:
        return totals
    starts = np.arange(MOST_CLUSTERS) * clusters // MOST_CLUSTERS
    return np.asarray(np.add.reduceat(rng.permutation(totals), starts, axis=0))


def _resampled_means(totals: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    clusters, columns = len(totals), totals.shape[1] // 2
    drawn = np.empty((resamples, 2 * columns))
    block = max(1, DRAWS_AT_ONCE // clusters)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        picks = rng.integers(clusters, size=(size, clusters))
        picks += clusters * np.arange(size)[:, None]
        times = np.bincount(picks.ravel(), minlength=size * clusters).reshape(size, clusters)
        drawn[start : start + size] = times @ totals
    sums, counts = drawn[:, :columns], drawn[:, columns:]
    whole = (counts > 0).all(axis=1)
    return np.asarray(sums[whole] / counts[whole])
