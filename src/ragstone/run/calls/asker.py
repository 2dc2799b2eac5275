"""Asker: sends a run's questions to models, with retries, journal and budget; merges replies.

It runs in its own thread with its own event loop.
"""

import asyncio
import concurrent.futures
import threading
import time
from collections import OrderedDict
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ragstone.core.errors import RagstoneError
from ragstone.core.messages import Reason, reason
from ragstone.judges.llm.questions import Question, key
from ragstone.judges.llm.replies import Outcome, read_items
from ragstone.judges.llm.task import NOT_SAID
from ragstone.models.chat import ChatModel
from ragstone.models.chat.model import MalformedReply

from .attempt import TOO_BIG, BatchedReplies, QueuedQuestion
from .budget import Budget, Price, Prices, no_price
from .journal import Counts, Journal
from .journal_reader import Attempt
from .model_client import CallLimits, ModelClient, journaled
from .reply_cache import ReplyCache

if TYPE_CHECKING:
    from ragstone.models.chat.http_transport import Connections


def partly(outcome: Outcome, queued: QueuedQuestion, model: str) -> Outcome:
    """The outcome of a reply with missing items."""
    lacking = {
        name: reason(NOT_SAID, of=model, said=outcome.lacking[name])
        for name in queued.items
        if name in outcome.lacking
    }
    return replace(outcome, lacking=lacking, requests=(queued.key,))


def in_vain(outcome: Outcome) -> Outcome:
    """The outcome of a reply that still lacks items after all attempts."""
    lacking = {name: _with(why, tries="all") for name, why in outcome.lacking.items()}
    return replace(outcome, lacking=lacking)


def completed(first: Outcome, rest: Outcome, *, sent: bool) -> Outcome:
    """A reply completed by the reply to a second question about its missing items."""
    alone = str(replace(Reason.read(rest.reason or NOT_SAID), of=""))
    lacking = {
        name: rest.lacking.get(name)
        or _with(fault, **({"alone": alone} if sent else {"not_alone": alone}))
        for name, fault in first.lacking.items()
        if name not in rest.items
    }
    items = {**first.items, **rest.items}
    return Outcome("ok", items, lacking, None, (*first.requests, *rest.requests))


def halves(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Two parts of about the same size, none empty where there are two names."""
    middle = len(names) // 2
    return names[:middle], names[middle:]


def rejoined(parts: Mapping[tuple[str, ...], Outcome], key: str) -> Outcome:
    """The merged outcomes of the parts of a question, by the ids of each part."""
    requests = (key, *(request for part in parts.values() for request in part.requests))
    items = {name: item for part in parts.values() for name, item in part.items.items()}
    if not items:
        worst = next(part for part in parts.values() if part.status != "ok")
        return Outcome(worst.status, reason=worst.reason, requests=requests)
    lacking = {
        name: _why(part, name, NOT_SAID)
        for names, part in parts.items()
        for name in names
        if name not in part.items
    }
    return Outcome("ok", items, lacking, None, requests)


class Remembered:
    """An LRU cache of outcomes, by the key of their question."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, Outcome] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str) -> Outcome | None:
        outcome = self._kept.get(key)
        if outcome is not None:
            self._kept.move_to_end(key)
        return outcome

    def put(self, key: str, outcome: Outcome) -> None:
        self._kept[key] = outcome
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)


def _with(why: str, **facts: str) -> str:
    known = Reason.read(why)
    return str(replace(known, facts={**known.facts, **facts}))


def _why(outcome: Outcome, name: str, otherwise: str) -> str:
    return outcome.lacking.get(name) or outcome.reason or otherwise


Result = TypeVar("Result")


# Outcomes cached in memory for repeated questions; older ones are read from the journal.
REMEMBERED = 512

LOOK = 1.0
# Timeouts in seconds after Ctrl-C; with FLUSHING for two files, together below two.
WINDING_UP, CLOSING, STOPPING, FLUSHING = 0.6, 0.3, 0.1, 0.4


class Asking:
    """The asker of a run. It must be closed, which completes the journal and closes the models.

    Args:
        batched: The batches of the run; None if there are none.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        limits: CallLimits = CallLimits(),  # noqa: B008
        prices: Prices = Prices(),  # noqa: B008
        budget: Budget | None = None,
        cache: ReplyCache | None = None,
        pool: "Connections | None" = None,
        batched: BatchedReplies | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._journal, self._limits, self._prices = journal, limits, prices
        self._budget = Budget() if budget is None else budget
        self._cache, self._pool, self._batched = cache, pool, batched
        self._tally = Counts()
        self._clients: dict[str, ModelClient] = {}
        self._under_way: dict[str, asyncio.Future[Outcome]] = {}
        self._outcomes = Remembered(REMEMBERED)
        self._fault: RagstoneError | None = None
        self._closed = False
        self._loop = asyncio.new_event_loop() if loop is None else loop
        self._thread = threading.Thread(target=self._run, name="asking", daemon=True)
        self._thread.start()

    def expect(self, model: ChatModel) -> None:
        """Register a model before anything is asked."""
        self._client(model)

    async def ask(
        self, model: ChatModel, question: Question, turn: int = 0, tries: int | None = None
    ) -> Outcome:
        """Ask a question; one that was answered before is answered from the journal.

        Items missing from a reply are asked for again by themselves, with the same number of
        attempts as for a question without a reply, and again when the run is resumed. If the reply
        exceeds the model's length limit, the question is split in two.
        """
        if self._fault is not None:
            raise self._fault
        request = question.request()
        name = key(request, model.identity, question.vote)
        known = self._outcomes.get(name)
        if known is not None:
            return known
        same = self._under_way.get(name)
        if same is not None:
            # Another example is asking the same: wait for that call instead of paying twice. The
            # shield keeps a cancelled waiter from cancelling the call for the others.
            return await asyncio.shield(same)
        shared = self._under_way[name] = asyncio.get_running_loop().create_future()
        try:
            queued = QueuedQuestion(name, question, request, question.items, turn, tries)
            outcome = await self._outcome(self._client(model), queued)
            shared.set_result(outcome)
        except RagstoneError as error:
            if self._fault is None:
                self._fault = error
                for task in asyncio.all_tasks() - {asyncio.current_task()}:
                    task.cancel()
            raise
        finally:
            del self._under_way[name]
            shared.cancel()
        if not outcome.later:
            self._outcomes.put(name, outcome)
        return outcome

    def submit(self, work: Coroutine[Any, Any, Result]) -> "concurrent.futures.Future[Result]":
        """Start a coroutine that asks; thread-safe."""
        if self._closed:
            work.close()
            raise RuntimeError("Asking is closed.")
        return asyncio.run_coroutine_threadsafe(self._watched(work), self._loop)

    def settled(self, work: "concurrent.futures.Future[Any]", seconds: float) -> bool:
        """Wait at most this long for submitted work; returns whether it has finished."""
        try:
            concurrent.futures.wait([work], seconds)
        except KeyboardInterrupt:
            self._end(FLUSHING)
            raise
        if not work.done():
            return False
        work.result()
        return True

    def wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine that asks to its end, from a thread outside the event loop."""
        begun = self.submit(work)
        # In short waits, because outside POSIX Ctrl-C does not interrupt a wait on a lock.
        while not self.settled(begun, LOOK):
            pass
        return begun.result()

    @property
    def budget(self) -> Budget:
        return self._budget

    def price(self, model: ChatModel) -> Price | None:
        return self._prices.of(model.name)

    def counts(self) -> Counts:
        """The present counts of questions and calls; thread-safe."""
        paces = [client.pace for client in list(self._clients.values())]
        return replace(
            self._tally,
            in_flight=sum(pace.in_flight for pace in paces),
            waiting=sum(pace.waiting for pace in paces),
            troubles=dict(self._tally.troubles),
        )

    def close(self) -> None:
        """Cancel all work, keep the replies received, close journal, cache and models."""
        self._end(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _outcome(self, client: ModelClient, queued: QueuedQuestion) -> Outcome:
        outcome, failures = await self._read_before(client, queued), 0
        if outcome is None:
            outcome, failures = await client.put(queued)
        if outcome is TOO_BIG:
            return await self._in_halves(client, queued)
        if outcome.later:
            return outcome
        self._tally.answered += 1
        self._tally.failed += outcome.status != "ok"
        if outcome.status != "ok" or not outcome.lacking:
            return replace(outcome, requests=(queued.key,))
        name = client.model.name
        outcome = partly(outcome, queued, name)
        left = (queued.tries or client.limits.attempts) - failures - 1
        if left <= 0:
            return in_vain(outcome)
        question = queued.question.only(outcome.lacking)
        rest = await self.ask(client.model, question, queued.turn, left)
        if rest.later:
            return rest
        sent = rest.reason is None or rest.reason != client.health.closed
        if len(queued.question.pieces) > 1:
            self._tally.in_part += 1
        return completed(outcome, rest, sent=sent)

    async def _in_halves(self, client: ModelClient, queued: QueuedQuestion) -> Outcome:
        parts = [tuple(half) for half in halves(list(queued.items))]
        outcomes = await asyncio.gather(
            *(self.ask(client.model, queued.question.only(part), queued.turn) for part in parts)
        )
        waiting = next((outcome for outcome in outcomes if outcome.later), None)
        if waiting is not None:
            return waiting
        return rejoined(dict(zip(parts, outcomes, strict=True)), queued.key)

    async def _read_before(self, client: ModelClient, queued: QueuedQuestion) -> Outcome | None:
        answered = self._journal.reply(queued.key)
        if answered is not None:
            outcome = _read(answered.reply, queued)
            # In batches every question is put several times, and its reply read from the journal.
            self._tally.from_journal += outcome is not None and self._batched is None
            return outcome
        reply = None if client.cache is None else client.cache.get(queued.key)
        if reply is None or (outcome := _read(reply.text, queued)) is None:
            return None
        attempt = Attempt(
            queued.key,
            len(self._journal.troubles(queued.key)) + 1,
            "cache",
            time.time(),
            0.0,
            reply=reply.text,
            finish=reply.finish,
            model=reply.model,
            usd=0.0,
        )
        # Journaled like a reply of the model: a resumed run must not depend on the cache.
        await self._journal.record(attempt, journaled(client.model, queued))
        self._tally.from_cache += 1
        return outcome

    def _client(self, model: ChatModel) -> ModelClient:
        client = self._clients.get(model.identity)
        if client is None:
            price = self._prices.of(model.name)
            if price is None and self._budget.usd is not None:
                raise no_price(model.name)
            client = ModelClient(
                model,
                self._limits,
                price,
                self._budget,
                self._journal,
                self._tally,
                self._cache if model.kept else None,
                self._batched,
            )
            self._clients[model.identity] = client
        return client

    async def _watched(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Await the work; after a fatal fault every waiter gets that fault, not a cancellation."""
        try:
            return await work
        finally:
            if self._fault is not None:
                raise self._fault from None

    def _end(self, flushing: float | None) -> None:
        if self._closed:
            return
        self._closed = True
        wound_up = asyncio.run_coroutine_threadsafe(self._wind_up(), self._loop)
        concurrent.futures.wait([wound_up], WINDING_UP + CLOSING)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOPPING)
        self._journal.close(flushing)
        if self._cache is not None:
            self._cache.close(flushing)

    async def _wind_up(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=WINDING_UP)
        closing = [asyncio.create_task(client.model.close()) for client in self._clients.values()]
        if self._pool is not None:
            closing.append(asyncio.create_task(self._pool.close()))
        if closing:
            await asyncio.wait(closing, timeout=CLOSING)

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()


def _read(text: str, queued: QueuedQuestion) -> Outcome | None:
    try:
        outcome = read_items(text, queued.items, queued.question.texts, queued.question.echoes)
    except MalformedReply:
        return None
    return outcome if outcome.status == "ok" else None
