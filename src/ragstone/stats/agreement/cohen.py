"""Cohen's kappa: chance-corrected agreement of two, plain and weighted, and its mean over pairs."""

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
"""A smaller variance is rounding error."""

PairKappa = Callable[[Integers, Integers, Weights, Floats], Floats]
"""Kappa of two annotators in each resample, from their codes, the resamples' item counts, and the
total count of each resample."""


def cohen_kappa(a: Iterable[Hashable], b: Iterable[Hashable]) -> AgreementCoefficient:
    """Agreement of two annotators beyond the chance agreement of their label frequencies.

        (observed - expected) / (1 - expected)

    Args:
        a: One label per item; None and NaN mean not rated, and the item is left out.
        b: The other annotator's labels of the same items.

    Returns:
        At most 1; 0 is agreement by chance.

    Raises:
        InputError: Different numbers of items.

    Source: Cohen (1960), "A coefficient of agreement for nominal scales".
    """
    return light_kappa([a, b])


def light_kappa(ratings: Iterable[Iterable[Hashable]]) -> AgreementCoefficient:
    """Mean of Cohen's kappa over all pairs of annotators, weighted by their number of shared items.

    Without missing ratings it is the plain mean. A pair whose labels do not vary has no kappa and
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
    """Kappa of two annotators, such as a judge and people, with an interval.

    The interval is that of ``heavy_wilson_ends`` on the range from -1 to 1, with the large-sample
    variance, computed by cluster. If the variance is 0, because both always agree or one of them
    uses a single label, the interval of ``agreement_intervals`` is used.

    Args:
        a: One label per item; None and NaN mean not rated, and the item is left out.
        b: The other annotator's labels of the same items.
        disagreement: ``nominal``: labels are equal or not, as in ``cohen_kappa``;
            ``quadratic``: the squared distance of the labels, as in ``quadratic_kappa``.
        weights: One per item: its inverse sampling probability, up to a common factor.
        clusters: One name per item; items with the same name are not independent.
        seed: Of the bootstrap; the same seed gives the same interval on every machine.
        resamples: Number of resamples.
        level: Share of intervals that should hold the true value, in (0, 1).

    Returns:
        At most 1; 0 is agreement by chance.

    Raises:
        InputError: Different numbers of items, labels or clusters.

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
    """The interval from the variance; None if that is 0, or for a single cluster."""
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
    """As ``light_kappa``, with disagreements weighted by the squared distance of the labels.

        1 - mean of (a - b)² / mean of (a' - b')²,   a' and b' drawn independently

    The numeric values of the labels count: of grades 0, 1 and 10 the last is far from the others.
    For grades in steps of 1 this is the usual kappa with quadratic weights on ranks.

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
    """Light's kappa in each resample."""
    one_of = np.eye(len(ratings.labels))

    def kappa(a: Integers, b: Integers, drawn: Weights, n: Floats) -> Floats:
        observed = drawn @ (a == b) / n
        expected = ((drawn @ one_of[a]) * (drawn @ one_of[b])).sum(axis=1) / n**2
        return beyond_chance(observed, expected)

    return _mean_over_pairs(ratings, weights, kappa)


def weighted_mean_kappa(ratings: RatingMatrix, weights: Weights) -> Floats:
    """Light's kappa with quadratic weights in each resample; NaN if labels are not numbers."""
    numbers = ratings.numbers
    if numbers is None:
        return np.full(len(weights), np.nan)
    # Centred and scaled: kappa does not change, and the sums of squares keep their precision.
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
