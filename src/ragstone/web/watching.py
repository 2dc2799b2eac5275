"""Watching: the monitor whose screens the app shows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ragstone.core.database import Sql
from ragstone.monitor.settings import MonitorSettings
from ragstone.monitor.store.store import MonitorStore


@dataclass(frozen=True, slots=True)
class Watching:
    """A monitor.

    Attributes:
        store: Where all of it is.
        settings: By which it judges and alarms; None if this server does not know them.
        takes: Whether this server takes traces; else it only shows what came.
        token: What a program that sends traces has to show; empty if nothing is asked for.
        waiting: How many requests wait to be written; None where none are taken.
    """

    store: MonitorStore
    settings: MonitorSettings | None = None
    takes: bool = False
    token: str = ""
    waiting: Callable[[], int] | None = None

    @contextmanager
    def reading(self) -> Iterator[Sql]:
        """The store as it is at one moment.

        Raises:
            StoreAway: It cannot be used.
        """
        with self.store.database.reading() as run:
            yield run

    @contextmanager
    def writing(self) -> Iterator[Sql]:
        """A change of the store.

        Raises:
            StoreAway: It cannot be used.
        """
        with self.store.database.transaction() as run:
            yield run
