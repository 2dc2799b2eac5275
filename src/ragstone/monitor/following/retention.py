"""Retention: what is too old, or too much, goes: the oldest traces with all that hangs on them."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from time import time

from ragstone.monitor.settings.keeping import RetentionSettings
from ragstone.monitor.store.erased import (
    count_traces,
    erase_traces,
    erased,
    oldest_traces,
    trim_before,
)
from ragstone.monitor.store.kept import keep, remembered
from ragstone.monitor.store.store import MonitorStore

DAY = 86_400.0
GIGABYTE = 1_000_000_000
EVERY = 60.0
PAGE = 100
"""Traces that go in one transaction."""

LEAST = 0.1
"""The share that goes where there is too much, so that it need not be done all the time."""

GROWN = 1.01
"""How much a database grows before more of it goes: a server does not give back what was freed,
but fills it again."""

SIZE, LEFT = "retained_size", "retention_left"


@dataclass
class Retention:
    """Lets go of the oldest traces.

    Args:
        store: Where all of it is.
        settings: How long, and how much, is kept.
        now: Seconds since the epoch.
    """

    store: MonitorStore
    settings: RetentionSettings = RetentionSettings()  # noqa: RUF009
    now: Callable[[], float] = time
    _next: float = 0.0

    def step(self) -> int:
        """Let go of a page of traces, where any are to go; gives how many went."""
        now = self.now()
        if now < self._next:
            return 0
        oldest = now - self.settings.days * DAY
        too_many = self._too_many()
        with self.store.database.transaction() as run:
            traces = oldest_traces(run, PAGE, before=oldest)
            if not traces and too_many:
                traces = oldest_traces(run, min(PAGE, too_many))
                keep(run, LEFT, max(0, too_many - len(traces)) if traces else 0)
            if traces:
                erase_traces(run, traces)
                erased(run)
            trim_before(run, oldest)
        if not traces:
            self._next = now + EVERY
        return len(traces)

    def _too_many(self) -> int:
        """How many of the oldest traces are still to go because all together are too large."""
        with self.store.database.reading() as run:
            left = int(remembered(run, LEFT, 0))
            before = float(remembered(run, SIZE, 0.0))
            traces = count_traces(run)
        if left:
            return left
        size, most = self.store.database.size(), self.settings.gigabytes * GIGABYTE
        if size <= most or size < GROWN * before:
            return 0
        n = ceil(max(LEAST, 1 - (1 - LEAST) * most / size) * traces)
        with self.store.database.transaction() as run:
            keep(run, SIZE, size)
            keep(run, LEFT, n)
        return n
