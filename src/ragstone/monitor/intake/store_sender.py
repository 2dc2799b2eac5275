"""Store sender: recorded examples go straight into a store, redacted as the intake does."""

import time
from collections.abc import Sequence

from ragstone.core.errors import StoreAway
from ragstone.data.traces.spans import UnreadableBody
from ragstone.monitor.store.store import MonitorStore, open_store

from .group_commit import IntakeSettings, write_accepted
from .otlp_http import accept_body
from .record_sender import NoUse, TryLater

# What belongs to the process that was forked: to close a file of SQLite here would unlock it.
_PARENTS: list[MonitorStore | None] = []


class StoreSender:
    """Writes into a store of this machine or a server."""

    def __init__(self, store: str) -> None:
        self._name = store
        self._store: MonitorStore | None = open_store(store)
        self._settings = IntakeSettings()

    def anew(self) -> "StoreSender":
        _PARENTS.append(self._store)
        child = StoreSender.__new__(StoreSender)
        child._name, child._store, child._settings = self._name, None, self._settings
        return child

    def send(self, lines: Sequence[bytes], dropped: int) -> None:  # noqa: ARG002
        now, text = time.time(), b"\n".join(lines)
        try:
            body = accept_body("examples", text, json=True, use=self._settings, now=now)
            self._store = self._store or open_store(self._name)
            with self._store.database.transaction() as run:
                write_accepted(run, now, [body], body.counts)
        except StoreAway as error:
            raise TryLater(str(error)) from None
        except UnreadableBody as error:
            raise NoUse(str(error), len(lines)) from None
        if body.malformed:
            raise NoUse("they are faulty", len(body.malformed))

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None
