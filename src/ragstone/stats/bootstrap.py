"""Bootstrap: intervals by resampling, for one mean and for functions of several means."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError

from .clusters import cluster_t_mean
from .interval import Interval, Method, upper_quantile
from .join_clusters import Keys, join_clusters

Floats = NDArray[np.float64]

DRAWS_AT_ONCE = 1_000_000
MOST_VALUES = 500
FIRST_LOOK = 10_000
ROUNDING = 1e-12


def bootstrap_mean(
    scores: ArrayLike,
    *,
    seed: int,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Interval | None:
    """Interval for the mean score in the population that the independent rows represent.

    Percentile bootstrap. The counts of each distinct value are drawn from a
    multinomial, so a resample costs as much as there are distinct values, not
    rows: a million scores of 0, 1/2 and 1 take no longer than a hundred. Too
    narrow for few rows, for a mean near the end of its range (use
    ``mean_interval``), and for rows that share a question (use
    ``cluster_bootstrap``).

    The t interval is returned instead, with ``method`` saying so, for more than
    500 distinct values, or if both ends would coincide.

    Args:
        scores: Shape (n,). Finite, in any unit.
        seed: The same seed gives the same draws on every machine.
        level: Share of intervals that should hold the true mean, in (0, 1).
        resamples: Number of resamples, at least 2. With 10,000 the simulation error
            of each end is about 1 % of the interval's width.

    Returns:
        The interval, in the unit of the scores; None for fewer than two scores, or
        if all are equal, which gives no information on their variance. If their
        range is known, use ``mean_interval``.

    Raises:
        InputError: Scores that are not finite numbers in one dimension; fewer than
            two resamples; a level out of range.

    Source: Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13.
    """
    upper_quantile(level)
    _check_resamples(resamples)
    values = _scores(scores)
    if len(values) < 2 or values.min() == values.max():
        return None
    tally = _tally(values)
    if tally is not None:
        means = _multinomial_means(*tally, resamples, np.random.default_rng(seed))
        interval = percentile_interval(means, level, "multinomial_bootstrap")
        if interval is not None:
            return interval
    return cluster_t_mean(values, np.ones(len(values)), level=level)


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

    Percentile bootstrap: whole clusters are drawn with replacement, all columns
    of a cluster together. Too narrow for few clusters and for rates near 0 or 1:
    for a single mean use ``mean_interval``.

    More than 10,000 clusters are first merged into 10,000 groups, which changes
    the width by about 1 % and keeps a million clusters cheap.

    Args:
        sums: Shape (C, m). Sum of the scores of each cluster in each column.
        counts: Shape (C, m). Number of rows in each sum, 0 or more; every column has some.
        combine: Takes means of shape (B, m), returns a finite statistic of
            shape (B,).
        seed: The same seed gives the same draws on every machine.
        resamples: Number of resamples of C clusters. With 2,000 the simulation
            error of each end is about 1.5 % of the interval's width.
        level: Share of intervals that should hold the true value, in (0, 1).
        keys: Shape (C,). A hash of each cluster's name, by which they are merged; None: by chance.

    Returns:
        The interval, in the unit of the statistic; None for fewer than two
        clusters, or if both ends coincide. A resample in which some column has
        no row is left out.

    Raises:
        InputError: Wrong shapes, numbers that are not finite or not in range.

    Source: Davison & Hinkley (1997), "Bootstrap Methods and their Application",
    sections 3.8 and 5.3.1.
    """
    totals = _read(sums, counts)
    upper_quantile(level)
    _check_resamples(resamples)
    if len(totals) < 2:
        return None
    rng = np.random.default_rng(seed)
    means = _resampled_means(join_clusters(totals, keys, rng), resamples, rng)
    if len(means) == 0:
        return None
    statistics = np.asarray(combine(means), dtype=np.float64)
    if statistics.shape != (len(means),) or not np.isfinite(statistics).all():
        raise InputError("combine must return one finite number for every row of means.")
    return percentile_interval(statistics, level, "cluster_bootstrap")


def percentile_interval(draws: Floats, level: float, method: Method) -> Interval | None:
    """The central ``level`` of the draws; None if both ends coincide, up to rounding.

    Args:
        draws: Shape (B,), at least one, finite: the statistic in each resample.
        level: In (0, 1).
        method: How the resamples were drawn.

    Source: Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13.
    """
    upper = upper_quantile(level)
    low, high = np.quantile(draws, [1 - upper, upper])
    if high - low <= ROUNDING * float(np.abs(draws).max()):
        return None
    return Interval(float(low), float(high), level, method)


def _check_resamples(resamples: int) -> None:
    if resamples < 2:
        raise InputError(f"A bootstrap needs at least two resamples, got {resamples}.")


def _scores(scores: ArrayLike) -> Floats:
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"scores must be an array of numbers: {error}.") from error
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError(f"scores must be finite and of shape (n,), got shape {values.shape}.")
    return values


def _tally(values: Floats) -> tuple[Floats, NDArray[np.int64]] | None:
    """The distinct values and their counts; None if there are more than 500."""
    # A look at the first rows spares sorting millions of scores that are all different.
    if len(np.unique(values[:FIRST_LOOK])) > MOST_VALUES:
        return None
    found, counts = np.unique(values, return_counts=True)
    return (found, counts) if len(found) <= MOST_VALUES else None


def _multinomial_means(
    values: Floats, counts: NDArray[np.int64], resamples: int, rng: np.random.Generator
) -> Floats:
    rows = int(counts.sum())
    means = np.empty(resamples)
    block = DRAWS_AT_ONCE // len(values)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        times = rng.multinomial(rows, counts / rows, size=size)
        means[start : start + size] = _added(times, values[:, None])[:, 0] / rows
    return means


def _read(sums: ArrayLike, counts: ArrayLike) -> Floats:
    """Check sums and counts and put them side by side, shape (C, 2 m)."""
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
        faults.append("every column needs at least one row")
    if faults:
        raise InputError(f"Clusters cannot be used: {'; '.join(faults)}.")
    return np.hstack([s, n])


def _resampled_means(totals: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    clusters, columns = len(totals), totals.shape[1] // 2
    drawn = np.empty((resamples, 2 * columns))
    block = max(1, DRAWS_AT_ONCE // clusters)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        picks = rng.integers(clusters, size=(size, clusters))
        # Each resample's picks get a range of their own, so that one bincount counts the block.
        picks += clusters * np.arange(size)[:, None]
        times = np.bincount(picks.ravel(), minlength=size * clusters).reshape(size, clusters)
        drawn[start : start + size] = _added(times, totals)
    sums, counts = drawn[:, :columns], drawn[:, columns:]
    whole = (counts > 0).all(axis=1)
    return np.asarray(sums[whole] / counts[whole])


def _added(times: NDArray[np.int64], totals: Floats) -> Floats:
    """The matrix product of (B, C) and (C, m), with a fixed order of summation."""
    # Not BLAS: its order of summation, and so the last digit, depends on the number of threads.
    columns = np.ascontiguousarray(totals.T)
    return np.asarray(np.einsum("rc,mc->rm", times.astype(np.float64), columns))
