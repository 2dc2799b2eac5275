"""Health: the state of a server, as its replies show it, and when to stop calling it."""

import random

from ragstone.core.messages import Reason, reason

from .attempting import AttemptResult
from .pacing import Pace

LONGEST_PAUSE = 600.0
"""If a server asks to wait longer than this (seconds), it is not called any more."""

OVERLOADED = frozenset({429, 503, 529})
DEAD = frozenset({"unreachable", "connection", "timeout", "server_error"})
IN_A_ROW = 8
"""This many attempts without a reply in a row pause all calls. This many questions in a row given
up, or rejected before any was answered, end the calls to the server."""

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0


class ServerHealth:
    """The state of one model's server.

    Args:
        name: The model's.
        pace: Slowed down when the server is overloaded.

    Attributes:
        closed: Why nothing more is sent; None while calls are sent.
        reached: Whether the server ever replied, even with an error.
    """

    def __init__(self, name: str, pace: Pace) -> None:
        self.closed: str | None = None
        self.reached = False
        self._name = name
        self._pace = pace
        self._replied = False
        self._given_up = self._rejected = self._dead = 0

    def observe(self, result: AttemptResult, started: float) -> None:
        """Take note of an attempt's result.

        Args:
            result: The result.
            started: When the call was admitted.
        """
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
        """A question was answered."""
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
