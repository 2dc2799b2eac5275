"""How many hits a promise allows and how many rows it needs, beside SciPy's binomial."""

import pytest
from scipy.stats import binom, binomtest

from ragstone.core.errors import InputError
from ragstone.stats.risk_control import is_kept, lower_bound, most_hits, rows_needed, upper_bound


@pytest.mark.parametrize(("n", "tightest"), [(31, 0.0716), (18, 0.1201)])
def test_tightest_promise_without_a_hit_is_one_less_the_root_of_the_doubt(
    n: int, tightest: float
) -> None:
    assert upper_bound(0, n, confidence=0.9) == pytest.approx(1 - 0.1 ** (1 / n))
    assert upper_bound(0, n, confidence=0.9) == pytest.approx(tightest, abs=5e-5)


@pytest.mark.parametrize(("hits", "needed"), [(0, 45), (1, 77), (2, 105)])
def test_rows_needed_for_five_percent_at_ninety(hits: int, needed: int) -> None:
    assert rows_needed(0.05, confidence=0.9, hits=hits) == needed
    assert binom.cdf(hits, needed, 0.05) <= 0.1 < binom.cdf(hits, needed - 1, 0.05)


@pytest.mark.parametrize("n", [44, 45, 76, 77, 200])
@pytest.mark.parametrize("bound", [0.05, 0.2])
def test_most_hits_is_the_last_count_whose_tail_is_small_enough(n: int, bound: float) -> None:
    allowed = [hits for hits in range(n + 1) if binom.cdf(hits, n, bound) <= 0.1]
    assert most_hits(n, bound, confidence=0.9) == (max(allowed) if allowed else None)


def test_no_hit_of_too_few_rows_keeps_a_promise() -> None:
    assert most_hits(44, 0.05, confidence=0.9) is None
    assert most_hits(0, 0.05, confidence=0.9) is None


def test_one_row_is_enough_for_a_promise_that_says_little() -> None:
    assert rows_needed(0.9, confidence=0.9) == 1
    assert rows_needed(0.9, confidence=0.9, hits=1) == 3


def test_p_of_exactly_the_doubt_is_enough() -> None:
    assert is_kept(0, 1, 0.9, confidence=0.9)


@pytest.mark.parametrize("confidence", [0.6, 0.9, 0.99])
@pytest.mark.parametrize(("hits", "n"), [(0, 30), (3, 40), (40, 40)])
def test_bounds_are_those_of_one_sided_tests(hits: int, n: int, confidence: float) -> None:
    less = binomtest(hits, n, alternative="less").proportion_ci(confidence, method="exact")
    greater = binomtest(hits, n, alternative="greater").proportion_ci(confidence, method="exact")
    assert upper_bound(hits, n, confidence=confidence) == pytest.approx(less.high)
    assert lower_bound(hits, n, confidence=confidence) == pytest.approx(greater.low)


def test_no_rows_bound_nothing() -> None:
    assert (lower_bound(0, 0, confidence=0.9), upper_bound(0, 0, confidence=0.9)) == (0, 1)


@pytest.mark.parametrize("confidence", [0.5, 1.0, float("nan")])
def test_confidence_of_a_promise_is_more_than_a_coin_and_less_than_certain(
    confidence: float,
) -> None:
    with pytest.raises(InputError, match="confidence of a promise"):
        is_kept(0, 10, 0.1, confidence=confidence)


@pytest.mark.parametrize("bound", [0.0, 1.0])
def test_bound_lies_inside_the_unit_interval(bound: float) -> None:
    with pytest.raises(InputError, match="bound of a rate"):
        is_kept(0, 10, bound, confidence=0.9)
