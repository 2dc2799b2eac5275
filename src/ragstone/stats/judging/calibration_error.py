"""Calibration error: does a judge's stated probability match how often it is right?"""

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.core.errors import InputError
from ragstone.stats.bins import equal_mass_bins
from ragstone.stats.bootstrap import cluster_bootstrap
from ragstone.stats.codes import Codes, Floats, Ints, codes_of, sums_by
from ragstone.stats.interval import Interval, clamp
from ragstone.stats.kish import kish_size
from ragstone.stats.row_weights import row_weights

from .confusion import ShareEstimate, share_of

Booleans = NDArray[np.bool_]

NO_ROWS = "no_rows"

BINS = 10


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Rows with probabilities from ``low`` to ``high``: mean probability and observed positives."""

    low: float
    high: float
    mean_probability: float
    positives: ShareEstimate


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """Expected calibration error over ``n`` rows, from 0 to 1, with its bins.

    ``value`` is None, with ``reason`` ``no_rows``, for no rows. It is biased upwards:
    ``by_chance`` is about its value for a perfectly calibrated judge. ``interval`` is
    None for a single row or cluster.
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

    S_b is the share of the rows in bin b, p_b its mean probability, n_b its number of
    rows, with weights Kish's effective one. Bins hold about equal numbers of rows;
    equal probabilities share a bin, so there may be fewer bins than requested.

    Sampling error can only increase the gaps, and resampling increases them once
    more. So the interval is the basic bootstrap's over rows or clusters with fixed
    bins, which subtracts that bias, clipped at 0. Its coverage is below its level;
    ``benchmarks/calibration.py`` measures it.

    Args:
        probabilities: Shape (n,), in [0, 1].
        positive: Shape (n,), true or 1 for a positive.
        bins: Maximum number of bins, at least 1.
        weights: Shape (n,). Inverse sampling probabilities, up to a common factor.
        clusters: Shape (n,). Rows with the same value are not independent.
        seed: The same seed gives the same draws on every machine.
        resamples: Number of resamples.
        level: Of the intervals, in (0, 1).

    Raises:
        InputError: Wrong shapes, a probability outside [0, 1], labels that are
            neither true nor false.

    Source: Naeini, Cooper & Hauskrecht (2015), "Obtaining well calibrated
    probabilities using Bayesian binning"; Nixon et al. (2019), "Measuring
    calibration in deep learning", for bins of equal mass; Davison & Hinkley
    (1997), section 5.2, for the basic bootstrap.
    """
    said, labels = np.asarray(probabilities, dtype=np.float64), np.asarray(positive)
    if said.ndim != 1 or said.shape != labels.shape or bins < 1:
        raise InputError(
            "Calibration needs probabilities and labels of one shape (n,) and bins >= 1, "
            f"got {said.shape}, {labels.shape} and {bins}."
        )
    if not ((said >= 0) & (said <= 1)).all() or not np.isin(labels, (0, 1)).all():
        raise InputError("Probabilities must lie in [0, 1] and labels must be true or false.")
    groups = None if clusters is None else codes_of(clusters)
    if groups is not None and len(groups) != len(said):
        raise InputError(f"{len(said)} rows have {len(groups)} clusters.")
    if len(said) == 0:
        return CalibrationError(None, None, None, (), 0, NO_ROWS)
    true, mass = labels.astype(bool), row_weights(weights, len(said))
    place = equal_mass_bins(said, bins, mass)
    size = int(place.max()) + 1
    found = tuple(_bin(said, true, place == code, mass, groups, level) for code in range(size))
    shares = sums_by(place, mass) / len(said)
    value = float(np.abs(sums_by(place, mass * (said - true))).sum() / len(said))
    spread = [
        sqrt(one.mean_probability * (1 - one.mean_probability) / kish_size(mass[place == code]))
        for code, one in enumerate(found)
    ]
    units = np.arange(len(said)) if groups is None else groups
    interval = _basic_bootstrap(
        value, place, mass * (said - true), mass, units, seed, resamples, level
    )
    return CalibrationError(
        value, interval, sqrt(2 / pi) * float(shares @ spread), found, len(said)
    )


def _basic_bootstrap(
    value: float,
    place: Ints,
    gaps: Floats,
    mass: Floats,
    units: Ints,
    seed: int,
    resamples: int,
    level: float,
) -> Interval | None:
    """The basic bootstrap: resampled values deviate from the value as the value from the truth."""
    columns, rows = int(place.max()) + 1, int(units.max()) + 1
    sums = sums_by(units * columns + place, gaps, rows * columns).reshape(rows, columns)
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
    said: Floats,
    true: Booleans,
    inside: Booleans,
    weights: Floats,
    groups: Ints | None,
    level: float,
) -> CalibrationBin:
    own = said[inside]
    share = share_of(true, inside, weights, groups, level)
    mean = float(np.average(own, weights=weights[inside]))
    return CalibrationBin(float(own.min()), float(own.max()), mean, share)
