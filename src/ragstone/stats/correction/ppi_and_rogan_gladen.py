"""PPI++ and Rogan-Gladen: a judge's mean or rate, corrected by people's labels of some rows.

PPI++ (prediction-powered inference) uses the judge's labelled errors, Rogan and Gladen its
sensitivity and specificity. The method for a rate is chosen from the design alone, before labels
are seen, because otherwise the intervals would be too narrow.
"""

from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.distributions import clamp
from ragstone.stats.weights_and_groups import Bools, Codes, Floats, kish_size, sums_by

from .corrected import (
    EXPECTED,
    FEW,
    MOST_STRATA,
    NO_LABELS,
    LabelledRows,
    MeanCorrection,
    bounded_size,
    mean_correction,
    rate_correction,
    read_labelled,
)
from .labels_only import all_labelled, check_scale, sized_rate, variance_of_labels, weighted_mean

NO_POSITIVES = "no_labelled_positives"
NO_NEGATIVES = "no_labelled_negatives"
NO_BETTER_THAN_CHANCE = "judge_no_better_than_chance"


# A rate with its effective sample size.
SizedRate = tuple[float, float]


def error_corrected(
    verdicts: ArrayLike,
    labelled: ArrayLike,
    labels: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
) -> MeanCorrection:
    """Estimate people's rate in all judged rows from the judge's error rates; ``at`` gives it.

        (share of positive verdicts + specificity - 1) / (sensitivity + specificity - 1)

    clipped to [0, 1]. Sensitivity and specificity are estimated from the labelled rows. The
    interval is that of Lang and Reiczigel; with clusters or weights it uses effective sample sizes
    and Student's t. It assumes that there are many more judged rows than labelled ones. It is wide
    if sensitivity + specificity is little above 1, and usually wider than that of ``poststratify``.

    Undefined without a labelled positive (``no_labelled_positives``) or negative
    (``no_labelled_negatives``), and if sensitivity + specificity <= 1
    (``judge_no_better_than_chance``).

    Source: Rogan & Gladen (1978), "Estimating prevalence from the results of a screening test";
    Lang & Reiczigel (2014), "Confidence limits for prevalence of disease adjusted for estimated
    sensitivity and specificity".
    """
    judged = np.asarray(verdicts, dtype=np.float64)
    sample = read_labelled(
        len(judged), labelled, labels, rate=True, weights=weights, clusters=clusters
    )
    sensitivity = _rate_where(judged, sample, 1)
    specificity = _rate_where(1 - judged, sample, 0)
    of_all = all_labelled(judged, None, sample.clusters, rate=True)
    verdicts_rate = float(judged.mean()), sized_rate(of_all)[1]
    reason = _reason(sample, sensitivity, specificity)
    return rate_correction(
        sample,
        None if reason else _rate(verdicts_rate[0], sensitivity[0], specificity[0]),
        lambda q: adjusted_ends(verdicts_rate, sensitivity, specificity, q),
        df=sample.df,
        correction="rogan_gladen",
        method="rogan_gladen",
        reason=reason,
    )


def _rate(judged: float, sensitivity: float, specificity: float) -> float:
    return clamp((judged + specificity - 1) / (sensitivity + specificity - 1), 0, 1)


def adjusted_ends(
    judged: SizedRate, sensitivity: SizedRate, specificity: SizedRate, q: float
) -> tuple[float, float]:
    """Ends of Lang and Reiczigel's interval; 0 and 1 for a judge no better than chance."""
    # A success and a failure are added to each error rate, q² / 2 of each to the verdicts.
    verdicts = _with_more(judged, q * q / 2)
    hits, passes = _with_more(sensitivity, 1), _with_more(specificity, 1)
    gain = hits[0] + passes[0] - 1
    if gain <= 0:
        return 0.0, 1.0
    value = _rate(verdicts[0], hits[0], passes[0])
    missed, passed = value * _rate_variance(hits), (1 - value) * _rate_variance(passes)
    shift = 2 * q * q * (missed - passed)
    variance = _rate_variance(verdicts) + (1 - value) * passed + value * missed
    half = q * sqrt(variance) / gain
    low = clamp(value + shift - half, 0, 1)
    return low, clamp(value + shift + half, low, 1)


def _rate_variance(sized: SizedRate) -> float:
    rate, rows = sized
    return rate * (1 - rate) / rows


def _with_more(sized: SizedRate, each: float) -> SizedRate:
    rate, rows = sized
    return (rate * rows + each) / (rows + 2 * each), rows + 2 * each


def _rate_where(right: Floats, sample: LabelledRows, label: int) -> SizedRate:
    chosen = sample.labels == label
    rows = sample.rows[chosen]
    clusters = None if sample.clusters is None else sample.clusters[rows]
    return sized_rate(all_labelled(right[rows], sample.weights[chosen], clusters, rate=True))


def _reason(sample: LabelledRows, sensitivity: SizedRate, specificity: SizedRate) -> str | None:
    if sample.n == 0:
        return NO_LABELS
    if sensitivity[1] == 0:
        return NO_POSITIVES
    if specificity[1] == 0:
        return NO_NEGATIVES
    if sensitivity[0] + specificity[0] <= 1:
        return NO_BETTER_THAN_CHANCE
    return sample.reason


HALF_ERROR = 0.5


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
) -> MeanCorrection:
    """Estimate people's mean over all judged rows from labels of some; ``at`` gives the interval.

        ȳ + g · (f̄_all - f̄)     ȳ, f̄ over the labelled rows, f̄_all over all judged ones

    y are people's labels, f the judge's scores. The same as λ f̄_rest + mean of (y - λ f) with λ =
    g (N - n) / N, where "rest" are the judged rows without a label. λ in [0, 1] is chosen to
    minimise the variance, so a useless judge does no harm when there are many labels. For rates
    ``poststratify`` is the better choice, especially near 0 or 1.

    For independent rows of equal weight λ and the variance are the paper's, with a factor of n / (n
    - 1) and Student's t. With clusters, contributions to the mean are first summed by cluster; with
    weights, ȳ and f̄ are weighted means. On a bounded scale the interval is Wilson's, rescaled,
    with an effective sample size: that of the labels (``effective_rows``) times the gain from the
    judge, which is the variance of ȳ over that of the result. The paper's interval, value ± t ·
    standard error, is too narrow near an end; it is used for other scales.

    A good judge's errors are few, and none may occur in the sample. So for a rate, half an error of
    one row or cluster is added to both variances: 1/2 over the square of Kish's effective number of
    them. With many errors it is negligible.

    Source: Angelopoulos, Duchi & Zrnic (2023), "PPI++: Efficient Prediction-Powered Inference".
    """
    judged = np.asarray(scores, dtype=np.float64)
    sample = read_labelled(
        len(judged), labelled, labels, rate=rate, weights=weights, clusters=clusters
    )
    value, inside, outside = 0.0, 0.0, 0.0
    if sample.n:
        value, _, inside, outside = powered_estimate(judged, sample)
    check_scale(sample, low, high)
    size = bounded_size(sample, low, high)
    if size is not None and inside + outside > 0:
        alone = variance_of_labels(sample, weighted_mean(sample))
        unseen = HALF_ERROR / kish_size(sample.cluster_weights) ** 2 if rate else 0.0
        size *= (alone + unseen) / (inside + outside + unseen) if alone else 1.0
    return mean_correction(
        sample,
        value,
        sqrt(inside + outside),
        size,
        low=low,
        high=high,
        correction="ppi_plus_plus",
        method="ppi_plus_plus",
    )


def powered_estimate(judged: Floats, sample: LabelledRows) -> tuple[float, float, float, float]:
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
    fair = sample.clusters is None and not sample.weighted
    spread = (judged - _centre(judged, labelled, fair=fair)) / len(judged)
    follows = spread.copy()
    follows[sample.rows] -= share * (seen - seen_mean)
    if sample.clusters is not None:
        adds = sums_by(sample.clusters, adds)
        follows, spread = sums_by(sample.clusters, follows), sums_by(sample.clusters, spread)
        labelled = np.bincount(sample.clusters, weights=labelled) > 0
    gain = (
        _paper_gain(judged, sample)
        if fair
        else _least_variance_gain(adds, follows, spread, labelled)
    )
    rest = len(judged) - sample.n
    most = len(judged) / max(1, rest)
    gain = clamp(gain, 0, most)
    value = label_mean + gain * (float(judged.mean()) - seen_mean)
    effect = adds + gain * follows
    inside, outside = _mean_variance(effect[labelled]), _mean_variance(effect[~labelled])
    return value, gain / most if rest else 0.0, inside, outside


def _centre(judged: Floats, labelled: Bools, *, fair: bool) -> float | Floats:
    """Centre of the judge's scores: separate means of labelled and other rows for a fair draw.

    With weights or clusters all share the overall mean: a handful of rows without labels may lie
    close together by chance.
    """
    if not fair or labelled.all():
        return float(judged.mean())
    return np.asarray(np.where(labelled, judged[labelled].mean(), judged[~labelled].mean()))


def _paper_gain(judged: Floats, sample: LabelledRows) -> float:
    seen = judged[sample.rows]
    together = float(np.mean((sample.labels - sample.labels.mean()) * (seen - seen.mean())))
    variance = float(judged.var(ddof=1)) if len(judged) > 1 else 0.0
    return together / variance if variance else 0.0


def _least_variance_gain(adds: Floats, follows: Floats, spread: Floats, labelled: Bools) -> float:
    """The gain of least variance; that of the rest is taken from all units, as the paper does.

    A handful of units without labels may have equal scores by chance, which would make their mean
    count for certain.
    """
    scale = _correction(labelled.sum())
    rest = (~labelled).sum() * _correction(len(spread)) * float(np.mean(spread**2))
    square = scale * float(follows[labelled] @ follows[labelled]) + rest
    return -scale * float(adds[labelled] @ follows[labelled]) / square if square else 0.0


def _mean_variance(effect: Floats) -> float:
    return _correction(len(effect)) * float(effect @ effect)


def _correction(units: int) -> float:
    return units / (units - 1) if units > 1 else 1.0


RateCorrection = Literal["poststratified", "ppi_plus_plus"]

ROUNDING = 1e-9


def favoured(
    scores: ArrayLike,
    labelled: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
) -> RateCorrection:
    """The method to correct a rate of the judged rows with labels of some of them.

    ``ppi_plus_plus`` if all of the following hold, otherwise ``poststratified``:

    - The judge gives at most five distinct scores, so that a linear correction uses nearly all of
      their information. Finer scores are better used by strata.
    - By the mean score of all judged rows, at least five positives and five negatives are expected
      among the labelled rows or clusters (Kish's effective number for unequal weights). With fewer,
      rare errors may not occur in the sample, and PPI++ takes them for impossible.
    - For clustered rows, at least 20 clusters are labelled.

    The choice uses no label; otherwise the intervals would be too narrow.

    ``benchmarks/correction.py`` measures both and the choice.
    """
    judged = np.asarray(scores, dtype=np.float64)
    mask_or_rows = np.asarray(labelled)
    n = int(mask_or_rows.sum()) if mask_or_rows.dtype == bool else len(mask_or_rows)
    sample = read_labelled(
        len(judged), mask_or_rows, np.zeros(n), rate=True, weights=weights, clusters=clusters
    )
    if sample.n == 0:
        return "poststratified"
    return favoured_of(
        float(judged.sum()) / len(judged),
        len(np.unique(judged)),
        kish_size(sample.cluster_weights),
        clusters=sample.n_clusters,
    )


def favoured_of(
    mean: float, values: int, size: float, *, clusters: float | None = None
) -> RateCorrection:
    """Choose like ``favoured`` from summary statistics, so that it can be planned before labelling.

    Args:
        size: Kish's effective number of labelled rows or clusters.
        clusters: Number of labelled clusters; None for independent rows.
    """
    if values > MOST_STRATA or (clusters is not None and clusters < FEW):
        return "poststratified"
    expected = size * min(mean, 1 - mean)
    return "ppi_plus_plus" if expected >= EXPECTED - ROUNDING else "poststratified"
