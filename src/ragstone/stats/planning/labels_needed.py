"""Labels needed: how many rows people must label if a judge has judged all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Literal

import numpy as np

from ragstone.core.errors import InputError
from ragstone.stats.distributions import KNOWN, f_quantile, t_quantile, upper_quantile
from ragstone.stats.weights_and_groups import MOST, Floats, smallest

from .corrected_rate_width import (
    INDEPENDENT,
    Design,
    JudgedRate,
    correction_at,
    expected_half_width,
    expected_half_width_alone,
    half_widths,
    half_widths_alone,
)

# Kurtosis of the normal distribution.
NORMAL = 3.0

Method = Literal["poststratified", "ppi_plus_plus", "labels_only"]


@dataclass(frozen=True, slots=True)
class LabelsNeeded:
    """The number of labels for a wanted half-width, with the judge and without.

    Attributes:
        labels: The fewest with the judge; None if labelling all judged rows is not enough.
        labels_only: The fewest labels without the judge.
        half_width: Of the corrected interval with ``labels``; if these are None, with all judged
            rows labelled. The expected one, or, with an assurance, its quantile over draws.
        method: The method of correction with ``labels``; ``labels_only`` if the judge saves no
            labels.
    """

    labels: int | None
    labels_only: int
    half_width: float
    method: Method


def labels_for_rate(
    judged: JudgedRate,
    half_width: float,
    *,
    design: Design = INDEPENDENT,
    level: float = 0.95,
    assurance: float | None = None,
    seed: int = 0,
) -> LabelsNeeded:
    """The fewest labels for a corrected rate with a wanted half-width.

    With the method that ``calibrate`` would choose for that number of labels. Without ``assurance``
    it is the width at expected counts, so about half of all samples give a wider interval. With it,
    it is the quantile of the width over simulated samples, ``half_widths``.

    Args:
        assurance: Wanted probability that the interval is no wider, in (0, 1); None for the
            expected width.

    Source: Kelley & Rausch (2006), "Sample size planning for the standardized mean difference:
    accuracy in parameter estimation via narrow confidence intervals", for assurance; the simulation
    is that of ``half_widths``.
    """
    if not 0 < half_width < 0.5:
        raise InputError(f"The half-width of a rate must lie in (0, .5), got {half_width}.")
    _check_assurance(assurance)
    rows = int(judged.judged)

    def method(labels: int) -> Method:
        return correction_at(judged, labels, design)

    average = _fewest(
        partial(expected_half_width, judged, design=design, level=level),
        partial(expected_half_width_alone, judged, design=design, level=level),
        half_width,
        rows,
        method,
    )
    if assurance is None:
        return average

    def half(widths: Callable[..., Floats], labels: int) -> float:
        drawn = widths(judged, labels, design=design, level=level, seed=seed)
        return float(np.quantile(drawn, assurance))

    with_judge, alone = partial(half, half_widths), partial(half, half_widths_alone)
    return _fewest(with_judge, alone, half_width, rows, method, near=average)


def mean_half_width(
    deviation: float,
    correlation: float,
    *,
    labels: float,
    judged: float,
    design: Design = INDEPENDENT,
    level: float = 0.95,
    assurance: float | None = None,
    pilot: float | None = None,
    kurtosis: float = NORMAL,
) -> float:
    """Half-width of the interval of a prediction-powered mean.

        t · deviation · sqrt(D · ((1 - r²) · F / labels + r² / judged))

    t has the degrees of freedom of the labelled rows or clusters, D is the design effect, r the
    correlation, and the variance is that left by the best weight on the judge. F is the ratio of
    the estimated to the true variance, 1 on average. For normal scores it is distributed as chi²
    over its degrees of freedom, or as F if the deviation itself is estimated from a pilot. With an
    assurance, F is that quantile of the distribution, so the half-width is met with that
    probability. For scores with kurtosis k the degrees of freedom are

        2 n / (k - (n - 3) / (n - 1))

    which is n - 1 for the normal's 3. A pilot of m labels has one fewer, because the weight on the
    judge is fitted to it too, and its residual variance is multiplied by (m - 1) / (m - 2).

    Args:
        deviation: Standard deviation of people's scores, above 0.
        correlation: Of the judge's scores with people's, in [-1, 1].
        labels: Number of labels, drawn at random from the judged rows, at least 2.
        judged: Number of judged rows, at least ``labels``.
        assurance: Wanted probability that the interval is no wider, in (0, 1); None for the average
            width.
        pilot: Number of independent labels that the deviation is estimated from; None if it is
            known.
        kurtosis: Of the residuals of people's scores given the judge's, at least 1.

    Source: Angelopoulos, Duchi & Zrnic (2023), "PPI++: Efficient Prediction-Powered Inference", for
    the variance; Beal (1989), "Sample size determination for confidence intervals on the population
    mean and on the difference between two population means", for its quantile; O'Neill (2014),
    "Some useful moment results in sampling problems", for the degrees of freedom.
    """
    explained, times = correlation**2, 1.0
    if assurance is not None:
        per_unit = NORMAL + (kurtosis - NORMAL) / design.rows_per_cluster
        df, known = _variance_df(design.units(labels), per_unit), KNOWN
        if pilot is not None:
            known = max(1.0, _variance_df(pilot, max(NORMAL, kurtosis)) - 1)
            times = max(1.0, pilot - 1) / max(1.0, pilot - 2)
        times *= f_quantile(assurance, df, known)
    parts = times * (1 - explained) / labels + explained / judged
    t = t_quantile(upper_quantile(level), design.df(labels))
    return t * deviation * sqrt(design.effect * parts)


def labels_for_mean(
    deviation: float,
    correlation: float,
    half_width: float,
    *,
    judged: int,
    design: Design = INDEPENDENT,
    level: float = 0.95,
    assurance: float | None = None,
    pilot: float | None = None,
    kurtosis: float = NORMAL,
) -> LabelsNeeded:
    """The fewest labels for a corrected mean with a wanted half-width, by ``mean_half_width``."""
    if not (deviation > 0 and half_width > 0 and -1 <= correlation <= 1 and judged >= 2):
        raise InputError(
            "A corrected mean needs a deviation and a half-width above 0, a correlation in [-1, 1] "
            f"and two judged rows, got {deviation}, {half_width}, {correlation} and {judged}."
        )
    _check_assurance(assurance)

    def half(labels: int, correlation: float) -> float:
        return mean_half_width(
            deviation,
            correlation,
            labels=labels,
            judged=judged,
            design=design,
            level=level,
            assurance=assurance,
            pilot=pilot,
            kurtosis=kurtosis,
        )

    return _fewest(
        lambda labels: half(labels, correlation),
        lambda labels: half(labels, 0.0),
        half_width,
        judged,
        lambda _: "ppi_plus_plus",
    )


def _fewest(
    half: Callable[[int], float],
    alone: Callable[[int], float],
    half_width: float,
    judged: int,
    method: Callable[[int], Method],
    near: LabelsNeeded | None = None,
) -> LabelsNeeded:
    """The fewest labels by search; ``near`` gives a starting point.

    The result is usually at least half of ``near``; that is checked before it is relied on.
    """

    def fewest(half: Callable[[int], float], about: int | None, most: int = MOST) -> int:
        first = min(2, most)
        least = max(first, (about or 0) // 2)
        if least > first and half(least) <= half_width:
            least = first
        return smallest(lambda size: half(size) <= half_width, least=least, most=most)

    labels_only = fewest(alone, None if near is None else near.labels_only)
    reached = half(judged)
    if reached > half_width:
        return LabelsNeeded(None, labels_only, reached, method(judged))
    labels = fewest(half, None if near is None else near.labels, judged)
    if labels >= labels_only:
        return LabelsNeeded(labels_only, labels_only, alone(labels_only), "labels_only")
    return LabelsNeeded(labels, labels_only, half(labels), method(labels))


def _variance_df(n: float, kurtosis: float) -> float:
    if n <= 1:
        return 1.0
    return 2 * n / (max(1.0, kurtosis) - (n - 3) / (n - 1))


def _check_assurance(assurance: float | None) -> None:
    if assurance is not None and not 0 < assurance < 1:
        raise InputError(f"An assurance must be a probability in (0, 1), got {assurance}.")
