"""No limit is passed, and the reason says which was reached."""

import pytest

from ragstone.errors import InputError
from ragstone.run.budget import Budget


def test_calls_are_counted_before_they_are_made() -> None:
    budget = Budget(max_calls=2)
    assert [budget.reserve(0) for _ in range(4)] == [True, True, False, False]
    assert budget.calls == 2
    assert budget.reached == "budget: all 2 calls of --max-calls are made"


def test_what_may_be_spent_is_set_aside_until_the_cost_is_known() -> None:
    budget = Budget(usd=1.0)
    assert budget.reserve(0.6)
    budget.settle(0.6, 0.2)
    assert budget.reserve(0.7)
    assert not budget.reserve(0.2)
    assert budget.reached == "budget: the next call may cost more than is left of --budget 1"


def test_a_cost_that_is_not_known_counts_as_estimated() -> None:
    budget = Budget(usd=1.0)
    budget.reserve(0.6)
    budget.settle(0.6, None)
    assert budget.spent == 0.6


def test_what_was_spent_before_the_run_was_stopped_counts() -> None:
    assert not Budget(max_calls=5, calls=5).reserve(0)
    assert not Budget(usd=1.0, spent=0.99).reserve(0.02)


def test_once_reached_a_limit_stays_so() -> None:
    budget = Budget(usd=1.0)
    assert not budget.reserve(2.0)
    assert not budget.reserve(0.001)


@pytest.mark.parametrize("limits", [{"usd": -1.0}, {"usd": float("nan")}, {"max_calls": -1}])
def test_a_limit_below_nothing_is_none(limits: dict[str, float]) -> None:
    with pytest.raises(InputError, match="expected 0 or more"):
        Budget(**limits)  # type: ignore[arg-type]
