"""Ratings: the labels of annotators × items, coded and counted for the coefficients."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.stats.codes import in_order
from ragstone.stats.interval import Interval

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NO_PAIRS = "no_pairs"
NO_VARIATION = "no_variation"
TOO_MANY_LABELS = "too_many_labels"
NOT_NUMBERS = "not_numbers"
NOMINAL = "nominal_scale"

GAP = -1


@dataclass(frozen=True, slots=True)
class AgreementCoefficient:
    """A coefficient over ``n`` items that at least two annotators labelled.

    ``value`` is None if the coefficient is not defined; ``reason`` then says why:
    ``no_pairs``; ``no_variation``, all labels are the same, which chance alone would
    give too; ``too_many_labels`` for a categorical coefficient; ``nominal_scale`` or
    ``not_numbers`` for a coefficient of distances. ``interval`` is None if it was not
    requested, and if there are too few items to compute one.
    """

    value: float | None
    reason: str | None
    n: int
    interval: Interval | None = None


@dataclass(frozen=True, eq=False)
class RatingMatrix:
    """Annotators × items, for the items with at least one label.

    Observed agreement is computed from the items with two labels or more, ``shared``; chance
    agreement from all items.

    Attributes:
        labels: The labels that occur, sorted if comparable; a code is an index into it.
        codes: Shape (annotators, items); ``GAP`` where an annotator did not label an item.
        at: Shape (items,). Index of each item among those given.
    """

    labels: tuple[Hashable, ...]
    codes: Integers
    at: Integers

    @property
    def items(self) -> int:
        return int(self.codes.shape[1])

    @property
    def annotators(self) -> int:
        return len(self.codes)

    @cached_property
    def is_shared(self) -> NDArray[np.bool_]:
        """Whether at least two annotators labelled each item, shape (items,)."""
        return np.asarray((self.codes != GAP).sum(axis=0) >= 2)

    @cached_property
    def shared(self) -> "RatingMatrix":
        """The items that at least two annotators labelled."""
        if self.is_shared.all():
            return self
        return RatingMatrix(self.labels, self.codes[:, self.is_shared], self.at[self.is_shared])

    @cached_property
    def anonymous(self) -> "RatingMatrix":
        """The same labels of each item, in order, whoever gave them; of as many as gave the most.

        For coefficients that do not ask who said what: there are far fewer different items then.
        """
        last = np.where(self.codes == GAP, len(self.labels), self.codes)
        most = int(self.raters.max(initial=0))
        codes = np.sort(last, axis=0)[:most]
        return RatingMatrix(self.labels, np.where(codes == len(self.labels), GAP, codes), self.at)

    @cached_property
    def counts(self) -> Floats:
        """How often each item got each label, shape (items, labels)."""
        table = np.zeros((self.items, len(self.labels)))
        for row in self.codes:
            rated = np.flatnonzero(row != GAP)
            table[rated, row[rated]] += 1
        return table

    @cached_property
    def raters(self) -> Floats:
        """How many annotators labelled each item, at least 1, shape (items,)."""
        return np.asarray((self.codes != GAP).sum(axis=0), dtype=np.float64)

    @cached_property
    def agreeing(self) -> Floats:
        """For each item, the share of its pairs of annotators who gave the same label.

        Shape (items,); 0 for an item with a single label.
        """
        pairs = np.maximum(self.raters * (self.raters - 1), 1)
        return np.asarray((self.counts * (self.counts - 1)).sum(axis=1) / pairs)

    @cached_property
    def shares(self) -> Floats:
        """Share of an item's annotators who gave each label, shape (items, labels)."""
        return np.asarray(self.counts / self.raters[:, None])

    @cached_property
    def numbers(self) -> Floats | None:
        """The labels as numbers, shape (labels,); None if one is not a number."""
        if not all(isinstance(label, (int, float, np.number)) for label in self.labels):
            return None
        return np.array([float(label) for label in self.labels])  # type: ignore[arg-type]

    @cached_property
    def pairs(self) -> tuple[tuple[int, int, Integers], ...]:
        """Each pair of annotators with shared items, and the indices of these items."""
        rated = self.codes != GAP
        return tuple(
            (a, b, shared)
            for a, b in combinations(range(self.annotators), 2)
            if len(shared := np.flatnonzero(rated[a] & rated[b]))
        )


Weights = Floats
"""Shape (B, items): how often each item counts in each of B resamples."""

Coefficient = Callable[[RatingMatrix, Weights], Floats]
"""Values of shape (B,), one per resample; NaN where it is not defined."""


def read_ratings(ratings: Iterable[Iterable[Hashable]]) -> RatingMatrix:
    """Check and code ratings.

    Args:
        ratings: Annotators × items. None and NaN mean not rated; an item without
            a label is left out.

    Raises:
        InputError: Annotators with different numbers of items.
    """
    rows = [row.tolist() if isinstance(row, np.ndarray) else list(row) for row in ratings]
    check_items(rows)
    labels = in_order(label for row in rows for label in row if rated(label))
    code_of: dict[Hashable, int] = {label: code for code, label in enumerate(labels)}
    codes = np.array(
        [[code_of[label] if rated(label) else GAP for label in row] for row in rows],
        dtype=np.int64,
    ).reshape(len(rows), len(rows[0]) if rows else 0)
    there = np.flatnonzero((codes != GAP).any(axis=0))
    return RatingMatrix(tuple(labels), codes[:, there], there)


def rated(label: Hashable) -> bool:
    """Whether this is a label, that is, neither None nor NaN."""
    return label is not None and label == label


def check_items(rows: Sequence[Sequence[Hashable]]) -> None:
    """Raise ``InputError`` if annotators have different numbers of items."""
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise InputError(f"All annotators need the same number of items, got {lengths}.")


def undefined(ratings: RatingMatrix) -> AgreementCoefficient | None:
    """The result if no chance-corrected coefficient is defined; None if one may be."""
    n = ratings.shared.items
    if n == 0:
        return AgreementCoefficient(None, NO_PAIRS, 0)
    if len(ratings.labels) == 1:
        return AgreementCoefficient(None, NO_VARIATION, n)
    return None


def value_of(
    coefficient: Coefficient, ratings: RatingMatrix, weights: Floats | None = None
) -> AgreementCoefficient:
    """A coefficient over all items, each counted once or with its weight, shape (items,)."""
    n = ratings.shared.items
    if (outcome := undefined(ratings)) is not None:
        return outcome
    counts = np.ones(ratings.items) if weights is None else weights
    value = float(coefficient(ratings, counts[None, :])[0])
    if np.isnan(value):
        return AgreementCoefficient(None, NO_VARIATION, n)
    return AgreementCoefficient(value, None, n)


def over_shared(coefficient: Coefficient) -> Coefficient:
    """The coefficient restricted to items with at least two labels."""

    def of_shared(ratings: RatingMatrix, weights: Weights) -> Floats:
        return coefficient(ratings.shared, weights[:, ratings.is_shared])

    return of_shared


def observed_agreement(ratings: RatingMatrix, weights: Weights) -> Floats:
    """The mean share of agreeing pairs in each resample; each must hold an item with a pair."""
    return np.asarray(weights @ ratings.agreeing / (weights @ ratings.is_shared))


def mean_shares(ratings: RatingMatrix, weights: Weights) -> Floats:
    """The mean share of each label over all items, in each resample, shape (B, labels)."""
    return np.asarray(weights @ ratings.shares / weights.sum(axis=1)[:, None])


def beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """``(observed - expected) / (1 - expected)``; NaN where expected agreement is 1."""
    left = 1 - expected
    sure = left <= 1e-12
    return np.where(sure, np.nan, (observed - expected) / np.where(sure, 1, left))
