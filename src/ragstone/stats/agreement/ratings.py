"""Ratings: the labels of annotators × items, counted for coefficients, and bootstrap intervals."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from statistics import NormalDist
from typing import TypeVar

import numpy as np

from ragstone.core.errors import InputError
from ragstone.stats.bootstrap import percentile_interval
from ragstone.stats.distributions import Interval, upper_quantile, wilson_ends
from ragstone.stats.weights_and_groups import Bools, Floats, Ints, codes_of, in_order, kish_size

NO_PAIRS = "no_pairs"
NO_VARIATION = "no_variation"
TOO_MANY_LABELS = "too_many_labels"
NOT_NUMBERS = "not_numbers"
NOMINAL = "nominal_scale"

GAP = -1


@dataclass(frozen=True, slots=True)
class AgreementCoefficient:
    """A coefficient over ``n`` items that at least two annotators labelled.

    ``value`` is None if the coefficient is not defined; ``reason`` then says why: ``no_pairs``;
    ``no_variation``, all labels are the same, which chance alone would give too;
    ``too_many_labels`` for a categorical coefficient; ``nominal_scale`` or ``not_numbers`` for a
    coefficient of distances. ``interval`` is None if it was not requested, and if there are too few
    items to compute one.
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
    codes: Ints
    at: Ints

    @property
    def items(self) -> int:
        return int(self.codes.shape[1])

    @property
    def annotators(self) -> int:
        return len(self.codes)

    @cached_property
    def is_shared(self) -> Bools:
        """Show which items at least two annotators labelled, shape (items,)."""
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
        """Count how often each item got each label, shape (items, labels)."""
        table = np.zeros((self.items, len(self.labels)))
        for row in self.codes:
            rated = np.flatnonzero(row != GAP)
            table[rated, row[rated]] += 1
        return table

    @cached_property
    def raters(self) -> Floats:
        """Count the annotators who labelled each item, at least 1, shape (items,)."""
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
    def pairs(self) -> tuple[tuple[int, int, Ints], ...]:
        """Each pair of annotators with shared items, and the indices of these items."""
        rated = self.codes != GAP
        return tuple(
            (a, b, shared)
            for a, b in combinations(range(self.annotators), 2)
            if len(shared := np.flatnonzero(rated[a] & rated[b]))
        )


# Shape (B, items): how often each item counts in each of B resamples.
Weights = Floats

# Values of shape (B,), one per resample; NaN where it is not defined.
Coefficient = Callable[[RatingMatrix, Weights], Floats]


def read_ratings(ratings: Iterable[Iterable[Hashable]]) -> RatingMatrix:
    """Check and code ratings."""
    rows = [row.tolist() if isinstance(row, np.ndarray) else list(row) for row in ratings]
    labels = in_order(label for row in rows for label in row if rated(label))
    code_of: dict[Hashable, int] = {label: code for code, label in enumerate(labels)}
    codes = np.array(
        [[code_of[label] if rated(label) else GAP for label in row] for row in rows], dtype=np.int64
    ).reshape(len(rows), len(rows[0]) if rows else 0)
    labelled = np.flatnonzero((codes != GAP).any(axis=0))
    return RatingMatrix(tuple(labels), codes[:, labelled], labelled)


def rated(label: Hashable) -> bool:
    """Return whether this is a label, that is, neither None nor NaN."""
    return label is not None and label == label


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


Name = TypeVar("Name", bound=str)

DRAWS_AT_ONCE = 2_000_000
LARGEST_TABLE = 20_000_000
# Coefficients are rounded to this many digits, so that ends that differ by rounding coincide.
DIGITS = 12
# The true value of any coefficient: two labels of an item can be no more than always opposed.
LEAST = -1.0


def agreement_intervals(
    ratings: RatingMatrix,
    coefficients: Mapping[Name, Coefficient],
    *,
    weights: Floats | None = None,
    clusters: Sequence[Hashable] | None = None,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
) -> dict[Name, Interval]:
    """Percentile bootstrap over items for several coefficients, from the same resamples.

    Items, or whole clusters of items, are drawn with replacement. A coefficient has no value in a
    resample whose labels are all the same; that counts as full agreement, 1: leaving it out would
    favour resamples with a rare label, in which annotators disagree. A resample in which no item
    has two labels is left out. A value below -1, which Fleiss' kappa takes where items with a
    single label are unlike the others, counts as -1. If all items agree, the bootstrap interval
    would have no width. Then the upper end is 1, and the lower end is the lower Wilson bound of the
    share of agreeing items, or clusters, corrected for the observed chance agreement. The intervals
    are by name; left out are those of a single item or cluster, and those whose ends coincide.

    Args:
        ratings: With at least two items, or clusters, that have two labels; with fewer there is no
            interval, unless all agree.
        weights: Shape (items,), with mean about 1: the weight of an item each time it is drawn.
            None: equal weights.
        resamples: Number of resamples. With 2,000 the simulation error of each end is about 1.5 %
            of the interval's width.

    Source: Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13; Zapf et al.
    (2016), "Measuring inter-rater reliability for nominal data", which confirms its coverage for
    these coefficients.
    """
    upper_quantile(level)
    if resamples < 2:
        raise InputError(f"A bootstrap needs at least two resamples, got {resamples}.")
    if not ratings.is_shared.any() or not coefficients:
        return {}
    groups = groups_of(ratings, clusters)
    units = len(np.unique(groups[ratings.is_shared]))
    mass = np.ones(ratings.items) if weights is None else weights
    if bool((ratings.shared.agreeing == 1).all()):
        size = units * kish_size(mass) / ratings.items
        return _where_all_agree(ratings, coefficients, mass, size, level)
    if units < 2:
        return {}
    patterns, counts, kinds, holds = _patterns(ratings, mass, groups)
    rng, n_clusters = np.random.default_rng(seed), int(kinds.sum())
    values: dict[Name, list[Floats]] = {name: [] for name in coefficients}
    step = max(1, DRAWS_AT_ONCE // max(patterns.items, len(kinds)))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = rng.multinomial(n_clusters, kinds / n_clusters, size=size).astype(np.float64)
        times = holds(drawn) * counts
        usable = times[times @ patterns.is_shared > 0]
        for name, coefficient in coefficients.items():
            values[name].append(coefficient(patterns, usable))
    intervals = {name: _ends(np.concatenate(parts), level) for name, parts in values.items()}
    return {name: interval for name, interval in intervals.items() if interval is not None}


def groups_of(ratings: RatingMatrix, clusters: Sequence[Hashable] | None) -> Ints:
    """The number of each item's cluster; without clusters, every item is its own."""
    if clusters is None:
        return np.arange(ratings.items)
    return codes_of([clusters[at] for at in ratings.at])


def _patterns(
    ratings: RatingMatrix, weights: Floats, groups: Ints
) -> tuple[RatingMatrix, Floats, Floats, Callable[[Floats], Weights]]:
    """Reduce items to patterns: many items have the same ratings and weight, and count once.

    Clusters with the same items form one kind. Returned are the patterns, the weight of each, the
    number of clusters of each kind, and a function from counts of kinds to counts of patterns.
    """
    different, weight_of = np.unique(weights, return_inverse=True)
    both = np.vstack([ratings.codes, weight_of[None, :]])
    distinct, of_item, times = np.unique(both, axis=1, return_inverse=True, return_counts=True)
    patterns = replace(ratings, codes=distinct[:-1], at=np.arange(distinct.shape[1]))
    counts = different[distinct[-1]]
    units = int(groups.max()) + 1
    if units == ratings.items:
        return patterns, counts, times.astype(np.float64), lambda drawn: drawn
    if units * patterns.items > LARGEST_TABLE:
        return ratings, weights, np.ones(units), lambda drawn: drawn[:, groups]
    table = np.zeros((units, patterns.items))
    np.add.at(table, (groups, of_item.ravel()), 1)
    holds, times = np.unique(table, axis=0, return_counts=True)
    return patterns, counts, times.astype(np.float64), lambda drawn: np.asarray(drawn @ holds)


def _ends(drawn: Floats, level: float) -> Interval | None:
    full: Floats = np.where(np.isnan(drawn), 1.0, drawn).clip(min=LEAST).round(DIGITS)
    return percentile_interval(full, level, "item_bootstrap")


def _where_all_agree(
    ratings: RatingMatrix,
    coefficients: Mapping[Name, Coefficient],
    weights: Floats,
    units: float,
    level: float,
) -> dict[Name, Interval]:
    low, _ = wilson_ends(1.0, units, NormalDist().inv_cdf(upper_quantile(level)))
    shared = ratings.is_shared
    shares = np.average(ratings.shares, axis=0, weights=weights)
    paired = np.average(ratings.shared.shares, axis=0, weights=weights[shared])
    labels = len(ratings.labels)
    by_pairs = 1 - float((paired**2).sum())
    by_ac1 = 1 - float((shares * (1 - shares)).sum()) / max(labels - 1, 1)
    by_shares = 1 - float((shares**2).sum())
    left = {"percent": 1.0, "gwet_ac1": by_ac1, "fleiss_kappa": by_shares}
    return {
        name: Interval(max(LEAST, 1 - (1 - low) / left.get(name, by_pairs)), 1.0, level, "wilson")
        for name in coefficients
    }
