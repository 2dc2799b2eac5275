"""Ratio: one sum over another, such as supported claims over all claims, or cost per answer.

A cluster, such as the answers to one question, contributes to both sums. So the
ratio is computed from the clusters' sums, and clusters are the independent units.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError

from .bootstrap import cluster_bootstrap
from .cluster_moments import ClusterMoments, moments_of
from .clusters import Clusters, check_range, wilson_of
from .interval import Interval, clamp, upper_quantile
from .student import t_quantile

Floats = NDArray[np.float64]

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class RatioEstimate:
    """A ratio of two sums over ``clusters`` clusters.

    ``value`` is None (undefined) if the denominators sum to 0. ``interval`` is
    None for fewer than two clusters with a denominator, and if all clusters have
    the same ratio and its range is not known.
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

    A bounded ratio is the mean of the clusters' ratios, weighted by their
    denominators. It has the interval of such a mean, ``bounded_wilson`` with
    clusters as rows: never beyond the range, never a single point.

    Args:
        numerators: Shape (C,). Sum of each cluster, in any unit.
        denominators: Shape (C,). At least 0. Clusters in which both are 0 are
            left out.
        low: The least possible ratio of a cluster; None for no bound.
        high: The greatest possible ratio of a cluster; None for no bound.
        level: Share of intervals that should hold the true ratio, in (0, 1).

    Raises:
        InputError: Wrong shapes, numbers that are not finite, denominators below
            0, ratios out of their range.

    Source: Cochran (1977), "Sampling Techniques", sections 2.11 and 6.3; the form
    for a range as in ``bounded_wilson``.
    """
    upper = upper_quantile(level)
    read = _read(numerators, denominators)
    if not read.counts.any():
        return RatioEstimate(None, None, len(read.counts))
    clusters = read.moments
    value = clamp(clusters.mean, low, high)
    interval: Interval | None
    if low is None or high is None:
        interval = _delta(clusters, low, high, level) if clusters.size > 1 else None
    else:
        own = _one_row_each(read, low, high)
        interval = None
        if own.size > 1:
            least, greatest = wilson_of(own.stretched(low, high), upper)
            span = high - low
            interval = Interval(low + least * span, low + greatest * span, level, "bounded_wilson")
    return RatioEstimate(value, interval, clusters.size)


def ratio_bootstrap(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    seed: int,
    level: float = 0.95,
    resamples: int = 2000,
) -> RatioEstimate:
    """Ratio of two sums, with an interval by the cluster bootstrap.

    For a ratio that is far from normal: few clusters with large denominators. Like
    ``cluster_bootstrap``, too narrow for few clusters and near the ends of a range.

    Args:
        numerators: As for ``ratio_of_sums``.
        denominators: As for ``ratio_of_sums``.
        seed: The same seed gives the same draws on every machine.
        level: As for ``ratio_of_sums``.
        resamples: Number of resamples of C clusters. Those whose denominators are all 0 are left
            out.

    Raises:
        InputError: As ``ratio_of_sums``, or fewer than two resamples.

    Source: Davison & Hinkley (1997), "Bootstrap Methods and their Application",
    section 3.8.
    """
    upper_quantile(level)
    clusters = _read(numerators, denominators)
    size = len(clusters.counts)
    if not clusters.counts.any():
        return RatioEstimate(None, None, size)
    interval = cluster_bootstrap(
        clusters.sums[:, None],
        clusters.counts[:, None],
        lambda ratios: ratios[:, 0],
        seed=seed,
        resamples=resamples,
        level=level,
    )
    return RatioEstimate(clusters.moments.mean, interval, size)


def _read(numerators: ArrayLike, denominators: ArrayLike) -> Clusters:
    """Check the arrays: numerators as sums, denominators as counts, without empty clusters."""
    try:
        a = np.asarray(numerators, dtype=np.float64)
        b = np.asarray(denominators, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"numerators and denominators must be arrays of numbers: {error}."
        ) from error
    faults = []
    if a.ndim != 1 or a.shape != b.shape:
        faults.append(f"both must be of one shape (C,), got {a.shape} and {b.shape}")
    if not np.isfinite(a).all():
        faults.append("numerators must be finite")
    if not (np.isfinite(b) & (b >= 0)).all():
        faults.append("denominators must be finite and at least 0")
    if faults:
        raise InputError(f"A ratio of sums cannot be computed: {'; '.join(faults)}.")
    not_empty = (a != 0) | (b != 0)
    a, b = a[not_empty], b[not_empty]
    return Clusters(a, b, np.divide(a * a, b, out=np.zeros_like(a), where=b > 0))


def _delta(
    clusters: ClusterMoments, low: float | None, high: float | None, level: float
) -> Interval | None:
    ratio = clusters.mean
    half = t_quantile(upper_quantile(level), clusters.df) * sqrt(clusters.variance)
    ends = clamp(ratio - half, low, high), clamp(ratio + half, low, high)
    interval = Interval(*ends, level, "ratio_delta")
    return None if interval.high - interval.low <= ROUNDING * abs(ratio) else interval


def _one_row_each(clusters: Clusters, low: float, high: float) -> ClusterMoments:
    """Every cluster as one row with its own ratio, weighted by its denominator.

    Denominators are divided by their mean, so that their unit does not matter.
    """
    if (clusters.sums[clusters.counts == 0] != 0).any():
        raise InputError(
            f"A ratio from {low} to {high} cannot have a cluster with a numerator and no "
            "denominator."
        )
    check_range(clusters.moments, low, high)
    unit = clusters.counts.mean()
    return moments_of(clusters.sums / unit, clusters.counts / unit, clusters.squares / unit)
