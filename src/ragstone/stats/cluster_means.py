"""Cluster means: intervals for a mean of clustered rows, such as five answers to each question.

Rows of a cluster are correlated, so they hold less information than the same number of independent
rows. All intervals are computed from each cluster's sum of scores, number of rows and sum of
squared scores.
"""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError

from .cluster_moments import ClusterMoments, moments_of
from .distributions import Interval, clamp, t_quantile, upper_quantile, wilson, wilson_ends
from .weights_and_groups import Bools, Floats, Ints

HALF_CLUSTER = HALF_ROW = 0.5
# A variance below this, in units of the squared range, is rounding error.
ALIKE = 1e-12

# Tolerance for scores beyond their range, relative to its ends.
OUTSIDE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Sums of scores, counts of rows and sums of squared scores, each of shape (C,)."""

    sums: Floats
    counts: Floats
    squares: Floats

    @property
    def moments(self) -> ClusterMoments:
        """The numbers that a mean and its interval need of them."""
        return moments_of(self.sums, self.counts, self.squares)

    def of(self, chosen: slice | Bools) -> "Clusters":
        """Return some of these clusters."""
        return Clusters(self.sums[chosen], self.counts[chosen], self.squares[chosen])


def clusters_by(codes: Ints, values: Floats, size: int) -> Clusters:
    """Sum scores into their clusters.

    Args:
        codes: Shape (n,), the cluster of each row, from 0 to ``size`` - 1.
        values: Shape (n,), their scores; NaN for a row without one.
        size: C, how many clusters there are, some of which may be left empty.
    """
    known = ~np.isnan(values)
    rows, scores = codes[known], values[known]
    sums, squares = np.bincount(rows, scores, size), np.bincount(rows, scores * scores, size)
    return Clusters(*np.array((sums, np.bincount(rows, minlength=size), squares), np.float64))


def read_clusters(sums: ArrayLike, counts: ArrayLike, squares: ArrayLike | None = None) -> Clusters:
    """Return clusters; without squares, as if all rows of a cluster had the same score."""
    s, n = np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if s.ndim != 1 or s.shape != n.shape or not np.isfinite(s).all() or not (n >= 1).all():
        raise InputError(
            f"Sums must be finite and counts at least 1, each of one shape (C,), got {s.shape} and "
            f"{n.shape}."
        )
    return Clusters(s, n, s * s / n if squares is None else np.asarray(squares, dtype=np.float64))


def t_interval(
    clusters: ClusterMoments, level: float, *, low: float | None = None, high: float | None = None
) -> Interval | None:
    """Return Student's interval for the mean score in the population that the clusters represent.

        mean ± t(df) · sqrt(variance)    as in ``ClusterMoments``

    The ordinary t interval where every cluster is one row; it ends at ``low`` and ``high``. Too
    narrow near the end of a range (use ``rate_interval`` or ``bounded_interval``) and a single
    point where nothing varies (``mean_interval`` knows). None for fewer than two clusters.

    Source: Cochran (1977), "Sampling Techniques", chapter 6, for the ratio; Liang & Zeger (1986),
    "Longitudinal data analysis using generalized linear models".
    """
    upper = upper_quantile(level)
    if clusters.size < 2:
        return None
    half = t_quantile(upper, clusters.df) * sqrt(clusters.variance)
    mean = clusters.mean
    return Interval(
        clamp(mean - half, low, high),
        clamp(mean + half, low, high),
        level,
        "t" if clusters.single else "cluster_t",
    )


def cluster_wilson(sums: ArrayLike, counts: ArrayLike, *, level: float = 0.95) -> Interval | None:
    """Score interval for a rate of clustered rows: inside [0, 1], never a single point.

    Wilson's interval with the effective sample size of ``effective_rows`` in place of the number of
    rows, and Student's t in place of the normal.

    ``benchmarks/interval_coverage.py`` measures its coverage. The interval is None for fewer than
    two clusters.

    Source: Dean & Pagano (2015), "Evaluating confidence interval methods for binomial proportions
    in clustered surveys", for Wilson's interval on the effective sample size; the half cluster is
    ours.
    """
    return rate_interval(read_clusters(sums, counts).moments, level)


def rate_interval(clusters: ClusterMoments, level: float) -> Interval | None:
    """``cluster_wilson`` from the moments of the clusters."""
    upper = upper_quantile(level)
    check_rates(clusters)
    if clusters.size < 2:
        return None
    return Interval(*wilson_of(of_rate(clusters), upper), level, "cluster_wilson")


def bounded_interval(
    clusters: ClusterMoments, level: float, low: float, high: float
) -> Interval | None:
    """Return an interval for a mean of bounded scores: inside their range, never a single point.

    ``cluster_wilson`` for scores that need not be 0 or 1, rescaled to the range. The t interval is
    symmetric, so its coverage is poor for a mean near an end of the range, which depends on a few
    distant rows; this one extends further inwards. In the middle of the range they agree. Too
    narrow where a few scores lie far from the others and fewer than about 30 clusters happen to
    have none of them. None for fewer than two clusters.

    Source: as ``cluster_wilson``; the extension from rates to bounded scores, by var = q · m (1 -
    m) as in ``effective_rows``, is ours.
    """
    upper = upper_quantile(level)
    check_range(clusters, low, high)
    if clusters.size < 2:
        return None
    least, greatest = wilson_of(clusters.stretched(low, high), upper)
    span = high - low
    return Interval(low + least * span, low + greatest * span, level, "bounded_wilson")


def wilson_of(clusters: ClusterMoments, upper: float) -> tuple[float, float]:
    """Ends of Wilson's interval on the effective sample size, for two clusters or more.

    Args:
        clusters: Scores from 0 to 1.
        upper: Probability of the quantile of Student's t, above 1/2.
    """
    mean = clamp(clusters.mean, 0, 1)
    return wilson_ends(mean, effective_rows(clusters), t_quantile(upper, clusters.df))


def effective_rows(clusters: ClusterMoments) -> float:
    """Effective sample size: the number of independent 0/1 rows that give their mean as precisely.

        n*     = E (E + d) / (E q + d),   E = N / effect,   d = (2 m - 1)² / 2
        q      = s² / (m (1 - m)),                                1 for rows of 0 or 1
        effect = (V + h · n̄² · q) / (N s² + h · n̄ · q),  at least 1,  h = 1/2
        V      = C / (C - 1) · sum of (s_c - m n_c)²,    s² the variance of the rows

    m is the mean. So n* is m (1 - m) / Var(m) with three modifications. A few scores near an end of
    the range seldom show how far the others lie: so up to half a row, the nearer to an end the mean
    is, is taken to vary as much as rows of 0 or 1. The design effect is at least 1: rows of a
    cluster never count for more than independent ones. And the usual design effect, V / (N s²), can
    be near 1 by accident for a mean near 0 or 1, where it depends on one or two clusters: so half a
    cluster of the mean size n̄ = N / C, whose rows all agree, is added to its numerator and
    denominator, which is negligible if many rows differ from the ends of the range. If all rows
    have the same score, V / (N s²) is 0/0, and n* is Kish's effective number of clusters, (sum of
    n_c)² / sum of n_c², which is C for clusters of equal size.

    Args:
        clusters: Scores from 0 to 1.
    """
    return effective_size(
        clamp(clusters.mean, 0, 1),
        clusters.row_variance,
        clusters.size / (clusters.size - 1) * clusters.spread,
        rows=clusters.rows,
        clusters=clusters.size,
        kish=clusters.kish,
    )


def effective_size(
    mean: float, variance: float, between: float, *, rows: float, clusters: float, kish: float
) -> float:
    """``effective_rows`` from summary statistics.

    Args:
        mean: m, in [0, 1].
        variance: s², of the rows.
        between: V, of the clusters' sums.
        rows: N.
        clusters: C.
        kish: Kish's effective number of clusters.
    """
    if variance <= ALIKE or not 0 < mean < 1:
        return kish
    mean_size = rows / clusters
    shape = min(1.0, variance / (mean * (1 - mean)))
    spread = between + HALF_CLUSTER * mean_size**2 * shape
    within = rows * variance + HALF_CLUSTER * mean_size * shape
    independent, distant = rows / max(1.0, spread / within), HALF_ROW * (2 * mean - 1) ** 2
    return independent * (independent + distant) / (independent * shape + distant)


def of_rate(clusters: ClusterMoments) -> ClusterMoments:
    """The moments of scores of 0 or 1, whose squares are the scores themselves."""
    return replace(clusters, squares=clusters.total)


def check_rates(clusters: ClusterMoments) -> None:
    """Raise ``InputError`` if the sums cannot be counts of successes."""
    if clusters.least < 0 or clusters.greatest > 1:
        raise InputError("Successes must lie between 0 and the rows of their cluster.")


def check_range(clusters: ClusterMoments, low: float | None, high: float | None) -> None:
    """Raise ``InputError`` if a cluster's mean is outside the range, up to rounding."""
    if low is not None and high is not None and not low < high:
        raise InputError(f"A range needs low < high, got {low} and {high}.")
    least, greatest = clusters.least, clusters.greatest
    below = low is not None and least < low - OUTSIDE * max(1, abs(low))
    above = high is not None and greatest > high + OUTSIDE * max(1, abs(high))
    if below or above:
        raise InputError(
            f"Scores from {low} to {high} cannot have means from {least} to {greatest}."
        )


ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean over ``n`` rows in ``clusters`` clusters.

    ``value`` is None for no rows. ``interval`` is None for fewer than two clusters (except that a
    single row of a rate has one), and for scores without variation whose range is not known.
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
        squares: Shape (C,). Sum of the squared scores of each cluster. Required for bounded scores
            in clusters of several rows.
    """
    clusters = read_clusters(sums, counts, None if rate else squares).moments
    bounded = not rate and low is not None and high is not None
    if bounded and squares is None and clusters.largest > 1:
        raise InputError("Bounded scores in clusters of several rows need their squares.")
    return mean_of_clusters(clusters, rate=rate, low=low, high=high, level=level)


def mean_of_clusters(
    clusters: ClusterMoments,
    *,
    rate: bool,
    low: float | None,
    high: float | None,
    level: float = 0.95,
) -> MeanEstimate:
    """Return ``mean_interval`` from the moments of the clusters."""
    if clusters.size == 0:
        return MeanEstimate(None, None, 0, 0)
    if rate:
        check_rates(clusters)
        interval = (
            wilson(clusters.total, clusters.rows, level=level)
            if clusters.single
            else rate_interval(clusters, level)
        )
        value = clusters.mean
    else:
        check_range(clusters, low, high)
        value = clamp(clusters.mean, low, high)
        if low is not None and high is not None:
            interval = bounded_interval(clusters, level, low, high)
        else:
            interval = t_interval(clusters, level, low=low, high=high)
            if interval and interval.high - interval.low <= ROUNDING * abs(clusters.mean):
                interval = None
    return MeanEstimate(value, interval, round(clusters.rows), clusters.size)
