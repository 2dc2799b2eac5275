"""What a mean could be if the missing scores were known."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.stats import worst_best


@pytest.mark.parametrize(
    ("better", "expected"), [("+", (0.6, 0.8)), ("-", (0.8, 0.6)), ("0", (0.6, 0.8))]
)
def test_missing_scores_at_either_end(
    better: Literal["+", "-", "0"], expected: tuple[float, float]
) -> None:
    assert worst_best(6, 8, 2, 0, 1, better) == pytest.approx(expected)


def test_a_range_need_not_begin_at_0() -> None:
    assert worst_best(1, 1, 1, -1, 1, "+") == (0, 1)


def test_nothing_missing_leaves_the_mean() -> None:
    assert worst_best(3, 4, 0, None, None, "+") == (0.75, 0.75)


def test_all_missing_leaves_the_range() -> None:
    assert worst_best(0, 0, 5, 0, 1, "-") == (1, 0)


def test_no_scores_or_no_range_have_no_bounds() -> None:
    assert worst_best(0, 0, 0, 0, 1, "+") is None
    assert worst_best(3, 4, 1, 0, None, "+") is None
    assert worst_best(3, 4, 1, None, 1, "+") is None


@given(st.lists(st.floats(0, 1), min_size=1), st.lists(st.floats(0, 1)), st.sampled_from("+-0"))
def test_the_full_mean_lies_between(
    known: list[float], missing: list[float], better: Literal["+", "-", "0"]
) -> None:
    bounds = worst_best(sum(known), len(known), len(missing), 0, 1, better)
    assert bounds is not None
    mean = (sum(known) + sum(missing)) / (len(known) + len(missing))
    assert min(bounds) - 1e-9 <= mean <= max(bounds) + 1e-9
