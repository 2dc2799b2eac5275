"""A database that can be held up."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

from ragstone.core.database import Sql
from ragstone.core.errors import StoreAway
from ragstone.monitor.store.store import MonitorStore


class Held:
    """A database whose transactions wait until they may go on, or fail; counts them."""

    def __init__(self, store: MonitorStore) -> None:
        self.database = store.database
        self.name = store.database.name
        self.go, self.begun, self.n = Event(), Event(), 0
        self.fails = False
        self.reading, self.close = store.database.reading, store.database.close
        self.size, self.compact = store.database.size, store.database.compact

    @contextmanager
    def transaction(self) -> Iterator[Sql]:
        self.begun.set()
        self.go.wait()
        if self.fails:
            raise StoreAway("It is away.")
        self.n += 1
        with self.database.transaction() as run:
            yield run

    @contextmanager
    def away(self) -> Iterator[Sql]:
        """What it does where it cannot be read either."""
        raise StoreAway("It is away.")
        yield
