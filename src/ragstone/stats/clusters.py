"""Intervals for a mean whose rows come in clusters, such as five answers to each question.

Rows of one cluster resemble each other, so they tell less than as many
independent ones. All that is needed is the sum of the scores and the number of
rows of every cluster.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.errors import InputError

from .interval import Interval, clamp, upper_quantile
from .student import t_quantile
from .wilson import wilson_ends

HALF_CLUSTER = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Sums and counts, checked: shape (C,), finite, every count at least 1."""

    sums: NDArray[np.float64]
    counts: NDArray[np.float64]

    @property
    def size(self) -> int:
        return len(self.sums)

    @property
    def rows(self) -> float:
        return float(self.counts.sum())

    @property
    def mean(self) -> float:
        """Of all rows, each with the same weight."""
        return float(self.sums.sum()) / self.rows

    @property
    def single(self) -> bool:
        """Whether every cluster is one row."""
        return bool(self.counts.max() == 1)

    @property
    def variance(self) -> float:
        """Of ``mean``, for two clusters or more.

        C / (C - 1) · sum of (s_c - mean · n_c)² / N²
        """
        residuals = self.sums - self.mean * self.counts
        squares = float(residuals @ residuals)
        return self.size / (self.size - 1) * squares / self.rows**2

    @property
    def df(self) -> float:
        """Degrees of freedom of ``variance``: C - 1 for clusters of equal size.

        (sum of n_c)² / sum of n_c² - 1 in general, at least 1: a few large
        clusters among many small ones decide the variance almost alone.
        """
        return max(1.0, self.rows**2 / float(self.counts @ self.counts) - 1)


def read_clusters(sums: ArrayLike, counts: ArrayLike) -> Clusters:
    """Check the arrays and keep them as numbers.

    Args:
        sums: Shape (C,). Sum of the scores of each cluster, finite.
        counts: Shape (C,). Rows of each cluster, at least 1: leave out a
            cluster that has none.

    Raises:
        InputError: With every fault of the two.
    """
    clusters = Clusters(_floats("sums", sums), _floats("counts", counts))
    faults = []
    if clusters.sums.ndim != 1 or clusters.sums.shape != clusters.counts.shape:
        faults.append(
            "sums and counts must be of one shape (C,), "
            f"got {clusters.sums.shape} and {clusters.counts.shape}"
        )
    if not np.isfinite(clusters.sums).all():
        faults.append("sums must be finite")
    if not (np.isfinite(clusters.counts) & (clusters.counts >= 1)).all():
        faults.append("counts must be finite and at least 1")
    if faults:
        raise InputError(f"Clusters cannot be used: {'; '.join(faults)}.")
    return clusters


def cluster_t_mean(
    sums: ArrayLike,
    counts: ArrayLike,
    *,
    level: float = 0.95,
    low: float | None = None,
    high: float | None = None,
) -> Interval | None:
    """Interval for the mean score of the population the clusters stand for.

        mean ± t(df) · sqrt(variance)    as in ``Clusters``

    The ordinary t interval where every cluster is one row. Too narrow for a
    rate near 0 or 1 (use ``cluster_wilson``) and a single point where nothing
    varies (``mean_interval`` falls back).

    Args:
        sums: Shape (C,). Sum of the scores of each cluster, in any unit.
        counts: Shape (C,). Rows of each cluster, at least 1.
        level: Share of intervals that should hold the true mean, in (0, 1).
        low: The least score there can be; the interval ends there.
        high: The greatest score there can be.

    Returns:
        The interval; None for fewer than two clusters.

    Raises:
        InputError: Wrong shapes, or numbers that are not finite.

    Source: Cochran (1977), "Sampling Techniques", chapter 6, for the ratio;
    Liang & Zeger (1986), "Longitudinal data analysis using generalized linear models".
    """
    clusters = read_clusters(sums, counts)
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
    """Score interval for a rate whose rows share clusters: inside [0, 1], never a single point.

    Wilson's ends with Student's t on the number of independent rows that the
    rows are worth:

        n_eff  = N / design effect
        effect = (V + h · n̄²) / (N p (1 - p) + h · n̄),  at least 1,  h = 1/2
        V      = C / (C - 1) · sum of (s_c - p n_c)²

    The ratio of V to N p (1 - p) alone is the usual design effect. It is near 1
    by accident for a rate near 0 or 1, where it rests on one or two clusters,
    and 0/0 at the ends. So half a cluster of the mean size n̄ = N / C, whose rows
    all agree, is added to both parts: nothing where there are many successes and
    failures, and n_eff = C where there are none of one of them.

    ``benchmarks/interval_coverage.py`` shows how often it holds the truth.

    Args:
        sums: Shape (C,). Successes of each cluster, in [0, count].
        counts: Shape (C,). Rows of each cluster, at least 1.
        level: Share of intervals that should hold the true rate, in (0, 1).

    Returns:
        The interval; None for fewer than two clusters.

    Raises:
        InputError: Wrong shapes, numbers that are not finite, more successes
            than rows.

    Source: Dean & Pagano (2015), "Evaluating confidence interval methods for
    binomial proportions in clustered surveys", for Wilson's ends on the
    effective sample; the half cluster is ours.
    """
    clusters = read_clusters(sums, counts)
    upper = upper_quantile(level)
    check_rates(clusters)
    if clusters.size < 2:
        return None
    rate, rows = min(1.0, clusters.mean), clusters.rows
    mean_size = rows / clusters.size
    between = clusters.variance * rows**2 + HALF_CLUSTER * mean_size**2
    binomial = rows * rate * (1 - rate) + HALF_CLUSTER * mean_size
    effect = max(1.0, between / binomial)
    low, high = wilson_ends(rate, rows / effect, t_quantile(upper, clusters.df))
    return Interval(low, high, level, "cluster_wilson")


def check_rates(clusters: Clusters) -> None:
    """Refuse sums that cannot be counts of successes."""
    if (clusters.sums < 0).any() or (clusters.sums > clusters.counts).any():
        raise InputError("Successes must lie between 0 and the rows of their cluster.")


def _floats(name: str, values: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of numbers: {error}.") from error
