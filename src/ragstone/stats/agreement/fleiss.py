"""Fleiss' kappa: chance-corrected agreement of several annotators, who may vary between items."""

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
    """Agreement beyond the chance agreement of the label frequencies.

        (observed - expected) / (1 - expected)
        observed = mean of the share of agreeing pairs, over items with two labels or more
        expected = sum over labels of share²,  share = mean over all items of their share

    Items have equal weight, whatever their number of annotators. An item with a single label
    contributes to ``expected`` but not to ``observed``.

    Args:
        ratings: Annotators × items. None and NaN mean not rated.

    Returns:
        At most 1; 0 is agreement by chance. Below -1 only where the items with a single label are
        unlike the others.

    Raises:
        InputError: Annotators with different numbers of items.

    Source: Fleiss (1971), "Measuring nominal scale agreement among many raters";
    Gwet (2014), "Handbook of Inter-Rater Reliability", chapter 2, for gaps.
    """
    return value_of(fleiss, read_ratings(ratings))


def fleiss(ratings: RatingMatrix, weights: Weights) -> Floats:
    """Fleiss' kappa in each resample."""
    shares = mean_shares(ratings, weights)
    return beyond_chance(observed_agreement(ratings, weights), (shares**2).sum(axis=1))
