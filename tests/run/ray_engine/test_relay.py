"""Questions of workers reach the asker of the run and come back, whatever is lost on the way."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.core.errors import ModelError
from ragstone.judges.llm.replies import Outcome
from ragstone.run.ray_engine.model_relay import (
    OPEN,
    PLACES,
    Clerk,
    Put,
    Relay,
    RemoteAsking,
    Ticket,
)


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def call(self, work: Coroutine[Any, Any, Any]) -> "Future[Any]":
        return asyncio.run_coroutine_threadsafe(work, self.loop)


class Away:
    """A relay in another process, which may be begun again."""

    def __init__(self) -> None:
        self.own, self.relay = Loop(), Relay()
        self.open = self.most = 0

    def begin_again(self) -> None:
        self.relay = Relay()

    def ask(self, model: str, question: Any, turn: int) -> Any:
        return asyncio.wrap_future(self.own.call(self._held(model, question, turn)))

    async def _held(self, model: str, question: Any, turn: int) -> Outcome:
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            return await self.relay.ask(model, question, turn)
        finally:
            self.open -= 1

    def take(self) -> list[Put]:
        taken: list[Put] = self.own.call(self.relay.take(0.05)).result()
        return taken

    def answer(self, outcomes: Sequence[tuple[Ticket, Outcome]]) -> None:
        self.own.call(self.relay.answer(outcomes)).result()


class Asks:
    """Answers with the question; writes down what it was asked."""

    def __init__(self) -> None:
        self.own, self.asked = Loop(), list[tuple[str, str, int]]()
        self.fails: Exception | None = None

    async def ask(self, model: Any, question: Any, turn: int = 0) -> Outcome:
        self.asked.append((model.identity, question, turn))
        if self.fails is not None:
            raise self.fails
        await asyncio.sleep(0.001)
        return Outcome("ok", requests=(question,))

    def submit(self, work: Coroutine[Any, Any, Any]) -> "Future[Any]":
        return self.own.call(work)


MODEL: Any = SimpleNamespace(identity="m@1")


@pytest.fixture
def away() -> Away:
    return Away()


@pytest.fixture
def asks() -> Asks:
    return Asks()


@pytest.fixture
def clerk(away: Away, asks: Asks) -> Iterator[Clerk]:
    clerk = Clerk(away.take, away.answer, asks, {"m@1": MODEL})
    yield clerk
    clerk.close()


def test_each_question_has_its_own_answer(away: Away, asks: Asks, clerk: Clerk) -> None:
    workers = [RemoteAsking(away.ask) for _ in range(3)]

    async def several(worker: RemoteAsking, first: int) -> list[Outcome]:
        questions: list[Any] = [f"q{number}" for number in range(first, first + 700)]
        return await asyncio.gather(
            *(worker.ask(MODEL, one, turn) for turn, one in enumerate(questions, first))
        )

    begun = [worker.submit(several(worker, at * 700)) for at, worker in enumerate(workers)]
    found = [outcome.requests for work in begun for outcome in work.result(60)]
    assert found == [(f"q{number}",) for number in range(2_100)]
    assert sorted(asks.asked) == sorted(("m@1", f"q{n}", n) for n in range(2_100))
    assert clerk.fault is None


def test_a_worker_leaves_places_for_others_and_for_what_answers(away: Away, clerk: Clerk) -> None:
    worker = RemoteAsking(away.ask)

    async def many() -> list[Outcome]:
        questions: list[Any] = [f"q{number}" for number in range(3 * OPEN)]
        return await asyncio.gather(*(worker.ask(MODEL, one) for one in questions))

    assert len(worker.submit(many()).result(60)) == 3 * OPEN
    assert away.most <= OPEN < PLACES / 500
    assert clerk.fault is None


def test_an_answer_that_nobody_waits_for_is_passed_over(
    away: Away, asks: Asks, clerk: Clerk
) -> None:
    worker = RemoteAsking(away.ask)
    question: Any = "q"
    away.answer([(("another relay", 1), Outcome("ok"))])
    away.begin_again()
    assert worker.wait(worker.ask(MODEL, question)).requests == ("q",)
    assert len(asks.asked) == 1
    assert clerk.fault is None


def test_why_nothing_can_be_asked_is_told(away: Away, asks: Asks, clerk: Clerk) -> None:
    asks.fails = ModelError("m: no such key.")
    worker = RemoteAsking(away.ask)
    question: Any = "q"
    begun = worker.submit(worker.ask(MODEL, question))
    for _ in range(200):
        if clerk.fault is not None:
            break
        worker.settled(begun, 0.05)
    assert clerk.fault is asks.fails
    assert not begun.done()


def test_what_a_worker_submits_may_fail(away: Away) -> None:
    worker = RemoteAsking(away.ask)

    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        worker.wait(fail())
