"""AUROC with its interval."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.errors import InputError
from ragstone.stats.auroc import auroc
from ragstone.stats.codes import Codes, Floats, Ints, codes_of, sums_by
from ragstone.stats.heavy_rows import heaviest_size, heavy_wilson_ends, variance_df
from ragstone.stats.interval import Interval
from ragstone.stats.mean_ranks import mean_ranks
from ragstone.stats.row_weights import row_weights

NO_POSITIVES = "no_positives"
NO_NEGATIVES = "no_negatives"


@dataclass(frozen=True, slots=True)
class Auroc:
    """From 0 to 1, .5 for scores that know nothing.

    ``value`` is None, and ``reason`` says why, without a positive or a negative.
    ``interval`` is None too where the positives, or the negatives, are of one
    row or cluster.
    """

    value: float | None
    interval: Interval | None
    positives: int
    negatives: int
    reason: str | None = None


def auroc_interval(
    scores: ArrayLike,
    positive: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> Auroc:
    """AUROC, and Wilson's ends for it on the number of pairs that its variance is worth.

    The ends are those of ``heavy_wilson_ends``. The variance is DeLong's; with
    clusters, what rows add to A is summed by cluster first. k is the smaller of
    the numbers of positives and negatives, or of clusters that hold them: at
    A = 1, where the variance is 0, n_eff = k, which is the least it can be for
    independent rows. With unequal weights a pair counts as the product of its
    two, k is less by the share of ``heaviest_size`` and the degrees of freedom
    by that of ``variance_df``.

    Args:
        scores: Shape (n,), finite; higher means more likely positive.
        positive: Shape (n,), true or 1 for a positive.
        weights: Shape (n,). One over the probability of being drawn, up to a factor.
        clusters: Shape (n,). Rows with the same value are not independent.
        level: Share of intervals that should hold the true value, in (0, 1).

    Raises:
        InputError: Wrong shapes, scores that are not finite, labels that are
            neither true nor false.

    Source: DeLong, DeLong & Clarke-Pearson (1988), "Comparing the areas under two
    or more correlated receiver operating characteristic curves"; Obuchowski
    (1997), "Nonparametric analysis of clustered ROC curve data"; Birnbaum & Klose
    (1957), "Bounds for the variance of the Mann-Whitney statistic", for k.
    """
    value = auroc(scores, positive, weights=weights)
    labels = np.asarray(positive).astype(bool)
    positives, negatives = int(labels.sum()), int((~labels).sum())
    if value is None:
        reason = NO_NEGATIVES if positives else NO_POSITIVES
        return Auroc(None, None, positives, negatives, reason)
    values = np.asarray(scores, dtype=np.float64)
    codes = np.arange(len(labels)) if clusters is None else codes_of(clusters)
    if len(codes) != len(labels):
        raise InputError(f"{len(labels)} rows have {len(codes)} clusters.")
    mass = row_weights(weights, len(labels))
    sides = [(len(np.unique(codes[side])), mass[side]) for side in (labels, ~labels)]
    if min(units for units, _ in sides) < 2:
        return Auroc(value, None, positives, negatives)
    variance = delong_variance(values, labels, value, None if clusters is None else codes, mass)
    low, high = heavy_wilson_ends(
        value,
        variance,
        rows=max(1.0, min(units * heaviest_size(own) / len(own) for units, own in sides)),
        df=max(1.0, min(units * (variance_df(own) + 1) / len(own) for units, own in sides) - 1),
        level=level,
    )
    return Auroc(value, Interval(low, high, level, "delong"), positives, negatives)


def delong_variance(
    scores: Floats, labels: NDArray[np.bool_], value: float, codes: Ints | None, weights: Floats
) -> float:
    """Variance of an AUROC of ``value``: DeLong's, or Obuchowski's for clusters."""
    everyone, others = mean_ranks(scores, weights), ~labels
    own, mass = weights[labels], weights[others]
    parts = np.empty(len(scores))
    # Share of negatives that a positive beats, and of positives that beat a negative.
    parts[labels] = (everyone[labels] - mean_ranks(scores[labels], own)) / mass.sum()
    parts[others] = 1 - (everyone[others] - mean_ranks(scores[others], mass)) / own.sum()
    effect = weights * (parts - value) / np.where(labels, own.sum(), mass.sum())
    if codes is not None:
        sums = sums_by(codes, effect)
        return float(sums @ sums) * len(sums) / (len(sums) - 1)
    return sum(
        float(effect[side] @ effect[side]) * n / (n - 1)
        for side, n in ((labels, len(own)), (others, len(mass)))
    )
