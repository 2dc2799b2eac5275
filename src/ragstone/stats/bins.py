"""Bins: numbers cut into parts of about equal size."""

import numpy as np

from .codes import Floats, Ints, sums_by


def equal_mass_bins(values: Floats, bins: int, weights: Floats | None = None) -> Ints:
    """A bin for each value, from 0 for the lowest: about equally many in each, ties together.

    With weights, about equal weight in each.
    """
    place, counts = np.unique(values, return_inverse=True, return_counts=True)[1:]
    mass = counts if weights is None else sums_by(place, weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    wanted = np.minimum(np.floor(middle * bins), bins - 1)
    return np.unique(wanted, return_inverse=True)[1][place].astype(np.int64)
