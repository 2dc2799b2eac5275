"""As many calls are in flight as the server can take, and no more a minute than it allows."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ragstone.judges.llm.questions import Question
from ragstone.models.chat import ChatFailure, ChatRequest
from ragstone.run.calls.asker import Asking
from ragstone.run.calls.attempt import Bucket, Pace
from ragstone.run.calls.model_client import CallLimits
from ragstone.testing import ScriptedModel

Run = Callable[[Coroutine[Any, Any, Any]], Any]


async def enter(pace: Pace, count: int) -> list[float]:
    return [await pace.enter(0, 0) for _ in range(count)]


def test_the_number_in_flight_doubles_every_round_trip_up_to_the_limit(run: Run) -> None:
    async def work() -> list[int]:
        pace, rooms = Pace(40), []
        for _ in range(4):
            rooms.append(int(pace.room))
            await enter(pace, int(pace.room))
            for _ in range(pace.in_flight):
                pace.in_flight, before = int(pace.room), pace.in_flight
                pace.went_well()
                pace.in_flight = before
                pace.leave()
        return rooms

    assert run(work()) == [8, 16, 32, 40]


def test_it_falls_once_a_round_trip_and_then_grows_by_one(run: Run) -> None:
    async def work() -> None:
        pace = Pace(64)
        sent = await enter(pace, 8)
        for at in sent[:3]:
            pace.congested(at, 0)
            pace.leave()
        assert pace.room == pytest.approx(8 * 0.7)
        for _ in range(5):
            pace.in_flight = 6
            pace.went_well()
        assert 6.3 < pace.room < 6.6

    run(work())


def test_room_that_is_not_used_does_not_grow(run: Run) -> None:
    async def work() -> float:
        pace = Pace(64)
        await enter(pace, 3)
        pace.went_well()
        return pace.room

    assert run(work()) == 8


def test_never_is_there_no_room_at_all(run: Run) -> None:
    async def work() -> float:
        pace = Pace(2)
        for _ in range(20):
            (sent,) = await enter(pace, 1)
            await asyncio.sleep(0.01)
            pace.congested(sent, 0)
            pace.leave()
        return pace.room

    assert run(work()) == 1


def test_a_pause_holds_up_everyone_and_no_longer_than_was_said(run: Run) -> None:
    async def work() -> None:
        pace = Pace(8)
        (sent,) = await enter(pace, 1)
        pace.congested(sent, 5)
        times = await asyncio.gather(*(pace.enter(turn, 0) for turn in range(3)))
        assert all(5 <= at - sent <= 5.6 for at in times)

    run(work())


def test_who_gives_up_waiting_leaves_no_gap(run: Run) -> None:
    async def work() -> None:
        pace = Pace(1)
        await pace.enter(0, 0)
        waiting = [asyncio.create_task(pace.enter(turn, 0)) for turn in (1, 2, 3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        pace.leave()
        waiting[1].cancel()
        await asyncio.wait(waiting, timeout=1)
        assert pace.in_flight == 1
        assert waiting[2].done()
        assert not waiting[2].cancelled()

    run(work())


def test_once_nothing_is_sent_any_more_nobody_waits(run: Run) -> None:
    async def work() -> None:
        pace = Pace(1, requests_a_minute=1)
        waiting = [asyncio.create_task(pace.enter(turn, 0)) for turn in range(30)]
        await asyncio.sleep(0)
        pace.lift()
        await asyncio.wait_for(asyncio.gather(*waiting), 0.1)
        await asyncio.wait_for(pace.enter(0, 0), 0.1)

    run(work())


@pytest.mark.parametrize("a_minute", [10, 60, 600])
def test_in_no_minute_are_there_more_requests_than_allowed(run: Run, a_minute: int) -> None:
    async def work() -> list[float]:
        pace, times = Pace(64, requests_a_minute=a_minute), []
        for _ in range(3 * a_minute):
            times.append(await pace.enter(0, 0))
            pace.leave()
        return times

    times = run(work())
    most = max(sum(at <= later < at + 60 for later in times) for at in times)
    assert 0.9 * a_minute <= most <= a_minute


def test_tokens_that_were_not_needed_are_given_back(run: Run) -> None:
    async def work(unused: int) -> float:
        pace = Pace(64, tokens_a_minute=6_100)
        first = await pace.enter(0, 100)
        pace.leave(unused)
        return await pace.enter(0, 100) - first

    assert run(work(0)) == pytest.approx(1, abs=0.01)
    assert run(work(100)) == pytest.approx(0, abs=0.01)
    assert run(work(-100)) == pytest.approx(2, abs=0.01)


def test_more_than_a_seconds_worth_waits_for_a_full_bucket_and_is_paid_later() -> None:
    bucket = Bucket(610)
    assert bucket.ready(50, 0.0) == 0.0
    bucket.take(50)
    assert bucket.ready(10, 0.0) == pytest.approx(5.0)


def test_a_server_gets_about_as_many_calls_at_once_as_it_can_take(
    open_asking: Callable[..., Asking], question: Callable[..., Question]
) -> None:
    can_take, at_once, refused = 10, 0, 0

    async def say(_: ChatRequest) -> Any:
        nonlocal at_once, refused
        if at_once >= can_take:
            refused += 1
            return ChatFailure("rate_limit", "busy", http=429)
        at_once += 1
        await asyncio.sleep(0.1)
        at_once -= 1
        return {"p01": {"reason": "so", "verdict": "yes"}}

    asking, model = open_asking(limits=CallLimits(concurrency=64)), ScriptedModel(say)

    async def work() -> set[str]:
        outcomes = await asyncio.gather(
            *(asking.ask(model, question(f"{n}"), n) for n in range(300))
        )
        return {outcome.status for outcome in outcomes}

    assert asking.wait(work()) == {"ok"}
    assert 0 < refused < 30
