"""Intervals for functions of several means."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from ragstone.errors import InputError
from ragstone.stats import Interval, cluster_bootstrap, cluster_t_mean

Floats = NDArray[np.float64]


def first(means: Floats) -> Floats:
    return means[:, 0]


def harmonic(means: Floats) -> Floats:
    return np.asarray(stats.hmean(means, axis=1))


def scores(clusters: int, columns: int = 2) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 5, size=(clusters, columns)).astype(float)
    return counts * rng.beta(4, 2, size=(clusters, columns)), counts


def width(interval: Interval | None) -> float:
    assert interval is not None
    return interval.high - interval.low


def test_same_seed_gives_the_same_interval() -> None:
    one = cluster_bootstrap(*scores(30), harmonic, seed=1)
    assert one == cluster_bootstrap(*scores(30), harmonic, seed=1)
    assert one != cluster_bootstrap(*scores(30), harmonic, seed=2)


def test_one_mean_of_many_clusters_has_nearly_the_cluster_t_interval() -> None:
    sums, counts = scores(400, 1)
    interval = cluster_bootstrap(sums, counts, first, seed=3, resamples=4000)
    robust = cluster_t_mean(sums[:, 0], counts[:, 0])
    assert width(interval) == pytest.approx(width(robust), rel=0.06)


def test_columns_of_a_cluster_are_drawn_together() -> None:
    sums, counts = scores(50, 1)
    both = np.hstack([sums, 3 * counts - sums]), np.hstack([counts, counts])
    total = cluster_bootstrap(*both, lambda means: means.sum(axis=1), seed=1)
    assert total is None or width(total) < 1e-12


def test_interval_holds_the_statistic_of_the_sample() -> None:
    sums, counts = scores(100)
    value = float(stats.hmean(sums.sum(axis=0) / counts.sum(axis=0)))
    interval = cluster_bootstrap(sums, counts, harmonic, seed=1)
    assert interval is not None
    assert interval.low < value < interval.high
    assert interval.method == "cluster_bootstrap"


def test_joining_many_clusters_keeps_the_width() -> None:
    sums, counts = scores(25_001, 1)
    interval = cluster_bootstrap(sums, counts, first, seed=1, resamples=1000)
    robust = cluster_t_mean(sums[:, 0], counts[:, 0])
    assert width(interval) == pytest.approx(width(robust), rel=0.1)


def test_resamples_without_a_row_of_a_column_are_left_out() -> None:
    sums, counts = np.array([[1, 1], [2, 0], [3, 0]]), np.array([[1, 2], [1, 0], [1, 0]])
    interval = cluster_bootstrap(sums, counts, harmonic, seed=1)
    assert interval is not None
    assert 0.5 <= interval.low <= interval.high <= 1


def test_what_does_not_vary_has_no_interval() -> None:
    assert cluster_bootstrap([[1], [1]], [[1], [1]], first, seed=1) is None


def test_one_cluster_has_no_interval() -> None:
    assert cluster_bootstrap([[1]], [[2]], first, seed=1) is None


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InputError, match="one shape") as caught:
        cluster_bootstrap([[1.0, float("inf")]], [[-1.0]], first, seed=1)
    assert "sums must be finite" in str(caught.value)
    assert "at least 0" in str(caught.value)
    with pytest.raises(InputError, match="every column needs a row"):
        cluster_bootstrap([[0, 1], [0, 1]], [[0, 1], [0, 1]], first, seed=1)
    with pytest.raises(InputError, match="one finite number"):
        cluster_bootstrap([[1], [2]], [[1], [1]], lambda means: means, seed=1)
    with pytest.raises(InputError, match="two resamples"):
        cluster_bootstrap([[1], [2]], [[1], [1]], first, seed=1, resamples=1)
    with pytest.raises(InputError, match="numbers"):
        cluster_bootstrap([["a"]], [["b"]], first, seed=1)
