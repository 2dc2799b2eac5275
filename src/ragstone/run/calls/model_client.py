"""Model client: asks a model until each question is answered or given up, as its server allows."""

import asyncio
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragstone.core.errors import ModelError
from ragstone.core.messages import Reason, reason
from ragstone.judges.llm.replies import Outcome
from ragstone.models.chat import ChatModel, ChatRequest, Usage
from ragstone.models.chat.chat_names import assumed_reasoning
from ragstone.run.settings import Limits

from .attempt import (
    AttemptResult,
    BatchedReplies,
    Pace,
    QueuedQuestion,
    StoredReply,
    attempted,
    no_use,
    settled_before,
    why,
)
from .budget import (
    AT_FIRST,
    CHARACTERS_A_TOKEN,
    MILLION,
    Budget,
    CostEstimate,
    Price,
    TokenHistory,
    batch_cost,
    cost,
)
from .journal import Counts, Journal, JournaledQuestion
from .journal_reader import Attempt, Source
from .reply_cache import ReplyCache

# If a server asks to wait longer than this (seconds), it is not called any more.
LONGEST_PAUSE = 600.0

OVERLOADED = frozenset({429, 503, 529})
DEAD = frozenset({"unreachable", "connection", "timeout", "server_error"})
# This many attempts without a reply in a row pause all calls. This many questions in a row given
# up, or rejected before any was answered, end the calls to the server.
IN_A_ROW = 8

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0


class ServerHealth:
    """The state of one model's server.

    Attributes:
        closed: Why nothing more is sent; None while calls are sent.
    """

    def __init__(self, name: str, pace: Pace) -> None:
        self.closed: str | None = None
        self.reached = False
        self._name = name
        self._pace = pace
        self._replied = False
        self._given_up = self._rejected = self._dead = 0

    def observe(self, result: AttemptResult, started: float) -> None:
        """Take note of an attempt's result."""
        self.reached = self.reached or result.reply is not None or result.http is not None
        if result.reply is not None:
            self._dead = 0
            self._replied = True
            self._pace.went_well()
        elif result.after > LONGEST_PAUSE:
            self.close(reason("left_alone", seconds=result.after))
        elif result.trouble == "rejected" and not self._replied:
            # A single question may be invalid; if all are rejected, the settings are.
            self._rejected += 1
            if self._rejected >= IN_A_ROW:
                self.close(reason("all_rejected", n=self._rejected, said=result.words))
        elif result.trouble == "rate_limit" or result.http in OVERLOADED:
            self._pace.congested(started, result.after)
        elif result.trouble in DEAD:
            self._dead += 1
            if self._dead >= IN_A_ROW:
                self._pace.congested(started, wait(1 + self._dead // IN_A_ROW))

    def answered(self) -> None:
        self._given_up = 0

    def gave_up(self, result: AttemptResult) -> None:
        """A question was given up after this result."""
        if result.reply is not None:
            self._given_up = 0
        elif result.trouble in DEAD:
            self._given_up += 1
            if self._given_up >= IN_A_ROW:
                self.close(reason("server_gone", said=result.words))

    def close(self, why: str | None) -> None:
        """Stop sending for this reason; waiting calls are admitted so that they can end."""
        if self.closed is None:
            self.closed = str(Reason.read(why or "closed").about(self._name))
            self._pace.lift()


def wait(times: int) -> float:
    """Seconds before the next attempt: exponential backoff with random jitter."""
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (times - 1)) * (1 + random.random()) / 2


# Failures after which the call may have been charged although no reply came.
LOST = frozenset({"timeout", "connection"})
# Expected tokens of a reply, before any was received.
EXPECTED_TOKENS = 400


@dataclass(slots=True)
class Admitted:
    """A call that may be sent. Pass it to ``leave`` when it has ended, whatever its result.

    Args:
        reserved: US dollars reserved for it; None without a budget in USD, or once settled.
        limit: The most reply tokens that the reserved sum pays for; None: unlimited.
        unused: Estimated tokens that were not used; negative if more were used.
    """

    started: float
    task: str
    prompt: int
    tokens: int
    reserved: float | None
    limit: int | None = None
    unused: int = 0


class Admission:
    """Admits the calls to one model."""

    def __init__(
        self, name: str, pace: Pace, health: ServerHealth, budget: Budget, price: Price | None
    ) -> None:
        self._name, self._pace, self._health = name, pace, health
        self._budget, self._price = budget, price
        self._expected: float = EXPECTED_TOKENS
        self._histories: dict[str, TokenHistory] = {}

    async def enter(self, queued: QueuedQuestion, prompt: int) -> Admitted | None:
        """Wait until a call may be sent; None if nothing is sent to this model any more."""
        tokens = prompt + int(self._expected)
        started = await self._pace.enter(queued.turn, tokens)
        task = queued.question.task
        if self._health.closed is None:
            if self._budget.usd is not None:
                return await self._afforded(queued, Admitted(started, task, prompt, tokens, None))
            if self._budget.count():
                return Admitted(started, task, prompt, tokens, None)
            self._health.close(self._budget.reached)
        self._pace.leave(tokens)
        return None

    def settle(self, call: Admitted, result: AttemptResult, usd: float | None) -> None:
        """Replace a call's estimated tokens and cost by the actual ones."""
        call.unused = self._unused(call, result)
        if call.reserved is None:
            return
        if result.reply is None:
            # A lost call may have been charged: its whole reserve counts as spent.
            usd = None if result.trouble in LOST else 0.0
        else:
            self._history(call.task).learn(call.prompt, result.reply.usage)
        self._budget.settle(call.reserved, usd)
        call.reserved = None

    def leave(self, call: Admitted) -> None:
        """The call has ended; if it was not settled, it counts as having cost its whole reserve."""
        self._pace.leave(call.unused)
        if call.reserved is not None:
            self._budget.settle(call.reserved, None)

    async def _afforded(self, queued: QueuedQuestion, call: Admitted) -> Admitted | None:
        history = self._history(call.task)

        def estimate() -> CostEstimate:
            return CostEstimate(
                cost(history.careful(call.prompt), self._price) or 0.0,
                cost(history.least(call.prompt), self._price) or 0.0,
            )

        reserved = self._budget.reserve(estimate)
        if reserved is None:
            # A call that waits for money must not occupy a slot that others could use.
            self._pace.leave(call.tokens)
            reserved = await self._budget.wait(queued.turn, estimate)
            if reserved is None:
                self._health.close(self._budget.reached)
                return None
            # The money is reserved; wait for a slot again, during which the model may be closed.
            through = False
            try:
                call.started = await self._pace.enter(queued.turn, call.tokens)
                through = self._health.closed is None
            finally:
                if not through:
                    self._budget.give_back(reserved)
            if not through:
                self._pace.leave(call.tokens)
                return None
        call.reserved = reserved
        call.limit = self._bought(call.task, call.prompt, reserved)
        return call

    def _bought(self, task: str, prompt: int, reserved: float) -> int | None:
        if self._price is None or not self._price.output:
            return None
        sent = self._history(task).least(prompt).prompt
        left = reserved - (cost(Usage(sent, 0, written=sent), self._price) or 0.0)
        return max(1, int(left * MILLION / self._price.output + 1e-6))

    def _history(self, task: str) -> TokenHistory:
        history = self._histories.get(task)
        if history is None:
            longest = max((history.longest for history in self._histories.values()), default=0)
            first = AT_FIRST + assumed_reasoning(self._name)
            history = self._histories[task] = TokenHistory(max(first, longest))
        return history

    def _unused(self, call: Admitted, result: AttemptResult) -> int:
        if result.reply is None:
            return 0 if result.trouble in LOST else call.tokens
        usage = result.reply.usage
        if usage.completion is not None:
            # An exponential moving average over about the last 16 replies.
            self._expected += (usage.completion - self._expected) / 16
        if usage.prompt is None or usage.completion is None:
            return 0
        return call.tokens - usage.prompt - usage.completion


# After this many attempts at a server that was never reached, its address is taken to be wrong.
NEVER_REACHED = 3

HINTS = {
    "not_allowed": "Check the key in the environment",
    "not_found": "Check the model's name and the address",
    "no_credit": "Top up the account",
    "parameter": "Leave the parameter out of the judge's name",
}


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits on the calls to a model; see ``Limits``.

    Args:
        attempts: Attempts per question before it is given up; a rate limit (429) does not count.
        patience: Seconds after which a question held back by rate limits is given up.
    """

    concurrency: int = 64
    timeout: float = 120.0
    attempts: int = 6
    patience: float = 900.0
    requests_a_minute: float | None = None
    tokens_a_minute: float | None = None

    @classmethod
    def of(cls, limits: Limits) -> "CallLimits":
        """Take from a run's limits those that hold for each model."""
        return cls(
            concurrency=limits.concurrency,
            timeout=limits.timeout,
            requests_a_minute=limits.rpm,
            tokens_a_minute=limits.tpm,
        )


@dataclass(slots=True)
class ModelClient:
    """The calls of a run to one model, with pacing, retries, journal and budget."""

    model: ChatModel
    limits: CallLimits
    price: Price | None
    budget: Budget
    journal: Journal
    tally: Counts
    cache: ReplyCache | None = None
    batched: BatchedReplies | None = None
    pace: Pace = field(init=False)
    health: ServerHealth = field(init=False)
    _admission: Admission = field(init=False)
    # Outcomes of questions given up since the run was started or resumed, by key.
    _in_vain: dict[str, Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        limits, name = self.limits, self.model.name
        self.pace = Pace(
            limits.concurrency,
            requests_a_minute=limits.requests_a_minute,
            tokens_a_minute=limits.tokens_a_minute,
        )
        self.health = ServerHealth(name, self.pace)
        self._admission = Admission(name, self.pace, self.health, self.budget, self.price)

    async def put(self, queued: QueuedQuestion) -> tuple[Outcome, int]:
        """Ask a question until it is answered, blocked or given up.

        Returns:
            Its outcome, and the number of failed attempts before it.
        """
        before = self.journal.troubles(queued.key)
        outcome = settled_before(self.model.name, before, queued) if before else None
        outcome = outcome or self._in_vain.get(queued.key)
        if outcome is not None:
            return outcome, 0
        if self.batched is None:
            return await self._ask(queued, before)
        return await self._ask_batched(queued, self.batched)

    async def _ask_batched(
        self, queued: QueuedQuestion, batched: BatchedReplies
    ) -> tuple[Outcome, int]:
        for stored in batched.stored(self.model, queued):
            await self._keep(queued, stored)
            result = stored.result
            batched.taken(queued.key, stored.tag)
            times = self.journal.troubles(queued.key).count(result.trouble)
            outcome = result.outcome or no_use(self.model.name, result, times, queued)
            if outcome is not None:
                return outcome, 0
        match await batched.fate(self.model, queued):
            case "later":
                return Outcome("failed", reason="asked_later", later=True), 0
            case "given_up":
                why_not = reason("batch_unanswered", of=self.model.name, tries="all")
                return Outcome("failed", reason=why_not), 0
            case "first":
                try:
                    return await self._ask(queued, self.journal.troubles(queued.key))
                finally:
                    batched.looked(self.model)
            case "alone":
                return await self._ask(queued, self.journal.troubles(queued.key))

    async def _keep(self, queued: QueuedQuestion, stored: StoredReply) -> None:
        result = stored.result
        known = self.journal.in_batch(queued.key, stored.sent)
        if None in known or (known and result.outcome is None):
            return
        self.tally.calls += 1
        reply = result.reply
        usage = Usage() if reply is None else reply.usage
        usd = batch_cost(usage, self.price)
        self.tally.came_back(result.trouble, None if reply is None else usage, usd)
        self.budget.calls += 1
        self.budget.spent += usd or 0.0
        number = len(self.journal.troubles(queued.key)) + 1
        when = stored.sent, stored.seconds
        attempt = _record(queued.key, number, *when, result, usage, usd, source="batch")
        await self.journal.record(attempt, journaled(self.model, queued))
        whole = result.outcome is not None and not result.outcome.lacking
        if self.cache is not None and reply is not None and whole:
            self.cache.put(queued.key, reply)

    async def _ask(
        self, queued: QueuedQuestion, before: Sequence[str | None]
    ) -> tuple[Outcome, int]:
        troubles, failures, pushed_back = [*before], 0, 0
        waiting_since = 0.0
        number = len(before)
        tries = queued.tries or self.limits.attempts
        while True:
            number += 1
            result = await self._attempt(queued, number)
            if result is None:
                return Outcome("failed", reason=self.health.closed), failures
            if result.outcome is not None:
                self.health.answered()
                return result.outcome, failures
            troubles.append(result.trouble)
            times = troubles.count(result.trouble)
            outcome = no_use(self.model.name, result, times, queued)
            if outcome is not None:
                return outcome, failures
            now = asyncio.get_running_loop().time()
            if result.trouble == "rate_limit":
                # A busy server is not the question's fault: time limits these attempts, not number.
                pushed_back += 1
                waiting_since = waiting_since or now
                if now - waiting_since > self.limits.patience:
                    return self._give_up(queued, result), failures
                pause = 0.0 if result.after else wait(pushed_back)
            else:
                failures += 1
                never = result.trouble == "unreachable" and not self.health.reached
                if never and failures >= NEVER_REACHED:
                    raise ModelError(
                        f"{self.model.name}: {result.words} Then run the same command again."
                    )
                if failures >= tries:
                    return self._give_up(queued, result), failures
                pause = max(result.after, wait(failures)) if result.trouble in DEAD else 0.0
            if pause:
                await asyncio.sleep(pause)

    async def _attempt(self, queued: QueuedQuestion, number: int) -> AttemptResult | None:
        call = await self._admission.enter(queued, tokens_of(queued.request))
        if call is None:
            return None
        try:
            self.tally.calls += 1
            self.tally.retries += number > 1
            at = time.time()
            clock = time.perf_counter()
            result = await attempted(self.model, queued, self.limits.timeout, call.limit)
            seconds = time.perf_counter() - clock
            usage = Usage() if result.reply is None else result.reply.usage
            usd = cost(usage, self.price)
            self.tally.came_back(result.trouble, None if result.reply is None else usage, usd)
            self._admission.settle(call, result, usd)
            self.health.observe(result, call.started)
            attempt = _record(queued.key, number, at, seconds, result, usage, usd)
            # The slot is freed only after the attempt is on disk: a run killed at any time repeats
            # at most the calls that were in flight.
            await self.journal.record(attempt, journaled(self.model, queued))
        finally:
            self._admission.leave(call)
        whole = result.outcome is not None and not result.outcome.lacking
        if self.cache is not None and result.reply is not None and whole:
            self.cache.put(queued.key, result.reply)
        if result.final:
            hint = HINTS.get(result.trouble or "", "Fix that")
            raise ModelError(
                f"{self.model.name}: {result.words}. {hint}; then run the same command again to "
                "resume."
            )
        return result

    def _give_up(self, queued: QueuedQuestion, result: AttemptResult) -> Outcome:
        self.health.gave_up(result)
        in_vain = why(self.model.name, result, tries="all")
        cut = result.trouble in ("truncated", "length")
        status: Literal["truncated", "failed"] = "truncated" if cut else "failed"
        outcome = self._in_vain[queued.key] = Outcome(status, reason=in_vain)
        return outcome


def journaled(model: ChatModel, queued: QueuedQuestion) -> JournaledQuestion:
    question = queued.question
    return JournaledQuestion(
        model.name, question.task, question.example, question.vote, queued.request
    )


def _record(
    key: str, number: int, at: float, seconds: float, result: AttemptResult, usage: Usage,
    usd: float | None, source: Source = "model",
) -> Attempt:  # fmt: skip
    text, finish, model = result.body, None, None
    if (reply := result.reply) is not None:
        text, finish, model = reply.text, reply.finish, reply.model
    return Attempt(
        key, number, source, at, seconds, result.trouble, result.words, result.http, text, finish,
        model, usage, usd,
    )  # fmt: skip


def tokens_of(request: ChatRequest) -> int:
    texts = (request.system, *request.parts, json.dumps(request.schema))
    characters = sum(map(len, texts))
    return -(-characters // CHARACTERS_A_TOKEN)
