"""Gwet's AC1: chance-corrected agreement that does not collapse when one label is rare."""

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


def gwet_ac1(ratings: Iterable[Iterable[Hashable]]) -> AgreementCoefficient:
    """Agreement beyond chance, assuming that only hard items are labelled at random.

        (observed - expected) / (1 - expected)
        observed = mean of the share of agreeing pairs, over items with two labels or more
        expected = sum over labels of share · (1 - share) / (labels - 1)

    ``share`` is the label's share, averaged over all items, including those with a single label;
    ``labels`` is the number of labels that occur.

    Args:
        ratings: Annotators × items. None and NaN mean not rated.

    Returns:
        At most 1; 0 is agreement by chance.

    Raises:
        InputError: Annotators with different numbers of items.

    Source: Gwet (2008), "Computing inter-rater reliability and its variance in the
    presence of high agreement"; Gwet (2014), "Handbook of Inter-Rater Reliability", chapter 2,
    for gaps.
    """
    return value_of(ac1, read_ratings(ratings))


def ac1(ratings: RatingMatrix, weights: Weights) -> Floats:
    """AC1 in each resample; the number of labels is that of all items."""
    shares = mean_shares(ratings, weights)
    expected = (shares * (1 - shares)).sum(axis=1) / (len(ratings.labels) - 1)
    return beyond_chance(observed_agreement(ratings, weights), expected)
