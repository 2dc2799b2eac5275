"""Pacing: the concurrency of calls to one model, adapted by additive increase and multiplicative
decrease (AIMD).

Source: Chiu & Jain (1989), "Analysis of the increase and decrease algorithms for congestion
avoidance in computer networks"; the slow start is TCP's.
"""

import asyncio
import random
from heapq import heappop, heappush
from itertools import count

START = 8
DECREASE = 0.7
JITTER = 0.1
"""A pause is extended at random by up to this share, so that calls do not all resume at once."""


class Bucket:
    """A token bucket: at most ``a_minute`` in any 60 seconds, with bursts of one second's worth.

    Args:
        a_minute: Requests or tokens per minute.
    """

    def __init__(self, a_minute: float) -> None:
        # 61 seconds: a full bucket plus 60 seconds of refill must not exceed the limit.
        self._rate = a_minute / 61
        self._size = self._level = max(1.0, self._rate)
        self._at = 0.0

    def ready(self, amount: float, now: float) -> float:
        """When this amount may be taken; one larger than the bucket waits until that is full."""
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

    Args:
        most: Maximum concurrent calls.
        requests_a_minute: The server's limit; None: not known.
        tokens_a_minute: The same for tokens.
    """

    def __init__(
        self,
        most: int,
        *,
        requests_a_minute: float | None = None,
        tokens_a_minute: float | None = None,
    ) -> None:
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
        """Number of calls that wait."""
        return len(self._waiting)

    async def enter(self, turn: int, tokens: int) -> float:
        """Wait to be admitted; the call is then in flight until ``leave``.

        Args:
            turn: Lower ones go first.
            tokens: Estimated tokens of the call.

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
            sent: When the rejected call was admitted.
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
        """The earliest time at which a call with this many tokens may be sent."""
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
        """Admit the waiting calls that may be sent now."""
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
