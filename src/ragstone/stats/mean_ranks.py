"""Mean ranks: the rank of each number, tied numbers sharing their mean rank."""

import numpy as np

from .codes import Floats, sums_by


def mean_ranks(values: Floats, weights: Floats | None = None) -> Floats:
    """Ranks from 1; tied values get the mean of their ranks.

    With weights, a row counts as that many rows: its rank is the total weight below it, plus half
    the weight of its ties, itself included, plus 1/2.
    """
    place, ties = np.unique(values, return_inverse=True, return_counts=True)[1:]
    mass = ties if weights is None else sums_by(place, weights)
    return np.asarray((np.cumsum(mass) - (mass - 1) / 2)[place])
