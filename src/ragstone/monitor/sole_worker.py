"""Sole worker: of all servers of a store, only one worker at a time judges and raises alarms."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragstone.database.postgres_address import POSTGRES
from ragstone.models.lock import locked

from .store.store import MonitorStore
from .store.tables import LAYOUT

LOCK = "worker.lock"
LOOK = 0.5
"""Seconds between two looks whether the other worker is gone."""

TURN = 1
"""Beside the lock of writers, which has the layout's number alone."""


@contextmanager
def sole_worker(store: MonitorStore, note: Callable[[str], None]) -> Iterator[None]:
    """Wait until no other worker is at work on the store, and be the one.

    The lock goes with the process, however that ends, or with its connection to PostgreSQL.

    Args:
        store: What is worked on.
        note: Told in words if there is another.
    """
    if not store.place.startswith(POSTGRES):
        with locked(store.folder / LOCK, note=note, doing="judging this store"):
            yield
        return
    from ragstone.database.postgres_database import connect

    with connect(store.place, autocommit=True) as connection:
        waiting = False
        while not _mine(connection.execute(
            "SELECT pg_try_advisory_lock(%s, %s)", (LAYOUT.owner, TURN)
        ).fetchone()):  # fmt: skip
            if not waiting:
                note("Another process is judging this store; waiting for it.")
                waiting = True
            time.sleep(LOOK)
        yield


def _mine(row: tuple[object, ...] | None) -> bool:
    return row is not None and row[0] is True
