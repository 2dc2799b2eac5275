"""Attempt: a question sent once and its result interpreted, and the pace of calls to a model.

Concurrency adapts by additive increase and multiplicative decrease (AIMD).

Source: Chiu & Jain (1989), "Analysis of the increase and decrease algorithms for congestion
avoidance in computer networks"; the slow start is TCP's.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from typing import Literal, NamedTuple, Protocol

from ragstone.core.messages import reason
from ragstone.judges.llm.questions import Item, Question
from ragstone.judges.llm.replies import ECHO, Outcome, read_items
from ragstone.models.chat import ChatFailure, ChatModel, ChatReply, ChatRequest
from ragstone.models.chat.model import MalformedReply, Unclosed

from .budget import counted

START = 8
DECREASE = 0.7
# A pause is extended at random by up to this share, so that calls do not all resume at once.
JITTER = 0.1


class Bucket:
    """A token bucket: at most ``a_minute`` in any 60 seconds, with bursts of one second's worth."""

    def __init__(self, a_minute: float) -> None:
        # 61 seconds: a full bucket plus 60 seconds of refill must not exceed the limit.
        self._rate = a_minute / 61
        self._size = self._level = max(1.0, self._rate)
        self._at = 0.0

    def ready(self, amount: float, now: float) -> float:
        """Return when this amount may be taken; one larger than the bucket waits until that is
        full.
        """
        self._level = min(self._size, self._level + (now - self._at) * self._rate)
        self._at = now
        lacking = min(amount, self._size) - self._level
        return now if lacking <= 1e-9 else now + lacking / self._rate

    def take(self, amount: float) -> None:
        """Take this amount; a negative amount returns what was not used."""
        self._level -= amount


class Pace:
    """Admits calls to one model, with a concurrency adapted to the server.

    Concurrency starts low and doubles every round trip, up to the maximum (slow start). On
    congestion it falls to 70 %, at most once per round trip, and from then on grows by one per
    round trip. Waiting calls are admitted by turn, then by arrival. Used from one event loop.
    """

    def __init__(
        self, most: int, *, requests_a_minute: float | None = None,
        tokens_a_minute: float | None = None,
    ) -> None:  # fmt: skip
        self.room = float(min(START, most))
        self.in_flight = 0
        self._most = most
        self._doubling = True
        self._decreased_at = float("-inf")
        self._closed_until = float("-inf")
        self._lifted = False
        self._requests = Bucket(requests_a_minute) if requests_a_minute else None
        self._tokens = Bucket(tokens_a_minute) if tokens_a_minute else None
        self._waiting: list[tuple[int, int, int, asyncio.Future[float]]] = []
        self._arrival = count()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    async def enter(self, turn: int, tokens: int) -> float:
        """Wait to be admitted; the call is then in flight until ``leave``.

        Returns:
            The time of admission, by the loop's clock.
        """
        loop = asyncio.get_running_loop()
        if self._lifted or (not self._waiting and self.in_flight < int(self.room)):
            now = loop.time()
            if self._lifted or self._opens(tokens, now) <= now:
                self._let(tokens)
                return now
        through: asyncio.Future[float] = loop.create_future()
        heappush(self._waiting, (turn, next(self._arrival), tokens, through))
        self._serve(loop)
        try:
            return await through
        except asyncio.CancelledError:
            # Cancelled after admission but before this task ran: the slot must be returned.
            if through.done() and not through.cancelled():
                self.leave()
            raise

    def leave(self, unused: int = 0) -> None:
        """The call has ended.

        Args:
            unused: Estimated tokens that it did not use; negative if it used more.
        """
        self.in_flight -= 1
        if unused and self._tokens is not None:
            self._tokens.take(-unused)
        if self._waiting:
            self._serve(asyncio.get_running_loop())

    def lift(self) -> None:
        """Admit everyone immediately, because nothing will be sent any more."""
        self._lifted = True
        if self._waiting:
            self._serve(asyncio.get_running_loop())

    def went_well(self) -> None:
        """A call was answered: raise concurrency if it was fully used."""
        # Plus 1 per reply doubles the room every round trip; plus 1 / room adds 1 per round trip.
        if self.in_flight >= int(self.room):
            self.room = min(self._most, self.room + (1 if self._doubling else 1 / self.room))

    def congested(self, sent: float, after: float) -> None:
        """The server is overloaded: lower concurrency.

        Args:
            after: Seconds that the server asks to wait; 0 if it does not say.
        """
        now = asyncio.get_running_loop().time()
        self._doubling = False
        # A call sent before the last decrease reflects the earlier load, so it changes nothing.
        if sent > self._decreased_at:
            self.room = max(1.0, self.room * DECREASE)
            self._decreased_at = now
        if after:
            pause = after * (1 + JITTER * random.random())
            self._closed_until = max(self._closed_until, now + pause)

    def _opens(self, tokens: int, now: float) -> float:
        opens = self._closed_until
        if self._requests is not None:
            opens = max(opens, self._requests.ready(1, now))
        if self._tokens is not None:
            opens = max(opens, self._tokens.ready(tokens, now))
        return opens

    def _let(self, tokens: int) -> None:
        self.in_flight += 1
        if self._requests is not None:
            self._requests.take(1)
        if self._tokens is not None:
            self._tokens.take(tokens)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        # Strictly in order: if small calls could overtake a large one, it might wait forever.
        while self._waiting:
            _, _, tokens, through = self._waiting[0]
            if through.done():
                heappop(self._waiting)
                continue
            if not self._lifted:
                if self.in_flight >= int(self.room):
                    return
                opens = self._opens(tokens, now)
                if opens > now:
                    self._serve_at(opens, loop)
                    return
            heappop(self._waiting)
            self._let(tokens)
            through.set_result(now)

    def _serve_at(self, when: float, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is not None:
            if self._timer.when() <= when:
                return
            self._timer.cancel()
        self._timer = loop.call_at(when, self._rung, loop)

    def _rung(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._serve(loop)


# Characters that are kept of a reply and of the name that a model gives itself; the longest
# replies that models write have some 500,000.
MOST_TEXT, MOST_NAME = 1_000_000, 200

FINISHES = {
    "length": ("length", reason("reply_too_long")),
    "filter": ("filtered", reason("reply_filtered")),
    "refusal": ("refusal", reason("model_declined")),
}

# The outcome of a question that should be split; recognised by identity.
TOO_BIG = Outcome("truncated", reason=reason("in_halves"))


@dataclass(frozen=True, slots=True)
class QueuedQuestion:
    """A question to be asked.

    Args:
        tries: Maximum attempts; None: the usual number. For items missing from an earlier reply,
            the attempts that were left for that question.
    """

    key: str
    question: Question
    request: ChatRequest
    items: Mapping[str, type[Item]]
    turn: int
    tries: int | None = None


@dataclass(slots=True)
class AttemptResult:
    """The result of one attempt: a reply, or what went wrong.

    Attributes:
        outcome: Its items; None if the reply is invalid.
        trouble: The type of failure, in one word; None if there was none.
        words: Details of the failure: a reason, or what the server or its library said.
        after: Seconds that the server asks to wait.
        final: Whether every other question would fail too.
    """

    reply: ChatReply | None = None
    outcome: Outcome | None = None
    trouble: str | None = None
    words: str | None = None
    http: int | None = None
    after: float = 0.0
    body: str = ""
    final: bool = False


async def attempted(
    model: ChatModel, queued: QueuedQuestion, seconds: float, limit: int | None = None
) -> AttemptResult:
    """Send a question once, and read the reply.

    Args:
        limit: Maximum tokens of the reply; None: the model's own.
    """
    try:
        async with asyncio.timeout(seconds):
            reply = await model.reply(replace(queued.request, limit=limit))
    except ChatFailure as failure:
        return without_reply(failure)
    except TimeoutError:
        return AttemptResult(
            trouble="timeout", words=reason("no_reply_within", seconds=f"{seconds:g}")
        )
    return interpreted(reply, queued, limit)


def without_reply(failure: ChatFailure) -> AttemptResult:
    return AttemptResult(
        trouble=failure.trouble,
        words=str(failure).rstrip("."),
        http=failure.http,
        after=failure.after,
        body=failure.body,
        final=failure.final,
    )


def interpreted(
    reply: ChatReply, queued: QueuedQuestion, limit: int | None = None
) -> AttemptResult:
    """The result of an attempt that brought a reply; ``limit`` is that of ``attempted``."""
    # A hostile server's replies would fill the disk: what is kept of one has an end.
    is_cut = len(reply.text) > MOST_TEXT
    reply = replace(
        reply,
        text=reply.text[:MOST_TEXT],
        finish="length" if is_cut else reply.finish,
        model=reply.model and reply.model[:MOST_NAME],
        usage=counted(reply.usage, queued.request, reply.text),
    )
    result = AttemptResult(reply)
    if (
        reply.finish == "length"
        and limit is not None
        and (reply.usage.completion or limit) >= limit
    ):
        result.trouble = "capped"
        result.words = reason("reply_cut_at", tokens=limit)
    elif reply.finish == "stop":
        _read(result, reply.text, queued)
    else:
        result.trouble, result.words = FINISHES[reply.finish]
    return result


def no_use(name: str, result: AttemptResult, times: int, queued: QueuedQuestion) -> Outcome | None:
    """The outcome if a retry would be of no use; otherwise None."""
    match result.trouble:
        case "length" if len(queued.items) > 1:
            return TOO_BIG
        case "length" | "capped":
            return Outcome("truncated", reason=why(name, result))
        case "too_long" | "rejected":
            return Outcome("failed", reason=why(name, result))
        case "filtered":
            return Outcome("blocked", reason=why(name, result))
        case "echo" if times > 1 or queued.tries is not None:
            return Outcome("failed", reason=why(name, result))
        case "refusal" if times > 1:
            return Outcome("blocked", reason=why(name, result))
    return None


def why(name: str, result: AttemptResult, **more: str) -> str:
    """The failure of an attempt as a reason code with its facts."""
    return reason(result.trouble or "failed", of=name, said=result.words, **more)


def settled_before(
    name: str, before: Sequence[str | None], queued: QueuedQuestion
) -> Outcome | None:
    """The outcome if the journal shows that a retry would be of no use; otherwise None."""
    result = AttemptResult(trouble=before[-1])
    # Asked again on resume: the server may accept it by then, or allow a longer reply.
    if result.trouble in ("rejected", "capped", "echo") or (
        result.trouble == "length" and len(queued.items) == 1
    ):
        return None
    for trouble, words in FINISHES.values():
        if trouble == result.trouble:
            result.words = words
    return no_use(name, result, before.count(result.trouble), queued)


def _read(result: AttemptResult, text: str, queued: QueuedQuestion) -> None:
    try:
        outcome = read_items(text, queued.items, queued.question.texts, queued.question.echoes)
    except Unclosed:
        result.trouble, result.words = "truncated", reason("reply_cut_off")
        return
    except MalformedReply as error:
        result.trouble, result.words = (
            "malformed",
            reason("reply_unreadable", fault=str(error).rstrip(".")),
        )
        return
    if outcome.status != "ok":
        result.trouble = "incomplete"
        first = next(iter(outcome.lacking.items()), None)
        if first and first[1].startswith(ECHO):
            result.trouble = "echo"
            result.words = reason("not_of_the_answer", fault=first[1].removeprefix(ECHO))
            return
        result.words = reason("nothing_asked", fault=" ".join(first) if first else "")
        return
    result.outcome = outcome
    if outcome.lacking:
        result.words = "; ".join(f"{name}: {fault}" for name, fault in outcome.lacking.items())


# What becomes of a question that has no reply. ``later``: it is noted for a batch. ``first``: it is
# asked singly, so that what is wrong with key, model or settings shows before a batch is sent; the
# others wait for it. ``alone``: it is asked singly. ``given_up``: no batch answered it.
Fate = Literal["later", "first", "alone", "given_up"]


class StoredReply(NamedTuple):
    """A reply or failure that came back in a batch and was not read yet.

    ``sent`` is when the batch was, in seconds since 1970, and ``seconds`` what it took.
    """

    tag: str
    sent: float
    seconds: float
    result: AttemptResult


class BatchedReplies(Protocol):
    """The batches of a run, as the calls see them."""

    def stored(self, model: ChatModel, queued: QueuedQuestion) -> Sequence[StoredReply]:
        """Return what came back for a question and was not read yet, the earliest first."""

    def taken(self, key: str, tag: str) -> None: ...

    async def fate(self, model: ChatModel, queued: QueuedQuestion) -> Fate:
        """Decide how a question without a reply goes on."""

    def looked(self, model: ChatModel) -> None: ...
