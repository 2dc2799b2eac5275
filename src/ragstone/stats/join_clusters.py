"""Join clusters: merges clusters by hash when there are too many to resample cheaply."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .clusters import Clusters
from .codes import Floats, Ints

MOST_CLUSTERS = 10_000

Keys = NDArray[np.uint64]
"""Hashes of clusters, of which the upper half is used."""

GROUPS: Keys = (np.arange(MOST_CLUSTERS, dtype=np.uint64) << np.uint64(32)) // np.uint64(
    MOST_CLUSTERS
) + np.uint64(1) << np.uint64(32)
"""A hash in each of the ranges that clusters are joined by."""


def part_of(keys: Keys, parts: int) -> Ints:
    """In which of some equal ranges of all hashes each one lies: from 0, in their own order.

    Args:
        keys: Shape (C,).
        parts: How many ranges, below 2^31.
    """
    return ((keys >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)).astype(np.int64)


def join_clusters(totals: Floats, keys: Keys | None, rng: np.random.Generator) -> Floats:
    """Merge clusters into 10,000 groups, some of which may be empty; fewer are left alone.

    Args:
        totals: Shape (C, ...), each cluster's contribution to the sums.
        keys: Shape (C,), a hash of what each is called, which determines its group whatever their
            order. None: they have no names, and chance determines it.
        rng: For those without names.

    Returns:
        Shape (at most 10,000, ...), with the same sum.
    """
    if len(totals) <= MOST_CLUSTERS:
        return totals
    if keys is None:
        keys = rng.integers(2**64, size=len(totals), dtype=np.uint64)
    return _joined(totals, keys)


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTotals:
    """What several columns of scores sum to in each cluster; pieces of whole clusters merge.

    Attributes:
        keys: Shape (K,), a hash of each cluster; of the group, where more than 10,000 were joined.
        totals: Shape (K, 2 m): of the m columns the sums, then the counts.
        clusters: How many there are, joined or not.
    """

    keys: Keys
    totals: Floats
    clusters: int

    @property
    def sums(self) -> Floats:
        """Shape (K, m)."""
        return self.totals[:, : self.totals.shape[1] // 2]

    @property
    def counts(self) -> Floats:
        """Shape (K, m)."""
        return self.totals[:, self.totals.shape[1] // 2 :]

    def __add__(self, other: "ClusterTotals") -> "ClusterTotals":
        """Those of both, none of which is in both."""
        keys = np.concatenate([self.keys, other.keys])
        totals = np.concatenate([self.totals, other.totals])
        return _merged(keys, totals, self.clusters + other.clusters)


def totals_of(keys: Keys, columns: Sequence[Clusters]) -> ClusterTotals:
    """The totals of clusters, joined if there are more than 10,000.

    Args:
        keys: Shape (C,), a hash of each cluster.
        columns: Each over these clusters, some of which may be empty.
    """
    totals = np.stack([*(one.sums for one in columns), *(one.counts for one in columns)], axis=1)
    return _merged(keys, totals, len(keys))


def _merged(keys: Keys, totals: Floats, clusters: int) -> ClusterTotals:
    if clusters > MOST_CLUSTERS:
        keys, totals = GROUPS, _joined(totals, keys)
    return ClusterTotals(keys, totals, clusters)


def _joined(totals: Floats, keys: Keys) -> Floats:
    groups = part_of(keys, MOST_CLUSTERS)
    columns = totals.reshape(len(totals), -1).T
    joined = [np.bincount(groups, one, minlength=MOST_CLUSTERS) for one in columns]
    return np.array(joined, dtype=np.float64).T.reshape(MOST_CLUSTERS, *totals.shape[1:])
