"""Judge bias: mean difference from people, by group, and the error of stated probabilities."""

from collections.abc import Hashable
from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragstone.core.errors import InputError
from ragstone.stats.bootstrap import cluster_bootstrap
from ragstone.stats.correction.labels_only import mean_of_labels
from ragstone.stats.distributions import Interval, clamp
from ragstone.stats.weights_and_groups import (
    Bools,
    Codes,
    Floats,
    Ints,
    cluster_codes,
    codes_of,
    equal_mass_bins,
    in_order,
    kish_size,
    row_weights,
    scores_with_labels,
    shared_codes,
    sums_by,
    weighted_wilson_ends,
)

from .confusion import NO_ROWS, share_of
from .rank_measures import JudgeMeasure

PARTS = 3


@dataclass(frozen=True, slots=True)
class GroupBias:
    """Mean of judge minus people over the ``n`` rows of a group.

    ``interval`` is None for a group with a single row or cluster.
    """

    group: Hashable
    n: int
    value: float
    interval: Interval | None


def bias_by_group(
    differences: ArrayLike,
    groups: Codes,
    *,
    low: float | None = None,
    high: float | None = None,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> tuple[GroupBias, ...]:
    """Mean difference of judge and people in each group.

    Bounded differences have the interval of ``heavy_wilson_ends``, because a judge's differences
    are rare but large; others that of ``mean_of_labels``.

    Source: Bland & Altman (1986), "Statistical methods for assessing agreement between two methods
    of clinical measurement", for the definition of bias.
    """
    values, mass, codes = _read(differences, weights, clusters)
    listed: list[Hashable] = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    group_codes = codes_of(listed)
    names = dict(zip(listed, group_codes.tolist(), strict=True))
    return tuple(
        _bias(name, values, group_codes == names[name], mass, codes, low, high, level)
        for name in in_order(names)
    )


def bias_along(
    differences: ArrayLike,
    covariate: ArrayLike,
    *,
    low: float | None = None,
    high: float | None = None,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> tuple[GroupBias, ...]:
    """Mean difference of judge and people by thirds of a covariate such as length, lowest first.

    Each group's name is its (lowest, highest) value of the covariate.

    Args:
        covariate: Shape (n,), finite. Equal values are in one group, so there may be fewer than
            three.

    Source: Bland & Altman (1986), on bias that depends on the magnitude; Zheng et al. (2023),
    "Judging LLM-as-a-judge with MT-Bench and Chatbot Arena", on bias by length and position.
    """
    values, mass, codes = _read(differences, weights, clusters)
    number = np.asarray(covariate, dtype=np.float64)
    thirds = equal_mass_bins(number, PARTS, mass)
    parts = []
    for third in range(int(thirds.max()) + 1 if len(thirds) else 0):
        inside = thirds == third
        name = (float(number[inside].min()), float(number[inside].max()))
        parts.append(_bias(name, values, inside, mass, codes, low, high, level))
    return tuple(parts)


def _read(
    differences: ArrayLike, weights: ArrayLike | None, clusters: Codes | None
) -> tuple[Floats, Floats, Ints | None]:
    values = np.asarray(differences, dtype=np.float64)
    return values, row_weights(weights, len(values)), cluster_codes(clusters, len(values))


def _bias(
    name: Hashable,
    values: Floats,
    inside: Bools,
    weights: Floats,
    clusters: Ints | None,
    low: float | None,
    high: float | None,
    level: float,
) -> GroupBias:
    rows, mass = values[inside], weights[inside]
    codes = None if clusters is None else shared_codes(clusters[inside])
    if low is not None and high is not None:
        return GroupBias(name, len(rows), *_bounded(rows, mass, codes, low, high, level))
    mean = mean_of_labels(rows, low=low, high=high, weights=mass, clusters=codes).at(level)
    value = float(np.average(rows, weights=mass))
    return GroupBias(name, len(rows), value, mean.interval if len(rows) > 1 else None)


def _bounded(
    values: Floats, weights: Floats, codes: Ints | None, low: float, high: float, level: float
) -> tuple[float, Interval | None]:
    units_of = np.arange(len(values)) if codes is None else np.unique(codes, return_inverse=True)[1]
    mean = clamp(float(np.average(values, weights=weights)), low, high)
    masses = sums_by(units_of, weights)
    units = len(masses)
    if units < 2:
        return mean, None
    effect = sums_by(units_of, weights * (values - mean)) / weights.sum()
    variance = float(effect @ effect) * units / (units - 1)
    ends = weighted_wilson_ends(mean, variance, masses, level=level, low=low, high=high)
    return mean, Interval(*ends, level, "bounded_wilson")


BINS = 10


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Rows with probabilities from ``low`` to ``high``: mean probability and observed positives."""

    low: float
    high: float
    mean_probability: float
    positives: JudgeMeasure


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """Expected calibration error over ``n`` rows, from 0 to 1, with its bins.

    ``value`` is None, with ``reason`` ``no_rows``, for no rows. It is biased upwards: ``by_chance``
    is about its value for a perfectly calibrated judge. ``interval`` is None for a single row or
    cluster.
    """

    value: float | None
    interval: Interval | None
    by_chance: float | None
    bins: tuple[CalibrationBin, ...]
    n: int
    reason: str | None = None


def calibration_error(
    probabilities: ArrayLike,
    positive: ArrayLike,
    *,
    bins: int = BINS,
    weights: ArrayLike | None = None,
    clusters: Codes | None = None,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> CalibrationError:
    """Mean absolute gap between stated probability and observed share of positives, over bins.

        sum over bins b of  S_b · |mean probability - share of positives|
        by chance, about  sqrt(2 / π) · sum of S_b sqrt(p_b (1 - p_b) / n_b)

    S_b is the share of the rows in bin b, p_b its mean probability, n_b its number of rows, with
    weights Kish's effective one. Bins hold about equal numbers of rows; equal probabilities share a
    bin, so there may be fewer bins than requested.

    Sampling error can only increase the gaps, and resampling increases them once more. So the
    interval is the basic bootstrap's over rows or clusters with fixed bins, which subtracts that
    bias, clipped at 0. Its coverage is below its level.

    Source: Naeini, Cooper & Hauskrecht (2015), "Obtaining well calibrated probabilities using
    Bayesian binning"; Nixon et al. (2019), "Measuring calibration in deep learning", for bins of
    equal mass; Davison & Hinkley (1997), section 5.2, for the basic bootstrap.
    """
    stated, true = scores_with_labels(probabilities, positive)
    if ((stated < 0) | (stated > 1)).any():
        raise InputError("Probabilities must lie in [0, 1].")
    n = len(stated)
    groups = cluster_codes(clusters, n)
    if n == 0:
        return CalibrationError(None, None, None, (), 0, NO_ROWS)
    mass = row_weights(weights, n)
    codes = equal_mass_bins(stated, bins, mass)
    rows_of_bins = [codes == code for code in range(int(codes.max()) + 1)]
    cut = tuple(_bin(stated, true, inside, mass, groups, level) for inside in rows_of_bins)
    shares = sums_by(codes, mass) / n
    gaps = mass * (stated - true)
    value = float(np.abs(sums_by(codes, gaps)).sum() / n)
    spread = [
        sqrt(part.mean_probability * (1 - part.mean_probability) / kish_size(mass[inside]))
        for part, inside in zip(cut, rows_of_bins, strict=True)
    ]
    units = np.arange(n) if groups is None else groups
    interval = _basic_bootstrap(value, codes, gaps, mass, units, seed, resamples, level)
    return CalibrationError(value, interval, sqrt(2 / pi) * float(shares @ spread), cut, n)


def _basic_bootstrap(
    value: float,
    codes: Ints,
    gaps: Floats,
    mass: Floats,
    units: Ints,
    seed: int,
    resamples: int,
    level: float,
) -> Interval | None:
    """The basic bootstrap: resampled values deviate from the value as the value from the truth."""
    columns, rows = int(codes.max()) + 1, int(units.max()) + 1
    sums = sums_by(units * columns + codes, gaps, rows * columns).reshape(rows, columns)
    counts = np.repeat(sums_by(units, mass)[:, None], columns, axis=1)
    drawn = cluster_bootstrap(
        sums,
        counts,
        lambda means: np.asarray(np.abs(means).sum(axis=1)),
        seed=seed,
        resamples=resamples,
        level=level,
    )
    if drawn is None:
        return None
    low, high = (clamp(2 * value - end, 0, 1) for end in (drawn.high, drawn.low))
    return Interval(low, high, level, "basic_bootstrap")


def _bin(
    stated: Floats, true: Bools, inside: Bools, weights: Floats, groups: Ints | None, level: float
) -> CalibrationBin:
    probabilities = stated[inside]
    share = share_of(true, inside, weights, groups, level)
    mean = float(np.average(probabilities, weights=weights[inside]))
    return CalibrationBin(float(probabilities.min()), float(probabilities.max()), mean, share)
