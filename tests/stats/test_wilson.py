"""Intervals for a rate of independent rows."""

import json
from math import isnan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from ragstone.core.errors import InputError
from ragstone.stats import Interval, clopper_pearson, wilson
from tests.stats.intervals import ends


@st.composite
def rates(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 5000))
    return draw(st.integers(0, n)), n


LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])


def test_no_rows_have_no_interval() -> None:
    assert wilson(0, 0) is None
    assert clopper_pearson(0, 0) is None


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 49, 200, 1_000_003])
def test_ends_are_exact_where_nothing_or_everything_succeeds(n: int) -> None:
    assert ends(wilson(0, n))[0] == 0
    assert ends(wilson(n, n))[1] == 1
    assert ends(clopper_pearson(0, n))[0] == 0
    assert ends(clopper_pearson(n, n))[1] == 1


@given(rates(), LEVELS)
def test_wilson_is_that_of_statsmodels(rate: tuple[int, int], level: float) -> None:
    expected = proportion_confint(*rate, alpha=1 - level, method="wilson")
    assert ends(wilson(*rate, level=level)) == pytest.approx(expected, abs=1e-12)


@given(rates(), LEVELS)
def test_clopper_pearson_is_that_of_statsmodels(rate: tuple[int, int], level: float) -> None:
    low, high = proportion_confint(*rate, alpha=1 - level, method="beta")
    expected = (0 if isnan(low) else low, 1 if isnan(high) else high)
    assert ends(clopper_pearson(*rate, level=level)) == pytest.approx(expected, abs=1e-11)


@given(rates(), LEVELS)
def test_interval_lies_in_the_range_and_holds_the_rate(rate: tuple[int, int], level: float) -> None:
    low, high = ends(wilson(*rate, level=level))
    assert 0 <= low <= rate[0] / rate[1] <= high <= 1
    assert low < high


@given(rates())
def test_failures_have_the_mirrored_interval(rate: tuple[int, int]) -> None:
    successes, n = rate
    low, high = ends(wilson(successes, n))
    assert ends(wilson(n - successes, n)) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@pytest.mark.parametrize(
    ("successes", "n"), [(-1, 3), (4, 3), (float("nan"), 3), (1, float("nan")), (1, float("inf"))]
)
def test_impossible_rates_are_refused(successes: float, n: float) -> None:
    for interval in (wilson, clopper_pearson):
        with pytest.raises(InputError, match="0 <= successes <= n"):
            interval(successes, n)


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, float("nan")])
def test_level_lies_between_0_and_1(level: float) -> None:
    with pytest.raises(InputError, match="level"):
        wilson(1, 2, level=level)


def test_an_interval_cannot_be_upside_down() -> None:
    with pytest.raises(InputError, match="low <= high"):
        Interval(0.6, 0.5, 0.95, "wilson")


def test_golden_vectors_hold(shared: Path) -> None:
    vectors = json.loads((shared / "golden" / "seed_vectors.json").read_text("utf-8"))["vectors"]
    checked = 0
    for vector in vectors:
        if vector["metric"] != "stats.wilson_interval":
            continue
        given_, expected = vector["input"], vector["expected"]
        interval = wilson(given_["successes"], given_["n"], level=given_["level"])
        if expected["lower"] is None:
            assert interval is None
        else:
            assert ends(interval) == pytest.approx(
                (expected["lower"], expected["upper"]), abs=vector["tolerance"]
            )
        checked += 1
    assert checked == 8


def test_golden_rates_hold_to_twelve_places(shared: Path) -> None:
    golden = json.loads((shared / "golden" / "retrieval_labels.json").read_text("utf-8"))
    checked = 0
    for case in golden["answer_cases"]:
        for rate in case["expected"].values():
            if not isinstance(rate, dict) or "wilson95" not in rate:
                continue
            row = rate["numerator"], rate["denominator"]
            assert ends(wilson(*row)) == pytest.approx(rate["wilson95"], abs=1e-12)
            if "clopper_pearson95" in rate:
                exact = ends(clopper_pearson(*row))
                assert exact == pytest.approx(rate["clopper_pearson95"], abs=1e-12)
            checked += 1
    assert checked > 50
