"""Ratio: one sum over another, such as supported claims over all claims, or cost per answer.

The rows of one cluster, such as the answers to one question, go into both sums
together. So the ratio is that of the clusters' sums, with every cluster as one draw.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.errors import InputError

from .bootstrap import cluster_bootstrap
from .clusters import Clusters, check_range, wilson_of
from .interval import Interval, clamp, upper_quantile
from .student import t_quantile

Floats = NDArray[np.float64]

ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class RatioEstimate:
    """A ratio of two sums over ``clusters`` clusters.

    ``value`` is None, undefined, where the denominators sum to 0. ``interval`` is
    None where the clusters cannot tell: fewer than two with a denominator, or all
    of one ratio and no range to argue from.
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

    A ratio in a range with two ends is the mean of the clusters' own ratios,
    each weighted by its denominator. It has the interval of such a mean,
    ``bounded_wilson``, with a cluster as a row: never beyond the range, never a
    single point.

    Args:
        numerators: Shape (C,). Sum of each cluster, in any unit.
        denominators: Shape (C,). At least 0. Clusters where both are 0 say
            nothing and are left out.
        low: The least ratio that a cluster can have; None for no bound.
        high: The greatest.
        level: Share of intervals that should hold the true ratio, in (0, 1).

    Raises:
        InputError: Wrong shapes, numbers that are not finite, denominators below
            0, ratios out of their range.

    Source: Cochran (1977), "Sampling Techniques", sections 2.11 and 6.3; the form
    for a range as in ``bounded_wilson``.
    """
    upper = upper_quantile(level)
    clusters = _read(numerators, denominators)
    if clusters.rows == 0:
        return RatioEstimate(None, None, clusters.size)
    value = clamp(clusters.mean, low, high)
    interval: Interval | None
    if low is None or high is None:
        interval = _delta(clusters, low, high, level) if clusters.size > 1 else None
    else:
        own = _one_row_each(clusters, low, high)
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
    """Ratio of two sums, with an interval by drawing whole clusters again.

    For a ratio that is far from normal: few clusters with large denominators. As
    ``cluster_bootstrap``, too narrow for few clusters and near the ends of a range.

    Args:
        numerators: As for ``ratio_of_sums``, and so are ``denominators`` and ``level``.
        seed: The same seed gives the same draws on every machine.
        resamples: Draws of C clusters. One without any denominator is left out.

    Raises:
        InputError: As ``ratio_of_sums``, or fewer than two resamples.

    Source: Davison & Hinkley (1997), "Bootstrap Methods and their Application",
    section 3.8.
    """
    upper_quantile(level)
    clusters = _read(numerators, denominators)
    if clusters.rows == 0:
        return RatioEstimate(None, None, clusters.size)
    interval = cluster_bootstrap(
        clusters.sums[:, None],
        clusters.counts[:, None],
        lambda ratios: ratios[:, 0],
        seed=seed,
        resamples=resamples,
        level=level,
    )
    return RatioEstimate(clusters.mean, interval, clusters.size)


def _read(numerators: ArrayLike, denominators: ArrayLike) -> Clusters:
    """Numerators as sums and denominators as counts, without clusters that have neither."""
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
        raise InputError(f"A ratio of sums cannot be had: {'; '.join(faults)}.")
    told = (a != 0) | (b != 0)
    a, b = a[told], b[told]
    return Clusters(a, b, np.divide(a * a, b, out=np.zeros_like(a), where=b > 0))


def _delta(
    clusters: Clusters, low: float | None, high: float | None, level: float
) -> Interval | None:
    ratio = clusters.mean
    half = t_quantile(upper_quantile(level), clusters.df) * sqrt(clusters.variance)
    ends = clamp(ratio - half, low, high), clamp(ratio + half, low, high)
    interval = Interval(*ends, level, "ratio_delta")
    return None if interval.high - interval.low <= ROUNDING * abs(ratio) else interval


def _one_row_each(clusters: Clusters, low: float, high: float) -> Clusters:
    """Every cluster as one row with its own ratio, weighted by its denominator.

    In units of the mean denominator, so that it does not matter what the
    denominators are counted in.
    """
    if (clusters.sums[clusters.counts == 0] != 0).any():
        raise InputError(
            f"A ratio from {low} to {high} cannot have a cluster with a numerator and no "
            "denominator."
        )
    check_range(clusters, low, high)
    unit = clusters.rows / clusters.size
    return Clusters(clusters.sums / unit, clusters.counts / unit, clusters.squares / unit)
