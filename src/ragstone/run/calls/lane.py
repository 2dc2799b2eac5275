"""Lane: one model as it is asked: its pace, its price, its health, and each question's attempts."""

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from typing import Literal

from ragstone.errors import ModelError
from ragstone.models.chat import ChatModel, ChatRequest, Usage
from ragstone.models.chat.reasoning import assumed_reasoning

from .attempting import NEXT, Answer, Asked, Sent, attempted, no_use, settled
from .budget import AT_FIRST, Budget, Estimate, Known
from .counts import Tally
from .entries import Attempt
from .journal import Journal, Told
from .pacing import Pace
from .prices import MILLION, Price, cost
from .replies import Replies

LONGEST_PAUSE = 600.0
"""Seconds that a server may want to be left alone; after that it is asked nothing more."""

OVERLOADED = frozenset({429, 503, 529})
LOST = frozenset({"timeout", "connection"})
"""What may have been charged although no reply came."""
DEAD = frozenset({"unreachable", "connection", "timeout", "server_error"})
IN_A_ROW = 8
"""Attempts without a reply before all wait; questions given up, or rejected where none ever was
answered, before no more are asked."""
NEVER_REACHED = 3
"""Attempts of one question at a server that nobody has reached yet; then its address is wrong."""

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
CHARACTERS_A_TOKEN = 4
EXPECTED_TOKENS = 400
"""Tokens of a reply, before one came."""

HINTS = {
    "not_allowed": "Check the key in the environment",
    "not_found": "Check the model's name and the address",
    "no_credit": "Top up the account",
    "parameter": "Leave the parameter out of the judge's name",
}


@dataclass(frozen=True, slots=True)
class Terms:
    """How a model may be asked.

    Args:
        concurrency: Calls in flight at once, at the most.
        timeout: Seconds that an attempt may take, from when it is sent.
        attempts: How often a question is put before it is given up; 429 does not count.
        patience: Seconds that a question is held back by 429 before it is given up.
        requests_a_minute: The server's limit; None: none that is known.
        tokens_a_minute: The same for tokens.
    """

    concurrency: int = 64
    timeout: float = 120.0
    attempts: int = 6
    patience: float = 900.0
    requests_a_minute: float | None = None
    tokens_a_minute: float | None = None


@dataclass(slots=True)
class Lane:
    """Puts questions to one model until they are answered or given up."""

    model: ChatModel
    limits: Terms
    price: Price | None
    budget: Budget
    journal: Journal
    tally: Tally
    cache: Replies | None = None
    pace: Pace = field(init=False)
    closed: str | None = None
    """Why nothing more is sent."""
    _given_up: int = 0
    _rejected: int = 0
    _dead: int = 0
    _heard: bool = False
    """Whether the server ever answered, be it with an error."""
    _replied: bool = False
    _expected: float = EXPECTED_TOKENS
    _known: dict[str, Known] = field(default_factory=dict)
    """What calls take, by task; kept where there is a budget in USD."""
    _in_vain: dict[str, Answer] = field(default_factory=dict)
    """What was given up since the run was started."""

    def __post_init__(self) -> None:
        limits = self.limits
        self.pace = Pace(
            limits.concurrency,
            requests_a_minute=limits.requests_a_minute,
            tokens_a_minute=limits.tokens_a_minute,
        )

    async def put(self, asked: Asked) -> Answer:
        """Put a question until it is answered, settled otherwise or given up.

        Raises:
            ModelError: No question will be answered.
            InputError: The journal cannot be written.
        """
        before = self.journal.troubles(asked.key)
        answer = settled(self.model.name, before, asked) if before else None
        answer = answer or self._in_vain.get(asked.key)
        if answer is not None:
            return answer
        refusals, failures, pushed_back = before.count("refusal"), 0, 0
        waiting_since = 0.0
        number = len(before)
        tries = asked.tries or self.limits.attempts
        while True:
            number += 1
            sent = await self._attempt(asked, number)
            if sent is None:
                return Answer(status="unsent", reason=self.closed)
            if sent.trouble is None:
                self._given_up = 0
                return Answer(sent.reading, failures=failures)
            refusals += sent.trouble == "refusal"
            answer = no_use(self.model.name, sent, refusals, asked)
            if answer is not None:
                return answer
            now = asyncio.get_running_loop().time()
            if sent.trouble == "rate_limit":
                pushed_back += 1
                waiting_since = waiting_since or now
                if now - waiting_since > self.limits.patience:
                    return self._give_up(asked, sent)
                wait = 0.0 if sent.after else _wait(pushed_back)
            else:
                failures += 1
                if sent.trouble == "unreachable" and not self._heard and failures >= NEVER_REACHED:
                    raise ModelError(
                        f"{self.model.name}: {sent.words} Then the same command goes on."
                    )
                if failures >= tries:
                    return self._give_up(asked, sent)
                wait = max(sent.after, _wait(failures)) if sent.trouble in DEAD else 0.0
            if wait:
                await asyncio.sleep(wait)

    async def _attempt(self, asked: Asked, number: int) -> Sent | None:
        """Put it once, and keep what comes of it; None where nothing is sent any more."""
        prompt = _tokens(asked.request)
        expected = int(self._expected)
        let = await self._let_through(asked, prompt, prompt + expected)
        if let is None:
            return None
        started, reserved = let
        unused = 0
        try:
            self.tally.calls += 1
            self.tally.retries += number > 1
            at = time.time()
            clock = time.perf_counter()
            limit = None if reserved is None else self._bought(asked, prompt, reserved)
            sent = await attempted(self.model, asked, self.limits.timeout, limit)
            seconds = time.perf_counter() - clock
            usage = Usage() if sent.reply is None else sent.reply.usage
            usd = cost(usage, self.price)
            unused = self._account(sent, usage, usd, prompt + expected)
            if reserved is not None:
                self._settle(asked.question.task, prompt, sent, reserved, usd)
                reserved = None
            self._feel(sent, started)
            attempt = _attempt(asked.key, number, at, seconds, sent, usage, usd)
            await self.journal.record(attempt, told(self.model, asked))
        finally:
            self.pace.leave(unused)
            if reserved is not None:
                self.budget.settle(reserved, None)
        whole = sent.reading is not None and not sent.reading.faults
        if self.cache is not None and sent.reply is not None and whole:
            self.cache.put(asked.key, sent.reply)
        if sent.final:
            hint = HINTS.get(sent.trouble or "", "Mend that")
            raise ModelError(
                f"{self.model.name}: {sent.words}. {hint}; then the same command goes on."
            )
        return sent

    async def _let_through(
        self, asked: Asked, prompt: int, tokens: int
    ) -> tuple[float, float | None] | None:
        """When it was let through, and what is set aside for it; None: nothing is sent any more."""
        started = await self.pace.enter(asked.turn, tokens)
        if self.closed is None:
            if self.budget.usd is None:
                if self.budget.count():
                    return started, None
                self._close(self.budget.reached)
            else:
                return await self._afforded(asked, prompt, tokens, started)
        self.pace.leave(tokens)
        return None

    async def _afforded(
        self, asked: Asked, prompt: int, tokens: int, started: float
    ) -> tuple[float, float] | None:
        """The same within a budget in USD; who waits for room there takes none from the others."""
        known = self._known_of(asked.question.task)

        def estimate() -> Estimate:
            price = self.price
            return Estimate(
                cost(known.careful(prompt), price) or 0.0, cost(known.least(prompt), price) or 0.0
            )

        reserved = self.budget.reserve(estimate)
        if reserved is not None:
            return started, reserved
        self.pace.leave(tokens)
        reserved = await self.budget.wait(asked.turn, estimate)
        if reserved is None:
            self._close(self.budget.reached)
            return None
        through = False
        try:
            started = await self.pace.enter(asked.turn, tokens)
            through = self.closed is None
        finally:
            if not through:
                self.budget.give_back(reserved)
        if through:
            return started, reserved
        self.pace.leave(tokens)
        return None

    def _bought(self, asked: Asked, prompt: int, reserved: float) -> int | None:
        """Tokens of a reply for which what was set aside is enough; None: for any number."""
        if self.price is None or not self.price.output:
            return None
        sent = self._known_of(asked.question.task).least(prompt).prompt
        left = reserved - (cost(Usage(sent, 0, written=sent), self.price) or 0.0)
        return max(1, int(left * MILLION / self.price.output + 1e-6))

    def _known_of(self, task: str) -> Known:
        known = self._known.get(task)
        if known is None:
            longest = max((one.longest for one in self._known.values()), default=0)
            first = AT_FIRST + assumed_reasoning(self.model.name)
            known = self._known[task] = Known(max(first, longest))
        return known

    def _account(self, sent: Sent, usage: Usage, usd: float | None, tokens: int) -> int:
        """Count what it took; the tokens that it did not take after all."""
        if sent.trouble is not None:
            self.tally.troubles[sent.trouble] += 1
        if sent.reply is None:
            return 0 if sent.trouble in LOST else tokens
        self.tally.took(usage, usd)
        if usage.completion is not None:
            self._expected += (usage.completion - self._expected) / 16
        if usage.prompt is None or usage.completion is None:
            return 0
        return tokens - usage.prompt - usage.completion

    def _settle(
        self, task: str, prompt: int, sent: Sent, reserved: float, usd: float | None
    ) -> None:
        """Tell the budget what it took."""
        if sent.reply is None:
            usd = None if sent.trouble in LOST else 0.0
        else:
            self._known_of(task).learn(prompt, sent.reply.usage)
        self.budget.settle(reserved, usd)

    def _feel(self, sent: Sent, started: float) -> None:
        """What the reply says of the server."""
        self._heard = self._heard or sent.reply is not None or sent.http is not None
        if sent.reply is not None:
            self._dead = 0
            self._replied = True
            self.pace.went_well()
        elif sent.after > LONGEST_PAUSE:
            self._close(
                f"the server wants to be left alone for {_duration(sent.after)}; after that {NEXT}"
            )
        elif sent.trouble == "rejected" and not self._replied:
            self._rejected += 1
            if self._rejected >= IN_A_ROW:
                self._close(
                    f"the server rejected all of the first {self._rejected} questions "
                    f"({sent.words}); if it is of the settings in the judge's name or of the "
                    f"address, mend that; {NEXT}"
                )
        elif sent.trouble == "rate_limit" or sent.http in OVERLOADED:
            self.pace.congested(started, sent.after)
        elif sent.trouble in DEAD:
            self._dead += 1
            if self._dead >= IN_A_ROW:
                self.pace.congested(started, _wait(1 + self._dead // IN_A_ROW))

    def _give_up(self, asked: Asked, sent: Sent) -> Answer:
        if sent.reply is not None:
            self._given_up = 0
        elif sent.trouble in DEAD:
            self._given_up += 1
            if self._given_up >= IN_A_ROW:
                self._close(f"the server stopped answering ({sent.words}); {NEXT}")
        reason = f"{self.model.name}: {sent.words}, however often it was asked; {NEXT}"
        status: Literal["truncated", "failed"] = "failed"
        if sent.trouble in ("truncated", "length"):
            status = "truncated"
        answer = self._in_vain[asked.key] = Answer(status=status, reason=reason)
        return answer

    def _close(self, reason: str | None) -> None:
        if self.closed is None:
            self.closed = f"{self.model.name}: {reason}"
            self.pace.lift()


def told(model: ChatModel, asked: Asked) -> Told:
    """What the journal keeps of a question."""
    question = asked.question
    return Told(model.name, question.task, question.example, question.vote, asked.request)


def _attempt(
    key: str, number: int, at: float, seconds: float, sent: Sent, usage: Usage, usd: float | None
) -> Attempt:
    reply = sent.reply
    if reply is None:
        return Attempt(
            key, number, "model", at, seconds, sent.trouble, sent.words, sent.http, sent.body
        )
    return Attempt(
        key, number, "model", at, seconds, sent.trouble, sent.words, None,
        reply.text, reply.finish, reply.model, usage, usd,
    )  # fmt: skip


def _tokens(request: ChatRequest) -> int:
    texts = (request.system, *request.parts, json.dumps(request.schema))
    characters = sum(map(len, texts))
    return -(-characters // CHARACTERS_A_TOKEN)


def _wait(times: int) -> float:
    """Seconds before the next attempt: twice as long each time, with chance in it."""
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (times - 1)) * (1 + random.random()) / 2


def _duration(seconds: float) -> str:
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
