"""Store sender: recorded examples go straight into a store, redacted as the intake does."""

import time

from ragstone.core.errors import StoreAway
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.monitor.traces.spans import UnreadableBody

from .group_commit import IntakeSettings, write_taken
from .otlp_http import EXAMPLES, taken_from
from .record_sender import NoUse, Recorded, TryLater

_PARENTS: list[MonitorStore | None] = []
"""What belongs to the process that was forked: to close a file of SQLite here would unlock it."""


class StoreSender:
    """Writes into a store of this machine or a server.

    Args:
        place: Of the store.

    Raises:
        InputError: It cannot be opened.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._store: MonitorStore | None = open_store(place)
        self._settings = IntakeSettings()

    def anew(self) -> "StoreSender":
        """The same, with a connection of its own. The old one is the parent's and stays open."""
        _PARENTS.append(self._store)
        child = StoreSender.__new__(StoreSender)
        child._place, child._store, child._settings = self._place, None, self._settings
        return child

    def send(self, recorded: Recorded) -> None:
        """Write them."""
        now = time.time()
        body = b"\n".join(recorded.lines)
        try:
            taken = taken_from(EXAMPLES, body, json=True, settings=self._settings, now=now)
            self._store = self._store or open_store(self._place)
            with self._store.database.transaction() as run:
                write_taken(run, now, [taken], taken.counts)
        except StoreAway as error:
            raise TryLater(str(error)) from None
        except UnreadableBody as error:
            raise NoUse(str(error), len(recorded.lines)) from None
        if taken.malformed:
            raise NoUse("they are faulty", len(taken.malformed))

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()
            self._store = None
