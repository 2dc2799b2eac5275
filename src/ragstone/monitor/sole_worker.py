"""Sole worker: of all servers of a store, only one worker at a time judges and raises alarms."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragstone.core.database import POSTGRES, connect
from ragstone.models.model_store import locked

from .store.store import MonitorStore
from .store.tables import LAYOUT

LOCK = "worker.lock"
LOOK = 0.5
"""Seconds between two looks whether the other worker is gone."""

TURN = 1
"""Beside the lock of writers, which has the layout's number alone."""


@contextmanager
def sole_worker(store: MonitorStore, note: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Wait until no other worker is at work on the store, and be the one.

    The lock goes with the process, however that ends, or with its connection to PostgreSQL.

    Args:
        store: What is worked on.
        note: Told in words if there is another.

    Yields:
        What says whether this is still the one, to be asked now and then.
    """
    if not store.place.startswith(POSTGRES):
        with locked(store.folder / LOCK, note=note, doing="judging this store"):
            yield lambda: True
        return
    turn = _PostgresTurn(store.place)
    try:
        waiting = False
        while not turn.taken():
            if not waiting:
                note("Another process is judging this store; waiting for it.")
                waiting = True
            time.sleep(LOOK)
        yield turn.held
    finally:
        turn.close()


class _PostgresTurn:
    """The lock in PostgreSQL, which its server frees when the connection breaks.

    Args:
        address: Of the database.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection = connect(address, autocommit=True)
        self._lost = False

    def taken(self) -> bool:
        """Take it, if it is free."""
        row = self._connection.execute(
            "SELECT pg_try_advisory_lock(%s, %s)", (LAYOUT.owner, TURN)
        ).fetchone()
        return row is not None and row[0] is True

    def held(self) -> bool:
        """Whether it is still held; once another has it, never again.

        After the connection broke it is taken again, if it is free. While the database cannot be
        reached nobody else is at work on it either.
        """
        from psycopg import Error

        if self._lost:
            return False
        try:
            self._connection.execute("SELECT 1")
        except Error:
            try:
                self.close()
                self._connection = connect(self._address, autocommit=True)
                self._lost = not self.taken()
            except Error:
                return True
        return not self._lost

    def close(self) -> None:
        self._connection.close()
