"""Health: what its replies tell of a server, and when it is asked nothing more."""

import random

from ragstone.reason import Reason, reason

from .attempting import AttemptResult
from .pacing import Pace

LONGEST_PAUSE = 600.0
"""Seconds that a server may want to be left alone; after that it is asked nothing more."""

OVERLOADED = frozenset({429, 503, 529})
DEAD = frozenset({"unreachable", "connection", "timeout", "server_error"})
IN_A_ROW = 8
"""Attempts without a reply before all wait; questions given up, or rejected where none ever was
answered, before no more are asked."""

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0


class ServerHealth:
    """What is known of one model's server.

    Args:
        name: The model's.
        pace: Slows down where the server has too much to do.

    Attributes:
        closed: Why nothing more is sent; None while anything is.
        reached: Whether the server ever answered, be it with an error.
    """

    def __init__(self, name: str, pace: Pace) -> None:
        self.closed: str | None = None
        self.reached = False
        self._name = name
        self._pace = pace
        self._replied = False
        self._given_up = self._rejected = self._dead = 0

    def observe(self, result: AttemptResult, started: float) -> None:
        """An attempt came back.

        Args:
            result: What it gave.
            started: When it was let through.
        """
        self.reached = self.reached or result.reply is not None or result.http is not None
        if result.reply is not None:
            self._dead = 0
            self._replied = True
            self._pace.went_well()
        elif result.after > LONGEST_PAUSE:
            self.close(reason("left_alone", seconds=result.after))
        elif result.trouble == "rejected" and not self._replied:
            # One question may be at fault; that all of them are tells of the settings.
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
        """A question was answered."""
        self._given_up = 0

    def gave_up(self, result: AttemptResult) -> None:
        """A question was given up, after this."""
        if result.reply is not None:
            self._given_up = 0
        elif result.trouble in DEAD:
            self._given_up += 1
            if self._given_up >= IN_A_ROW:
                self.close(reason("server_gone", said=result.words))

    def close(self, why: str | None) -> None:
        """Send nothing more, for this reason; who waits is let through to learn that."""
        if self.closed is None:
            self.closed = str(Reason.read(why or "closed").about(self._name))
            self._pace.lift()


def wait(times: int) -> float:
    """Seconds before the next attempt: twice as long each time, with chance in it."""
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (times - 1)) * (1 + random.random()) / 2
