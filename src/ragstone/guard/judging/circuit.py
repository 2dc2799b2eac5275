"""Circuit: a judge that is gone is not asked again for a while, and everybody sees that."""

import logging
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Literal

from ragstone.core.errors import InputError
from ragstone.core.messages import reason

LOGGER = logging.getLogger("ragstone.guard")

CircuitState = Literal["closed", "open", "half_open"]
Meanwhile = Literal["open", "closed", "local"]


class Circuit:
    """Stops calls to a judge after several failures in a row, and tries one again later.

        closed ── failures in a row ──▶ open ── after retry_after ──▶ half_open
           ▲                             ▲                                │
           └──────── the try succeeds ───┼────────────────────────────────┤
                                         └──────── the try fails ─────────┘

    Closed, every call is allowed. Open, none is. Half-open, one call is allowed as a try; if its
    caller never says how it went, another is after ``retry_after``. Each change of state is logged
    at WARNING and counted. One object may be shared by threads and by event loops.

    Attributes:
        changes: How often each state was entered.
        refused: Calls that were not allowed.
    """

    def __init__(
        self,
        *,
        failures: int = 5,
        retry_after: float = 30.0,
        meanwhile: Meanwhile = "local",
        name: str = "judge",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Make a circuit that is closed.

        Args:
            failures: Failures in a row that open it, at least 1. A time-out is a failure.
            retry_after: Seconds until a call is tried again, at least 0.
            meanwhile: What its owner does while no call is allowed: let answers pass ("open"),
                hold them back ("closed"), or ask the local judge ("local"). Part of the reason.
            name: What the log calls the judge.
            clock: Gives seconds that never go back.

        Raises:
            InputError: A number is out of its range.
        """
        if failures < 1:
            raise InputError(f"failures={failures}: give 1 or more.")
        if not retry_after >= 0:
            raise InputError(f"retry_after={retry_after}: give 0 seconds or more.")
        self.failures = failures
        self.retry_after = retry_after
        self.meanwhile: Meanwhile = meanwhile
        self.name = name
        self.changes: dict[CircuitState, int] = {"closed": 0, "open": 0, "half_open": 0}
        self.refused = 0
        self._clock = clock
        self._lock = Lock()
        self._state: CircuitState = "closed"
        self._in_a_row = 0
        self._since = 0.0

    @property
    def state(self) -> CircuitState:
        """The state; half-open only once a call was tried again."""
        return self._state

    @property
    def reason(self) -> str:
        """Why no call is made, as a code with its facts."""
        return reason("circuit_open", judge=self.name, n=self._in_a_row, meanwhile=self.meanwhile)

    def allow(self) -> bool:
        """Whether the judge may be called now; whoever is allowed says how it went."""
        with self._lock:
            if self._state == "closed":
                return True
            if self._clock() - self._since < self.retry_after:
                self.refused += 1
                return False
            # The try that is under way may have been given up: the next one is due as late again.
            self._since = self._clock()
            if self._state == "open":
                self._enter("half_open")
            return True

    def ok(self) -> None:
        """The call succeeded. That of a call from before it opened does not close it."""
        with self._lock:
            if self._state == "open":
                return
            self._in_a_row = 0
            if self._state == "half_open":
                self._enter("closed")

    def failed(self) -> None:
        """The call failed or timed out. Once it is open, that changes nothing."""
        with self._lock:
            if self._state == "open":
                return
            self._in_a_row += 1
            if self._in_a_row >= self.failures:
                self._since = self._clock()
                self._enter("open")

    def _enter(self, state: CircuitState) -> None:
        LOGGER.warning(
            "guard.circuit judge=%s state=%s before=%s failures=%d retry_after=%gs meanwhile=%s",
            self.name, state, self._state, self._in_a_row, self.retry_after, self.meanwhile,
        )  # fmt: skip
        self._state = state
        self.changes[state] += 1
