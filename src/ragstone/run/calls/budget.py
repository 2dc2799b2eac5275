"""Budget: how many calls a run may make, what they may cost, and what one is likely to."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

from ragstone.argument import argument
from ragstone.errors import InputError
from ragstone.models.chat import Usage
from ragstone.models.chat.model import MOST_TOKENS
from ragstone.reason import reason

BUDGET = "budget"
"""How the reason of what was not asked begins, behind the model's name."""

AT_FIRST = 8_000
"""Tokens set aside for a reply while none to the same sort of question is known."""
ROOM = 4_000
"""Tokens set aside for a reply at the least, where the budget has them: thoughts vary in length."""
AT_LEAST = 400
"""The same for a call that has to be alone, because the budget has no room for more."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a call may cost, in US dollars.

    Args:
        careful: Set aside while others are in flight.
        least: Set aside where that is too much and nothing else is in flight.
    """

    careful: float
    least: float


class TokenHistory:
    """The tokens of one sort of question so far: the longest reply, the most of a question.

    The next reply may have twice the tokens of the longest, and ``ROOM`` at the least.

    Args:
        first: Tokens of a reply, before one came.
    """

    def __init__(self, first: int = AT_FIRST) -> None:
        self._first = first
        self._replies = 0
        self.longest = 0
        self._ratio = 1.0

    def learn(self, prompt: int, usage: Usage) -> None:
        """A reply came.

        Args:
            prompt: Tokens that its question was taken to have.
            usage: What the server says.
        """
        if usage.completion is not None:
            self._replies += 1
            self.longest = max(self.longest, usage.completion)
        if usage.prompt is not None:
            self._ratio = max(self._ratio, usage.prompt / max(prompt, 1))

    def careful(self, prompt: int) -> Usage:
        """Tokens that a call may take; of its question all may be written to the server's cache."""
        sent = self._prompt(prompt)
        completion = max(ROOM, 2 * self.longest) if self._replies else self._first
        return Usage(sent, min(completion, MOST_TOKENS), written=sent)

    def least(self, prompt: int) -> Usage:
        """Tokens that it may well take."""
        sent = self._prompt(prompt)
        return Usage(sent, self.longest if self._replies else AT_LEAST, written=sent)

    def _prompt(self, prompt: int) -> int:
        return min(int(prompt * self._ratio) + 1, MOST_TOKENS)


class Budget:
    """What is left. It counts the whole run, with what was spent before it was stopped.

    What calls in flight may cost is set aside. Who does not fit beside that waits until one of them
    is settled, in the order of turn; a limit is reached when a call does not fit by itself. Used
    from one event loop.

    Args:
        usd: What the calls may cost; None: any sum.
        max_calls: How many there may be; None: any number.
        spent: US dollars spent so far.
        calls: Calls made so far.

    Raises:
        InputError: A limit below 0.
    """

    def __init__(
        self,
        usd: float | None = None,
        max_calls: int | None = None,
        *,
        spent: float = 0.0,
        calls: int = 0,
    ) -> None:
        for name, limit in (("budget", usd), ("max_calls", max_calls)):
            if limit is not None and not limit >= 0:
                given = argument(name, f"{limit:g}")
                raise InputError(f"{given}: expected 0 or more.")
        self.usd, self.max_calls = usd, max_calls
        self.spent, self.calls = spent, calls
        self.set_aside = 0.0
        self.reached: str | None = None
        self._in_flight = 0
        self._waiting: list[
            tuple[int, int, Callable[[], CostEstimate], asyncio.Future[float | None]]
        ] = []
        self._arrival = count()

    def count(self) -> bool:
        """Count a call where there is no limit in USD; False once a limit is reached."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            self._all_made(self.max_calls)
        if self.reached is not None:
            return False
        self.calls += 1
        return True

    def reserve(self, estimate: Callable[[], CostEstimate]) -> float | None:
        """Set aside what a call may cost, and count it; None where it has to ``wait``.

        Args:
            estimate: What it may cost, as far as is known by now.
        """
        return None if self._waiting or self.reached is not None else self._granted(estimate())

    async def wait(self, turn: int, estimate: Callable[[], CostEstimate]) -> float | None:
        """Wait for room, then set it aside; None once a limit is reached.

        Args:
            turn: Lower ones go first.
            estimate: What it may cost, as far as is known by then.
        """
        room: asyncio.Future[float | None] = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (turn, next(self._arrival), estimate, room))
        self._serve()
        try:
            return await room
        except asyncio.CancelledError:
            if room.done() and not room.cancelled() and (reserved := room.result()) is not None:
                self.give_back(reserved)
            raise

    def settle(self, reserved: float, spent: float | None) -> None:
        """Put what a call did cost in the place of what was set aside for it.

        Args:
            reserved: What was set aside.
            spent: What it cost; None: not known, so that the estimate stands.
        """
        self._in_flight -= 1
        self.set_aside = self.set_aside - reserved if self._in_flight else 0.0
        self.spent += reserved if spent is None else spent
        if self._waiting:
            self._serve()

    def give_back(self, reserved: float) -> None:
        """A call was not made after all."""
        self.calls -= 1
        self.settle(reserved, 0.0)

    def _serve(self) -> None:
        """Let through whoever fits; everyone is told where a limit is reached."""
        # Strictly in order, so that what a budget pays for does not depend on the clock.
        while self._waiting:
            _, _, estimate, room = self._waiting[0]
            if not room.done():
                reserved = None if self.reached is not None else self._granted(estimate())
                if reserved is None and self.reached is None:
                    return
                room.set_result(reserved)
            heappop(self._waiting)

    def _granted(self, estimate: CostEstimate) -> float | None:
        """What is set aside; None where it does not fit, for now or, once ``reached``, at all."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            self._all_made(self.max_calls)
            return None
        reserved = estimate.careful
        if self.usd is not None and self.spent + self.set_aside + reserved > self.usd:
            if self.spent + estimate.least > self.usd:
                self.reached = reason(BUDGET, usd=f"{self.usd:g}")
                return None
            if self._in_flight:
                return None
            reserved = self.usd - self.spent
        self.set_aside += reserved
        self._in_flight += 1
        self.calls += 1
        return reserved

    def _all_made(self, calls: int) -> None:
        self.reached = reason(BUDGET, max_calls=calls)
