"""Mean ranks: the place of each number among all, ties sharing theirs."""

import numpy as np

from .codes import Floats


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 1, tied values sharing the mean of theirs."""
    place, ties = np.unique(values, return_inverse=True, return_counts=True)[1:]
    return np.asarray((np.cumsum(ties) - (ties - 1) / 2)[place])
