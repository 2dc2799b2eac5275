"""Clusters that are too many to resample, joined by what they are called."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone.stats import cluster_bootstrap
from ragstone.stats.bootstrap import (
    GROUPS,
    MOST_CLUSTERS,
    ClusterTotals,
    Keys,
    join_clusters,
    part_of,
    totals_of,
)
from ragstone.stats.cluster_means import Clusters, clusters_by

Floats = NDArray[np.float64]
MANY = 25_000


def names(size: int, seed: int = 0) -> Keys:
    return np.random.default_rng(seed).integers(2**64, size=size, dtype=np.uint64)


def columns(size: int) -> list[Clusters]:
    draw = np.random.default_rng(1)
    counts = draw.integers(0, 3, size=(2, size)).astype(np.float64)
    sums = draw.random((2, size)) * counts
    return [Clusters(sums[at], counts[at], sums[at]) for at in range(2)]


def some(of: Sequence[Clusters], chosen: NDArray[np.int64]) -> list[Clusters]:
    return [Clusters(one.sums[chosen], one.counts[chosen], one.squares[chosen]) for one in of]


def test_hashes_fall_into_equal_ranges_in_their_own_order() -> None:
    keys = np.array([0, 2**62, 2**63 - 2**32, 2**63, 2**64 - 1], dtype=np.uint64)
    assert part_of(keys, 2).tolist() == [0, 0, 0, 1, 1]
    assert part_of(keys, 4).tolist() == [0, 1, 1, 2, 3]
    assert part_of(GROUPS, MOST_CLUSTERS).tolist() == list(range(MOST_CLUSTERS))


def test_as_many_as_can_be_resampled_are_left_alone() -> None:
    totals = np.random.default_rng(0).random((MOST_CLUSTERS, 3))
    rng = np.random.default_rng(1)
    assert join_clusters(totals, None, rng) is totals
    assert rng.random() == np.random.default_rng(1).random(), "nothing is drawn"


@pytest.mark.parametrize("keys", [None, names(MANY)])
def test_more_are_joined_without_loss(keys: Keys | None) -> None:
    totals = np.random.default_rng(0).random((MANY, 3))
    joined = join_clusters(totals, keys, np.random.default_rng(1))
    assert joined.shape == (MOST_CLUSTERS, 3)
    assert joined.sum(axis=0) == pytest.approx(totals.sum(axis=0))
    assert join_clusters(totals[:, 0], keys, np.random.default_rng(1)) == pytest.approx(
        joined[:, 0]
    )


def test_clusters_of_one_group_are_those_whose_hashes_are_in_its_range() -> None:
    keys = names(MANY)
    joined = join_clusters(np.arange(MANY, dtype=np.float64), keys, np.random.default_rng(0))
    there = part_of(keys, MOST_CLUSTERS) == 17
    assert joined[17] == np.flatnonzero(there).sum()


@pytest.mark.parametrize("size", [9_000, MANY])
def test_totals_in_pieces_are_those_of_all_clusters(size: int) -> None:
    keys, all_columns = np.sort(names(size)), columns(size)
    whole = totals_of(keys, all_columns)
    cuts = [0, size // 5, size // 2, size]
    parts = [totals_of(keys[a:b], some(all_columns, np.arange(a, b))) for a, b in pairwise(cuts)]
    for found in ((parts[0] + parts[1]) + parts[2], parts[0] + (parts[1] + parts[2])):
        assert found.clusters == whole.clusters == size
        assert len(found.totals) == min(size, MOST_CLUSTERS)
        assert found.totals == pytest.approx(whole.totals, rel=1e-12)
        assert (part_of(found.keys, MOST_CLUSTERS) == part_of(whole.keys, MOST_CLUSTERS)).all()


def test_totals_have_sums_and_counts() -> None:
    two = [
        Clusters(*np.array([[1.0, 2], [3, 4], [0, 0]])),
        Clusters(*np.array([[5.0, 6], [7, 8], [0, 0]])),
    ]
    found = totals_of(names(2), two)
    assert found.sums.tolist() == [[1, 5], [2, 6]]
    assert found.counts.tolist() == [[3, 7], [4, 8]]
    assert isinstance(found, ClusterTotals)


def test_rows_are_summed_into_their_clusters() -> None:
    found = clusters_by(np.array([2, 0, 2, 0]), np.array([0.5, 2, 1, np.nan]), 4)
    assert found.sums.tolist() == [2, 0, 1.5, 0]
    assert found.counts.tolist() == [1, 0, 2, 0]
    assert found.squares.tolist() == [4, 0, 1.25, 0]
    empty = clusters_by(np.array([1]), np.array([np.nan]), 2)
    assert empty.counts.tolist() == empty.sums.tolist() == [0, 0]


def test_a_bootstrap_of_many_named_clusters_does_not_depend_on_their_order() -> None:
    draw = np.random.default_rng(2)
    counts = draw.integers(1, 4, size=(12_000, 2)).astype(np.float64)
    sums, keys, order = draw.random((12_000, 2)) * counts, names(12_000), draw.permutation(12_000)

    def ends(of: NDArray[np.int64]) -> tuple[float, float]:
        found = cluster_bootstrap(
            sums[of], counts[of], lambda means: means.min(axis=1), seed=1, keys=keys[of]
        )
        assert found is not None
        return found.low, found.high

    assert ends(order) == pytest.approx(ends(np.arange(12_000)), rel=1e-12)


def test_joining_changes_the_width_little() -> None:
    """A mean of 40,000 scores of 0 or 1 has a width of 2 · 1.96 · sqrt(p (1 - p) / n)."""
    sums = (np.random.default_rng(3).random((40_000, 1)) < 0.3).astype(np.float64)
    found = cluster_bootstrap(
        sums, np.ones_like(sums), lambda means: means[:, 0], seed=1, keys=names(40_000)
    )
    assert found is not None
    expected = 2 * 1.96 * np.sqrt(0.3 * 0.7 / 40_000)
    assert found.high - found.low == pytest.approx(expected, rel=0.05)
