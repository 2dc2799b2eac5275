"""Sequence: intervals of agreement that hold however often they are looked at as labels come."""

from dataclasses import replace
from math import log, sqrt

import numpy as np

from ragstone.stats.interval import Interval, upper_quantile

from .ratings import Coefficient, Floats, RatingMatrix

FIRST = 50
"""Items with two labels from which on the sequence holds; it is narrowest at as many."""

RARE = 20
"""Labels other than the most frequent one that there must be: with fewer, too little is known of
how often people would agree by chance."""

STEP = 1e-4
"""Change of an item's weight by which the effect of the item is measured."""


def agreement_sequence(
    ratings: RatingMatrix, coefficient: Coefficient, *, level: float = 0.95
) -> Interval | None:
    """An asymptotic confidence sequence for a coefficient of agreement.

        value ± s √( 2 (n r² + 1) / (n² r²) · log(√(n r² + 1) / α) )

    with α = 1 - level, r² = (-2 log α + log(-2 log α) + 1) / FIRST, and s² the mean square of the
    items' effects on the coefficient (its influence function, measured by a small change of each
    item's weight), the largest counted once more: with few disagreements, their next one is not
    among them yet. All intervals from ``FIRST`` items on hold the true value together with about
    this probability, so that labelling may stop at any look.

    Args:
        ratings: Of items that are drawn independently.
        coefficient: Has a value over all items.
        level: In (0, 1).

    Returns:
        Within [-1, 1]. None with fewer than ``FIRST`` items that have two labels or ``RARE`` labels
        other than the most frequent one, and where all effects are 0, as where everybody agrees.

    Source: Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), "Time-uniform central limit
    theory and asymptotic confidence sequences", theorem 2.2 and equation 10.
    """
    upper_quantile(level)
    shared = ratings.shared
    n = shared.items
    given = shared.counts.sum(axis=0)
    if n < FIRST or given.sum() - given.max() < RARE:
        return None
    value = float(coefficient(shared, np.ones((1, n)))[0])
    effects = item_effects(shared, coefficient)
    squares = effects**2
    spread = sqrt(float(squares.sum() + squares.max()) / n)
    if not spread > 0:
        return None
    half = spread * _width(n, 1 - level)
    return Interval(max(-1.0, value - half), min(1.0, value + half), level, "asymptotic_sequence")


def item_effects(ratings: RatingMatrix, coefficient: Coefficient) -> Floats:
    """The effect of each item: n times the change of the coefficient by its weight, shape (n,)."""
    n = ratings.items
    found, of_item, counts = np.unique(
        ratings.codes, axis=1, return_inverse=True, return_counts=True
    )
    patterns = replace(ratings, codes=found, at=np.arange(found.shape[1]))
    base = counts.astype(np.float64)
    change = STEP * np.eye(len(base))
    slopes = (coefficient(patterns, base + change) - coefficient(patterns, base - change)) / (
        2 * STEP
    )
    return np.asarray(n * slopes[of_item.ravel()])


def _width(n: int, alpha: float) -> float:
    """Half of the width for effects with a mean square of 1."""
    r2 = (-2 * log(alpha) + log(-2 * log(alpha)) + 1) / FIRST
    return sqrt(2 * (n * r2 + 1) / (n**2 * r2) * log(sqrt(n * r2 + 1) / alpha))
