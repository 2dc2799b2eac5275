"""Fleiss' kappa: any number of annotators beyond chance, who need not be the same for each item."""

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


def fleiss_kappa(ratings: Iterable[Iterable[Hashable]]) -> Agreement:
    """Agreement beyond what the shares of the labels would give by chance.

        (observed - expected) / (1 - expected)
        observed = mean over items of the share of agreeing pairs
        expected = sum over labels of share²,  share = mean over items of their share

    Where items have different numbers of annotators each item has the same weight.

    Args:
        ratings: Annotators × items. None and NaN mean not rated; an item with
            fewer than two labels is left out.

    Returns:
        At most 1; 0 is chance.

    Raises:
        InputError: Annotators with different numbers of items.

    Source: Fleiss (1971), "Measuring nominal scale agreement among many raters";
    Gwet (2014), "Handbook of Inter-Rater Reliability", chapter 2, for gaps.
    """
    return value_of(fleiss, read_ratings(ratings))


def fleiss(ratings: Ratings, weights: Weights) -> Floats:
    """Fleiss' kappa in each draw."""
    n = weights.sum(axis=1)
    observed = weights @ ratings.agreeing / n
    shares = weights @ ratings.shares / n[:, None]
    return beyond_chance(np.asarray(observed), (shares**2).sum(axis=1))
