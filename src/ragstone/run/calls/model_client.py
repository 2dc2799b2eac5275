"""Model client: asks one model, retrying each question until it is answered or given up."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragstone.core.errors import ModelError
from ragstone.core.messages import reason
from ragstone.judges.llm.replies import Outcome
from ragstone.models.chat import ChatModel, ChatRequest, Usage

from .admission import Admission
from .attempting import AttemptResult, QueuedQuestion, attempted, no_use, settled_before, why
from .batched import BatchedReplies, StoredReply
from .budget import Budget
from .counts import CallTally
from .entries import Attempt, Source
from .health import DEAD, ServerHealth, wait
from .journal import Journal, JournaledQuestion
from .pacing import Pace
from .prices import Price, batch_cost, cost
from .replies import ReplyCache

NEVER_REACHED = 3
"""After this many attempts at a server that was never reached, its address is taken to be wrong."""
CHARACTERS_A_TOKEN = 4

HINTS = {
    "not_allowed": "Check the key in the environment",
    "not_found": "Check the model's name and the address",
    "no_credit": "Top up the account",
    "parameter": "Leave the parameter out of the judge's name",
}


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits on the calls to a model.

    Args:
        concurrency: Maximum concurrent calls.
        timeout: Timeout of an attempt in seconds, from when it is sent.
        attempts: Attempts per question before it is given up; a rate limit (429) does not count.
        patience: Seconds after which a question held back by rate limits is given up.
        requests_a_minute: The server's limit; None: not known.
        tokens_a_minute: The same for tokens.
    """

    concurrency: int = 64
    timeout: float = 120.0
    attempts: int = 6
    patience: float = 900.0
    requests_a_minute: float | None = None
    tokens_a_minute: float | None = None


@dataclass(slots=True)
class ModelClient:
    """The calls of a run to one model, with pacing, retries, journal and budget."""

    model: ChatModel
    limits: CallLimits
    price: Price | None
    budget: Budget
    journal: Journal
    tally: CallTally
    cache: ReplyCache | None = None
    batched: BatchedReplies | None = None
    pace: Pace = field(init=False)
    health: ServerHealth = field(init=False)
    _admission: Admission = field(init=False)
    _in_vain: dict[str, Outcome] = field(default_factory=dict)
    """Outcomes of questions given up since the run was started or resumed, by key."""

    def __post_init__(self) -> None:
        limits, name = self.limits, self.model.name
        self.pace = Pace(
            limits.concurrency,
            requests_a_minute=limits.requests_a_minute,
            tokens_a_minute=limits.tokens_a_minute,
        )
        self.health = ServerHealth(name, self.pace)
        self._admission = Admission(name, self.pace, self.health, self.budget, self.price)

    async def put(self, asked: QueuedQuestion) -> tuple[Outcome, int]:
        """Ask a question until it is answered, blocked or given up.

        Returns:
            Its outcome, and the number of failed attempts before it.

        Raises:
            ModelError: No question can be answered.
            InputError: The journal cannot be written.
        """
        before = self.journal.troubles(asked.key)
        outcome = settled_before(self.model.name, before, asked) if before else None
        outcome = outcome or self._in_vain.get(asked.key)
        if outcome is not None:
            return outcome, 0
        if self.batched is None:
            return await self._ask(asked, before)
        return await self._ask_batched(asked, self.batched)

    async def _ask_batched(
        self, asked: QueuedQuestion, batched: BatchedReplies
    ) -> tuple[Outcome, int]:
        """As ``put``, where batches are made: what they brought, else what becomes of it."""
        for stored in batched.stored(self.model, asked):
            await self._keep(asked, stored)
            batched.taken(asked.key, stored)
            result = stored.result
            refusals = self.journal.troubles(asked.key).count("refusal")
            found = result.outcome or no_use(self.model.name, result, refusals, asked)
            if found is not None:
                return found, 0
        match await batched.fate(self.model, asked):
            case "later":
                return Outcome("failed", reason="asked_later", later=True), 0
            case "given_up":
                why_not = reason("batch_unanswered", of=self.model.name, tries="all")
                return Outcome("failed", reason=why_not), 0
            case "first":
                try:
                    return await self._ask(asked, self.journal.troubles(asked.key))
                finally:
                    batched.looked(self.model)
            case "alone":
                return await self._ask(asked, self.journal.troubles(asked.key))

    async def _keep(self, asked: QueuedQuestion, stored: StoredReply) -> None:
        """Journal what a batch brought, once however often it is read."""
        result = stored.result
        known = self.journal.in_batch(asked.key, stored.at)
        if None in known or (known and result.outcome is None):
            return
        self.tally.calls += 1
        reply = result.reply
        usage = Usage() if reply is None else reply.usage
        usd = batch_cost(usage, self.price)
        self.tally.came_back(result.trouble, None if reply is None else usage, usd)
        self.budget.calls += 1
        self.budget.spent += usd or 0.0
        number = len(self.journal.troubles(asked.key)) + 1
        attempt = _record(
            asked.key, number, stored.at, stored.seconds, result, usage, usd, source="batch"
        )
        await self.journal.record(attempt, journaled(self.model, asked))
        whole = result.outcome is not None and not result.outcome.lacking
        if self.cache is not None and reply is not None and whole:
            self.cache.put(asked.key, reply)

    async def _ask(
        self, asked: QueuedQuestion, before: Sequence[str | None]
    ) -> tuple[Outcome, int]:
        """Ask it singly."""
        refusals, failures, pushed_back = before.count("refusal"), 0, 0
        waiting_since = 0.0
        number = len(before)
        tries = asked.tries or self.limits.attempts
        while True:
            number += 1
            result = await self._attempt(asked, number)
            if result is None:
                return Outcome("failed", reason=self.health.closed), failures
            if result.outcome is not None:
                self.health.answered()
                return result.outcome, failures
            refusals += result.trouble == "refusal"
            outcome = no_use(self.model.name, result, refusals, asked)
            if outcome is not None:
                return outcome, failures
            now = asyncio.get_running_loop().time()
            if result.trouble == "rate_limit":
                # A busy server is not the question's fault: time limits these attempts, not number.
                pushed_back += 1
                waiting_since = waiting_since or now
                if now - waiting_since > self.limits.patience:
                    return self._give_up(asked, result), failures
                pause = 0.0 if result.after else wait(pushed_back)
            else:
                failures += 1
                self._check_reached(result, failures)
                if failures >= tries:
                    return self._give_up(asked, result), failures
                pause = max(result.after, wait(failures)) if result.trouble in DEAD else 0.0
            if pause:
                await asyncio.sleep(pause)

    async def _attempt(self, asked: QueuedQuestion, number: int) -> AttemptResult | None:
        """Send it once and journal the result; None if nothing is sent any more."""
        call = await self._admission.enter(asked, tokens_of(asked.request))
        if call is None:
            return None
        try:
            self.tally.calls += 1
            self.tally.retries += number > 1
            at = time.time()
            clock = time.perf_counter()
            result = await attempted(self.model, asked, self.limits.timeout, call.limit)
            seconds = time.perf_counter() - clock
            usage = Usage() if result.reply is None else result.reply.usage
            usd = cost(usage, self.price)
            self.tally.came_back(result.trouble, None if result.reply is None else usage, usd)
            self._admission.settle(call, result, usd)
            self.health.observe(result, call.started)
            attempt = _record(asked.key, number, at, seconds, result, usage, usd)
            # The slot is freed only after the attempt is on disk: a run killed at any time repeats
            # at most the calls that were in flight.
            await self.journal.record(attempt, journaled(self.model, asked))
        finally:
            self._admission.leave(call)
        whole = result.outcome is not None and not result.outcome.lacking
        if self.cache is not None and result.reply is not None and whole:
            self.cache.put(asked.key, result.reply)
        if result.final:
            hint = HINTS.get(result.trouble or "", "Fix that")
            raise ModelError(
                f"{self.model.name}: {result.words}. {hint}; then run the same command again to "
                "resume."
            )
        return result

    def _check_reached(self, result: AttemptResult, failures: int) -> None:
        """End the run if the server was never reached."""
        never = result.trouble == "unreachable" and not self.health.reached
        if never and failures >= NEVER_REACHED:
            raise ModelError(f"{self.model.name}: {result.words} Then run the same command again.")

    def _give_up(self, asked: QueuedQuestion, result: AttemptResult) -> Outcome:
        self.health.gave_up(result)
        in_vain = why(self.model.name, result, tries="all")
        cut = result.trouble in ("truncated", "length")
        status: Literal["truncated", "failed"] = "truncated" if cut else "failed"
        outcome = self._in_vain[asked.key] = Outcome(status, reason=in_vain)
        return outcome


def journaled(model: ChatModel, asked: QueuedQuestion) -> JournaledQuestion:
    """A question as recorded in the journal."""
    question = asked.question
    return JournaledQuestion(
        model.name, question.task, question.example, question.vote, asked.request
    )


def _record(
    key: str,
    number: int,
    at: float,
    seconds: float,
    result: AttemptResult,
    usage: Usage,
    usd: float | None,
    source: Source = "model",
) -> Attempt:
    reply = result.reply
    if reply is None:
        return Attempt(
            key,
            number,
            source,
            at,
            seconds,
            result.trouble,
            result.words,
            result.http,
            result.body,
        )
    return Attempt(
        key, number, source, at, seconds, result.trouble, result.words, None,
        reply.text, reply.finish, reply.model, usage, usd,
    )  # fmt: skip


def tokens_of(request: ChatRequest) -> int:
    """Estimated tokens of a question."""
    texts = (request.system, *request.parts, json.dumps(request.schema))
    characters = sum(map(len, texts))
    return -(-characters // CHARACTERS_A_TOKEN)
