"""Alive: a look at the worker from the server, which tells that it is dead."""

from threading import Event, Thread
from time import time

from ragstone.core.errors import RagstoneError
from ragstone.monitor.settings import MonitorSettings
from ragstone.monitor.store.store import MonitorStore

from .no_data import look_up, watch_judging
from .telling.queue import queue_what_is_to_be_told
from .telling.sending import tell_soon, wait_until_told

SERVER_AWAKE = "awake_server"
PAUSE = 15.0
"""Seconds between two looks."""

PATIENCE = 3.0
"""Seconds that a message has to be told at the end; what is not is told by the next server."""


def check_alive(store: MonitorStore, settings: MonitorSettings, now: float) -> bool:
    """Look from the server whether the worker judges, and tell it if not; gives whether it does.

    Args:
        store: Where everything is.
        settings: With the channels.
        now: Seconds since the epoch.

    Raises:
        StoreAway: The store cannot be used at present.
    """
    with store.database.transaction() as run:
        awake = look_up(run, now, SERVER_AWAKE)
        stopped = watch_judging(run, settings, awake, now, from_outside=True)
        queue_what_is_to_be_told(run, settings, now)
    tell_soon(store, settings, from_server=True)
    return not stopped


class AliveWatch:
    """Looks at the worker again and again, in a thread of its own.

    Args:
        store: Where everything is.
        settings: With the channels.
    """

    def __init__(self, store: MonitorStore, settings: MonitorSettings) -> None:
        self._store, self._settings = store, settings
        self._stopping = Event()
        self._thread = Thread(target=self._look_on, name="alive watch", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; nothing uses the store from here on."""
        self._stopping.set()
        self._thread.join()
        wait_until_told(self._store, PATIENCE)

    def _look_on(self) -> None:
        while not self._stopping.wait(PAUSE):
            try:
                check_alive(self._store, self._settings, time())
            except RagstoneError:
                # The store is away: the next look finds it again, and the pages say so meanwhile.
                continue
