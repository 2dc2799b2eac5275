"""Exact rates: binomial tails, and what rows that share clusters are worth in them."""

from math import log

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ragstone.core.errors import InputError
from ragstone.stats.distributions import LEAST_P, Side
from ragstone.stats.rate_bounds import ExactRate, exact_rate

SCIPY: dict[Side, str] = {"above": "greater", "below": "less"}
SIDES: tuple[Side, ...] = ("above", "below")


@pytest.mark.parametrize("beyond", SIDES)
@pytest.mark.parametrize("seed", range(20))
def test_p_is_that_of_scipys_binomial_test(seed: int, beyond: Side) -> None:
    rng = np.random.default_rng(seed)
    n, bar = int(rng.integers(1, 400)), float(rng.uniform(0.01, 0.99))
    successes = int(rng.binomial(n, bar))
    expected = scipy_stats.binomtest(successes, n, bar, alternative=SCIPY[beyond]).pvalue
    p = ExactRate(successes / n, n).p(bar, beyond=beyond)
    assert p == pytest.approx(max(float(expected), LEAST_P), rel=1e-9)


def test_the_interval_is_scipys_exact_one() -> None:
    scipys = scipy_stats.binomtest(95, 100).proportion_ci(0.9, "exact")
    found = ExactRate(0.95, 100).interval(0.9)
    assert [found.low, found.high] == pytest.approx([scipys.low, scipys.high])
    assert (found.level, found.method) == (0.9, "clopper_pearson")


@pytest.mark.parametrize("beyond", SIDES)
@pytest.mark.parametrize("one", [ExactRate(0.9, 80), ExactRate(0.31, 43.7, 9.2)])
def test_at_an_end_of_the_interval_p_is_the_share_beyond_it(one: ExactRate, beyond: Side) -> None:
    found = one.interval(0.9)
    assert one.p(found.low if beyond == "above" else found.high, beyond=beyond) == (
        pytest.approx(0.05, rel=1e-6)
    )


def test_of_clusters_the_tails_are_students() -> None:
    """By SciPy: the continued binomial tail as a normal quantile, that as one of Student's t."""
    tail = scipy_stats.beta.cdf(0.8, 0.9 * 43.5, 43.5 - 0.9 * 43.5 + 1)
    expected = scipy_stats.t.sf(scipy_stats.norm.isf(tail), 12.0)
    assert ExactRate(0.9, 43.5, 12.0).p(0.8, beyond="above") == pytest.approx(expected, rel=1e-8)


def test_nothing_speaks_for_what_lies_at_an_end_of_the_range() -> None:
    every, most = ExactRate(1.0, 50), ExactRate(0.98, 50)
    assert every.p(1.0, beyond="above") == 1
    assert every.p(1.0, beyond="below") == 1
    assert most.p(1.0, beyond="below") == LEAST_P, "one failure rules out a rate of 1"


@pytest.mark.parametrize("bar", [0.01, 0.001, 0.05])
def test_no_event_shows_a_rate_below_the_bar_from_log_of_the_level_on(bar: float) -> None:
    """(1 - bar)^n <= .05."""
    wanted = int(np.ceil(log(0.05) / log(1 - bar)))
    times = ExactRate(0.0, 50).needed(bar, beyond="below", level=0.05)
    assert times is not None
    assert times * 50 == pytest.approx(wanted)
    assert bar != 0.01 or wanted == 299


def test_with_the_rows_that_are_needed_the_p_is_the_level() -> None:
    for one, bar in ((ExactRate(0.9, 60), 0.85), (ExactRate(0.3, 40.0, 20.0), 0.2)):
        times = one.needed(bar, beyond="above", level=0.05)
        assert times is not None
        df = None if one.df is None else (one.df + 1) * times - 1
        assert ExactRate(one.rate, one.rows * times, df).p(bar, beyond="above") <= 0.05
        fewer = times - 2 / one.rows
        df = None if one.df is None else (one.df + 1) * fewer - 1
        assert ExactRate(one.rate, one.rows * fewer, df).p(bar, beyond="above") > 0.05


def test_a_rate_on_the_wrong_side_or_on_the_bar_is_decided_by_no_number_of_rows() -> None:
    assert ExactRate(0.8, 50).needed(0.85, beyond="above", level=0.05) is None
    assert ExactRate(0.85, 50).needed(0.85, beyond="above", level=0.05) is None


def test_a_rate_next_to_the_bar_needs_as_many_rows_as_the_normal_says() -> None:
    times = ExactRate(0.9, 100).needed(0.8999, beyond="above", level=0.05)
    assert times is not None
    assert times * 100 == pytest.approx(1.6449**2 * 0.8999 * 0.1001 / 1e-8, rel=1e-3)


def test_rows_that_share_no_cluster_are_worth_themselves() -> None:
    found = exact_rate([1, 0, 1, 1], [1, 1, 1, 1])
    assert found == ExactRate(0.75, 4, None)


def test_clusters_whose_rows_agree_are_worth_a_row_each() -> None:
    found = exact_rate([0, 5, 5, 0, 5, 5], np.full(6, 5))
    assert found is not None
    assert found.rows == pytest.approx(6 * 29 / 30, rel=0.2)
    assert found.df == pytest.approx(5)


def test_few_large_clusters_that_came_out_alike_are_not_taken_for_many_rows() -> None:
    """Every cluster agrees in itself, so 100 rows of five clusters are worth about five."""
    sums = [0, 0, 0, 0, 0, *[2, 0] * 5]
    found = exact_rate(sums, [20] * 5 + [2] * 10)
    assert found is not None
    kish = 120**2 / (5 * 400 + 10 * 4)
    assert found.rows == pytest.approx(kish, rel=0.01)


def test_one_cluster_of_several_rows_tells_nothing_and_none_neither() -> None:
    assert exact_rate([2], [3]) is None
    assert exact_rate([], []) is None


def test_more_successes_than_rows_are_refused() -> None:
    with pytest.raises(InputError):
        exact_rate([2, 0], [1, 1])
