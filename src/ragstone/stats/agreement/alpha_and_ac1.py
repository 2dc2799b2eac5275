"""Agreement of several annotators: Fleiss' kappa, Gwet's AC1 and Krippendorff's alpha.

Fleiss' kappa allows other annotators for each item. AC1 does not collapse when a label is rare.
Alpha allows missing ratings. An agreement sequence holds at every look while labels come in.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from ragstone.stats.distributions import FIRST_LOOK, Interval, look_quantile
from ragstone.stats.weights_and_groups import Floats, sums_by

from .ratings import (
    GAP,
    Coefficient,
    RatingMatrix,
    Weights,
    beyond_chance,
    groups_of,
    mean_shares,
    observed_agreement,
    over_shared,
)


def fleiss(ratings: RatingMatrix, weights: Weights) -> Floats:
    """Return Fleiss' kappa in each resample: agreement beyond that of the label frequencies.

        (observed - expected) / (1 - expected)
        observed = mean of the share of agreeing pairs, over items with two labels or more
        expected = sum over labels of share²,  share = mean over all items of their share

    Items have equal weight, whatever their number of annotators. An item with a single label
    contributes to ``expected`` but not to ``observed``. At most 1, and 0 by chance; below -1 only
    where the items with a single label are unlike the others.

    Source: Fleiss (1971), "Measuring nominal scale agreement among many raters"; Gwet (2014),
    "Handbook of Inter-Rater Reliability", chapter 2, for gaps.
    """
    shares = mean_shares(ratings, weights)
    return beyond_chance(observed_agreement(ratings, weights), (shares**2).sum(axis=1))


def ac1(ratings: RatingMatrix, weights: Weights) -> Floats:
    """Return Gwet's AC1 in each resample: beyond chance, if only hard items are labelled at random.

        (observed - expected) / (1 - expected)
        observed = mean of the share of agreeing pairs, over items with two labels or more
        expected = sum over labels of share · (1 - share) / (labels - 1)

    ``share`` is the label's share, averaged over all items, including those with a single label;
    ``labels`` is the number of labels that occur among all items.

    Source: Gwet (2008), "Computing inter-rater reliability and its variance in the presence of high
    agreement"; Gwet (2014), "Handbook of Inter-Rater Reliability", chapter 2, for gaps.
    """
    shares = mean_shares(ratings, weights)
    expected = (shares * (1 - shares)).sum(axis=1) / (len(ratings.labels) - 1)
    return beyond_chance(observed_agreement(ratings, weights), expected)


def alpha(scale: str) -> Coefficient:
    """Return Krippendorff's alpha on a nominal, ordinal or interval scale; labels may be missing.

        1 - observed disagreement / expected disagreement

    The disagreement of two different labels is 1 on a nominal scale, the squared difference on an
    interval scale, and on an ordinal scale the squared difference of their mean ranks among all
    labels. Items with fewer than two labels are left out. At most 1, and 0 by chance.

    Source: Krippendorff (2011), "Computing Krippendorff's alpha-reliability".
    """
    return over_shared({"nominal": _nominal, "ordinal": _ordinal, "interval": _interval}[scale])


def _nominal(ratings: RatingMatrix, weights: Weights) -> Floats:
    raters = ratings.raters
    apart = (raters**2 - (ratings.counts**2).sum(axis=1)) / (raters - 1)
    uses = weights @ ratings.counts
    labels = uses.sum(axis=1)
    observed = weights @ apart / labels
    expected = (labels**2 - (uses**2).sum(axis=1)) / (labels * (labels - 1))
    return _one_minus(observed, expected)


def _interval(ratings: RatingMatrix, weights: Weights) -> Floats:
    numbers = np.arange(len(ratings.labels)) if ratings.numbers is None else ratings.numbers
    positions = numbers - numbers.mean()
    return _of_distances(
        ratings, weights, np.broadcast_to(positions, (len(weights), len(positions)))
    )


def _ordinal(ratings: RatingMatrix, weights: Weights) -> Floats:
    uses = weights @ ratings.counts
    ranks = np.cumsum(uses, axis=1) - uses / 2
    return _of_distances(ratings, weights, ranks - ranks.mean(axis=1, keepdims=True))


def _of_distances(ratings: RatingMatrix, weights: Weights, positions: Floats) -> Floats:
    uses = weights @ ratings.counts
    labels = uses.sum(axis=1)
    padded = np.concatenate([positions, np.zeros((len(positions), 1))], axis=1)
    sums = np.zeros(weights.shape)
    squares = np.zeros(weights.shape)
    # By item: sum over pairs of (x - y)² = raters · Σx² - (Σx)², without forming pairs.
    for row in ratings.codes:
        values = padded[:, np.where(row == GAP, len(ratings.labels), row)]
        sums += values
        squares += values**2
    raters = ratings.raters
    apart = 2 * (raters * squares - sums**2) / (raters - 1)
    observed = (weights * apart).sum(axis=1) / labels
    total, square = (uses * positions).sum(axis=1), (uses * positions**2).sum(axis=1)
    expected = 2 * (labels * square - total**2) / (labels * (labels - 1))
    return _one_minus(observed, expected)


def _one_minus(observed: Floats, expected: Floats) -> Floats:
    none = expected <= 1e-12
    return np.where(none, np.nan, 1 - observed / np.where(none, 1, expected))


RARE = 20
"""Labels other than the most frequent one that there must be: with fewer, too little is known of
how often people would agree by chance."""

STEP = 1e-4
"""Change of an item's weight by which the effect of the item is measured."""

AT_ONCE = 4_000_000


def agreement_sequence(
    ratings: RatingMatrix,
    coefficient: Coefficient,
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Interval | None:
    """An asymptotic confidence sequence for a coefficient of agreement.

        value ± look_quantile(n) / N · √(sum of e_c² + greatest e_c²)

    with n the number of items that have two labels, N that of all items, and e_c the effect of a
    cluster on the coefficient, the sum of its items' effects (their influence function, measured by
    a small change of each item's weight). The largest counts once more: with few disagreements,
    their next one is not among them yet. All intervals from ``FIRST_LOOK`` clusters on hold the
    true value together with about this probability, so that labelling may stop at any look. The
    result lies within [-1, 1]. None with fewer than ``FIRST_LOOK`` clusters of items that have two
    labels or ``RARE`` labels of such items other than the most frequent one, and where all effects
    are 0, as where everybody agrees.

    Args:
        ratings: Of items that are drawn independently, or in clusters.
        coefficient: Has a value over all items.
        clusters: One name for each of the items given to ``read_ratings``; None: each is its own.

    Source: as ``look_quantile``; Waudby-Smith et al. (2024), section 3, for influence functions;
    clusters are ours.
    """
    quantile = look_quantile(max(1, ratings.shared.items), level)
    groups = groups_of(ratings, clusters)
    label_counts = ratings.shared.counts.sum(axis=0)
    n_clusters = len(np.unique(groups[ratings.is_shared]))
    if n_clusters < FIRST_LOOK or label_counts.sum() - label_counts.max() < RARE:
        return None
    value = float(coefficient(ratings, np.ones((1, ratings.items)))[0])
    squares = sums_by(groups, item_effects(ratings, coefficient)) ** 2
    half = quantile * sqrt(float(squares.sum() + squares.max())) / ratings.items
    if not half > 0:
        return None
    return Interval(max(-1.0, value - half), min(1.0, value + half), level, "asymptotic_sequence")


def item_effects(ratings: RatingMatrix, coefficient: Coefficient) -> Floats:
    """The effect of each item: n times the change of the coefficient by its weight, shape (n,)."""
    n = ratings.items
    codes, of_item, counts = np.unique(
        ratings.codes, axis=1, return_inverse=True, return_counts=True
    )
    patterns = replace(ratings, codes=codes, at=np.arange(codes.shape[1]))
    base = counts.astype(np.float64)
    slopes = np.empty(len(base))
    step = max(1, AT_ONCE // len(base))
    for start in range(0, len(base), step):
        some = np.arange(start, min(start + step, len(base)))
        change = np.zeros((len(some), len(base)))
        change[np.arange(len(some)), some] = STEP
        apart = coefficient(patterns, base + change) - coefficient(patterns, base - change)
        slopes[some] = apart / (2 * STEP)
    return np.asarray(n * slopes[of_item.ravel()])
