"""Agreement coefficients: percent, Cohen's and Fleiss' kappa, Gwet's AC1, Krippendorff's alpha.

Fleiss' kappa allows other annotators for each item. AC1 does not collapse when a label is rare.
Alpha allows missing ratings. An agreement sequence holds at every look while labels come in.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ragstone.stats.distributions import FIRST_LOOK, Interval, clamp, look_quantile
from ragstone.stats.weights_and_groups import (
    Floats,
    Ints,
    row_weights,
    sums_by,
    weighted_wilson_ends,
)

from .ratings import (
    GAP,
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
    mean_shares,
    observed_agreement,
    over_shared,
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

# A smaller variance is rounding error.
NO_VARIANCE = 1e-12

# Kappa of two annotators in each resample, from their codes, the resamples' item counts, and the
# total count of each resample.
PairKappa = Callable[[Ints, Ints, Weights, Floats], Floats]


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
    inside = clamp(value, -1, 1)
    ends = weighted_wilson_ends(inside, variance, masses, level=level, low=-1, high=1)
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
        return _one_minus(observed, expected)

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


def fleiss(ratings: RatingMatrix, weights: Weights) -> Floats:
    """Return Fleiss' kappa in each resample: agreement beyond that of the label frequencies.

        (observed - expected) / (1 - expected)
        observed = mean of the share of agreeing pairs, over items with two labels or more
        expected = sum over labels of share²,  share = mean over all items of their share

    Items have equal weight, whatever their number of annotators. An item with a single label
    contributes to ``expected`` but not to ``observed``. At most 1, and 0 by chance; below -1 only
    where the items with a single label are unlike the others.

    Source: Fleiss (1971), "Measuring nominal scale agreement among many raters"; Gwet (2014),
    "Handbook of Inter-Rater Reliability", chapter 2, for gaps.
    """
    shares = mean_shares(ratings, weights)
    return beyond_chance(observed_agreement(ratings, weights), (shares**2).sum(axis=1))


def ac1(ratings: RatingMatrix, weights: Weights) -> Floats:
    """Return Gwet's AC1 in each resample: beyond chance, if only hard items are labelled at random.

        (observed - expected) / (1 - expected)
        observed = mean of the share of agreeing pairs, over items with two labels or more
        expected = sum over labels of share · (1 - share) / (labels - 1)

    ``share`` is the label's share, averaged over all items, including those with a single label;
    ``labels`` is the number of labels that occur among all items.

    Source: Gwet (2008), "Computing inter-rater reliability and its variance in the presence of high
    agreement"; Gwet (2014), "Handbook of Inter-Rater Reliability", chapter 2, for gaps.
    """
    shares = mean_shares(ratings, weights)
    expected = (shares * (1 - shares)).sum(axis=1) / (len(ratings.labels) - 1)
    return beyond_chance(observed_agreement(ratings, weights), expected)


def alpha(scale: str) -> Coefficient:
    """Return Krippendorff's alpha on a nominal, ordinal or interval scale; labels may be missing.

        1 - observed disagreement / expected disagreement

    The disagreement of two different labels is 1 on a nominal scale, the squared difference on an
    interval scale, and on an ordinal scale the squared difference of their mean ranks among all
    labels. Items with fewer than two labels are left out. At most 1, and 0 by chance.

    Source: Krippendorff (2011), "Computing Krippendorff's alpha-reliability".
    """
    return over_shared(
        {"nominal": _alpha_nominal, "ordinal": _alpha_ordinal, "interval": _alpha_interval}[scale]
    )


def _alpha_nominal(ratings: RatingMatrix, weights: Weights) -> Floats:
    raters = ratings.raters
    apart = (raters**2 - (ratings.counts**2).sum(axis=1)) / (raters - 1)
    uses = weights @ ratings.counts
    labels = uses.sum(axis=1)
    observed = weights @ apart / labels
    expected = (labels**2 - (uses**2).sum(axis=1)) / (labels * (labels - 1))
    return _one_minus(observed, expected)


def _alpha_interval(ratings: RatingMatrix, weights: Weights) -> Floats:
    numbers = np.arange(len(ratings.labels)) if ratings.numbers is None else ratings.numbers
    positions = numbers - numbers.mean()
    return _of_distances(
        ratings, weights, np.broadcast_to(positions, (len(weights), len(positions)))
    )


def _alpha_ordinal(ratings: RatingMatrix, weights: Weights) -> Floats:
    uses = weights @ ratings.counts
    ranks = np.cumsum(uses, axis=1) - uses / 2
    return _of_distances(ratings, weights, ranks - ranks.mean(axis=1, keepdims=True))


def _of_distances(ratings: RatingMatrix, weights: Weights, positions: Floats) -> Floats:
    uses = weights @ ratings.counts
    labels = uses.sum(axis=1)
    padded = np.concatenate([positions, np.zeros((len(positions), 1))], axis=1)
    sums = np.zeros(weights.shape)
    squares = np.zeros(weights.shape)
    # By item: sum over pairs of (x - y)² = raters · Σx² - (Σx)², without forming pairs.
    for row in ratings.codes:
        values = padded[:, np.where(row == GAP, len(ratings.labels), row)]
        sums += values
        squares += values**2
    raters = ratings.raters
    apart = 2 * (raters * squares - sums**2) / (raters - 1)
    observed = (weights * apart).sum(axis=1) / labels
    total, square = (uses * positions).sum(axis=1), (uses * positions**2).sum(axis=1)
    expected = 2 * (labels * square - total**2) / (labels * (labels - 1))
    return _one_minus(observed, expected)


def _one_minus(observed: Floats, expected: Floats) -> Floats:
    none = expected <= 1e-12
    return np.where(none, np.nan, 1 - observed / np.where(none, 1, expected))


# Labels other than the most frequent one that there must be: with fewer, too little is known of
# how often people would agree by chance.
RARE = 20

# Change of an item's weight by which the effect of the item is measured.
STEP = 1e-4

AT_ONCE = 4_000_000


def agreement_sequence(
    ratings: RatingMatrix,
    coefficient: Coefficient,
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Interval | None:
    """An asymptotic confidence sequence for a coefficient of agreement.

        value ± look_quantile(n) / N · √(sum of e_c² + greatest e_c²)

    with n the number of items that have two labels, N that of all items, and e_c the effect of a
    cluster on the coefficient, the sum of its items' effects (their influence function, measured by
    a small change of each item's weight). The largest counts once more: with few disagreements,
    their next one is not among them yet. All intervals from ``FIRST_LOOK`` clusters on hold the
    true value together with about this probability, so that labelling may stop at any look. The
    result lies within [-1, 1]. None with fewer than ``FIRST_LOOK`` clusters of items that have two
    labels or ``RARE`` labels of such items other than the most frequent one, and where all effects
    are 0, as where everybody agrees.

    Args:
        ratings: Of items that are drawn independently, or in clusters.
        coefficient: Has a value over all items.
        clusters: One name for each of the items given to ``read_ratings``; None: each is its own.

    Source: as ``look_quantile``; Waudby-Smith et al. (2024), section 3, for influence functions;
    clusters are ours.
    """
    quantile = look_quantile(max(1, ratings.shared.items), level)
    groups = groups_of(ratings, clusters)
    label_counts = ratings.shared.counts.sum(axis=0)
    n_clusters = len(np.unique(groups[ratings.is_shared]))
    if n_clusters < FIRST_LOOK or label_counts.sum() - label_counts.max() < RARE:
        return None
    value = float(coefficient(ratings, np.ones((1, ratings.items)))[0])
    squares = sums_by(groups, item_effects(ratings, coefficient)) ** 2
    half = quantile * sqrt(float(squares.sum() + squares.max())) / ratings.items
    if not half > 0:
        return None
    return Interval(max(-1.0, value - half), min(1.0, value + half), level, "asymptotic_sequence")


def item_effects(ratings: RatingMatrix, coefficient: Coefficient) -> Floats:
    """The effect of each item: n times the change of the coefficient by its weight, shape (n,)."""
    n = ratings.items
    codes, of_item, counts = np.unique(
        ratings.codes, axis=1, return_inverse=True, return_counts=True
    )
    patterns = replace(ratings, codes=codes, at=np.arange(codes.shape[1]))
    base = counts.astype(np.float64)
    slopes = np.empty(len(base))
    step = max(1, AT_ONCE // len(base))
    for start in range(0, len(base), step):
        some = np.arange(start, min(start + step, len(base)))
        change = np.zeros((len(some), len(base)))
        change[np.arange(len(some)), some] = STEP
        apart = coefficient(patterns, base + change) - coefficient(patterns, base - change)
        slopes[some] = apart / (2 * STEP)
    return np.asarray(n * slopes[of_item.ravel()])


Scale = Literal["nominal", "ordinal", "interval"]

CoefficientName = Literal[
    "percent", "cohen_kappa", "weighted_kappa", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1"
]
COEFFICIENTS: tuple[CoefficientName, ...] = get_args(CoefficientName)

# With more labels the ratings are taken for amounts, for which categorical coefficients are
# meaningless.
MOST_CATEGORIES = 20


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


def _value(
    name: str, coefficient: Coefficient, table: RatingMatrix, scale: Scale
) -> AgreementCoefficient:
    shared = table.shared
    if name == "percent" and shared.items:
        return AgreementCoefficient(float(shared.agreeing.mean()), None, shared.items)
    if (outcome := undefined(table)) is not None:
        return outcome
    if name == "weighted_kappa" and scale == "nominal":
        return AgreementCoefficient(None, NOMINAL, shared.items)
    of_numbers = name == "weighted_kappa" or name == "krippendorff_alpha"
    if of_numbers and scale != "nominal" and table.numbers is None:
        return AgreementCoefficient(None, NOT_NUMBERS, shared.items)
    if name in ("cohen_kappa", "fleiss_kappa", "gwet_ac1") and len(table.labels) > MOST_CATEGORIES:
        return AgreementCoefficient(None, TOO_MANY_LABELS, shared.items)
    return value_of(coefficient, table)
