"""Intervals by drawing again: of one mean, and of functions of several."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from threadpoolctl import threadpool_limits

from ragstone.core.errors import InputError
from ragstone.stats import Interval, cluster_bootstrap
from ragstone.stats.bootstrap import percentile_interval
from tests.stats.intervals import bounded_wilson, cluster_t_mean

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


def test_percentiles_by_hand() -> None:
    found = percentile_interval(np.arange(101.0), 0.9, "cluster_bootstrap")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((5, 95))
    assert (found.level, found.method) == (0.9, "cluster_bootstrap")


@pytest.mark.parametrize("size", [1e-15, 1.0, 1e9])
def test_percentiles_that_are_the_same_but_for_rounding_are_no_interval(size: float) -> None:
    draws = size * (np.full(100, 0.3) + 1e-16 * np.arange(100))
    assert percentile_interval(draws, 0.95, "cluster_bootstrap") is None
    assert percentile_interval(np.zeros(3), 0.95, "cluster_bootstrap") is None


@pytest.mark.parametrize("level", [0.01, 0.2])
def test_ends_that_fall_on_one_value_are_no_interval_of_clusters(level: float) -> None:
    # The one row is in 1 - (20 / 21)^21 = .64 of the draws.
    sums, counts = [[0.0]] * 20 + [[1.0]], [[1.0]] * 21
    assert cluster_bootstrap(sums, counts, lambda m: np.sign(first(m)), seed=1, level=level) is None


def test_what_does_not_vary_has_no_interval() -> None:
    assert cluster_bootstrap([[1], [1]], [[1], [1]], first, seed=1) is None


def test_one_cluster_has_no_interval() -> None:
    assert cluster_bootstrap([[1]], [[2]], first, seed=1) is None


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InputError, match="two resamples"):
        cluster_bootstrap([[1], [2]], [[1], [1]], first, seed=1, resamples=1)


def test_the_number_of_threads_moves_no_digit() -> None:
    scores = np.random.default_rng(7).random((30_000, 2))

    def ends(threads: int) -> list[tuple[float, float]]:
        found = []
        with threadpool_limits(threads):
            for size in (300, 30_000):
                sums, counts = scores[:size], 1 + (scores[:size] > 0.5).astype(float)
                first = sums[:, 0]
                found += [
                    cluster_bootstrap(sums, counts, lambda means: means.min(axis=1), seed=1),
                    bounded_wilson(first, counts[:, 0], first**2, low=0, high=1, level=0.95),
                ]
        return [(one.low, one.high) for one in found if one is not None]

    one = ends(1)
    assert len(one) == 4
    assert one == ends(2) == ends(4)
