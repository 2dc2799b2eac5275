"""Labels only: estimates from people's labels, without a judge."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.distributions import Interval, Method, clamp, quantile, wilson_ends
from ragstone.stats.weights_and_groups import Codes, kish_size, sums_by

from .corrected import (
    NO_LABELS,
    ONE_CLUSTER,
    Corrected,
    LabelledRows,
    MeanWithError,
    bounded_size,
    effective_labels_of_rate,
    label_flags,
    read_labelled,
)
from .poststratified import design_effect


@dataclass(frozen=True, slots=True)
class LabelsOnlyRate:
    """A rate with effective sample size ``size``."""

    value: float | None
    size: float
    df: float | None
    method: Method
    n_labels: int
    flags: tuple[str, ...]
    reason: str | None

    def at(self, level: float) -> Corrected:
        """The rate with its interval at ``level``, in (0, 1)."""
        q = quantile(level, self.df)
        if self.value is None or self.reason is not None:
            return Corrected(
                self.value, None, "labels_only", self.n_labels, None, reason=self.reason
            )
        interval = Interval(*wilson_ends(self.value, self.size, q), level, self.method)
        effective = effective_labels_of_rate(self.value, interval)
        return Corrected(
            self.value, interval, "labels_only", self.n_labels, effective, flags=self.flags
        )


def rate_of_labels(
    labels: ArrayLike, *, weights: ArrayLike | None = None, clusters: Codes | None = None
) -> LabelsOnlyRate:
    """Rate from labels alone; ``at`` gives the estimate at any level.

    ``wilson`` for independent rows, ``cluster_wilson`` for clusters. With unequal weights the
    sample size is Kish's effective one, divided by the design effect of the weighted rows if that
    is above 1; if all labels are equal, it is Kish's effective number of clusters.

    Source: Wilson (1927); Kish (1965); as in ``cluster_wilson`` for clusters.
    """
    sample = _all_labelled(labels, weights, clusters, rate=True)
    reason = _reason(sample)
    value = float(np.average(sample.labels, weights=sample.weights)) if sample.n else None
    size = kish_size(sample.weights)
    if sample.alike:
        size = kish_size(sample.cluster_weights)
    elif value is not None and sample.df is not None:
        residual = sample.weights * (sample.labels - value) / sample.n
        by_cluster = sums_by(sample.own_clusters, residual)
        rate, rows = np.array([value]), np.array([size])
        size /= float(design_effect(np.ones(1), rate, rows, by_cluster))
    return LabelsOnlyRate(
        None if value is None else min(1.0, value),
        size,
        sample.df,
        "wilson" if clusters is None else "cluster_wilson",
        sample.n,
        label_flags(sample.n, sample.n_clusters),
        reason,
    )


def mean_of_labels(
    labels: ArrayLike,
    *,
    low: float | None = None,
    high: float | None = None,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
) -> MeanWithError:
    """Mean from labels alone; ``at`` gives the estimate at any level.

        mean = sum of w y / sum of w,   variance = C / (C - 1) · sum of (sum of w (y - mean))²

    The inner sum runs over the rows of a cluster, with weights scaled to a sum of 1. With Student's
    t on the rows or clusters; ``bounded_wilson`` for a bounded scale. Without weights the same as
    ``mean_interval``.

    Source: Hájek (1971), "Comment on an essay by D. Basu", for the weighted mean; Cochran (1977),
    "Sampling Techniques", chapter 6, for its variance.
    """
    sample = _all_labelled(labels, weights, clusters, rate=False)
    check_scale(sample, low, high)
    value, error = None, 0.0
    if sample.n:
        value = float(np.average(sample.labels, weights=sample.weights))
        error = sqrt(variance_of_labels(sample, value))
    bounded = low is not None and high is not None
    free: Method = "t" if clusters is None else "cluster_t"
    return MeanWithError(
        None if value is None else clamp(value, low, high),
        error,
        sample_spread(sample),
        degrees_of_freedom(sample),
        bounded_size(sample, low, high),
        low,
        high,
        sample.n,
        "labels_only",
        "bounded_wilson" if bounded else free,
        label_flags(sample.n, sample.n_clusters),
        _reason(sample),
    )


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


def sample_spread(sample: LabelledRows) -> float:
    """Weighted variance of the labels; 0 for fewer than two labels."""
    if sample.n < 2:
        return 0.0
    gaps = sample.labels - np.average(sample.labels, weights=sample.weights)
    return float(sample.weights @ gaps**2) / (sample.n - 1)


def degrees_of_freedom(sample: LabelledRows) -> float:
    """``LabelledRows.df``, or n - 1 for independent rows of equal weight; at least 1."""
    return max(1.0, sample.n - 1.0) if sample.df is None else sample.df


def _all_labelled(
    labels: ArrayLike, weights: ArrayLike | None, clusters: Codes | None, *, rate: bool
) -> LabelledRows:
    n = np.size(np.asarray(labels, dtype=np.float64))
    return read_labelled(n, np.arange(n), labels, rate=rate, weights=weights, clusters=clusters)


def _reason(sample: LabelledRows) -> str | None:
    if sample.n == 0:
        return NO_LABELS
    return ONE_CLUSTER if sample.n_clusters == 1 else None
