"""Krippendorff's alpha: agreement of any number of annotators, with missing ratings."""

from collections.abc import Hashable, Iterable
from typing import Literal

import numpy as np

from .ratings import (
    GAP,
    NOT_NUMBERS,
    AgreementCoefficient,
    Coefficient,
    Floats,
    RatingMatrix,
    Weights,
    over_shared,
    read_ratings,
    undefined,
    value_of,
)


def krippendorff_alpha(
    ratings: Iterable[Iterable[Hashable]],
    *,
    scale: Literal["nominal", "ordinal", "interval"] = "nominal",
) -> AgreementCoefficient:
    """Chance-corrected agreement of any number of annotators; ratings may be missing.

        1 - observed disagreement / expected disagreement

    The disagreement of two different labels is 1 on a nominal scale, the squared
    difference on an interval scale, and on an ordinal scale the squared
    difference of their mean ranks among all labels.

    Args:
        ratings: Annotators × items. None and NaN mean not rated; an item with
            fewer than two labels is left out.
        scale: The scale of the labels; on a scale other than nominal they must be numbers.

    Returns:
        At most 1; 0 is agreement by chance.

    Raises:
        InputError: Annotators with different numbers of items.

    Source: Krippendorff (2011), "Computing Krippendorff's alpha-reliability".
    """
    table = read_ratings(ratings)
    if (outcome := undefined(table)) is not None:
        return outcome
    if scale != "nominal" and table.numbers is None:
        return AgreementCoefficient(None, NOT_NUMBERS, table.shared.items)
    return value_of(alpha(scale), table)


def alpha(scale: str) -> Coefficient:
    """Krippendorff's alpha in each resample."""
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
    place = numbers - numbers.mean()
    return _of_distances(ratings, weights, np.broadcast_to(place, (len(weights), len(place))))


def _ordinal(ratings: RatingMatrix, weights: Weights) -> Floats:
    uses = weights @ ratings.counts
    ranks = np.cumsum(uses, axis=1) - uses / 2
    return _of_distances(ratings, weights, ranks - ranks.mean(axis=1, keepdims=True))


def _of_distances(ratings: RatingMatrix, weights: Weights, place: Floats) -> Floats:
    """Alpha with squared distances as disagreement; ``place`` (B, labels) locates the labels."""
    uses = weights @ ratings.counts
    labels = uses.sum(axis=1)
    padded = np.concatenate([place, np.zeros((len(place), 1))], axis=1)
    sums = np.zeros(weights.shape)
    squares = np.zeros(weights.shape)
    # By item: sum over pairs of (x - y)² = raters · Σx² - (Σx)², without forming pairs.
    for row in ratings.codes:
        said = padded[:, np.where(row == GAP, len(ratings.labels), row)]
        sums += said
        squares += said**2
    raters = ratings.raters
    apart = 2 * (raters * squares - sums**2) / (raters - 1)
    observed = (weights * apart).sum(axis=1) / labels
    total, square = (uses * place).sum(axis=1), (uses * place**2).sum(axis=1)
    expected = 2 * (labels * square - total**2) / (labels * (labels - 1))
    return _one_minus(observed, expected)


def _one_minus(observed: Floats, expected: Floats) -> Floats:
    none = expected <= 1e-12
    return np.where(none, np.nan, 1 - observed / np.where(none, 1, expected))
