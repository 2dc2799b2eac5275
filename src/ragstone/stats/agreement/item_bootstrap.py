"""Item bootstrap: intervals for coefficients of agreement, by resampling the labelled items."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TypeVar

import numpy as np

from ragstone.core.errors import InputError
from ragstone.stats.bootstrap import percentile_interval
from ragstone.stats.interval import Interval, upper_quantile
from ragstone.stats.kish import kish_size
from ragstone.stats.wilson import wilson_ends

from .ratings import Coefficient, Floats, Integers, RatingMatrix, Weights

Name = TypeVar("Name", bound=str)

DRAWS_AT_ONCE = 2_000_000
LARGEST_TABLE = 20_000_000
DIGITS = 12
"""Coefficients are rounded to this many digits, so that ends that differ by rounding coincide."""
LEAST = -1.0
"""The true value of any coefficient: two labels of an item can be no more than always opposed."""


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
    share of agreeing items, or clusters, corrected for the observed chance agreement.

    Args:
        ratings: With at least two items, or clusters, that have two labels; with fewer there is
            no interval, unless all agree.
        coefficients: By name; each has a value over all items.
        weights: Shape (items,), with mean about 1: the weight of an item each time it is drawn.
            None: equal weights.
        clusters: One name for each of the items given to ``read_ratings``.
        seed: The same seed gives the same draws on every machine.
        resamples: Number of resamples. With 2,000 the simulation error of each end is about 1.5 %
            of the interval's width.
        level: Share of intervals that should hold the true value, in (0, 1).

    Returns:
        By name; left out are those of a single item or cluster, and those whose
        ends coincide.

    Raises:
        InputError: The number of clusters is not the number of items.

    Source: Efron & Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13;
    Zapf et al. (2016), "Measuring inter-rater reliability for nominal data", which confirms
    its coverage for these coefficients.
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
    patterns, counts, drawn = _patterns(ratings, mass, groups)
    rng = np.random.default_rng(seed)
    values: dict[Name, list[Floats]] = {name: [] for name in coefficients}
    step = max(1, DRAWS_AT_ONCE // max(patterns.items, drawn.kinds))
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        times = drawn.weights(stop - start, rng) * counts
        usable = times[times @ patterns.is_shared > 0]
        for name, coefficient in coefficients.items():
            values[name].append(coefficient(patterns, usable))
    found = {name: _ends(np.concatenate(drawn), level) for name, drawn in values.items()}
    return {name: interval for name, interval in found.items() if interval is not None}


@dataclass(frozen=True, eq=False)
class _Units:
    """The units that are resampled: identical clusters form one kind, drawn by a multinomial.

    ``times`` (kinds,) is the number of clusters of each kind. ``holds`` (kinds, patterns) is how
    often a cluster of that kind holds each pattern; None if each kind is one pattern, in order.
    ``groups`` (items,) is the kind of each item if there are too many patterns for that table.
    """

    times: Floats
    holds: Floats | None = None
    groups: Integers | None = None

    @property
    def kinds(self) -> int:
        return len(self.times)

    def weights(self, draws: int, rng: np.random.Generator) -> Weights:
        """How often each pattern is drawn, shape (draws, patterns)."""
        units = int(self.times.sum())
        drawn = rng.multinomial(units, self.times / units, size=draws).astype(np.float64)
        if self.groups is not None:
            return drawn[:, self.groups]
        return drawn if self.holds is None else np.asarray(drawn @ self.holds)


def groups_of(ratings: RatingMatrix, clusters: Sequence[Hashable] | None) -> Integers:
    """The number of each item's cluster; without clusters, every item is its own."""
    if clusters is None:
        return np.arange(ratings.items)
    if len(ratings.at) and len(clusters) <= int(ratings.at.max()):
        raise InputError(f"Every item needs a cluster, got only {len(clusters)} clusters.")
    numbers: dict[Hashable, int] = {}
    named = [numbers.setdefault(clusters[at], len(numbers)) for at in ratings.at]
    return np.array(named, dtype=np.int64)


def _patterns(
    ratings: RatingMatrix, weights: Floats, groups: Integers
) -> tuple[RatingMatrix, Floats, _Units]:
    """The distinct items with their weights, and the units to resample in terms of them.

    Coefficients are then computed over distinct items only, of which there are few.
    """
    different, weight_of = np.unique(weights, return_inverse=True)
    both = np.vstack([ratings.codes, weight_of[None, :]])
    found, of_item, times = np.unique(both, axis=1, return_inverse=True, return_counts=True)
    patterns = replace(ratings, codes=found[:-1], at=np.arange(found.shape[1]))
    counts = different[found[-1]]
    units = int(groups.max()) + 1
    if units == ratings.items:
        return patterns, counts, _Units(times.astype(np.float64))
    if units * patterns.items > LARGEST_TABLE:
        return ratings, weights, _Units(np.ones(units), groups=groups)
    table = np.zeros((units, patterns.items))
    np.add.at(table, (groups, of_item.ravel()), 1)
    holds, times = np.unique(table, axis=0, return_counts=True)
    return patterns, counts, _Units(times.astype(np.float64), holds)


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
    """Intervals from Wilson's, for the share of items, or clusters, on which all agree."""
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
