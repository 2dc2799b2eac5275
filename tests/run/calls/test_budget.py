"""No limit is passed, none stops a run before it is reached, and the reason says which it was."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from ragstone.core.messages import in_shell
from ragstone.models.chat import Usage
from ragstone.report.reason_words import words
from ragstone.run.calls.budget import AT_FIRST, AT_LEAST, ROOM, Budget, CostEstimate, TokenHistory

Run = Callable[[Coroutine[Any, Any, Any]], Any]


def costs(careful: float, least: float | None = None) -> Callable[[], CostEstimate]:
    return lambda: CostEstimate(careful, careful if least is None else least)


def test_calls_are_counted_before_they_are_made() -> None:
    budget = Budget(max_calls=2)
    assert [budget.count() for _ in range(4)] == [True, True, False, False]
    assert budget.calls == 2
    assert in_shell(words(budget.reached or "")) == (
        "budget: all 2 calls of --max-calls are made; to continue, run it again with more"
    )


def test_what_may_be_spent_is_set_aside_until_the_cost_is_known() -> None:
    budget = Budget(usd=1.0)
    assert budget.reserve(costs(0.6)) == 0.6
    assert budget.reserve(costs(0.7)) is None
    budget.settle(0.6, 0.2)
    assert budget.reserve(costs(0.7)) == 0.7


def test_what_is_set_aside_for_others_is_no_limit_reached(run: Run) -> None:
    budget = Budget(usd=1.0)

    async def work() -> float | None:
        assert budget.reserve(costs(0.9)) == 0.9
        assert budget.reserve(costs(0.2)) is None
        assert budget.reached is None
        waiting = asyncio.create_task(budget.wait(0, costs(0.2)))
        await asyncio.sleep(0)
        budget.settle(0.9, 0.01)
        return await waiting

    assert run(work()) == 0.2
    assert budget.reached is None


def test_a_limit_is_reached_when_a_call_does_not_fit_by_itself(run: Run) -> None:
    budget = Budget(usd=1.0, spent=0.5)
    assert budget.reserve(costs(0.6)) is None
    assert run(budget.wait(0, costs(0.6))) is None
    assert budget.reached is not None
    assert in_shell(words(budget.reached)).startswith(
        "budget: the next call may cost more than is left of --budget 1;"
    )
    assert budget.reserve(costs(0.001)) is None
    assert run(budget.wait(0, costs(0.001))) is None


def test_a_call_for_which_there_is_little_room_is_made_alone() -> None:
    budget = Budget(usd=1.0, spent=0.5)
    little = budget.reserve(costs(0.8, 0.4))
    assert little == 0.5
    assert budget.reserve(costs(0.0001)) is None
    budget.settle(little, 0.1)
    assert budget.reserve(costs(0.1, 0.1)) == 0.1
    assert budget.reserve(costs(0.8, 0.2)) is None
    assert budget.reached is None


def test_who_waits_is_served_in_the_order_of_turn(run: Run) -> None:
    budget = Budget(usd=1.0)
    served: list[int] = []

    async def one(turn: int) -> None:
        reserved = await budget.wait(turn, costs(0.9))
        served.append(turn)
        assert reserved is not None
        await asyncio.sleep(1)
        budget.settle(reserved, 0.001)

    async def work() -> None:
        first = budget.reserve(costs(0.9))
        assert first is not None
        waiting = [asyncio.create_task(one(turn)) for turn in (5, 1, 3)]
        await asyncio.sleep(0)
        assert budget.reserve(costs(0.01)) is None
        budget.settle(first, 0.001)
        await asyncio.gather(*waiting)

    run(work())
    assert served == [1, 3, 5]


def test_who_no_longer_waits_keeps_nothing(run: Run) -> None:
    budget = Budget(usd=1.0)

    async def work() -> float | None:
        first = budget.reserve(costs(0.9))
        assert first is not None
        ended = [asyncio.create_task(budget.wait(turn, costs(0.9))) for turn in (1, 2)]
        last = asyncio.create_task(budget.wait(3, costs(0.9)))
        await asyncio.sleep(0)
        ended[0].cancel()
        budget.settle(first, 0.0)
        ended[1].cancel()
        return await last

    assert run(work()) == 0.9
    assert (budget.calls, budget.set_aside) == (2, 0.9)


def test_everyone_who_waits_is_told_when_a_limit_is_reached(run: Run) -> None:
    budget = Budget(usd=1.0)

    async def work() -> list[float | None]:
        first = budget.reserve(costs(0.9))
        assert first is not None
        waiting = [asyncio.create_task(budget.wait(turn, costs(0.5))) for turn in range(3)]
        await asyncio.sleep(0)
        budget.settle(first, 0.9)
        return await asyncio.gather(*waiting)

    assert run(work()) == [None, None, None]


def test_a_call_that_was_not_made_is_not_counted() -> None:
    budget = Budget(usd=1.0, max_calls=1)
    reserved = budget.reserve(costs(0.6))
    assert reserved is not None
    budget.give_back(reserved)
    assert (budget.calls, budget.spent, budget.set_aside) == (0, 0.0, 0.0)


def test_a_cost_that_is_not_known_counts_as_estimated() -> None:
    budget = Budget(usd=1.0)
    budget.reserve(costs(0.6))
    budget.settle(0.6, None)
    assert budget.spent == 0.6


def test_what_was_spent_before_the_run_was_stopped_counts() -> None:
    assert not Budget(max_calls=5, calls=5).count()
    assert Budget(usd=1.0, spent=0.99).reserve(costs(0.02)) is None


def test_before_the_first_reply_a_long_one_is_expected() -> None:
    known = TokenHistory()
    assert known.careful(99) == Usage(100, AT_FIRST, written=100)
    assert known.least(99) == Usage(100, AT_LEAST, written=100)
    assert TokenHistory(9_000).careful(99) == Usage(100, 9_000, written=100)


def test_a_reply_may_be_twice_as_long_as_the_longest() -> None:
    known = TokenHistory()
    known.learn(100, Usage(100, 60))
    assert known.careful(99).completion == ROOM
    known.learn(100, Usage(100, ROOM))
    known.learn(100, Usage(100, 30))
    assert known.careful(99).completion == 2 * ROOM
    assert known.least(99).completion == ROOM


def test_questions_are_taken_to_have_as_many_tokens_a_character_as_the_densest() -> None:
    known = TokenHistory()
    known.learn(100, Usage(400, None))
    known.learn(100, Usage(200, None))
    known.learn(100, Usage(None, None))
    assert known.careful(50) == Usage(201, AT_FIRST, written=201)


def test_what_is_left_pays_for_a_call_of_just_as_much() -> None:
    """Half a dollar is left: a call that may well cost that goes, one that costs more does not."""
    just = Budget(usd=1.0, spent=0.5)
    assert just.reserve(costs(0.8, 0.5)) == 0.5
    careful = Budget(usd=1.0, spent=0.5)
    assert careful.reserve(costs(0.5, 0.1)) == 0.5
    more = Budget(usd=1.0, spent=0.5)
    assert more.reserve(costs(0.8, 0.5001)) is None
    assert more.reached is not None


def test_a_limit_of_nothing_is_a_limit() -> None:
    assert not Budget(max_calls=0).count()
    assert Budget(usd=0.0).reserve(costs(0.1)) is None
    assert Budget(usd=0.0).reserve(costs(0.0)) == 0.0


def test_calls_are_limited_beside_money(run: Run) -> None:
    budget = Budget(usd=1.0, max_calls=1)
    assert budget.reserve(costs(0.1)) == 0.1
    assert budget.reserve(costs(0.1)) is None
    assert run(budget.wait(0, costs(0.1))) is None
    assert budget.reached is not None
    assert "max_calls=1" in budget.reached
