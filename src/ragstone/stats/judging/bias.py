"""Bias: the mean difference of judge and people, by group and along a covariate."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError
from ragstone.stats.bins import equal_mass_bins
from ragstone.stats.codes import Codes, Floats, Ints, codes_of, in_order, shared_codes, sums_by
from ragstone.stats.correcting.labels_only import labels_only_mean
from ragstone.stats.heavy_rows import heaviest_size, heavy_wilson_ends, variance_df
from ragstone.stats.interval import Interval, clamp
from ragstone.stats.row_weights import row_weights

from .ranks import RankCorrelation, spearman

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


@dataclass(frozen=True, slots=True)
class BiasAlong:
    """Bias by thirds of a covariate such as length, from the lowest to the highest.

    Each group's name is its (lowest, highest) value of the covariate; ``correlation``
    is Spearman's, of the covariate with judge minus people.
    """

    parts: tuple[GroupBias, ...]
    correlation: RankCorrelation


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

    Bounded differences have the interval of ``heavy_wilson_ends``, because a judge's
    differences are rare but large; others that of ``labels_only_mean``.

    Args:
        differences: Shape (n,), judge minus people, finite.
        groups: Shape (n,), such as the system or the slice of each row.
        low: The least possible difference, None for no bound; -1 for rates.
        high: The greatest possible difference, None for no bound; 1 for rates.
        weights: Shape (n,). Inverse sampling probabilities, up to a common factor.
        clusters: Shape (n,). Rows with the same value are not independent.
        level: Share of intervals that should hold the true mean, in (0, 1).

    Raises:
        InputError: Different numbers of rows, or numbers that are not finite.

    Source: Bland & Altman (1986), "Statistical methods for assessing agreement
    between two methods of clinical measurement", for the definition of bias.
    """
    values, mass, own = _read(differences, weights, clusters)
    listed: list[Hashable] = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    if len(listed) != len(values):
        raise InputError(f"{len(values)} differences have {len(listed)} groups.")
    codes = codes_of(listed)
    names = dict(zip(listed, codes.tolist(), strict=True))
    return tuple(
        _bias(name, values, codes == names[name], mass, own, low, high, level)
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
) -> BiasAlong:
    """Mean difference of judge and people by thirds of a covariate, and its rank correlation.

    Args:
        differences: Shape (n,), judge minus people, finite.
        covariate: Shape (n,), finite, such as the length of an answer. Equal values
            are in one group, so there may be fewer than three.
        low: The least possible difference, None for no bound; -1 for rates.
        high: The greatest possible difference, None for no bound; 1 for rates.
        weights: Shape (n,). Inverse sampling probabilities, up to a common factor.
        clusters: Shape (n,). Rows with the same value are not independent.
        level: Share of intervals that should hold the true value, in (0, 1).

    Raises:
        InputError: Different numbers of rows, or numbers that are not finite.

    Source: Bland & Altman (1986), on bias that depends on the magnitude; Zheng et
    al. (2023), "Judging LLM-as-a-judge with MT-Bench and Chatbot Arena", on bias by
    length and position.
    """
    values, mass, own = _read(differences, weights, clusters)
    number = np.asarray(covariate, dtype=np.float64)
    if number.shape != values.shape or not np.isfinite(number).all():
        raise InputError("The covariate must be finite and have one value per difference.")
    place = equal_mass_bins(number, PARTS, mass)
    parts = []
    for code in range(int(place.max()) + 1 if len(place) else 0):
        inside = place == code
        name = (float(number[inside].min()), float(number[inside].max()))
        parts.append(_bias(name, values, inside, mass, own, low, high, level))
    correlation = spearman(number, values, weights=mass, clusters=own, level=level)
    return BiasAlong(tuple(parts), correlation)


def _read(
    differences: ArrayLike, weights: ArrayLike | None, clusters: Codes | None
) -> tuple[Floats, Floats, Ints | None]:
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError("Differences must be of shape (n,) and finite.")
    codes = None if clusters is None else codes_of(clusters)
    if codes is not None and len(codes) != len(values):
        raise InputError(f"{len(values)} differences have {len(codes)} clusters.")
    return values, row_weights(weights, len(values)), codes


def _bias(
    name: Hashable,
    values: Floats,
    inside: NDArray[np.bool_],
    weights: Floats,
    clusters: Ints | None,
    low: float | None,
    high: float | None,
    level: float,
) -> GroupBias:
    own, mass = values[inside], weights[inside]
    codes = None if clusters is None else shared_codes(clusters[inside])
    if low is not None and high is not None:
        return GroupBias(name, len(own), *_bounded(own, mass, codes, low, high, level))
    found = labels_only_mean(own, low=low, high=high, weights=mass, clusters=codes, level=level)
    value = float(np.average(own, weights=mass))
    return GroupBias(name, len(own), value, found.interval if len(own) > 1 else None)


def _bounded(
    values: Floats, weights: Floats, codes: Ints | None, low: float, high: float, level: float
) -> tuple[float, Interval | None]:
    """The mean of bounded differences, with the interval of ``heavy_wilson_ends``."""
    if (values < low).any() or (values > high).any():
        raise InputError(f"Differences must lie between {low} and {high}.")
    own = np.arange(len(values)) if codes is None else np.unique(codes, return_inverse=True)[1]
    mean = clamp(float(np.average(values, weights=weights)), low, high)
    masses = sums_by(own, weights)
    units = len(masses)
    if units < 2:
        return mean, None
    effect = sums_by(own, weights * (values - mean)) / weights.sum()
    low_end, high_end = heavy_wilson_ends(
        mean,
        float(effect @ effect) * units / (units - 1),
        rows=heaviest_size(masses),
        df=variance_df(masses),
        level=level,
        low=low,
        high=high,
    )
    return mean, Interval(low_end, high_end, level, "bounded_wilson")
