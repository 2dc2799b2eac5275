"""Calibration error: is a judge right as often as it says?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragstone.errors import InputError
from ragstone.stats.bins import equal_mass_bins
from ragstone.stats.codes import Codes, Floats, Ints, codes_of

from .confusion import Share, share_of

Booleans = NDArray[np.bool_]

NO_ROWS = "no_rows"

BINS = 10


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Rows of nearby probabilities, from ``low`` to ``high``: what was said and what was true."""

    low: float
    high: float
    mean_probability: float
    positives: Share


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """Expected calibration error over ``n`` rows, from 0 to 1, and the bins it comes from.

    ``value`` is None, with ``reason`` ``no_rows``, for no rows. It is above 0
    by chance alone: a perfectly calibrated judge has about
    sqrt(2 / π) · mean of sqrt(p (1 - p) · bins / n).
    """

    value: float | None
    bins: tuple[CalibrationBin, ...]
    n: int
    reason: str | None = None


def calibration_error(
    probabilities: ArrayLike,
    positive: ArrayLike,
    *,
    bins: int = BINS,
    clusters: Codes | None = None,
    level: float = 0.95,
) -> CalibrationError:
    """Mean gap between the probability that was said and the share that was true, bin by bin.

        sum over bins of  rows in bin / n · |mean probability - share of positives|

    Bins hold about equally many rows; equal probabilities share a bin, so there
    may be fewer of them.

    Args:
        probabilities: Shape (n,), in [0, 1].
        positive: Shape (n,), true or 1 for a positive.
        bins: At the most, at least 1.
        clusters: Shape (n,). Rows with one value share their fate: for the
            intervals of the bins' shares.
        level: Level of those intervals, in (0, 1).

    Raises:
        InputError: Wrong shapes, a probability outside [0, 1], labels that are
            neither true nor false.

    Source: Naeini, Cooper & Hauskrecht (2015), "Obtaining well calibrated
    probabilities using Bayesian binning"; Nixon et al. (2019), "Measuring
    calibration in deep learning", for bins of equal mass.
    """
    said, labels = np.asarray(probabilities, dtype=np.float64), np.asarray(positive)
    if said.ndim != 1 or said.shape != labels.shape or bins < 1:
        raise InputError(
            "Calibration needs probabilities and labels of one shape (n,) and bins >= 1, "
            f"got {said.shape}, {labels.shape} and {bins}."
        )
    if not ((said >= 0) & (said <= 1)).all() or not np.isin(labels, (0, 1)).all():
        raise InputError("Probabilities lie in [0, 1] and labels are true or false.")
    groups = None if clusters is None else codes_of(clusters)
    if groups is not None and len(groups) != len(said):
        raise InputError(f"{len(said)} rows have {len(groups)} clusters.")
    if len(said) == 0:
        return CalibrationError(None, (), 0, NO_ROWS)
    true = labels.astype(bool)
    place = equal_mass_bins(said, bins)
    found = tuple(
        _bin(said, true, place == code, groups, level) for code in range(int(place.max()) + 1)
    )
    gaps = sum(
        one.positives.n * abs(one.mean_probability - (one.positives.value or 0)) for one in found
    )
    return CalibrationError(gaps / len(said), found, len(said))


def _bin(
    said: Floats, true: Booleans, inside: Booleans, groups: Ints | None, level: float
) -> CalibrationBin:
    own = said[inside]
    share = share_of(true, inside, groups, level)
    return CalibrationBin(float(own.min()), float(own.max()), float(own.mean()), share)
