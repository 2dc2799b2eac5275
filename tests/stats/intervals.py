"""Intervals as tests compare them."""

from numpy.typing import ArrayLike

from ragstone.stats import Interval
from ragstone.stats.cluster_means import bounded_interval, read_clusters, t_interval


def ends(interval: Interval | None) -> tuple[float, float]:
    """The low and the high end of an interval that there is."""
    assert interval is not None
    return interval.low, interval.high


def cluster_t_mean(
    sums: ArrayLike,
    counts: ArrayLike,
    *,
    level: float = 0.95,
    low: float | None = None,
    high: float | None = None,
) -> Interval | None:
    return t_interval(read_clusters(sums, counts).moments, level, low=low, high=high)


def bounded_wilson(
    sums: ArrayLike,
    counts: ArrayLike,
    squares: ArrayLike,
    *,
    low: float,
    high: float,
    level: float = 0.95,
) -> Interval | None:
    return bounded_interval(read_clusters(sums, counts, squares).moments, level, low, high)
