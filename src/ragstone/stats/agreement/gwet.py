"""Gwet's AC1: agreement beyond chance that does not collapse where one label is rare."""

from collections.abc import Hashable, Iterable

import numpy as np

from .ratings import (
    Agreement,
    Floats,
    Ratings,
    Weights,
    beyond_chance,
    read_ratings,
    value_of,
)


def gwet_ac1(ratings: Iterable[Iterable[Hashable]]) -> Agreement:
    """Agreement beyond chance, chance being what happens on items that are hard to tell.

        (observed - expected) / (1 - expected)
        observed = mean over items of the share of agreeing pairs
        expected = sum over labels of share · (1 - share) / (labels - 1)

    ``share`` is the mean over items of the label's share; ``labels`` those that occur.

    Args:
        ratings: Annotators × items. None and NaN mean not rated; an item with
            fewer than two labels is left out.

    Returns:
        At most 1; 0 is chance.

    Raises:
        InputError: Annotators with different numbers of items.

    Source: Gwet (2008), "Computing inter-rater reliability and its variance in the
    presence of high agreement".
    """
    return value_of(ac1, read_ratings(ratings))


def ac1(ratings: Ratings, weights: Weights) -> Floats:
    """AC1 in each draw, with the labels of all items."""
    n = weights.sum(axis=1)
    observed = weights @ ratings.agreeing / n
    shares = weights @ ratings.shares / n[:, None]
    expected = (shares * (1 - shares)).sum(axis=1) / (len(ratings.labels) - 1)
    return beyond_chance(np.asarray(observed), expected)
