"""Admission: when a call to a model may go: its pace has room, and the budget can pay for it."""

from dataclasses import dataclass

from ragstone.models.chat import Usage
from ragstone.models.chat.reasoning import assumed_reasoning

from .attempting import AttemptResult, QueuedQuestion
from .budget import AT_FIRST, Budget, CostEstimate, TokenHistory
from .health import ServerHealth
from .pacing import Pace
from .prices import MILLION, Price, cost

LOST = frozenset({"timeout", "connection"})
"""What may have been charged although no reply came."""
EXPECTED_TOKENS = 400
"""Tokens of a reply, before one came."""


@dataclass(slots=True)
class Admitted:
    """A call that may be made; ``leave`` it when it is over, whatever came of it.

    Args:
        started: When it was let through.
        task: What is asked.
        prompt: Tokens of the question.
        tokens: Those that the call was taken to need.
        reserved: US dollars set aside for it; None where there is no budget in USD, or it is
            settled.
        limit: Tokens of a reply for which that is enough; None: any number.
        unused: Tokens that it did not take after all.
    """

    started: float
    task: str
    prompt: int
    tokens: int
    reserved: float | None
    limit: int | None = None
    unused: int = 0


class Admission:
    """Lets the calls to one model through.

    Args:
        name: The model's.
        pace: How many may be in flight.
        health: Closes where the budget is at its end.
        budget: Of the whole run.
        price: Of the model.
    """

    def __init__(
        self, name: str, pace: Pace, health: ServerHealth, budget: Budget, price: Price | None
    ) -> None:
        self._name, self._pace, self._health = name, pace, health
        self._budget, self._price = budget, price
        self._expected: float = EXPECTED_TOKENS
        self._histories: dict[str, TokenHistory] = {}

    async def enter(self, asked: QueuedQuestion, prompt: int) -> Admitted | None:
        """Wait until a call may be made; None where nothing is sent any more.

        Args:
            asked: What is asked.
            prompt: Tokens of the question.
        """
        tokens = prompt + int(self._expected)
        started = await self._pace.enter(asked.turn, tokens)
        task = asked.question.task
        if self._health.closed is None:
            if self._budget.usd is not None:
                return await self._afforded(asked, Admitted(started, task, prompt, tokens, None))
            if self._budget.count():
                return Admitted(started, task, prompt, tokens, None)
            self._health.close(self._budget.reached)
        self._pace.leave(tokens)
        return None

    def settle(self, call: Admitted, result: AttemptResult, usd: float | None) -> None:
        """Put what a call took in the place of what it was expected to take.

        Args:
            call: That came back.
            result: What came of it.
            usd: What it cost, where that is known.
        """
        call.unused = self._unused(call, result)
        if call.reserved is None:
            return
        if result.reply is None:
            usd = None if result.trouble in LOST else 0.0
        else:
            self._history(call.task).learn(call.prompt, result.reply.usage)
        self._budget.settle(call.reserved, usd)
        call.reserved = None

    def leave(self, call: Admitted) -> None:
        """The call is over; one that was not settled is taken to have cost what was set aside."""
        self._pace.leave(call.unused)
        if call.reserved is not None:
            self._budget.settle(call.reserved, None)

    async def _afforded(self, asked: QueuedQuestion, call: Admitted) -> Admitted | None:
        """The same within a budget in USD; who waits for room there takes none from the others."""
        history = self._history(call.task)

        def estimate() -> CostEstimate:
            return CostEstimate(
                cost(history.careful(call.prompt), self._price) or 0.0,
                cost(history.least(call.prompt), self._price) or 0.0,
            )

        reserved = self._budget.reserve(estimate)
        if reserved is None:
            self._pace.leave(call.tokens)
            reserved = await self._budget.wait(asked.turn, estimate)
            if reserved is None:
                self._health.close(self._budget.reached)
                return None
            # The money is there; now for a place among the calls once more, which may have closed.
            through = False
            try:
                call.started = await self._pace.enter(asked.turn, call.tokens)
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
        """Tokens of a reply for which what was set aside is enough; None: for any number."""
        if self._price is None or not self._price.output:
            return None
        sent = self._history(task).least(prompt).prompt
        left = reserved - (cost(Usage(sent, 0, written=sent), self._price) or 0.0)
        return max(1, int(left * MILLION / self._price.output + 1e-6))

    def _history(self, task: str) -> TokenHistory:
        history = self._histories.get(task)
        if history is None:
            longest = max((one.longest for one in self._histories.values()), default=0)
            first = AT_FIRST + assumed_reasoning(self._name)
            history = self._histories[task] = TokenHistory(max(first, longest))
        return history

    def _unused(self, call: Admitted, result: AttemptResult) -> int:
        """The tokens that a call did not take after all."""
        if result.reply is None:
            return 0 if result.trouble in LOST else call.tokens
        usage = result.reply.usage
        if usage.completion is not None:
            self._expected += (usage.completion - self._expected) / 16
        if usage.prompt is None or usage.completion is None:
            return 0
        return call.tokens - usage.prompt - usage.completion
