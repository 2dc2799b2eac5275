"""Sign of life: by when the worker gave its last one, it is alive, silent or dead."""

from typing import Literal

from ragstone.core.database import Sql
from ragstone.monitor.store.kept import remembered

HEARTBEAT = "worker_alive"

SILENT = 60.0
"""Seconds without a sign of life after which the worker is silent; it gives one every few, but a
machine that is busy may hold it up."""

DEAD = 300.0
"""Seconds without one after which it is dead, which is an alarm."""

WorkerState = Literal["not_begun", "alive", "silent", "dead"]


def last_sign(run: Sql) -> float | None:
    """When the worker gave its last sign of life, in seconds since the epoch; None: never."""
    beat = remembered(run, HEARTBEAT)
    return None if beat is None else float(beat["at"])


def worker_state(last: float | None, now: float) -> WorkerState:
    """How the worker is.

    >>> worker_state(None, 0), worker_state(0, 59), worker_state(0, 60), worker_state(0, 300)
    ('not_begun', 'alive', 'silent', 'dead')

    Args:
        last: When it gave its last sign of life.
        now: Seconds since the epoch.
    """
    if last is None:
        return "not_begun"
    if now - last >= DEAD:
        return "dead"
    return "silent" if now - last >= SILENT else "alive"
