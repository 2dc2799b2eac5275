"""PPI++: prediction-powered inference, a judge's mean score corrected by its labelled errors."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError
from ragstone.stats.codes import Codes, Floats, sums_by
from ragstone.stats.interval import clamp
from ragstone.stats.kish import kish_size

from .corrected import NO_LABELS, ONE_CLUSTER, Corrected, label_flags
from .labelled_rows import LabelledRows, read_labelled
from .labels_only import (
    check_scale,
    degrees_of_freedom,
    sample_spread,
    variance_of_labels,
)
from .mean_with_error import MeanWithError, bounded_size

HALF_ERROR = 0.5


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """A prediction-powered mean with its weight on the judge and its variance.

    ``power`` is λ, from 0 (labels only) to 1 (the judge's mean, corrected by its
    mean error). ``variance_labelled`` and ``variance_rest`` are the parts of the
    variance of ``value`` that come from the labelled rows and from the others.
    """

    value: float | None
    power: float
    variance_labelled: float
    variance_rest: float
    mean: MeanWithError

    def at(self, level: float) -> Corrected:
        """The mean with its interval at ``level``, in (0, 1)."""
        return self.mean.at(level)


def ppi_mean(
    scores: ArrayLike,
    labelled: ArrayLike,
    labels: ArrayLike,
    *,
    low: float | None = None,
    high: float | None = None,
    rate: bool = False,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> Corrected:
    """Estimate of people's mean over all judged rows, from the labels of some of them.

        ȳ + g · (f̄_all - f̄)     ȳ, f̄ over the labelled rows, f̄_all over all judged ones

    y are people's labels, f the judge's scores. The same as λ f̄_rest + mean of
    (y - λ f) with λ = g (N - n) / N, where "rest" are the judged rows without a
    label. λ in [0, 1] is chosen to minimise the variance, so a useless judge does
    no harm when there are many labels. For rates ``poststratified_rate`` is the
    better choice, especially near 0 or 1.

    For independent rows of equal weight λ and the variance are the paper's, with a
    factor of n / (n - 1) and Student's t. With clusters, contributions to the mean
    are first summed by cluster; with weights, ȳ and f̄ are weighted means. On a
    bounded scale the interval is Wilson's, rescaled, with an effective sample size:
    that of the labels (``effective_rows``) times the gain from the judge, which is
    the variance of ȳ over that of the result. The paper's interval, value ± t ·
    standard error, is too narrow near an end; it is used for other scales.

    A good judge's errors are few, and none may occur in the sample. So for a rate,
    half an error of one row or cluster is added to both variances: 1/2 over the
    square of Kish's effective number of them. With many errors it is negligible.

    Args:
        scores: Shape (N,). The judge's score of each row, finite, in any unit.
        labelled: Shape (n,) indices or shape (N,) mask of the labelled rows.
        labels: Shape (n,), people's labels, in the order of the rows.
        low: The least possible mean, None for no bound.
        high: The greatest possible mean, None for no bound.
        rate: Whether people's labels are only 0 or 1, the ends of the scale.
        weights: Shape (n,). Inverse probabilities of being drawn for labelling,
            up to a common factor.
        clusters: Shape (N,). Rows with the same value are not independent.
        level: Share of intervals that should hold the true mean, in (0, 1).

    Raises:
        InputError: Wrong shapes or numbers.

    Source: Angelopoulos, Duchi & Zrnic (2023), "PPI++: Efficient
    Prediction-Powered Inference".
    """
    ready = prediction_powered(
        scores,
        labelled,
        labels,
        low=low,
        high=high,
        rate=rate,
        weights=weights,
        clusters=clusters,
    )
    return ready.at(level)


def prediction_powered(
    scores: ArrayLike,
    labelled: ArrayLike,
    labels: ArrayLike,
    *,
    low: float | None = None,
    high: float | None = None,
    rate: bool = False,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
) -> PredictionPowered:
    """``ppi_mean`` in prepared form, whose ``at`` gives the estimate at any level."""
    judged = np.asarray(scores, dtype=np.float64)
    if judged.ndim != 1 or not np.isfinite(judged).all():
        raise InputError("Scores of the judge must be of shape (N,) and finite.")
    sample = read_labelled(
        len(judged), labelled, labels, rate=rate, weights=weights, clusters=clusters
    )
    reason = NO_LABELS if sample.n == 0 else ONE_CLUSTER if sample.n_clusters == 1 else None
    value, power, inside, outside = None, 0.0, 0.0, 0.0
    if sample.n:
        value, power, inside, outside = _estimate(judged, sample)
    check_scale(sample, low, high)
    size = bounded_size(sample, low, high)
    if size is not None and inside + outside > 0:
        alone = variance_of_labels(sample, float(np.average(sample.labels, weights=sample.weights)))
        unseen = HALF_ERROR / kish_size(sample.cluster_weights) ** 2 if rate else 0.0
        size *= (alone + unseen) / (inside + outside + unseen) if alone else 1.0
    on_scale = None if value is None else clamp(value, low, high)
    mean = MeanWithError(
        on_scale,
        sqrt(inside + outside),
        sample_spread(sample),
        degrees_of_freedom(sample),
        size,
        low,
        high,
        sample.n,
        "ppi_plus_plus",
        "ppi_plus_plus",
        label_flags(sample.n, sample.n_clusters),
        reason,
    )
    return PredictionPowered(on_scale, power, inside, outside, mean)


def _estimate(judged: Floats, sample: LabelledRows) -> tuple[float, float, float, float]:
    """Value, λ, and the variance from the labelled units and from the rest.

    ``adds`` and ``follows`` are each row's contribution to ȳ and to f̄_all - f̄, centred, so that
    ``adds + g · follows`` is its contribution to the estimate.
    """
    share = sample.weights / sample.n
    seen = judged[sample.rows]
    label_mean, seen_mean = float(share @ sample.labels), float(share @ seen)
    labelled = np.zeros(len(judged), dtype=bool)
    labelled[sample.rows] = True
    adds = np.zeros(len(judged))
    adds[sample.rows] = share * (sample.labels - label_mean)
    follows = (judged - _centre(judged, labelled, sample.weighted)) / len(judged)
    follows[sample.rows] -= share * (seen - seen_mean)
    if sample.clusters is not None:
        adds = sums_by(sample.clusters, adds)
        follows = sums_by(sample.clusters, follows)
        labelled = np.bincount(sample.clusters, weights=labelled) > 0
    fair = sample.clusters is None and not sample.weighted
    gain = _paper_gain(judged, sample) if fair else _least_variance_gain(adds, follows, labelled)
    rest = len(judged) - sample.n
    most = len(judged) / max(1, rest)
    gain = clamp(gain, 0, most)
    value = label_mean + gain * (float(judged.mean()) - seen_mean)
    effect = adds + gain * follows
    inside, outside = _variance(effect[labelled]), _variance(effect[~labelled])
    return value, gain / most if rest else 0.0, inside, outside


def _centre(judged: Floats, labelled: NDArray[np.bool_], weighted: bool) -> float | Floats:
    """Centre of the judge's scores: separate means of labelled and other rows if both are random.

    With weights the labelled rows are no simple random sample, so all share the overall mean.
    """
    if weighted or labelled.all():
        return float(judged.mean())
    return np.asarray(np.where(labelled, judged[labelled].mean(), judged[~labelled].mean()))


def _paper_gain(judged: Floats, sample: LabelledRows) -> float:
    seen = judged[sample.rows]
    together = float(np.mean((sample.labels - sample.labels.mean()) * (seen - seen.mean())))
    variance = float(judged.var(ddof=1)) if len(judged) > 1 else 0.0
    return together / variance if variance else 0.0


def _least_variance_gain(adds: Floats, follows: Floats, labelled: NDArray[np.bool_]) -> float:
    """The g that minimises the variance of ``adds + g · follows``."""
    scale = np.where(labelled, _correction(labelled.sum()), _correction((~labelled).sum()))
    square = float(scale @ follows**2)
    return -float(scale @ (adds * follows)) / square if square else 0.0


def _variance(effect: Floats) -> float:
    return _correction(len(effect)) * float(effect @ effect)


def _correction(units: int) -> float:
    return units / (units - 1) if units > 1 else 1.0
