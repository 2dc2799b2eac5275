"""When a call may go, what is set aside for it, and what is learnt when it comes back."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ragstone.judges.llm.questions import Item, Piece, Question
from ragstone.models.chat import ChatReply, Usage
from ragstone.run.calls.attempt import AttemptResult, Pace, QueuedQuestion
from ragstone.run.calls.budget import Budget, Price
from ragstone.run.calls.model_client import EXPECTED_TOKENS, Admission, Admitted, ServerHealth

Run = Callable[[Coroutine[Any, Any, Any]], Any]
Make = Callable[..., Question]
DOLLAR = Price(input=1.0, cached=0.1, output=1.0)
"""A dollar per million tokens, so that tokens and millionths of a dollar are the same."""


class Door:
    """An admission with what it stands on."""

    def __init__(
        self, question: Question, budget: Budget | None = None, price: Price | None = DOLLAR
    ) -> None:
        self.pace = Pace(8)
        self.health = ServerHealth("m", self.pace)
        self.budget = budget or Budget()
        self.admission = Admission("m", self.pace, self.health, self.budget, price)
        self.queued = QueuedQuestion("k", question, question.request(), question.items, 0)

    async def enter(self, prompt: int = 100) -> Admitted:
        call = await self.admission.enter(self.queued, prompt)
        assert call is not None
        return call

    async def back(self, result: AttemptResult, prompt: int = 100, usd: float | None = None
                   ) -> Admitted:  # fmt: skip
        """A call that came back so."""
        call = await self.enter(prompt)
        self.admission.settle(call, result, usd)
        self.admission.leave(call)
        return call


def reply(prompt: int | None, completion: int | None) -> AttemptResult:
    return AttemptResult(ChatReply("{}", usage=Usage(prompt, completion)))


@pytest.mark.parametrize(
    ("result", "unused"),
    [
        (reply(90, 60), 100 + EXPECTED_TOKENS - 150),
        (reply(200, 900), 100 + EXPECTED_TOKENS - 1100),
        (reply(None, 60), 0),
        (reply(90, None), 0),
        (AttemptResult(trouble="rate_limit", http=429), 100 + EXPECTED_TOKENS),
        (AttemptResult(trouble="timeout"), 0),
        (AttemptResult(trouble="connection"), 0),
    ],
)
def test_tokens_that_a_call_did_not_take_are_given_back(
    question: Make, run: Run, result: AttemptResult, unused: int
) -> None:
    """A question of 100 tokens is taken to need 400 more; of a lost one nobody knows."""
    call = run(Door(question()).back(result))
    assert call.tokens == 100 + EXPECTED_TOKENS
    assert call.unused == unused


def test_replies_move_what_the_next_is_expected_to_take_by_a_sixteenth(
    question: Make, run: Run
) -> None:
    """400 + (1,200 - 400) / 16 = 450; a reply that says nothing of its tokens moves nothing."""
    door = Door(question())
    run(door.back(reply(None, 1200)))
    assert run(door.enter()).tokens == 550
    run(door.back(reply(10, None)))
    assert run(door.enter()).tokens == 550


def test_without_a_budget_nothing_is_set_aside_and_replies_may_be_of_any_length(
    question: Make, run: Run
) -> None:
    door = Door(question(), Budget(max_calls=2))
    call = run(door.enter())
    assert (call.reserved, call.limit) == (None, None)
    assert door.budget.calls == 1


def test_behind_the_last_call_nothing_is_sent_any_more(question: Make, run: Run) -> None:
    door = Door(question(), Budget(max_calls=1))
    run(door.enter())
    assert run(door.admission.enter(door.queued, 100)) is None
    assert door.health.closed is not None
    assert door.pace.in_flight == 1, "only the first"
    assert run(door.admission.enter(door.queued, 100)) is None
    assert door.budget.calls == 1


def test_a_first_call_sets_a_long_reply_aside_and_may_be_as_long_as_that_buys(
    question: Make, run: Run
) -> None:
    """8,000 tokens of a reply, and 101 that may be written to the server's cache for 1.25 each."""
    door = Door(question(), Budget(usd=1.0))
    call = run(door.enter())
    assert call.reserved == pytest.approx((8000 + 1.25 * 101) / 1e6)
    assert call.limit == 8000
    assert door.budget.set_aside == call.reserved


def test_what_is_left_of_a_budget_limits_the_length_of_a_reply(question: Make, run: Run) -> None:
    """Of 2,126.25 millionths the question takes 126.25 at the most; 2,000 tokens are left."""
    door = Door(question(), Budget(usd=2126.25 / 1e6))
    assert run(door.enter()).limit == 2000


def test_a_reply_that_came_is_paid_as_it_was_and_sets_what_is_set_aside(
    question: Make, run: Run
) -> None:
    """After a reply of 300 tokens 4,000 are set aside; a shorter question makes none dearer."""
    door = Door(question(), Budget(usd=1.0))
    run(door.back(reply(50, 300), usd=0.25))
    assert door.budget.spent == 0.25
    assert run(door.enter()).reserved == pytest.approx((4000 + 1.25 * 101) / 1e6)


@pytest.mark.parametrize(("trouble", "paid"), [("rate_limit", False), ("timeout", True)])
def test_a_call_without_a_reply_is_paid_only_where_it_may_have_been_charged(
    question: Make, run: Run, trouble: str, paid: bool
) -> None:
    door = Door(question(), Budget(usd=1.0))
    run(door.back(AttemptResult(trouble=trouble)))
    assert (door.budget.spent > 0) is paid
    assert door.budget.set_aside == 0


def test_a_call_that_was_left_unsettled_is_taken_to_have_cost_what_was_set_aside(
    question: Make, run: Run
) -> None:
    door = Door(question(), Budget(usd=1.0))

    async def left() -> float | None:
        call = await door.enter()
        door.admission.leave(call)
        return call.reserved

    reserved = run(left())
    assert door.budget.spent == reserved
    assert door.pace.in_flight == 0


def test_another_task_begins_with_the_longest_reply_of_all(question: Make, run: Run) -> None:
    """A reply of 9,000 tokens to one task: another is set aside as much, not 8,000."""
    door = Door(question(), Budget(usd=1.0))
    run(door.back(reply(100, 9000), usd=0.0))
    other = Piece(
        task="claims", instructions="List.", blocks=("x",), items={"a1": Item},
        contexts="", vote=0,
    )  # fmt: skip
    asked = Question((other,), "System.", example="e1")
    door.queued = QueuedQuestion("k2", asked, asked.request(), asked.items, 0)
    assert run(door.enter()).limit == 9000


def test_a_model_whose_replies_cost_nothing_may_write_any_length(question: Make, run: Run) -> None:
    free = Price(input=1.0, cached=0.1, output=0.0)
    door = Door(question(), Budget(usd=1.0), free)
    assert run(door.enter()).limit is None


def test_who_waits_for_money_takes_no_place_among_the_calls(question: Make, run: Run) -> None:
    """Two calls of .0081 do not fit into .01; the second goes when the first was cheaper."""
    door = Door(question(), Budget(usd=0.01))

    async def two() -> tuple[int, Admitted | None]:
        first = await door.enter()
        second = asyncio.create_task(door.admission.enter(door.queued, 100))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting = door.pace.in_flight
        door.admission.settle(first, reply(100, 10), 0.0001)
        door.admission.leave(first)
        return waiting, await second

    waiting, second = run(two())
    assert waiting == 1
    assert second is not None
    assert door.pace.in_flight == 1
