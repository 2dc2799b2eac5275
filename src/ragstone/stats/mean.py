"""The mean of a metric with the interval that suits it."""

from dataclasses import dataclass
from statistics import NormalDist

from numpy.typing import ArrayLike

from ragstone.errors import InputError

from .clusters import Clusters, check_rates, cluster_t_mean, cluster_wilson, read_clusters
from .interval import Interval, clamp, upper_quantile
from .wilson import wilson, wilson_ends

ROUNDING = 1e-12
OUTSIDE = 1e-6


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean over ``n`` rows in ``clusters`` clusters.

    ``value`` is None for no rows. ``interval`` is None where the rows cannot
    tell: fewer than two clusters, or no variation and no range to argue from.
    """

    value: float | None
    interval: Interval | None
    n: int
    clusters: int


def mean_interval(
    sums: ArrayLike,
    counts: ArrayLike,
    *,
    rate: bool,
    low: float | None,
    high: float | None,
    level: float = 0.95,
) -> MeanEstimate:
    """Mean of all rows, with an interval for the population the clusters stand for.

    | scores | clusters | method |
    |---|---|---|
    | 0 or 1 | one row each | ``wilson`` |
    | 0 or 1 | several rows | ``cluster_wilson`` |
    | any | one row each | ``t`` |
    | any | several rows | ``cluster_t`` |
    | all clusters have the same mean | | ``bounded_wilson`` |

    The last: scores in a range have a variance of at most that of as many
    zeros and ones with the same mean, so Wilson's interval with one row a
    cluster, stretched to the range, is wide enough where t would give a point.

    Args:
        sums: Shape (C,). Sum of the scores of each cluster.
        counts: Shape (C,). Rows of each cluster, at least 1: leave out a
            cluster that has none.
        rate: Whether every score is 0 or 1.
        low: The least score there can be, None for no bound. A rate's is 0.
        high: The greatest score there can be. A rate's is 1.
        level: Share of intervals that should hold the true mean, in (0, 1).

    Raises:
        InputError: Wrong shapes, numbers that are not finite, scores out of
            their range.
    """
    clusters = read_clusters(sums, counts)
    if clusters.size == 0:
        return MeanEstimate(None, None, 0, 0)
    if rate:
        check_rates(clusters)
        interval = _rate_interval(clusters, level)
        value = clusters.mean
    else:
        _check_range(clusters, low, high)
        interval = _score_interval(clusters, low, high, level)
        value = clamp(clusters.mean, low, high)
    return MeanEstimate(value, interval, round(clusters.rows), clusters.size)


def _rate_interval(clusters: Clusters, level: float) -> Interval | None:
    if clusters.single:
        return wilson(float(clusters.sums.sum()), clusters.rows, level=level)
    return cluster_wilson(clusters.sums, clusters.counts, level=level)


def _score_interval(
    clusters: Clusters, low: float | None, high: float | None, level: float
) -> Interval | None:
    interval = cluster_t_mean(clusters.sums, clusters.counts, level=level, low=low, high=high)
    if interval is None:
        return None
    width = interval.high - interval.low
    if low is None or high is None:
        return interval if width > ROUNDING * abs(clusters.mean) else None
    if width > ROUNDING * (high - low):
        return interval
    share = clamp((clusters.mean - low) / (high - low), 0, 1)
    z = NormalDist().inv_cdf(upper_quantile(level))
    least, greatest = wilson_ends(share, clusters.size, z)
    span = high - low
    return Interval(low + least * span, low + greatest * span, level, "bounded_wilson")


def _check_range(clusters: Clusters, low: float | None, high: float | None) -> None:
    if low is not None and high is not None and not low < high:
        raise InputError(f"A range needs low < high, got {low} and {high}.")
    means = clusters.sums / clusters.counts
    below = low is not None and means.min() < low - OUTSIDE * max(1, abs(low))
    above = high is not None and means.max() > high + OUTSIDE * max(1, abs(high))
    if below or above:
        raise InputError(
            f"Scores from {low} to {high} cannot have means from {means.min()} to {means.max()}."
        )
