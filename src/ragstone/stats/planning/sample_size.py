"""Sample size: rows that a rate or a mean needs for an interval of a given width."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.clusters import effective_size, read_clusters
from ragstone.stats.interval import clamp, upper_quantile
from ragstone.stats.smallest import smallest
from ragstone.stats.student import t_quantile
from ragstone.stats.wilson import wilson_ends

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Pilot:
    """The variation of scores in a first sample.

    Attributes:
        mean: Of all rows.
        deviation: Standard deviation of the rows, in their unit.
        cluster_deviation: Standard deviation per cluster: the mean of K such
            clusters has a standard error of ``cluster_deviation / sqrt(K)``.
        rows: Number of rows.
        clusters: Number of clusters.
        df: Degrees of freedom of ``cluster_deviation``.
    """

    mean: float
    deviation: float
    cluster_deviation: float
    rows: int
    clusters: int
    df: float

    @property
    def rows_per_cluster(self) -> float:
        """The average number of rows in a cluster."""
        return self.rows / self.clusters

    @property
    def design_effect(self) -> float | None:
        """Rows per independent row; None if scores do not vary.

        Below 1 if rows of the same cluster differ more than rows of different clusters.
        """
        if self.deviation == 0:
            return None
        return self.cluster_deviation**2 * self.rows_per_cluster / self.deviation**2


@dataclass(frozen=True, slots=True)
class SampleSize:
    """A sample size and the half-width that it gives.

    ``clusters`` is None if rows are independent.
    """

    rows: int
    clusters: int | None
    half_width: float


def pilot(values: ArrayLike, clusters: ArrayLike) -> Pilot:
    """The variation of scores in a first sample, between rows and between clusters.

    Args:
        values: Shape (n,), finite, one score per row, in any unit.
        clusters: Shape (n,). Equal entries belong to one cluster.

    Raises:
        InputError: Wrong shapes, a score that is not finite, fewer than two clusters.
    """
    scores, codes = np.asarray(values, dtype=np.float64), np.asarray(clusters)
    if scores.ndim != 1 or scores.shape != codes.shape:
        raise InputError(
            f"values and clusters must be of one shape (n,), got {scores.shape} and {codes.shape}."
        )
    _, place = np.unique(codes, return_inverse=True)
    counts = np.bincount(place).astype(np.float64)
    read = read_clusters(np.bincount(place, weights=scores) if len(scores) else [], counts).moments
    if read.size < 2:
        raise InputError(f"A pilot needs at least two clusters, got {read.size}.")
    varies = bool(np.ptp(scores) > ROUNDING * max(1.0, float(np.abs(scores).max())))
    return Pilot(
        mean=read.mean,
        deviation=float(scores.std(ddof=1)) if varies else 0.0,
        cluster_deviation=sqrt(read.variance * read.size) if varies else 0.0,
        rows=len(scores),
        clusters=read.size,
        df=read.df,
    )


def rate_sample_size(rate: float, half_width: float, *, level: float = 0.95) -> int:
    """The fewest independent rows for which Wilson's interval has the wanted half-width.

        half = sqrt(w p (1 - p) + w² / 4) / (1 + w),  w = z² / n

    is solved for n, without a search; unlike Wald's formula it is accurate for rare
    events too. The half-width is half the interval's width, because the interval is
    not symmetric.

    Args:
        rate: Expected, in [0, 1].
        half_width: Wanted, in (0, .5).
        level: Of the interval, in (0, 1).

    Raises:
        InputError: An argument is out of its range.

    Source: Wilson (1927), solved for n; Piegorsch (2004), "Sample sizes for
    improved binomial confidence intervals".
    """
    return ceil(_effective_rows(rate, half_width, level) * (1 - ROUNDING))


def _effective_rows(rate: float, half_width: float, level: float) -> float:
    if not 0 <= rate <= 1:
        raise InputError(f"A rate must lie in [0, 1], got {rate}.")
    if not 0 < half_width < 0.5:
        raise InputError(f"The half-width of a rate must lie inside (0, 0.5), got {half_width}.")
    z = NormalDist().inv_cdf(upper_quantile(level))
    spread, square = rate * (1 - rate), half_width**2
    a, b = 0.25 - square, spread - 2 * square
    weight = (sqrt(b * b + 4 * a * square) - b) / (2 * a)
    return z * z / weight


def rate_half_width(rate: float, rows: float, *, level: float = 0.95) -> float:
    """Half-width of Wilson's interval for a rate of this many independent rows.

    Args:
        rate: In [0, 1].
        rows: Above 0; need not be whole.
        level: Of the interval, in (0, 1).

    Raises:
        InputError: An argument is out of its range.
    """
    if not (0 <= rate <= 1 and rows > 0):
        raise InputError(
            f"A rate must lie in [0, 1] and rows must be above 0, got {rate} and {rows}."
        )
    low, high = wilson_ends(rate, rows, NormalDist().inv_cdf(upper_quantile(level)))
    return (high - low) / 2


def mean_sample_size(
    first: Pilot,
    half_width: float,
    *,
    rate: bool,
    low: float | None = None,
    high: float | None = None,
    level: float = 0.95,
) -> SampleSize | None:
    """Number of clusters like the pilot's for which ``mean_interval`` has the wanted half-width.

    The pilot's mean, variance and design effect are used as if they were exact, so
    the result is as uncertain as they are. The interval is the one that
    ``mean_interval`` would choose: Wilson's on the effective sample size for a rate
    and for bounded scores, t for others.

    Args:
        first: The pilot.
        half_width: Wanted, above 0, in the unit of the scores.
        rate: Whether every score is 0 or 1.
        low: The least possible score, None for no bound.
        high: The greatest possible score, None for no bound.
        level: Of the interval, in (0, 1).

    Returns:
        The size; its ``clusters`` is None if every cluster has one row. None for
        unbounded scores that do not vary in the pilot.

    Raises:
        InputError: An argument is out of its range.
    """
    if not half_width > 0:
        raise InputError(f"A half-width must be above 0, got {half_width}.")
    upper = upper_quantile(level)
    single = first.rows == first.clusters
    if rate and single:
        mean = clamp(first.mean, 0, 1)
        rows = rate_sample_size(mean, half_width, level=level)
        return SampleSize(rows, None, rate_half_width(mean, rows, level=level))
    low, high = (0.0, 1.0) if rate else (low, high)
    if low is not None and high is not None:
        half = _bounded(first, low, high, upper)
    elif first.cluster_deviation > 0:
        half = _unbounded(first, upper)
    else:
        return None
    clusters = smallest(lambda size: half(size) <= half_width, least=2)
    rows = ceil(clusters * first.rows_per_cluster - ROUNDING)
    return SampleSize(rows, None if single else clusters, half(clusters))


def _unbounded(first: Pilot, upper: float) -> Callable[[int], float]:
    def half(clusters: int) -> float:
        return t_quantile(upper, _df(first, clusters)) * first.cluster_deviation / sqrt(clusters)

    return half


def _bounded(first: Pilot, low: float, high: float, upper: float) -> Callable[[int], float]:
    """Half-width of ``bounded_wilson`` as a function of the number of clusters."""
    span = high - low
    mean = clamp((first.mean - low) / span, 0, 1)
    variance = (first.deviation / span) ** 2 * (first.rows - 1) / first.rows
    size = first.rows_per_cluster

    def half(clusters: int) -> float:
        worth = effective_size(
            mean,
            variance,
            clusters * (first.cluster_deviation / span * size) ** 2,
            rows=clusters * size,
            clusters=clusters,
            kish=_kish(first, clusters),
        )
        ends = wilson_ends(mean, worth, t_quantile(upper, _df(first, clusters)))
        return (ends[1] - ends[0]) / 2 * span

    return half


def _df(first: Pilot, clusters: int) -> float:
    """Degrees of freedom of the variance of this many clusters."""
    return max(1.0, _kish(first, clusters) - 1)


def _kish(first: Pilot, clusters: int) -> float:
    """Kish's effective number of this many clusters, as unequal in size as the pilot's."""
    return (first.df + 1) * clusters / first.clusters
