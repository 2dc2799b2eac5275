"""Mean ranks: the place of each number among all, ties sharing theirs."""

import numpy as np

from .codes import Floats, sums_by


def mean_ranks(values: Floats, weights: Floats | None = None) -> Floats:
    """Ranks from 1, tied values sharing the mean of theirs.

    With weights, a row counts as so many rows: weight below, half the weight of the ties, 1/2.
    """
    place, ties = np.unique(values, return_inverse=True, return_counts=True)[1:]
    mass = ties if weights is None else sums_by(place, weights)
    return np.asarray((np.cumsum(mass) - (mass - 1) / 2)[place])
