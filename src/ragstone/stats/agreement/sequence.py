"""Sequence: intervals of agreement that hold however often they are looked at as labels come."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from ragstone.stats.codes import sums_by
from ragstone.stats.every_look import FIRST, look_quantile
from ragstone.stats.interval import Interval

from .item_bootstrap import groups_of
from .ratings import Coefficient, Floats, RatingMatrix

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
    their next one is not among them yet. All intervals from ``FIRST`` clusters on hold the true
    value together with about this probability, so that labelling may stop at any look.

    Args:
        ratings: Of items that are drawn independently, or in clusters.
        coefficient: Has a value over all items.
        clusters: One name for each of the items given to ``read_ratings``; None: each is its own.
        level: In (0, 1).

    Returns:
        Within [-1, 1]. None with fewer than ``FIRST`` clusters of items that have two labels or
        ``RARE`` labels of such items other than the most frequent one, and where all effects are 0,
        as where everybody agrees.

    Raises:
        InputError: Too few clusters are given.

    Source: as ``look_quantile``; Waudby-Smith et al. (2024), section 3, for influence functions;
    clusters are ours.
    """
    quantile = look_quantile(max(1, ratings.shared.items), level)
    groups = groups_of(ratings, clusters)
    given = ratings.shared.counts.sum(axis=0)
    n_clusters = len(np.unique(groups[ratings.is_shared]))
    if n_clusters < FIRST or given.sum() - given.max() < RARE:
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
    found, of_item, counts = np.unique(
        ratings.codes, axis=1, return_inverse=True, return_counts=True
    )
    patterns = replace(ratings, codes=found, at=np.arange(found.shape[1]))
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
