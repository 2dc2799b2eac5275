"""Agreement coefficients: Cohen's kappa, plain and weighted, and percent agreement."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.distributions import Interval, clamp
from ragstone.stats.weights_and_groups import (
    Floats,
    Ints,
    heaviest_size,
    heavy_wilson_ends,
    row_weights,
    sums_by,
    variance_df,
)

from .alpha_and_ac1 import ac1, alpha, fleiss
from .ratings import (
    NO_PAIRS,
    NOMINAL,
    NOT_NUMBERS,
    TOO_MANY_LABELS,
    AgreementCoefficient,
    Coefficient,
    RatingMatrix,
    Weights,
    agreement_intervals,
    beyond_chance,
    groups_of,
    observed_agreement,
    read_ratings,
    undefined,
    value_of,
)


def kappa_effects(a: Ints, b: Ints, distance: Floats, weights: Floats) -> Floats:
    """The influence of each item on kappa, shape (n,): sum 0, sum of squares kappa's variance.

        kappa = 1 - D / E,    effect_i = -w_i / W · (d_i - (1 - kappa) (r_i + c_i - E)) / E

    D is the mean distance between the two labels of an item, E that between independently drawn
    labels. d_i is the distance between the two labels of item i, r_i the mean distance of its first
    label to all second ones, c_i that of its second label to all first ones. W is the sum of the
    weights. The effects are 0 if all labels are the same.

    Args:
        a: Shape (n,), codes of the first annotator's labels.
        b: Shape (n,), codes of the second annotator's labels.
        distance: Shape (labels, labels), symmetric, with 0 on the diagonal.
        weights: Shape (n,), above 0.

    Source: Fleiss, Cohen & Everitt (1969), "Large sample standard errors of kappa and weighted
    kappa", as the derivative with respect to an item's weight.
    """
    kinds, mass = len(distance), weights / weights.sum()
    first, second = (sums_by(codes, mass, kinds) for codes in (a, b))
    distances = distance[a, b]
    expected = float(first @ distance @ second)
    if expected <= 0:
        return np.zeros(len(a))
    away = float(mass @ distances) / expected
    chance = (distance @ second)[a] + (distance @ first)[b] - expected
    return np.asarray(-mass * (distances - away * chance) / expected)


DisagreementScale = Literal["nominal", "quadratic"]

NO_VARIANCE = 1e-12
"""A smaller variance is rounding error."""

PairKappa = Callable[[Ints, Ints, Weights, Floats], Floats]
"""Kappa of two annotators in each resample, from their codes, the resamples' item counts, and the
total count of each resample."""


def kappa_with_interval(
    a: Iterable[Hashable],
    b: Iterable[Hashable],
    *,
    disagreement: DisagreementScale = "nominal",
    weights: ArrayLike | None = None,
    clusters: Iterable[Hashable] | None = None,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> AgreementCoefficient:
    """Kappa of two annotators, such as a judge and people, with an interval.

    The interval is that of ``heavy_wilson_ends`` on the range from -1 to 1, with the large-sample
    variance, computed by cluster. If the variance is 0, because both always agree or one of them
    uses a single label, the interval of ``agreement_intervals`` is used. The result is at most 1; 0
    is agreement by chance.

    Args:
        a: One label per item; None and NaN mean not rated, and the item is left out.
        b: The other annotator's labels of the same items.
        disagreement: ``nominal``: labels are equal or not, as in ``mean_kappa``; ``quadratic``: the
            squared distance of the labels, as in ``weighted_mean_kappa``.

    Source: as for ``kappa_effects`` and ``heavy_wilson_ends``.
    """
    labels_a, labels_b = list(a), list(b)
    table = read_ratings([labels_a, labels_b]).shared
    mass = row_weights(weights, len(labels_a))[table.at]
    coefficient = weighted_mean_kappa if disagreement == "quadratic" else mean_kappa
    if disagreement == "quadratic" and table.items and table.numbers is None:
        return AgreementCoefficient(None, NOT_NUMBERS, table.items)
    kappa = value_of(coefficient, table, mass)
    if kappa.value is None:
        return kappa
    names = None if clusters is None else list(clusters)
    interval = _interval(table, kappa.value, disagreement, mass, names, level)
    if interval is not None:
        return replace(kappa, interval=interval)
    intervals = agreement_intervals(
        table,
        {"kappa": coefficient},
        weights=mass,
        clusters=names,
        seed=seed,
        resamples=resamples,
        level=level,
    )
    return replace(kappa, interval=intervals.get("kappa"))


def _interval(
    table: RatingMatrix,
    value: float,
    disagreement: DisagreementScale,
    weights: Floats,
    clusters: Sequence[Hashable] | None,
    level: float,
) -> Interval | None:
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


def mean_kappa(ratings: RatingMatrix, weights: Weights) -> Floats:
    """Return Light's kappa in each resample: the mean of Cohen's over all pairs of annotators.

        Cohen's kappa = (observed - expected) / (1 - expected)

    Pairs are weighted by their number of shared items; one whose labels do not vary has no kappa
    and is left out. At most 1, and 0 by chance.

    Source: Cohen (1960), "A coefficient of agreement for nominal scales"; Light (1971), "Measures
    of response agreement for qualitative data".
    """
    indicator = np.eye(len(ratings.labels))

    def kappa(a: Ints, b: Ints, drawn: Weights, n: Floats) -> Floats:
        observed = drawn @ (a == b) / n
        expected = ((drawn @ indicator[a]) * (drawn @ indicator[b])).sum(axis=1) / n**2
        return beyond_chance(observed, expected)

    return _mean_over_pairs(ratings, weights, kappa)


def weighted_mean_kappa(ratings: RatingMatrix, weights: Weights) -> Floats:
    """Return Light's kappa by squared distances in each resample; NaN if labels are not numbers.

        1 - mean of (a - b)² / mean of (a' - b')²,   a' and b' drawn independently

    The numeric values of the labels count: of grades 0, 1 and 10 the last is far from the others.
    For grades in steps of 1 this is the usual kappa with quadratic weights on ranks.

    Source: Cohen (1968), "Weighted kappa: nominal scale agreement with provision for scaled
    disagreement or partial credit".
    """
    numbers = ratings.numbers
    if numbers is None:
        return np.full(len(weights), np.nan)
    # Centred and scaled: kappa does not change, and the sums of squares keep their precision.
    positions = (numbers - numbers.mean()) / (np.ptp(numbers) or 1.0)

    def kappa(a: Ints, b: Ints, drawn: Weights, n: Floats) -> Floats:
        x, y = positions[a], positions[b]
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


Scale = Literal["nominal", "ordinal", "interval"]

CoefficientName = Literal[
    "percent", "cohen_kappa", "weighted_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"
]
COEFFICIENTS: tuple[CoefficientName, ...] = get_args(CoefficientName)

MOST_CATEGORIES = 20
"""With more labels the ratings are taken for amounts, for which categorical coefficients are
meaningless."""


def agreement_coefficients(
    ratings: Iterable[Iterable[Hashable]],
    *,
    scale: Scale = "nominal",
    clusters: Iterable[Hashable] | None = None,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
    only: Collection[CoefficientName] = COEFFICIENTS,
) -> Mapping[CoefficientName, AgreementCoefficient]:
    """All coefficients of agreement, or some, with intervals by the bootstrap over items.

    ``percent``, ``cohen_kappa`` (mean over pairs of annotators), ``weighted_kappa`` (the same with
    quadratic weights on numeric labels; None on a nominal scale), ``fleiss_kappa``,
    ``krippendorff_alpha`` (on the given scale) and ``gwet_ac1``. Categorical coefficients have no
    value for more than 20 distinct labels.

    Items, or whole clusters of items, are resampled; see ``agreement_intervals``.

    Args:
        scale: The scale of the labels. On a scale other than nominal they must be numbers.
        only: These coefficients.
    """
    table = read_ratings(ratings)
    every: dict[CoefficientName, Coefficient] = {
        "percent": observed_agreement,
        "cohen_kappa": mean_kappa,
        "weighted_kappa": weighted_mean_kappa,
        "fleiss_kappa": fleiss,
        "krippendorff_alpha": alpha(scale),
        "gwet_ac1": ac1,
    }
    values = {
        name: _value(name, coefficient, table, scale)
        for name, coefficient in every.items()
        if name in only
    }
    intervals = agreement_intervals(
        table,
        {name: every[name] for name, result in values.items() if result.value is not None},
        clusters=None if clusters is None else list(clusters),
        seed=seed,
        resamples=resamples,
        level=level,
    )
    return {name: replace(result, interval=intervals.get(name)) for name, result in values.items()}


def _percent(table: RatingMatrix) -> AgreementCoefficient:
    shared = table.shared
    if shared.items == 0:
        return AgreementCoefficient(None, NO_PAIRS, 0)
    return AgreementCoefficient(float(shared.agreeing.mean()), None, shared.items)


def _value(
    name: str, coefficient: Coefficient, table: RatingMatrix, scale: Scale
) -> AgreementCoefficient:
    if name == "percent":
        return _percent(table)
    if (outcome := undefined(table)) is not None:
        return outcome
    if name == "weighted_kappa" and scale == "nominal":
        return AgreementCoefficient(None, NOMINAL, table.shared.items)
    of_numbers = name == "weighted_kappa" or name == "krippendorff_alpha"
    if of_numbers and scale != "nominal" and table.numbers is None:
        return AgreementCoefficient(None, NOT_NUMBERS, table.shared.items)
    if name in ("cohen_kappa", "fleiss_kappa", "gwet_ac1") and len(table.labels) > MOST_CATEGORIES:
        return AgreementCoefficient(None, TOO_MANY_LABELS, table.shared.items)
    return value_of(coefficient, table)
