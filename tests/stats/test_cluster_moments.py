"""Moments of clusters that came in pieces, beside those of all clusters together."""

from dataclasses import astuple
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.stats import MeanEstimate, mean_interval
from ragstone.stats.cluster_means import mean_of_clusters
from ragstone.stats.cluster_moments import NO_CLUSTERS, ClusterMoments, moments_of

Cluster = list[float]
"""The scores of its rows."""


def moments(clusters: list[Cluster]) -> ClusterMoments:
    sums = np.array([sum(one) for one in clusters])
    counts = np.array([len(one) for one in clusters], dtype=np.float64)
    squares = np.array([sum(score**2 for score in one) for one in clusters])
    return moments_of(sums, counts, squares)


def close(found: ClusterMoments, expected: ClusterMoments) -> bool:
    pairs = zip(astuple(found), astuple(expected), strict=True)
    return all(abs(one - other) <= 1e-12 * max(1, abs(other)) for one, other in pairs)


scores = st.floats(-1, 1).map(lambda score: round(score, 6))
pieces = st.lists(
    st.lists(st.lists(scores, min_size=1, max_size=6), min_size=0, max_size=6),
    min_size=1,
    max_size=5,
)


def test_moments_by_hand() -> None:
    # Mean 4 / 4 = 1; residuals 3 - 2 = 1, 0 - 1 = -1, 1 - 1 = 0; sizes 1, 1/2, 1/2.
    found = moments([[1, 2], [0], [1]])
    expected = ClusterMoments(
        size=3, rows=4, total=4, squares=6, spread=2, slope=0.5, sizes=1.5, largest=2, least=0,
        greatest=1.5,
    )  # fmt: skip
    assert found == expected
    assert (found.mean, found.single, found.row_variance) == (1, False, 0.5)
    assert found.variance == pytest.approx(3 / 2 * 2 / 16)
    assert (found.kish, found.df) == pytest.approx((16 / 6, 16 / 6 - 1))


def test_two_pieces_by_hand() -> None:
    # Means 1 and 3 of 2 rows each: the joint mean is 2, residuals 2 - 4 = -2, and 5 - 2, 1 - 2.
    found = moments([[1, 1]]) + moments([[5], [1]])
    expected = ClusterMoments(
        size=3, rows=4, total=8, squares=28, spread=4 + 9 + 1, slope=-2 + 3 / 2 - 1 / 2, sizes=1.5,
        largest=2, least=1, greatest=5,
    )  # fmt: skip
    assert found == expected


@given(pieces)
def test_moments_of_pieces_add_up_to_those_of_all(parts: list[list[Cluster]]) -> None:
    whole = moments([cluster for part in parts for cluster in part])
    assert close(reduce(add, map(moments, parts)), whole)


@given(pieces, pieces, pieces)
def test_it_does_not_matter_which_pieces_are_put_together_first(
    a: list[list[Cluster]], b: list[list[Cluster]], c: list[list[Cluster]]
) -> None:
    one, two, three = (
        moments([cluster for part in parts for cluster in part]) for parts in (a, b, c)
    )
    assert close((one + two) + three, one + (two + three))
    assert close(one + two, two + one)


def test_nothing_changes_nothing() -> None:
    one = moments([[1, 2], [0]])
    assert NO_CLUSTERS + one == one + NO_CLUSTERS == one
    assert moments([]) == NO_CLUSTERS
    assert mean_of_clusters(NO_CLUSTERS, rate=True, low=0, high=1) == MeanEstimate(None, None, 0, 0)


@given(pieces, st.sampled_from([(None, None), (-1, 1), (0, 1)]))
def test_an_interval_of_pieces_is_that_of_all_rows(
    parts: list[list[Cluster]], ends: tuple[float | None, float | None]
) -> None:
    if ends == (0, 1):
        parts = [[[float(score > 0) for score in one] for one in part] for part in parts]
    rows = [cluster for part in parts for cluster in part]
    sums, counts = [sum(one) for one in rows], [len(one) for one in rows]
    squares = [sum(score**2 for score in one) for one in rows]
    low, high = ends
    rate = ends == (0, 1)
    whole = mean_interval(sums, counts, squares, rate=rate, low=low, high=high)
    found = mean_of_clusters(reduce(add, map(moments, parts)), rate=rate, low=low, high=high)
    assert (found.n, found.clusters) == (whole.n, whole.clusters)
    assert (found.value is None) == (whole.value is None)
    if whole.value is not None:
        assert found.value == pytest.approx(whole.value, rel=1e-12, abs=1e-12)
    assert (found.interval is None) == (whole.interval is None)
    if found.interval is not None and whole.interval is not None:
        assert found.interval.method == whole.interval.method
        assert (found.interval.low, found.interval.high) == pytest.approx(
            (whole.interval.low, whole.interval.high), rel=1e-9, abs=1e-9
        )


def test_equal_scores_in_clusters_of_other_sizes_do_not_vary_however_they_come() -> None:
    together = reduce(add, (moments([[0.1] * size]) for size in (1, 7, 2, 90, 3)))
    assert mean_of_clusters(together, rate=False, low=None, high=None).interval is None


def test_a_mean_far_from_zero_costs_no_digits() -> None:
    rng = np.random.default_rng(0)
    clusters = [list(rng.normal(size=size)) for size in rng.integers(1, 9, 200)]
    far = [[score + 1e6 for score in one] for one in clusters]
    found = reduce(add, (moments(far[at : at + 20]) for at in range(0, 200, 20)))
    assert found.variance == pytest.approx(moments(clusters).variance, rel=1e-8)


def test_scores_are_rescaled() -> None:
    clusters = [[1.0, 2.0], [0.5], [3.0]]
    scaled = [[(score - 0.5) / 4 for score in one] for one in clusters]
    assert close(moments(clusters).stretched(0.5, 4.5), moments(scaled))
