"""Join clusters: merges clusters at random when there are too many to resample cheaply."""

import numpy as np

from .codes import Floats

MOST_CLUSTERS = 10_000


def join_clusters(totals: Floats, rng: np.random.Generator) -> Floats:
    """Merge clusters at random into 10,000 groups of nearly equal size; fewer are left alone.

    Args:
        totals: Shape (C, ...), each cluster's contribution to the sums.
        rng: Determines the grouping.

    Returns:
        Shape (at most 10,000, ...), with the same sum.
    """
    clusters = len(totals)
    if clusters <= MOST_CLUSTERS:
        return totals
    starts = np.arange(MOST_CLUSTERS) * clusters // MOST_CLUSTERS
    return np.asarray(np.add.reduceat(rng.permutation(totals), starts, axis=0))
