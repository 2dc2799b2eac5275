"""Admission: a call to a model is sent once its pace has room and the budget can pay for it."""

from dataclasses import dataclass

from ragstone.models.chat import Usage
from ragstone.models.chat.chat_names import assumed_reasoning

from .attempting import AttemptResult, QueuedQuestion
from .budget import AT_FIRST, Budget, CostEstimate, TokenHistory
from .health import ServerHealth
from .pacing import Pace
from .prices import MILLION, Price, cost

LOST = frozenset({"timeout", "connection"})
"""Failures after which the call may have been charged although no reply came."""
EXPECTED_TOKENS = 400
"""Expected tokens of a reply, before any was received."""


@dataclass(slots=True)
class Admitted:
    """A call that may be sent. Pass it to ``leave`` when it has ended, whatever its result.

    Args:
        started: When it was admitted.
        task: What is asked.
        prompt: Estimated tokens of the question.
        tokens: Estimated tokens of question and reply.
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
    """Admits the calls to one model.

    Args:
        name: The model's.
        pace: Limits concurrency and rates.
        health: Closed when the budget is exhausted.
        budget: Of the whole run.
        price: Of the model; None if unknown.
    """

    def __init__(
        self, name: str, pace: Pace, health: ServerHealth, budget: Budget, price: Price | None
    ) -> None:
        self._name, self._pace, self._health = name, pace, health
        self._budget, self._price = budget, price
        self._expected: float = EXPECTED_TOKENS
        self._histories: dict[str, TokenHistory] = {}

    async def enter(self, asked: QueuedQuestion, prompt: int) -> Admitted | None:
        """Wait until a call may be sent; None if nothing is sent to this model any more.

        Args:
            asked: The question.
            prompt: Its estimated tokens.
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
        """Replace a call's estimated tokens and cost by the actual ones.

        Args:
            call: A call that has ended.
            result: Its result.
            usd: Its cost; None if unknown.
        """
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

    async def _afforded(self, asked: QueuedQuestion, call: Admitted) -> Admitted | None:
        """As ``enter`` with a budget in USD."""
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
            reserved = await self._budget.wait(asked.turn, estimate)
            if reserved is None:
                self._health.close(self._budget.reached)
                return None
            # The money is reserved; wait for a slot again, during which the model may be closed.
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
        """The most reply tokens that the reserved sum pays for; None: unlimited."""
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
        """The estimated tokens that a call did not use; negative if it used more."""
        if result.reply is None:
            return 0 if result.trouble in LOST else call.tokens
        usage = result.reply.usage
        if usage.completion is not None:
            # An exponential moving average over about the last 16 replies.
            self._expected += (usage.completion - self._expected) / 16
        if usage.prompt is None or usage.completion is None:
            return 0
        return call.tokens - usage.prompt - usage.completion
