"""The interval that suits a metric's mean."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import InputError
from ragstone.stats import MeanEstimate, cluster_wilson, mean_interval, wilson
from ragstone.stats.distributions import t_quantile, wilson_ends
from tests.stats.intervals import bounded_wilson, cluster_t_mean


def method(estimate: MeanEstimate) -> str | None:
    return None if estimate.interval is None else estimate.interval.method


def test_rate_of_single_rows_is_wilson() -> None:
    estimate = mean_interval([1, 0, 1], [1, 1, 1], rate=True, low=0, high=1)
    assert estimate == MeanEstimate(2 / 3, wilson(2, 3), 3, 3)


def test_a_single_row_of_a_rate_has_an_interval() -> None:
    assert mean_interval([1], [1], rate=True, low=0, high=1).interval == wilson(1, 1)


def test_rate_of_shared_clusters_is_cluster_wilson() -> None:
    estimate = mean_interval([2, 0, 1], [2, 2, 1], rate=True, low=0, high=1, level=0.8)
    assert estimate == MeanEstimate(3 / 5, cluster_wilson([2, 0, 1], [2, 2, 1], level=0.8), 5, 3)


def test_mean_of_scores_in_a_range_is_bounded_wilson() -> None:
    scores = np.array([0.2, 0.4, 0.9])
    estimate = mean_interval(scores, [1, 1, 1], rate=False, low=0, high=1)
    assert estimate.value == pytest.approx(0.5)
    assert estimate.interval == bounded_wilson(scores, [1, 1, 1], scores**2, low=0, high=1)
    assert method(estimate) == "bounded_wilson"


def test_mean_of_scores_in_a_range_that_share_clusters_is_bounded_wilson() -> None:
    clusters = [0.2, 0.4, 1.9], [1, 1, 2], [0.04, 0.16, 1.81]
    estimate = mean_interval(*clusters, rate=False, low=0, high=1)
    assert estimate.value == pytest.approx(2.5 / 4)
    assert estimate.interval == bounded_wilson(*clusters, low=0, high=1)


def test_rows_that_share_clusters_need_their_squares() -> None:
    with pytest.raises(InputError, match="need their squares"):
        mean_interval([0.2, 0.4, 1.9], [1, 1, 2], rate=False, low=0, high=1)


@pytest.mark.parametrize(("low", "high"), [(None, None), (0, None), (None, 9)])
def test_mean_without_a_range_is_t(low: float | None, high: float | None) -> None:
    single = mean_interval([0.2, 0.4, 0.9], [1, 1, 1], rate=False, low=low, high=high)
    assert single.interval == cluster_t_mean([0.2, 0.4, 0.9], [1, 1, 1], low=low, high=high)
    assert method(single) == "t"
    shared = mean_interval([0.2, 0.4, 1.9], [1, 1, 2], rate=False, low=low, high=high)
    assert method(shared) == "cluster_t"


@pytest.mark.parametrize("rate", [True, False])
def test_no_rows_have_no_mean(rate: bool) -> None:
    assert mean_interval([], [], rate=rate, low=0, high=1) == MeanEstimate(None, None, 0, 0)


def test_one_cluster_has_a_mean_and_no_interval() -> None:
    assert mean_interval([2], [4], rate=True, low=0, high=1) == MeanEstimate(0.5, None, 4, 1)
    single = mean_interval([2], [4], [1], rate=False, low=0, high=1)
    assert single == MeanEstimate(0.5, None, 4, 1)


@pytest.mark.parametrize("score", [0, 0.1, 1 / 3, 0.7, 1])
def test_scores_without_variation_have_wilson_on_the_clusters(score: float) -> None:
    counts = np.array([1, 3, 7, 3, 3])
    sums = [sum([score] * n) for n in counts]
    squares = [sum([score * score] * n) for n in counts]
    interval = mean_interval(sums, counts, squares, rate=False, low=0, high=1).interval
    kish = 17**2 / (1 + 3 * 9 + 49)
    quantile = t_quantile(0.975, kish - 1)
    assert interval is not None
    assert interval.method == "bounded_wilson"
    expected = wilson_ends(score, kish, quantile)
    assert (interval.low, interval.high) == pytest.approx(expected)


def test_no_variation_is_stretched_to_the_range() -> None:
    interval = mean_interval([-1, -1], [1, 1], rate=False, low=-1, high=1).interval
    assert interval is not None
    # Wilson's upper end at 0 of n is q² / (n + q²), with t of one degree of freedom.
    q = 12.706204736
    assert (interval.low, interval.high) == pytest.approx((-1, 2 * q * q / (2 + q * q) - 1))


@pytest.mark.parametrize(("low", "high"), [(None, None), (0, None), (None, 9)])
def test_no_variation_without_a_range_has_no_interval(
    low: float | None, high: float | None
) -> None:
    estimate = mean_interval([4, 4, 4], [1, 1, 1], rate=False, low=low, high=high)
    assert estimate == MeanEstimate(4, None, 3, 3)


def test_a_rounding_error_beyond_the_range_is_cut_off() -> None:
    estimate = mean_interval([1.0000001] * 2, [1, 1], rate=False, low=0, high=1)
    assert estimate.value == 1
    assert estimate.interval is not None
    assert estimate.interval.high == 1


@given(
    st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=6), min_size=1, max_size=20),
    st.sampled_from([0.5, 0.9, 0.99]),
)
def test_interval_holds_the_mean_and_stays_in_the_range(
    clusters: list[list[float]], level: float
) -> None:
    counts = [len(rows) for rows in clusters]
    sums = [sum(rows) for rows in clusters]
    squares = [sum(row * row for row in rows) for rows in clusters]
    estimate = mean_interval(sums, counts, squares, rate=False, low=-1, high=1, level=level)
    assert estimate.value is not None
    assert estimate.n == sum(counts)
    assert estimate.clusters == len(clusters)
    if len(clusters) == 1:
        assert estimate.interval is None
        return
    assert estimate.interval is not None
    assert estimate.interval.low < estimate.interval.high
    assert -1 <= estimate.interval.low <= estimate.value + 1e-12
    assert estimate.value - 1e-12 <= estimate.interval.high <= 1


@given(st.lists(st.booleans(), min_size=1, max_size=50), st.randoms())
def test_order_of_rows_does_not_matter(scores: list[bool], random: Random) -> None:
    ones = [1] * len(scores)
    before = mean_interval(scores, ones, rate=True, low=0, high=1)
    random.shuffle(scores)
    assert mean_interval(scores, ones, rate=True, low=0, high=1) == before


def test_scores_out_of_their_range_are_refused() -> None:
    with pytest.raises(InputError, match="cannot have means"):
        mean_interval([0.5, 3], [1, 2], [0.25, 4.5], rate=False, low=0, high=1)
    with pytest.raises(InputError, match="cannot have means"):
        mean_interval([0.5, 1.01], [1, 1], rate=False, low=0, high=1)
    with pytest.raises(InputError, match="low < high"):
        mean_interval([1, 1], [1, 1], rate=False, low=1, high=1)
    with pytest.raises(InputError, match="Successes"):
        mean_interval([2, 1], [1, 1], rate=True, low=0, high=1)
