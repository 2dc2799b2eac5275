"""Bins: numbers divided into bins of about equal mass."""

import numpy as np

from .codes import Floats, Ints, sums_by


def equal_mass_bins(values: Floats, bins: int, weights: Floats | None = None) -> Ints:
    """The bin of each value, from 0 for the lowest; bins of about equal size, ties in one bin.

    With weights, the bins have about equal total weight.
    """
    place, counts = np.unique(values, return_inverse=True, return_counts=True)[1:]
    mass = counts if weights is None else sums_by(place, weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    wanted = np.minimum(np.floor(middle * bins), bins - 1)
    return np.unique(wanted, return_inverse=True)[1][place].astype(np.int64)
