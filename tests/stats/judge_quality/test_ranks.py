"""Spearman and Kendall beside scipy."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from ragstone.stats.judge_quality.rank_measures import JudgeMeasure, kendall, spearman
from ragstone.stats.weights_and_groups import mean_ranks

Floats = NDArray[np.float64]
Correlation = Callable[..., JudgeMeasure]


def pairs(seed: int, n: int, grades: int | None = None) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    b = a + rng.normal(size=n)
    return (a, b) if grades is None else (np.round(a * grades), np.round(b * grades))


@pytest.mark.parametrize("n", [2, 3, 10, 63, 64, 65, 2000])
@pytest.mark.parametrize("grades", [None, 1, 3])
def test_coefficients_are_those_of_scipy(n: int, grades: int | None) -> None:
    a, b = pairs(n, n, grades)
    if len(set(a)) > 1 and len(set(b)) > 1:
        assert spearman(a, b).value == pytest.approx(stats.spearmanr(a, b).statistic)
        assert kendall(a, b).value == pytest.approx(stats.kendalltau(a, b).statistic)


def test_kendall_of_many_rows_is_quick() -> None:
    a, b = pairs(1, 100_000, 2)
    result = kendall(a, b)
    assert result.value == pytest.approx(stats.kendalltau(a, b).statistic)
    assert result.interval is None


def test_ties_share_their_mean_rank() -> None:
    assert mean_ranks(np.array([3.0, 1, 3, 2])).tolist() == [3.5, 1, 3.5, 2]


@pytest.mark.parametrize("correlation", [spearman, kendall])
@pytest.mark.parametrize("grades", [None, 1])
def test_interval_holds_the_truth_about_as_often_as_it_says(
    correlation: Correlation, grades: int | None
) -> None:
    truth = correlation(*pairs(0, 20_000, grades)).value
    held = []
    for seed in range(1, 301):
        interval = correlation(*pairs(seed, 60, grades)).interval
        assert interval is not None
        assert truth is not None
        held.append(interval.low <= truth <= interval.high)
    assert 0.92 <= np.mean(held) <= 0.98


@pytest.mark.parametrize("correlation", [spearman, kendall])
def test_rows_that_repeat_inside_a_cluster_tell_nothing_new(correlation: Correlation) -> None:
    a, b = pairs(5, 60)
    once = correlation(a, b)
    clusters = np.repeat(np.arange(60), 4)
    four = correlation(np.repeat(a, 4), np.repeat(b, 4), clusters=clusters)
    assert once.interval is not None
    assert four.interval is not None
    width = once.interval.high - once.interval.low
    assert four.interval.high - four.interval.low == pytest.approx(width, rel=0.05)


def test_undefined_is_said() -> None:
    assert spearman([1], [1]).reason == "too_few"
    assert kendall([1, 1, 1], [1, 2, 3]).reason == "no_variation"
    perfect = kendall([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])
    assert (perfect.value, perfect.interval) == (1, None)


def delta_of_kendall(x: Floats, y: Floats) -> Floats:
    """How far each row's weight moves tau-b, from all pairs and by differences."""
    signs = [np.sign(one[:, None] - one[None, :]) for one in (x, y)]

    def tau(weights: Floats) -> float:
        pairs = np.triu(np.outer(weights, weights), 1)
        both, of_x, of_y = (
            float((pairs * a * b).sum())
            for a, b in ((signs[0], signs[1]), (signs[0], signs[0]), (signs[1], signs[1]))
        )
        return both / float(np.sqrt(of_x * of_y))

    steps = 1e-5 * np.eye(len(x))
    return np.array([(tau(1 + one) - tau(1 - one)) / 2e-5 for one in steps])


@pytest.mark.parametrize("grades", [None, 1])
def test_interval_of_kendall_is_that_of_the_delta_method_over_all_pairs(grades: int | None) -> None:
    a, b = pairs(7, 12, grades)
    found = kendall(a, b)
    assert found.interval is not None
    assert found.value is not None
    error = np.sqrt(12 / 11 * np.square(delta_of_kendall(a, b)).sum())
    half = stats.t.ppf(0.975, 11) * error / (1 - found.value**2)
    expected = np.tanh(np.arctanh(found.value) + half * np.array([-1, 1]))
    assert [found.interval.low, found.interval.high] == pytest.approx(expected, rel=1e-6)
    assert found.interval.method == "ratio_delta"


@pytest.mark.parametrize("n", range(2, 40))
def test_rounding_carries_no_correlation_beyond_1(n: int) -> None:
    for correlation in (spearman, kendall):
        for sign in (1, -1):
            assert correlation(np.arange(n), sign * np.arange(n)).value == pytest.approx(sign)
            assert abs(correlation(np.arange(n), sign * np.arange(n)).value or 0) <= 1
