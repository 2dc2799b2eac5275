"""The mean of a metric, with an interval suited to its kind of scores."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from ragstone.errors import InputError

from .clusters import (
    Clusters,
    bounded_wilson,
    check_range,
    check_rates,
    cluster_t_mean,
    cluster_wilson,
    read_clusters,
)
from .interval import Interval, clamp
from .wilson import wilson

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean over ``n`` rows in ``clusters`` clusters.

    ``value`` is None for no rows. ``interval`` is None for fewer than two clusters
    (except that a single row of a rate has one), and for scores without variation
    whose range is not known.
    """

    value: float | None
    interval: Interval | None
    n: int
    clusters: int


def mean_interval(
    sums: ArrayLike,
    counts: ArrayLike,
    squares: ArrayLike | None = None,
    *,
    rate: bool,
    low: float | None,
    high: float | None,
    level: float = 0.95,
) -> MeanEstimate:
    """Mean of all rows, with an interval for the population that the clusters represent.

    | scores | clusters | method |
    |---|---|---|
    | 0 or 1 | one row each | ``wilson`` |
    | 0 or 1 | several rows | ``cluster_wilson`` |
    | in a range with two ends | any | ``bounded_wilson`` |
    | without such a range | one row each | ``t`` |
    | without such a range | several rows | ``cluster_t`` |

    Args:
        sums: Shape (C,). Sum of the scores of each cluster.
        counts: Shape (C,). Rows of each cluster, at least 1: leave out empty
            clusters.
        squares: Shape (C,). Sum of the squared scores of each cluster. Required
            for bounded scores in clusters of several rows.
        rate: Whether every score is 0 or 1.
        low: The least possible score, None for no bound. A rate's is 0.
        high: The greatest possible score, None for no bound. A rate's is 1.
        level: Share of intervals that should hold the true mean, in (0, 1).

    Raises:
        InputError: Wrong shapes, numbers that are not finite, scores out of
            their range, squares missing where required.
    """
    clusters = read_clusters(sums, counts, None if rate else squares)
    if clusters.size == 0:
        return MeanEstimate(None, None, 0, 0)
    if rate:
        check_rates(clusters)
        interval = _rate_interval(clusters, level)
        value = clusters.mean
    else:
        check_range(clusters, low, high)
        if low is None or high is None:
            interval = _free_interval(clusters, low, high, level)
        elif squares is None and not clusters.single:
            raise InputError(
                "For bounded scores in clusters of several rows, squares is required: the sum of "
                "the squared scores of each cluster."
            )
        else:
            interval = bounded_wilson(
                clusters.sums, clusters.counts, clusters.squares, low=low, high=high, level=level
            )
        value = clamp(clusters.mean, low, high)
    return MeanEstimate(value, interval, round(clusters.rows), clusters.size)


def _rate_interval(clusters: Clusters, level: float) -> Interval | None:
    if clusters.single:
        return wilson(float(clusters.sums.sum()), clusters.rows, level=level)
    return cluster_wilson(clusters.sums, clusters.counts, level=level)


def _free_interval(
    clusters: Clusters, low: float | None, high: float | None, level: float
) -> Interval | None:
    interval = cluster_t_mean(clusters.sums, clusters.counts, level=level, low=low, high=high)
    if interval is None or interval.high - interval.low <= ROUNDING * abs(clusters.mean):
        return None
    return interval
