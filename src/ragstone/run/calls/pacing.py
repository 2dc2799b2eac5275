"""Pacing: how many calls to one model are in flight, found by additive increase and
multiplicative decrease (AIMD).

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
"""Share of a pause that is added to it by chance, so that not all come back at once."""


class Bucket:
    """So much a minute, spread evenly: a second's worth at once, in no 60 seconds more than that.

    Args:
        a_minute: Requests or tokens.
    """

    def __init__(self, a_minute: float) -> None:
        self._rate = a_minute / 61
        self._size = self._level = max(1.0, self._rate)
        self._at = 0.0

    def ready(self, amount: float, now: float) -> float:
        """When that amount may be taken; more than a second's worth waits for a full bucket."""
        self._level = min(self._size, self._level + (now - self._at) * self._rate)
        self._at = now
        lacking = min(amount, self._size) - self._level
        return now if lacking <= 1e-9 else now + lacking / self._rate

    def take(self, amount: float) -> None:
        """Take it; a negative amount gives back what was not needed."""
        self._level -= amount


class Pace:
    """Lets calls to one model through, as many at once as its server can take.

    From a few at once the number doubles every round trip, up to the limit. At the first sign of
    congestion it falls to 70 %, at most once a round trip, and grows by one a round trip from then
    on. Who waits is let through in the order of turn, then of arrival. Used from one event loop.

    Args:
        most: Maximum concurrent calls.
        requests_a_minute: The server's limit; None: no limit is known.
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
        """Calls that are not let through yet."""
        return len(self._waiting)

    async def enter(self, turn: int, tokens: int) -> float:
        """Wait to be let through; the call is then in flight until ``leave``.

        Args:
            turn: Lower ones go first.
            tokens: What the call will take, as far as is known.

        Returns:
            The time, by the loop's clock.
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
            if through.done() and not through.cancelled():
                self.leave()
            raise

    def leave(self, unused: int = 0) -> None:
        """The call is over.

        Args:
            unused: Tokens that it did not take after all; negative where it took more.
        """
        self.in_flight -= 1
        if unused and self._tokens is not None:
            self._tokens.take(-unused)
        if self._waiting:
            self._serve(asyncio.get_running_loop())

    def lift(self) -> None:
        """Let everyone through at once, for nothing will be sent any more."""
        self._lifted = True
        if self._waiting:
            self._serve(asyncio.get_running_loop())

    def went_well(self) -> None:
        """A call was answered: there may be room for more, where all the room was used."""
        if self.in_flight >= int(self.room):
            self.room = min(self._most, self.room + (1 if self._doubling else 1 / self.room))

    def congested(self, sent: float, after: float) -> None:
        """The server has too much to do.

        Args:
            sent: When the call was let through that it did not take.
            after: Seconds that it wants to be left alone; 0: it does not say.
        """
        now = asyncio.get_running_loop().time()
        self._doubling = False
        # A call sent before the last decrease tells of the load before it, and changes nothing.
        if sent > self._decreased_at:
            self.room = max(1.0, self.room * DECREASE)
            self._decreased_at = now
        if after:
            pause = after * (1 + JITTER * random.random())
            self._closed_until = max(self._closed_until, now + pause)

    def _opens(self, tokens: int, now: float) -> float:
        """When a call of so many tokens may go."""
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
        """Let through whoever may go."""
        now = loop.time()
        # Strictly in order: if small calls overtook a large one, it might wait for ever.
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
