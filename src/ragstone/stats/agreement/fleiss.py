"""Fleiss' kappa: any number of annotators beyond chance, who need not be the same for each item."""

from collections.abc import Hashable, Iterable

from .ratings import (
    AgreementCoefficient,
    Floats,
    RatingMatrix,
    Weights,
    beyond_chance,
    mean_shares,
    observed_agreement,
    read_ratings,
    value_of,
)


def fleiss_kappa(ratings: Iterable[Iterable[Hashable]]) -> AgreementCoefficient:
    """Agreement beyond what the shares of the labels would give by chance.

        (observed - expected) / (1 - expected)
        observed = mean of the share of agreeing pairs, over items with two labels or more
        expected = sum over labels of share²,  share = mean over all items of their share

    Where items have different numbers of annotators each item has the same weight; one that
    a single annotator labelled says what labels there are, and so what chance gives.

    Args:
        ratings: Annotators × items. None and NaN mean not rated.

    Returns:
        At most 1; 0 is chance.

    Raises:
        InputError: Annotators with different numbers of items.

    Source: Fleiss (1971), "Measuring nominal scale agreement among many raters";
    Gwet (2014), "Handbook of Inter-Rater Reliability", chapter 2, for gaps.
    """
    return value_of(fleiss, read_ratings(ratings))


def fleiss(ratings: RatingMatrix, weights: Weights) -> Floats:
    """Fleiss' kappa in each draw."""
    shares = mean_shares(ratings, weights)
    return beyond_chance(observed_agreement(ratings, weights), (shares**2).sum(axis=1))
