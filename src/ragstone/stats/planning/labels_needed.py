"""Labels needed: how many rows people must label where a judge has read them all."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from ragstone.errors import InputError
from ragstone.stats.correcting.stratified_wilson import stratified_wilson_ends
from ragstone.stats.interval import upper_quantile
from ragstone.stats.smallest import smallest
from ragstone.stats.student import t_quantile

from .sample_size import rate_half_width, rate_sample_size


@dataclass(frozen=True, slots=True)
class LabelsNeeded:
    """How many labels reach a half-width, with the judge and without.

    Attributes:
        labels: The fewest with the judge; None where all judged rows would not do.
        labels_only: The fewest rows without it, each labelled.
        half_width: Of the corrected interval with ``labels``; with all judged
            rows where these would not do.
    """

    labels: int | None
    labels_only: int
    half_width: float


def corrected_rate_half_width(
    rate: float,
    sensitivity: float,
    specificity: float,
    *,
    labels: float,
    judged: float,
    level: float = 0.95,
) -> float:
    """Half the expected width of a post-stratified rate, as ``stratified_wilson_ends`` gives it.

    Taken at the expected counts: a verdict k has the share P_k of the labels and of the judged
    rows, whose own number leaves the variance (rate_1 - rate_0)² P_0 P_1 / N.

    Args:
        rate: True, in [0, 1].
        sensitivity: Share of the true that the judge calls true, in [0, 1].
        specificity: Share of the false that it calls false, in [0, 1].
        labels: Labelled at random among the judged, above 0.
        judged: At least ``labels``.
        level: Of the interval, in (0, 1).

    Raises:
        InputError: An argument is out of its range.

    Source: Cochran (1977), section 5A.9, for post-strata.
    """
    _check_shares(rate=rate, sensitivity=sensitivity, specificity=specificity)
    if not 0 < labels <= judged:
        raise InputError(f"Labels are some of the judged rows, got {labels} of {judged}.")
    z = NormalDist().inv_cdf(upper_quantile(level))
    yes = rate * sensitivity + (1 - rate) * (1 - specificity)
    shares = np.array([yes, 1 - yes])
    true = np.array([rate * sensitivity, rate * (1 - sensitivity)])
    rates = np.clip(np.divide(true, shares, out=np.zeros(2), where=shares > 0), 0, 1)
    between = float((rates[0] - rates[1]) ** 2 * yes * (1 - yes) / judged)
    low, high = stratified_wilson_ends(shares, rates, labels * shares, z, between)
    return float(high - low) / 2


def labels_for_rate(
    rate: float,
    sensitivity: float,
    specificity: float,
    half_width: float,
    *,
    judged: int,
    design_effect: float = 1.0,
    level: float = 0.95,
) -> LabelsNeeded:
    """The fewest labels for a corrected rate of a wanted half-width.

    Args:
        rate: Expected, in [0, 1].
        sensitivity: Of the judge, in [0, 1].
        specificity: Of the judge, in [0, 1].
        half_width: Wanted, in (0, .5).
        judged: Rows the judge has read, at least 1.
        design_effect: How many of the rows tell as much as one independent row,
            at least 1.
        level: Of the interval, in (0, 1).

    Raises:
        InputError: An argument is out of its range.
    """
    _check_design(judged, design_effect)

    def half(labels: int) -> float:
        return corrected_rate_half_width(
            rate,
            sensitivity,
            specificity,
            labels=labels / design_effect,
            judged=judged / design_effect,
            level=level,
        )

    alone = rate_sample_size(rate, half_width, level=level)
    alone = _rows(alone, design_effect)
    if half(judged) > half_width:
        return LabelsNeeded(None, alone, half(judged))
    labels = smallest(lambda size: half(size) <= half_width, most=judged)
    if labels >= alone:
        return LabelsNeeded(alone, alone, rate_half_width(rate, alone / design_effect, level=level))
    return LabelsNeeded(labels, alone, half(labels))


def labels_for_mean(
    deviation: float,
    correlation: float,
    half_width: float,
    *,
    judged: int,
    design_effect: float = 1.0,
    level: float = 0.95,
) -> LabelsNeeded:
    """The fewest labels for a corrected mean of a wanted half-width.

        variance = deviation² · ((1 - r²) / labels + r² / judged)

    which is that of prediction-powered inference with the best weight on the
    judge; t with ``labels - 1`` degrees of freedom.

    Args:
        deviation: Standard deviation of people's scores, above 0.
        correlation: Of the judge's scores with people's, in [-1, 1].
        half_width: Wanted, above 0.
        judged: Rows the judge has read, at least 2.
        design_effect: How many of the rows tell as much as one independent row,
            at least 1.
        level: Of the interval, in (0, 1).

    Raises:
        InputError: An argument is out of its range.

    Source: Angelopoulos, Duchi & Zrnic (2023), "PPI++: Efficient
    Prediction-Powered Inference".
    """
    _check_design(judged, design_effect)
    if not (deviation > 0 and half_width > 0 and -1 <= correlation <= 1 and judged >= 2):
        raise InputError(
            "A corrected mean needs a deviation and a half-width above 0, a correlation in [-1, 1] "
            f"and two judged rows, got {deviation}, {half_width}, {correlation} and {judged}."
        )
    explained = correlation**2
    upper = upper_quantile(level)

    def half(labels: int, by_judge: float, rows: float) -> float:
        parts = (1 - by_judge) / labels + by_judge / rows
        return (
            t_quantile(upper, max(1.0, labels / design_effect - 1))
            * deviation
            * sqrt(design_effect * parts)
        )

    alone = smallest(lambda size: half(size, 0.0, 1.0) <= half_width, least=2)
    if half(judged, explained, judged) > half_width:
        return LabelsNeeded(None, alone, half(judged, explained, judged))
    labels = smallest(lambda size: half(size, explained, judged) <= half_width, least=2)
    return LabelsNeeded(labels, alone, half(labels, explained, judged))


def _rows(independent: int, design_effect: float) -> int:
    rows = independent * design_effect
    return round(rows) if abs(rows - round(rows)) < 1e-9 * rows else int(rows) + 1


def _check_shares(**shares: float) -> None:
    wrong = [f"{name} {value}" for name, value in shares.items() if not 0 <= value <= 1]
    if wrong:
        raise InputError(f"A share lies in [0, 1], got {', '.join(wrong)}.")


def _check_design(judged: int, design_effect: float) -> None:
    if judged < 1 or not design_effect >= 1:
        raise InputError(
            "Labels need judged rows and a design effect of at least 1, got "
            f"{judged} and {design_effect}."
        )
