"""Join clusters: more than can be drawn again cheaply, made fewer at random."""

import numpy as np

from .codes import Floats

MOST_CLUSTERS = 10_000


def join_clusters(totals: Floats, rng: np.random.Generator) -> Floats:
    """The totals of 10,000 groups of clusters of nearly equal number; as they are where no more.

    Args:
        totals: Shape (C, ...), what each cluster adds.
        rng: Says who joins whom.

    Returns:
        Shape (at most 10,000, ...), of the same sum.
    """
    clusters = len(totals)
    if clusters <= MOST_CLUSTERS:
        return totals
    starts = np.arange(MOST_CLUSTERS) * clusters // MOST_CLUSTERS
    return np.asarray(np.add.reduceat(rng.permutation(totals), starts, axis=0))
