"""Labels only: estimates from people's labels, without a judge."""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.distributions import Method, wilson_ends
from ragstone.stats.weights_and_groups import Codes, kish_size, sums_by

from .corrected import (
    LabelledRows,
    MeanCorrection,
    bounded_size,
    mean_correction,
    rate_correction,
    read_labelled,
)
from .poststratified import design_effect


def rate_of_labels(
    labels: ArrayLike, *, weights: ArrayLike | None = None, clusters: Codes | None = None
) -> MeanCorrection:
    """Rate from labels alone; ``at`` gives the estimate at any level.

    ``wilson`` for independent rows, ``cluster_wilson`` for clusters. With unequal weights the
    sample size is Kish's effective one, divided by the design effect of the weighted rows if that
    is above 1; if all labels are equal, it is Kish's effective number of clusters.

    Source: Wilson (1927); Kish (1965); as in ``cluster_wilson`` for clusters.
    """
    sample = all_labelled(labels, weights, clusters, rate=True)
    value, size = sized_rate(sample)
    return rate_correction(
        sample,
        value if sample.n else None,
        lambda q: wilson_ends(value, size, q),
        df=sample.df,
        correction="labels_only",
        method="wilson" if clusters is None else "cluster_wilson",
        reason=sample.reason,
    )


def sized_rate(sample: LabelledRows) -> tuple[float, float]:
    """The rate of ``rate_of_labels`` and its effective sample size; both 0 without a label."""
    value = min(1.0, weighted_mean(sample))
    if sample.alike:
        return value, kish_size(sample.cluster_weights)
    size = kish_size(sample.weights)
    if sample.df is not None:
        residual = sample.weights * (sample.labels - value) / sample.n
        by_cluster = sums_by(sample.own_clusters, residual)
        size /= float(design_effect(np.ones(1), np.array([value]), np.array([size]), by_cluster))
    return value, size


def mean_of_labels(
    labels: ArrayLike,
    *,
    low: float | None = None,
    high: float | None = None,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
) -> MeanCorrection:
    """Mean from labels alone; ``at`` gives the estimate at any level.

        mean = sum of w y / sum of w,   variance = C / (C - 1) · sum of (sum of w (y - mean))²

    The inner sum runs over the rows of a cluster, with weights scaled to a sum of 1. With Student's
    t on the rows or clusters; ``bounded_wilson`` for a bounded scale. Without weights the same as
    ``mean_interval``.

    Source: Hájek (1971), "Comment on an essay by D. Basu", for the weighted mean; Cochran (1977),
    "Sampling Techniques", chapter 6, for its variance.
    """
    sample = all_labelled(labels, weights, clusters, rate=False)
    check_scale(sample, low, high)
    value = weighted_mean(sample)
    bounded = low is not None and high is not None
    free: Method = "t" if clusters is None else "cluster_t"
    return mean_correction(
        sample,
        value,
        sqrt(variance_of_labels(sample, value)),
        bounded_size(sample, low, high),
        low=low,
        high=high,
        correction="labels_only",
        method="bounded_wilson" if bounded else free,
    )


def weighted_mean(sample: LabelledRows) -> float:
    """Hájek's mean of the labels; 0 for none."""
    return float(np.average(sample.labels, weights=sample.weights)) if sample.n else 0.0


def check_scale(sample: LabelledRows, low: float | None, high: float | None) -> None:
    """Raise ``InputError`` if a label is not on its scale."""
    if low is not None and high is not None and not low < high:
        raise InputError(f"A scale needs low < high, got {low} and {high}.")
    below = low is not None and bool((sample.labels < low).any())
    above = high is not None and bool((sample.labels > high).any())
    if below or above:
        raise InputError(
            f"Labels from {sample.labels.min()} to {sample.labels.max()} are outside the scale "
            f"from {low} to {high}."
        )


def variance_of_labels(sample: LabelledRows, mean: float) -> float:
    """Variance of the weighted mean of the labels, between clusters; 0 for a single cluster."""
    effect = sample.weights * (sample.labels - mean) / sample.n
    sums = sums_by(sample.own_clusters, effect)
    return float(sums @ sums) * len(sums) / (len(sums) - 1) if len(sums) > 1 else 0.0


def all_labelled(
    labels: ArrayLike, weights: ArrayLike | None, clusters: Codes | None, *, rate: bool
) -> LabelledRows:
    """Labels with nothing but themselves: every judged row is labelled."""
    n = np.size(np.asarray(labels, dtype=np.float64))
    return read_labelled(n, np.arange(n), labels, rate=rate, weights=weights, clusters=clusters)
