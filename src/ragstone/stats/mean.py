"""The mean of a metric, with an interval suited to its kind of scores."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from ragstone.core.errors import InputError

from .cluster_moments import ClusterMoments
from .clusters import (
    bounded_interval,
    check_range,
    check_rates,
    rate_interval,
    read_clusters,
    t_interval,
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
    clusters = read_clusters(sums, counts, None if rate else squares).moments
    bounded = not rate and low is not None and high is not None
    if bounded and squares is None and clusters.largest > 1:
        check_range(clusters, low, high)
        raise InputError(
            "For bounded scores in clusters of several rows, squares is required: the sum of "
            "the squared scores of each cluster."
        )
    return mean_of_clusters(clusters, rate=rate, low=low, high=high, level=level)


def mean_of_clusters(
    clusters: ClusterMoments,
    *,
    rate: bool,
    low: float | None,
    high: float | None,
    level: float = 0.95,
) -> MeanEstimate:
    """``mean_interval`` from the moments of the clusters, in however many pieces these came.

    Args:
        clusters: Of the scores; their ``squares`` matter for bounded scores alone.
        rate: As for ``mean_interval``, and so are the others.
        low: The least possible score.
        high: The greatest possible score.
        level: Of the interval.

    Raises:
        InputError: Scores out of their range.
    """
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
        else:
            interval = bounded_interval(clusters, level, low, high)
        value = clamp(clusters.mean, low, high)
    return MeanEstimate(value, interval, round(clusters.rows), clusters.size)


def _rate_interval(clusters: ClusterMoments, level: float) -> Interval | None:
    if clusters.single:
        return wilson(clusters.total, clusters.rows, level=level)
    return rate_interval(clusters, level)


def _free_interval(
    clusters: ClusterMoments, low: float | None, high: float | None, level: float
) -> Interval | None:
    interval = t_interval(clusters, level, low=low, high=high)
    if interval is None or interval.high - interval.low <= ROUNDING * abs(clusters.mean):
        return None
    return interval
