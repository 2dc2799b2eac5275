"""Cohen's kappa: two annotators beyond chance, plain and weighted, and its mean over pairs."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.codes import sums_by
from ragstone.stats.heavy_rows import heaviest_size, heavy_wilson_ends, variance_df
from ragstone.stats.interval import Interval, clamp
from ragstone.stats.row_weights import row_weights

from .item_bootstrap import agreement_intervals, groups_of
from .kappa_variance import kappa_effects
from .ratings import (
    NOT_NUMBERS,
    AgreementCoefficient,
    Floats,
    Integers,
    RatingMatrix,
    Weights,
    beyond_chance,
    read_ratings,
    undefined,
    value_of,
)

Disagreement = Literal["nominal", "quadratic"]

NO_VARIANCE = 1e-12
"""Less is rounding."""

PairKappa = Callable[[Integers, Integers, Weights, Floats], Floats]
"""Kappa of two annotators in each draw: their codes, the draws, and how many items each has."""


def cohen_kappa(a: Iterable[Hashable], b: Iterable[Hashable]) -> AgreementCoefficient:
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


def light_kappa(ratings: Iterable[Iterable[Hashable]]) -> AgreementCoefficient:
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


def kappa_with_interval(
    a: Iterable[Hashable],
    b: Iterable[Hashable],
    *,
    disagreement: Disagreement = "nominal",
    weights: ArrayLike | None = None,
    clusters: Iterable[Hashable] | None = None,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> AgreementCoefficient:
    """Kappa of two, such as a judge and people, with its interval.

    The ends are those of ``heavy_wilson_ends`` on the scale from -1 to 1, from the large-sample
    variance, summed by cluster. Where that is 0, as where both always agree or one of them has a
    single word, it cannot tell, and the interval is that of ``agreement_intervals``.

    Args:
        a: One label an item; None and NaN mean not rated, and the item is left out.
        b: As many, for the same items.
        disagreement: ``nominal``: labels are the same or not, as ``cohen_kappa``;
            ``quadratic``: by the square of their distance, as ``quadratic_kappa``.
        weights: One an item: one over the probability with which it was drawn, up to a factor.
        clusters: One name an item; items of the same name are not independent.
        seed: Of what is redrawn; the same seed gives the same interval on every machine.
        resamples: Draws.
        level: Share of intervals that should hold the truth, in (0, 1).

    Returns:
        At most 1; 0 is chance.

    Raises:
        InputError: Different numbers of items, or clusters of another number.

    Source: as for ``kappa_effects`` and ``heavy_wilson_ends``.
    """
    said, meant = list(a), list(b)
    table = read_ratings([said, meant]).shared
    mass = row_weights(weights, len(said))[table.at]
    coefficient = weighted_mean_kappa if disagreement == "quadratic" else mean_kappa
    if disagreement == "quadratic" and table.items and table.numbers is None:
        return AgreementCoefficient(None, NOT_NUMBERS, table.items)
    found = value_of(coefficient, table, mass)
    if found.value is None:
        return found
    names = None if clusters is None else list(clusters)
    interval = _interval(table, found.value, disagreement, mass, names, level)
    if interval is not None:
        return replace(found, interval=interval)
    intervals = agreement_intervals(
        table,
        {"kappa": coefficient},
        weights=mass,
        clusters=names,
        seed=seed,
        resamples=resamples,
        level=level,
    )
    return replace(found, interval=intervals.get("kappa"))


def _interval(
    table: RatingMatrix,
    value: float,
    disagreement: Disagreement,
    weights: Floats,
    clusters: Sequence[Hashable] | None,
    level: float,
) -> Interval | None:
    """By the variance; None where it is 0, or of one cluster."""
    numbers = table.numbers if disagreement == "quadratic" else None
    distance = (
        1 - np.eye(len(table.labels))
        if numbers is None
        else np.square(np.subtract.outer(numbers, numbers) / np.ptp(numbers))
    )
    effects = kappa_effects(table.codes[0], table.codes[1], distance, weights)
    groups = groups_of(table, clusters)
    sums, masses = sums_by(groups, effects), sums_by(groups, weights)
    units = len(sums)
    variance = float(sums @ sums) * units / max(1, units - 1)
    if units < 2 or variance <= NO_VARIANCE:
        return None
    ends = heavy_wilson_ends(
        clamp(value, -1, 1),
        variance,
        rows=heaviest_size(masses),
        df=variance_df(masses),
        level=level,
        low=-1,
        high=1,
    )
    return Interval(*ends, level, "linearised_wilson")


def quadratic_kappa(ratings: Iterable[Iterable[Hashable]]) -> AgreementCoefficient:
    """As ``light_kappa``, with disagreements counted by the square of their distance.

        1 - mean of (a - b)² / mean of (a' - b')²,   a' and b' drawn apart

    A label is its own number: of grades 0, 1 and 10 the last lies far from the others.
    Grades that follow each other by 1 are as their ranks.

    Args:
        ratings: Annotators × items, numbers. None and NaN mean not rated.

    Raises:
        InputError: Annotators with different numbers of items.

    Source: Cohen (1968), "Weighted kappa: nominal scale agreement with provision
    for scaled disagreement or partial credit".
    """
    table = read_ratings(ratings)
    if (outcome := undefined(table)) is not None:
        return outcome
    if table.numbers is None:
        return AgreementCoefficient(None, NOT_NUMBERS, table.shared.items)
    return value_of(weighted_mean_kappa, table)


def mean_kappa(ratings: RatingMatrix, weights: Weights) -> Floats:
    """Light's kappa in each draw."""
    one_of = np.eye(len(ratings.labels))

    def kappa(a: Integers, b: Integers, drawn: Weights, n: Floats) -> Floats:
        observed = drawn @ (a == b) / n
        expected = ((drawn @ one_of[a]) * (drawn @ one_of[b])).sum(axis=1) / n**2
        return beyond_chance(observed, expected)

    return _mean_over_pairs(ratings, weights, kappa)


def weighted_mean_kappa(ratings: RatingMatrix, weights: Weights) -> Floats:
    """Light's kappa with quadratic weights, in each draw; NaN where labels are no numbers."""
    numbers = ratings.numbers
    if numbers is None:
        return np.full(len(weights), np.nan)
    place = (numbers - numbers.mean()) / (np.ptp(numbers) or 1.0)

    def kappa(a: Integers, b: Integers, drawn: Weights, n: Floats) -> Floats:
        x, y = place[a], place[b]
        observed = drawn @ (x - y) ** 2 / n
        both = drawn @ (x**2 + y**2) / n
        expected = both - 2 * (drawn @ x) * (drawn @ y) / n**2
        none = expected <= 1e-12
        return np.where(none, np.nan, 1 - observed / np.where(none, 1, expected))

    return _mean_over_pairs(ratings, weights, kappa)


def _mean_over_pairs(ratings: RatingMatrix, weights: Weights, kappa: PairKappa) -> Floats:
    total = np.zeros(len(weights))
    mass = np.zeros(len(weights))
    for a, b, shared in ratings.pairs:
        drawn = weights[:, shared]
        n = drawn.sum(axis=1)
        value = kappa(
            ratings.codes[a, shared], ratings.codes[b, shared], drawn, np.where(n > 0, n, 1)
        )
        counts = np.where(np.isnan(value) | (n == 0), 0, n)
        total += counts * np.nan_to_num(value)
        mass += counts
    return np.where(mass > 0, total / np.where(mass > 0, mass, 1), np.nan)
