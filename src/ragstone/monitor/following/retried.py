"""Retried: a step of the worker that may fail, and is then tried again later."""

import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ragstone.core.errors import RagstoneError
from ragstone.monitor.store.log import log
from ragstone.monitor.store.store import MonitorStore

FIRST, LONGEST = 1.0, 60.0
"""Seconds until a step that failed is tried again: at first, and at most."""


@dataclass
class Retried:
    """A step that never raises: a fault is logged, and the step waits the longer the more often.

    Args:
        name: What it does, for the log.
        do: Does some of it; gives how much.
        store: Where the log is.
        now: Seconds since the epoch.
    """

    name: str
    do: Callable[[], int]
    store: MonitorStore
    now: Callable[[], float]
    faults: int = 0
    waits_until: float = 0.0

    def step(self) -> int:
        """Do some; gives how much, which is 0 while it waits."""
        if self.now() < self.waits_until:
            return 0
        try:
            n = self.do()
        except Exception as error:
            self.faults += 1
            wait = min(FIRST * 2 ** (self.faults - 1), LONGEST)
            self.waits_until = self.now() + wait
            said = f"{self.name} failed ({told(error)}); it is tried again in {wait:g} s."
            # Where the store itself is gone, nothing can be written; the server tells of that.
            with suppress(Exception), self.store.database.transaction() as run:
                log(run, self.now(), "error", said)
            return 0
        self.faults = 0
        return n


def told(error: Exception) -> str:
    """A fault without any text of a trace: our own words, or where it was raised."""
    if isinstance(error, RagstoneError):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" at {Path(last[0].filename).name}:{last[0].lineno}" if last else ""
    return f"{type(error).__name__}{place}"
