"""Summing: scores are summed up by time, so that numbers over time are read in milliseconds."""

from collections.abc import Callable
from time import time

from ragstone.monitor.store.score_sums import sum_up
from ragstone.monitor.store.store import MonitorStore

PAGE = 200
EVERY = 10.0
"""Seconds: the sums of the last two minutes change with every score, and need not be made as often;
what is not summed up yet is counted from the scores themselves."""


class Summing:
    """Makes the sums whose scores changed, a page at a time.

    Args:
        store: What is monitored.
        now: Seconds since the epoch.
    """

    def __init__(self, store: MonitorStore, now: Callable[[], float] = time) -> None:
        self._store, self._now = store, now
        self._next = 0.0

    def step(self) -> int:
        """Make a page of sums; gives how many were made where more are to be made."""
        now = self._now()
        if now < self._next:
            return 0
        with self._store.database.transaction() as run:
            made = sum_up(run, PAGE)
        if made == PAGE:
            return made
        self._next = now + EVERY
        return 0
