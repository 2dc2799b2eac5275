from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ragstone.stats import Interval, cluster_wilson, mean_interval, wilson
from ragstone.stats.distributions import LEAST_P, Side, one_sided_p
from ragstone.stats.planning.sample_size import needed_n
from tests.stats.intervals import cluster_t_mean

SCIPY: dict[Side, str] = {"above": "greater", "below": "less"}
At = Callable[[float], Interval | None]


def of_rate(successes: int, n: int) -> At:
    return lambda level: wilson(successes, n, level=level)


def of_mean(values: "np.typing.NDArray[np.float64]") -> At:
    ones = np.ones(len(values))
    return lambda level: cluster_t_mean(values, ones, level=level)


@pytest.mark.parametrize("beyond", ["above", "below"])
@pytest.mark.parametrize("seed", range(20))
def test_inverting_wilson_is_the_score_test(seed: int, beyond: Side) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 400))
    bar = float(rng.uniform(0.05, 0.95))
    successes = int(rng.binomial(n, bar))
    z = (successes / n - bar) / np.sqrt(bar * (1 - bar) / n)
    expected = float(scipy_stats.norm.sf(z) if beyond == "above" else scipy_stats.norm.cdf(z))
    p = one_sided_p(of_rate(successes, n), successes / n, bar, beyond=beyond)
    assert p == pytest.approx(expected, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_inverting_wilson_agrees_with_scipys_wilson_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 200))
    successes = int(rng.integers(1, n))
    scipys = scipy_stats.binomtest(successes, n).proportion_ci(0.9, "wilson")
    at, value = of_rate(successes, n), successes / n
    assert one_sided_p(at, value, scipys.low, beyond="above") == pytest.approx(0.05, rel=1e-6)
    assert one_sided_p(at, value, scipys.high, beyond="below") == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize("beyond", ["above", "below"])
@pytest.mark.parametrize("seed", range(20))
def test_inverting_t_is_the_t_test(seed: int, beyond: Side) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0.5, 0.2, size=int(rng.integers(3, 80)))
    bar = float(rng.uniform(0.4, 0.6))
    expected = scipy_stats.ttest_1samp(values, bar, alternative=SCIPY[beyond]).pvalue
    p = one_sided_p(of_mean(values), float(values.mean()), bar, beyond=beyond)
    assert p == pytest.approx(float(expected), rel=1e-5, abs=1e-9)


def test_the_two_sides_add_up_to_one() -> None:
    at = of_rate(17, 60)
    for bar in (0.1, 0.2, 0.28, 0.4):
        above = one_sided_p(at, 17 / 60, bar, beyond="above")
        below = one_sided_p(at, 17 / 60, bar, beyond="below")
        assert above is not None
        assert below is not None
        assert above + below == pytest.approx(1, abs=1e-9)


def test_p_is_at_most_the_level_exactly_where_the_interval_clears_the_bar() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        clusters = int(rng.integers(3, 40))
        counts = rng.integers(1, 6, clusters).astype(float)
        sums = rng.binomial(counts.astype(int), rng.uniform()).astype(float)
        bar, level = float(rng.uniform()), 0.05

        def at(
            level: float,
            sums: "np.typing.NDArray[np.float64]" = sums,
            counts: "np.typing.NDArray[np.float64]" = counts,
        ) -> Interval | None:
            return cluster_wilson(sums, counts, level=level)

        interval = at(1 - 2 * level)
        p = one_sided_p(at, float(sums.sum() / counts.sum()), bar, beyond="above")
        assert interval is not None
        assert p is not None
        assert (p <= level) == (interval.low > bar)


def test_a_value_on_the_bar_is_beyond_it_by_chance() -> None:
    assert one_sided_p(of_rate(3, 10), 0.3, 0.3, beyond="above") == pytest.approx(0.5, abs=1e-6)


def test_a_rate_of_zero_against_a_bar_of_zero_is_not_above_it() -> None:
    assert one_sided_p(of_rate(0, 50), 0.0, 0.0, beyond="above") == pytest.approx(0.5, abs=1e-6)


def test_p_is_never_zero_nor_one() -> None:
    at = of_rate(1, 1000)
    assert one_sided_p(at, 0.001, 0.9, beyond="below") == LEAST_P
    assert one_sided_p(at, 0.001, 0.9, beyond="above") == 1 - LEAST_P
    assert one_sided_p(at, 0.001, 0.9, beyond="below", least=1 / 2001) == 1 / 2001


def test_without_an_interval_there_is_no_p() -> None:
    def at(level: float) -> Interval | None:
        return mean_interval([0.5], [1], rate=False, low=0, high=1, level=level).interval

    assert one_sided_p(at, 0.5, 0.4, beyond="above") is None


@pytest.mark.parametrize("n", [1, 20, 100, 267])
def test_no_event_against_one_in_a_hundred_takes_268_rows(n: int) -> None:
    p = one_sided_p(of_rate(0, n), 0.0, 0.01, beyond="below")
    assert p is not None
    assert needed_n(n, p) == 268


def test_268_rows_do_and_267_do_not() -> None:
    enough, short = wilson(0, 268, level=0.9), wilson(0, 267, level=0.9)
    assert enough is not None
    assert short is not None
    assert enough.high <= 0.01 < short.high


@pytest.mark.parametrize(("rate", "bar"), [(0.9, 0.85), (0.5, 0.55), (0.02, 0.05), (0.8, 0.79)])
def test_for_wilson_the_rows_are_those_of_the_score_test(rate: float, bar: float) -> None:
    z = NormalDist().inv_cdf(0.95)
    expected = z**2 * bar * (1 - bar) / (rate - bar) ** 2
    p = one_sided_p(of_rate(round(rate * 50), 50), rate, bar,
                    beyond="above" if rate > bar else "below")  # fmt: skip
    assert p is not None
    assert needed_n(50, p) == int(np.ceil(expected))


def test_so_many_rows_of_the_same_spread_decide_a_mean() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0.5, 0.2, size=30)
    bar = float(values.mean()) - 0.03
    p = one_sided_p(of_mean(values), float(values.mean()), bar, beyond="above")
    assert p is not None
    rows = needed_n(30, p)
    assert rows is not None
    spread = float(values.std(ddof=1))
    for n, decides in ((rows, True), (rows - 3, False)):
        half = float(scipy_stats.t.ppf(0.95, n - 1)) * spread / np.sqrt(n)
        assert (half < 0.03) == decides


def test_no_number_of_rows_decides_a_value_on_the_bar_or_short_of_it() -> None:
    assert needed_n(100, 0.5) is None
    assert needed_n(100, 0.8) is None


def test_one_row_may_be_more_than_enough() -> None:
    assert needed_n(1, 0.01) == 1  # (1.64 / 2.33)² of a row
    assert needed_n(3, 0.01) == 2
