"""Deadline: how long the work on one answer may take."""

import time
from collections.abc import Callable


class Deadline:
    """A moment after which nothing new is begun. Whoever works in a loop asks it once a turn.

    Args:
        seconds: From now.
        clock: Gives seconds; another one for tests.
    """

    __slots__ = ("_clock", "_end")

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    @property
    def passed(self) -> bool:
        """Whether it is over."""
        return self._clock() >= self._end

    @property
    def left(self) -> float:
        """The seconds that are left; 0 if it is over."""
        return max(0.0, self._end - self._clock())
