"""Cohen's kappa: two annotators beyond chance, plain and weighted, and its mean over pairs."""

from collections.abc import Callable, Hashable, Iterable
from typing import Literal

import numpy as np

from .ratings import (
    NOT_NUMBERS,
    Agreement,
    Coefficient,
    Floats,
    Integers,
    Ratings,
    Weights,
    beyond_chance,
    read_ratings,
    undefined,
    value_of,
)

PairKappa = Callable[[Integers, Integers, Weights, Floats], Floats]
"""Kappa of two annotators in each draw: their codes, the draws, and how many items each has."""


def cohen_kappa(a: Iterable[Hashable], b: Iterable[Hashable]) -> Agreement:
    """Agreement of two annotators beyond what their own label shares would give by chance.

        (observed - expected) / (1 - expected)

    Args:
        a: One label an item; None and NaN mean not rated, and the item is left out.
        b: As many, for the same items.

    Returns:
        At most 1; 0 is chance.

    Raises:
        InputError: Different numbers of items.

    Source: Cohen (1960), "A coefficient of agreement for nominal scales".
    """
    return light_kappa([a, b])


def light_kappa(ratings: Iterable[Iterable[Hashable]]) -> Agreement:
    """Mean of Cohen's kappa over all pairs of annotators, each with the weight of its items.

    Without gaps the plain mean. A pair whose labels do not vary has no kappa and
    is left out.

    Args:
        ratings: Annotators × items. None and NaN mean not rated.

    Raises:
        InputError: Annotators with different numbers of items.

    Source: Light (1971), "Measures of response agreement for qualitative data".
    """
    return value_of(mean_kappa, read_ratings(ratings))


def quadratic_kappa(
    ratings: Iterable[Iterable[Hashable]], *, scale: Literal["ordinal", "interval"] = "ordinal"
) -> Agreement:
    """As ``light_kappa``, with disagreements counted by the square of their distance.

        1 - mean of (a - b)² / mean of (a' - b')²,   a' and b' drawn apart

    Args:
        ratings: Annotators × items, numbers. None and NaN mean not rated.
        scale: Ordinal: a label is its place among the labels that occur, as usual for
            grades. Interval: the label itself.

    Raises:
        InputError: Annotators with different numbers of items.

    Source: Cohen (1968), "Weighted kappa: nominal scale agreement with provision
    for scaled disagreement or partial credit".
    """
    table = read_ratings(ratings)
    if (outcome := undefined(table)) is not None:
        return outcome
    if table.numbers is None:
        return Agreement(None, NOT_NUMBERS, table.items)
    return value_of(weighted_mean_kappa(scale), table)


def mean_kappa(ratings: Ratings, weights: Weights) -> Floats:
    """Light's kappa in each draw."""
    one_of = np.eye(len(ratings.labels))

    def kappa(a: Integers, b: Integers, drawn: Weights, n: Floats) -> Floats:
        observed = drawn @ (a == b) / n
        expected = ((drawn @ one_of[a]) * (drawn @ one_of[b])).sum(axis=1) / n**2
        return beyond_chance(observed, expected)

    return _mean_over_pairs(ratings, weights, kappa)


def weighted_mean_kappa(scale: str) -> Coefficient:
    """Light's kappa with quadratic weights, in each draw."""

    def coefficient(ratings: Ratings, weights: Weights) -> Floats:
        numbers = ratings.numbers
        if scale == "ordinal" or numbers is None:
            numbers = np.arange(len(ratings.labels), dtype=np.float64)
        place = numbers - numbers.mean()

        def kappa(a: Integers, b: Integers, drawn: Weights, n: Floats) -> Floats:
            x, y = place[a], place[b]
            observed = drawn @ (x - y) ** 2 / n
            both = drawn @ (x**2 + y**2) / n
            expected = both - 2 * (drawn @ x) * (drawn @ y) / n**2
            none = expected <= 1e-12
            return np.where(none, np.nan, 1 - observed / np.where(none, 1, expected))

        return _mean_over_pairs(ratings, weights, kappa)

    return coefficient


def _mean_over_pairs(ratings: Ratings, weights: Weights, kappa: PairKappa) -> Floats:
    total = np.zeros(len(weights))
    mass = np.zeros(len(weights))
    for a, b, shared in ratings.pairs:
        drawn = weights[:, shared]
        n = drawn.sum(axis=1)
        value = kappa(ratings.codes[a, shared], ratings.codes[b, shared], drawn, np.maximum(n, 1))
        counts = np.where(np.isnan(value) | (n == 0), 0, n)
        total += counts * np.nan_to_num(value)
        mass += counts
    return np.where(mass > 0, total / np.maximum(mass, 1), np.nan)
