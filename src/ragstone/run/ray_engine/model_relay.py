"""Model relay: workers' questions to chat models, which the run's own process asks.

The run has a single asker, with a single budget, journal and pace for each model. A question is
asked once, whichever workers put it, and no worker needs a key.

    worker: RemoteAsking.ask ──▶ Relay (an actor) ──▶ Clerk, in the process of the run ──▶ Asking

The relay stores nothing. If it is lost, it starts again and the workers repeat their questions;
the journal answers those that were answered before.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Self, TypeVar
from uuid import uuid4

from ragstone.core.errors import RagstoneError
from ragstone.judges.llm.questions import Question
from ragstone.judges.llm.replies import Outcome
from ragstone.models.chat import ChatModel, ChatReply, ChatRequest
from ragstone.run.judging.run_models import ChatJudges, Named


@dataclass(frozen=True, slots=True)
class ModelProxy:
    """A chat model without its key, its connections and its code; as ``ChatModel``."""

    name: str
    about: str
    identity: str
    window: int
    items: int
    notes: tuple[str, ...]
    kept: bool

    @classmethod
    def of(cls, model: ChatModel) -> Self:
        return cls(**{field.name: getattr(model, field.name) for field in fields(cls)})

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Never called: questions go to the process of the run."""
        raise RuntimeError(f"{self.name} is asked about {request.name} by the process of the run.")

    async def close(self) -> None: ...


def stand_ins(judge: Named | Sequence[Named], chat: ChatJudges) -> list[Named]:
    """The judges of a request with stand-ins for the models that were given as objects."""
    judges: list[Named] = []
    of_request = judge if isinstance(judge, list | tuple) else [judge]
    for of_user, name in zip(of_request, chat.names, strict=True):
        is_name = isinstance(of_user, str)
        judges.append(of_user if is_name else list(map(ModelProxy.of, chat.models_of(name))))
    return judges


Result = TypeVar("Result")

Ticket = tuple[str, int]
# The ticket of a question, its model, itself, and its turn.
Put = tuple[Ticket, str, Question, int]

AT_ONCE = 512
# Questions of a worker that wait in the relay at the same time.
OPEN = 1_000
# Calls that the relay holds at a time: enough for a thousand workers, so that the calls that take
# questions and hand back answers always find a place.
PLACES = 1_000 * OPEN
# Seconds after which a call that waits for questions comes back without.
PATIENCE = 1.0


class Relay:
    """Hands questions on, and answers back. Used from one event loop."""

    def __init__(self) -> None:
        self._own = uuid4().hex
        self._count = 0
        self._waiting: dict[Ticket, asyncio.Future[Outcome]] = {}
        self._put: list[Put] = []
        self._some = asyncio.Event()

    async def ask(self, model: str, question: Question, turn: int) -> Outcome:
        self._count += 1
        ticket = self._own, self._count
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting[ticket] = answer
        self._put.append((ticket, model, question, turn))
        self._some.set()
        try:
            return await answer
        finally:
            del self._waiting[ticket]

    async def take(self, seconds: float = PATIENCE) -> list[Put]:
        """The next questions; none if there are none for so long."""
        if not self._put:
            self._some.clear()
            try:
                await asyncio.wait_for(self._some.wait(), seconds)
            except TimeoutError:
                return []
        questions, self._put = self._put[:AT_ONCE], self._put[AT_ONCE:]
        return questions

    async def answer(self, outcomes: Sequence[tuple[Ticket, Outcome]]) -> None:
        """Hand outcomes back; those that nobody waits for any more are passed over."""
        for ticket, outcome in outcomes:
            waiting = self._waiting.get(ticket)
            if waiting is not None and not waiting.done():
                waiting.set_result(outcome)


class RemoteAsking:
    """Asks through a relay, in the process of a worker, with an event loop of its own."""

    def __init__(self, ask: Callable[[str, Question, int], Awaitable[Outcome]]) -> None:
        self._ask = ask
        self._places = asyncio.Semaphore(OPEN)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="asking", daemon=True).start()

    async def ask(self, model: ChatModel, question: Question, turn: int = 0) -> Outcome:
        async with self._places:
            return await self._ask(model.identity, question, turn)

    def submit(self, work: Coroutine[Any, Any, Result]) -> "Future[Result]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def settled(self, work: "Future[Any]", seconds: float) -> bool:
        wait([work], seconds)
        if not work.done():
            return False
        work.result()
        return True

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.submit(work).result()


class Clerk:
    """Takes the workers' questions to the asker, in the process of the run, in its own thread.

    Args:
        take: Gives the next questions; none if there are none for a while.
        answer: Hands outcomes back.

    Attributes:
        fault: Why no question can be answered any more; None while all is well.
    """

    def __init__(
        self, take: Callable[[], list[Put]], answer: Callable[[list[tuple[Ticket, Outcome]]], None],
        asking: Any, models: Mapping[str, ChatModel],
    ) -> None:  # fmt: skip
        self._next_questions, self._answer = take, answer
        self._asking, self._models = asking, models
        self._outcomes: list[tuple[Ticket, Outcome]] = []
        self._some = threading.Condition()
        self._closed = False
        self.fault: BaseException | None = None
        self._threads = [
            threading.Thread(target=self._run, args=(work,), name=name, daemon=True)
            for work, name in ((self._take, "questions"), (self._give, "answers"))
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        with self._some:
            self._closed = True
            self._some.notify_all()
        for thread in self._threads:
            thread.join(2 * PATIENCE)

    def _run(self, work: Callable[..., None], *arguments: Any) -> None:
        try:
            work(*arguments)
        except BaseException as error:
            self._failed(error)

    def _take(self) -> None:
        while not self._closed:
            for ticket, model, question, turn in self._next_questions():
                work = self._asking.ask(self._models[model], question, turn)
                reply = self._asking.submit(work)
                reply.add_done_callback(partial(self._run, self._answered, ticket))

    def _answered(self, ticket: Ticket, reply: "Future[Outcome]") -> None:
        outcome = reply.result()
        with self._some:
            self._outcomes.append((ticket, outcome))
            self._some.notify_all()

    def _give(self) -> None:
        while True:
            with self._some:
                self._some.wait_for(lambda: self._outcomes or self._closed)
                outcomes, self._outcomes = self._outcomes, []
            if not outcomes:
                return
            self._answer(outcomes)

    def _failed(self, error: BaseException) -> None:
        """Keep the first fault, but any of the run's own before others."""
        first = isinstance(error, RagstoneError) and not isinstance(self.fault, RagstoneError)
        if not self._closed and (self.fault is None or first):
            self.fault = error
