"""Bins: numbers cut into parts of about equal size."""

import numpy as np

from .codes import Floats, Ints


def equal_mass_bins(values: Floats, bins: int) -> Ints:
    """A bin for each value, from 0 for the lowest: about equally many in each, ties together."""
    place, counts = np.unique(values, return_inverse=True, return_counts=True)[1:]
    middle = (np.cumsum(counts) - counts / 2) / len(values)
    wanted = np.minimum(np.floor(middle * bins), bins - 1)
    return np.unique(wanted, return_inverse=True)[1][place].astype(np.int64)
