"""Rank measures: AUROC, Spearman's ρ and Kendall's τ of a judge's scores, with intervals."""

from dataclasses import dataclass
from math import atanh, sqrt, tanh

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.distributions import Interval, quantile
from ragstone.stats.weights_and_groups import (
    Bools,
    Codes,
    Floats,
    Ints,
    cluster_codes,
    heaviest_size,
    heavy_wilson_ends,
    kish_df,
    mean_ranks,
    row_weights,
    scores_with_labels,
    sums_by,
    variance_df,
)

NO_POSITIVES = "no_positives"
NO_NEGATIVES = "no_negatives"
NO_VARIATION = "no_variation"
TOO_FEW = "too_few"


@dataclass(frozen=True, slots=True)
class JudgeMeasure:
    """A share, an AUROC or a rank correlation over ``n`` rows, with an interval.

    ``value`` is None, and ``reason`` says why, if it is not defined. ``interval`` is also None if
    there are too few rows or clusters to estimate the variance, and where it cannot be estimated.
    """

    value: float | None
    interval: Interval | None
    n: int
    reason: str | None = None


def auroc(
    scores: ArrayLike, positive: ArrayLike, *, weights: ArrayLike | None = None
) -> float | None:
    """Share of (positive, negative) pairs that the score orders correctly; a tie counts as half.

    The result is from 0 to 1, .5 for an uninformative score; None if there is no positive or no
    negative.

    Args:
        weights: Shape (n,). Inverse sampling probabilities, up to a common factor; the weight of a
            pair is the product of its two rows' weights.

    Source: Hanley & McNeil (1982), "The meaning and use of the area under a receiver operating
    characteristic (ROC) curve".
    """
    values, true = scores_with_labels(scores, positive)
    mass = row_weights(weights, len(values))
    if not true.any() or true.all():
        return None
    positives = mass[true]
    # The rank among all rows minus the rank among positives is the weight of the negatives below,
    # ties counted half: so all pairs are counted by sorting, without forming any.
    beaten = mean_ranks(values, mass)[true] - mean_ranks(values[true], positives)
    return float(np.clip(positives @ beaten / (positives.sum() * mass[~true].sum()), 0, 1))


def auroc_interval(
    scores: ArrayLike,
    positive: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> JudgeMeasure:
    """AUROC with Wilson's interval on the effective sample size that its variance implies.

    Not defined without a positive or a negative. Without an interval if the positives, or the
    negatives, are all in one row or cluster.

    The interval is that of ``heavy_wilson_ends``. The variance is DeLong's; with clusters, rows'
    contributions to the AUROC, A, are first summed by cluster. k is the smaller of the numbers of
    positives and negatives, or of the clusters that hold them: at A = 1, where the variance is 0,
    n_eff = k, the smallest value it can have for independent rows. With unequal weights, the weight
    of a pair is the product of its rows' weights; k is reduced in proportion to ``heaviest_size``
    and the degrees of freedom in proportion to ``variance_df``.

    Source: DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two or more
    correlated receiver operating characteristic curves"; Obuchowski (1997), "Nonparametric analysis
    of clustered ROC curve data"; Birnbaum & Klose (1957), "Bounds for the variance of the
    Mann-Whitney statistic", for k.
    """
    value = auroc(scores, positive, weights=weights)
    labels = np.asarray(positive).astype(bool)
    n = len(labels)
    if value is None:
        return JudgeMeasure(None, None, n, NO_NEGATIVES if labels.any() else NO_POSITIVES)
    values = np.asarray(scores, dtype=np.float64)
    codes = cluster_codes(clusters, n)
    unit_codes = np.arange(n) if codes is None else codes
    mass = row_weights(weights, n)
    halves = [(len(np.unique(unit_codes[rows])), mass[rows]) for rows in (labels, ~labels)]
    if min(units for units, _ in halves) < 2:
        return JudgeMeasure(value, None, n)
    variance = delong_variance(values, labels, value, codes, mass)
    low, high = heavy_wilson_ends(
        value,
        variance,
        rows=max(1.0, min(units * heaviest_size(half) / len(half) for units, half in halves)),
        df=max(1.0, min(units * (variance_df(half) + 1) / len(half) for units, half in halves) - 1),
        level=level,
    )
    return JudgeMeasure(value, Interval(low, high, level, "delong"), n)


def delong_variance(
    scores: Floats, labels: Bools, value: float, codes: Ints | None, weights: Floats
) -> float:
    """Variance of an AUROC of ``value``: DeLong's, or Obuchowski's for clusters."""
    everyone, others = mean_ranks(scores, weights), ~labels
    positives, negatives = weights[labels], weights[others]
    parts = np.empty(len(scores))
    # For each positive the share of negatives below it; for each negative the share of positives
    # above it.
    parts[labels] = (everyone[labels] - mean_ranks(scores[labels], positives)) / negatives.sum()
    parts[others] = 1 - (everyone[others] - mean_ranks(scores[others], negatives)) / positives.sum()
    effect = weights * (parts - value) / np.where(labels, positives.sum(), negatives.sum())
    if codes is not None:
        sums = sums_by(codes, effect)
        return float(sums @ sums) * len(sums) / (len(sums) - 1)
    return sum(
        float(effect[rows] @ effect[rows]) * n / (n - 1)
        for rows, n in ((labels, len(positives)), (others, len(negatives)))
    )


FEWEST = 4
MOST_PAIRED = 10_000
ALIKE = 1e-12
PAIRS_AT_ONCE = 4_000_000


def spearman(
    a: ArrayLike,
    b: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> JudgeMeasure:
    """Spearman's ρ: the correlation of the ranks, tied values sharing their mean rank.

    Not defined for fewer than 2 rows (``too_few``) and without variation of one of the two. Without
    an interval for fewer than 4 rows or clusters, and for ranks in perfect order.

    The interval is tanh(atanh(ρ) ± t · s / (1 - ρ²)); s² is the variance of ρ by the delta method
    on the ranks, by cluster. With weights a row counts as that many rows, in the ranks too.

    Source: Spearman (1904), "The proof and measurement of association between two things".
    """
    x, y, mass, codes = _read(a, b, weights, clusters)
    if (undefined := _undefined(x, y)) is not None:
        return undefined
    u, v = (_standard(mean_ranks(values, mass), mass) for values in (x, y))
    share = mass / len(u)
    value = float(np.clip(share @ (u * v), -1, 1))
    effect = share * (u * v - value * (u**2 + v**2) / 2)
    return JudgeMeasure(value, _fisher(value, effect, mass, codes, level), len(u))


def kendall(
    a: ArrayLike,
    b: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> JudgeMeasure:
    """Kendall's τ-b: concordant minus discordant pairs, adjusted for ties.

        (C - D) / sqrt((pairs not tied in a) · (pairs not tied in b))

    Computed in O(n log n). The interval is tanh(atanh(τ) ± t · s / (1 - τ²)); s² is the
    delta-method variance of this ratio of means over pairs. It needs all pairs, so there is none
    above 10,000 rows. The weight of a pair is the product of its rows' weights.

    Source: Kendall (1945), "The treatment of ties in ranking problems"; Knight (1966) for n log n;
    Hoeffding (1948), "A class of statistics with asymptotically normal distribution", for the
    variance.
    """
    x, y, mass, codes = _read(a, b, weights, clusters)
    if (undefined := _undefined(x, y)) is not None:
        return undefined
    n = len(x)
    i, j = np.unique(x, return_inverse=True)[1], np.unique(y, return_inverse=True)[1]
    both = i * (int(j.max()) + 1) + j
    pairs = _tied_pairs(np.zeros(n, dtype=np.int64), mass)
    tied_a, tied_b, tied_both = (_tied_pairs(codes, mass) for codes in (i, j, both))
    order = np.lexsort((j, i))
    against = _inversions(j[order], mass[order])
    apart_a, apart_b = pairs - tied_a, pairs - tied_b
    score = pairs - tied_a - tied_b + tied_both - 2 * against
    value = float(np.clip(score / sqrt(apart_a * apart_b), -1, 1))
    interval = None
    if n <= MOST_PAIRED:
        effect = _kendall_effect(i, j, mass, score / pairs, apart_a / pairs, apart_b / pairs)
        interval = _fisher(value, effect, mass, codes, level)
    return JudgeMeasure(value, interval, n)


def _standard(values: Floats, mass: Floats) -> Floats:
    gaps = values - np.average(values, weights=mass)
    return np.asarray(gaps / sqrt(np.average(gaps**2, weights=mass)))


def _tied_pairs(codes: Ints, mass: Floats) -> float:
    codes = np.unique(codes, return_inverse=True)[1]
    return float((sums_by(codes, mass) ** 2 - sums_by(codes, mass**2)).sum() / 2)


def _inversions(values: Ints, mass: Floats) -> float:
    """Weighted number of inversions (pairs with the greater value first), by merge sort."""
    n, top = len(values), int(values.max()) + 1
    rows, total, half = np.arange(n), 0.0, 1
    while half < n:
        block, right = rows // (2 * half), rows // half % 2
        # One sort merges all halves of this size. Of equal values the left one comes first, so that
        # ties are no inversions.
        order = np.argsort((block * top + values) * 2 + right, kind="stable")
        lefts = np.cumsum(np.where(right[order] == 1, 0.0, mass[order]))
        rights = right[order] == 1
        last = np.minimum((block[order][rights] + 1) * 2 * half, n) - 1
        total += float(mass[order][rights] @ (lefts[last] - lefts[rights]))
        half *= 2
    return total


def _kendall_effect(
    i: Ints, j: Ints, mass: Floats, score: float, apart_a: float, apart_b: float
) -> Floats:
    n = len(i)
    ordered = np.empty(n)
    # A few rows at a time: the signs of all n² pairs would not fit in memory.
    step = max(1, PAIRS_AT_ONCE // n)
    for start in range(0, n, step):
        part = slice(start, start + step)
        signs = np.sign(i[part, None] - i[None, :]) * np.sign(j[part, None] - j[None, :])
        ordered[part] = signs @ mass
    apart_i, apart_j = n - sums_by(i, mass)[i], n - sums_by(j, mass)[j]
    root, others = sqrt(apart_a * apart_b), n - mass
    gaps = (
        (ordered / others - score) / root,
        score / root / 2 * (apart_i / others - apart_a) / apart_a,
        score / root / 2 * (apart_j / others - apart_b) / apart_b,
    )
    return np.asarray(2 * mass * (gaps[0] - gaps[1] - gaps[2]) / n)


def _fisher(
    value: float, effect: Floats, mass: Floats, codes: Ints | None, level: float
) -> Interval | None:
    sums = effect if codes is None else sums_by(codes, effect)
    units = len(sums)
    slack = 1 - value**2
    if units < FEWEST or slack <= ALIKE:
        return None
    error = sqrt(units / (units - 1) * float(sums @ sums))
    df = kish_df(mass if codes is None else sums_by(codes, mass))
    half = quantile(level, df) * error / slack
    centre = atanh(value)
    low, high = tanh(centre - half), tanh(centre + half)
    return Interval(low, high, level, "ratio_delta") if low < high else None


def _read(
    a: ArrayLike, b: ArrayLike, weights: ArrayLike | None, clusters: Codes | None
) -> tuple[Floats, Floats, Floats, Ints | None]:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return x, y, row_weights(weights, len(x)), cluster_codes(clusters, len(x))


def _undefined(x: Floats, y: Floats) -> JudgeMeasure | None:
    if len(x) < 2:
        return JudgeMeasure(None, None, len(x), TOO_FEW)
    if x.min() == x.max() or y.min() == y.max():
        return JudgeMeasure(None, None, len(x), NO_VARIATION)
    return None
