"""AUROC with an interval."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError
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
    """An AUROC, from 0 to 1; .5 for uninformative scores.

    ``value`` is None, and ``reason`` says why, if there is no positive or no negative.
    ``interval`` is also None if the positives, or the negatives, are all in one row
    or cluster.
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
    """AUROC with Wilson's interval on the effective sample size that its variance implies.

    The interval is that of ``heavy_wilson_ends``. The variance is DeLong's; with
    clusters, rows' contributions to the AUROC, A, are first summed by cluster. k is
    the smaller of the numbers of positives and negatives, or of the clusters that
    hold them: at A = 1, where the variance is 0, n_eff = k, the smallest value it can
    have for independent rows. With unequal weights, the weight of a pair is the
    product of its rows' weights; k is reduced in proportion to ``heaviest_size`` and
    the degrees of freedom in proportion to ``variance_df``.

    Args:
        scores: Shape (n,), finite; higher means more likely positive.
        positive: Shape (n,), true or 1 for a positive.
        weights: Shape (n,). Inverse sampling probabilities, up to a common factor.
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
    # For each positive the share of negatives below it; for each negative the share of positives
    # above it.
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
