"""Database: one seam to a SQLite file and to PostgreSQL.

Both are spoken to in the same SQL, one writing transaction at a time. A transaction is on disk
before it is confirmed.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from .layout import DatabaseLayout
from .postgres_address import POSTGRES


class Sql(Protocol):
    """Runs statements with ``?`` for each value, within a transaction."""

    def __call__(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Sql one, and return its rows."""

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Sql one for each row of values."""


class Database(Protocol):
    """What keeps something for good."""

    name: str

    def transaction(self) -> AbstractContextManager[Sql]:
        """All of what runs in it happens, or none; nobody else writes meanwhile.

        Raises:
            StoreAway: The database cannot be used.
        """

    def reading(self) -> AbstractContextManager[Sql]:
        """What was confirmed, as it is at one moment; it waits for nobody who writes.

        Raises:
            StoreAway: The database cannot be used.
        """

    def close(self) -> None:
        """Let go of the connections."""


class KeptDatabase(Database, Protocol):
    """A database that is opened for good, not for one look."""

    def size(self) -> int:
        """Bytes that it takes up.

        Raises:
            StoreAway: The database cannot be used.
        """

    def compact(self) -> None:
        """Leave no trace of what was deleted: in a file its bytes are gone, and a server may write
        over them.

        Raises:
            StoreAway: The database cannot be used.
        """


def open_database(place: str | Path, layout: DatabaseLayout) -> KeptDatabase:
    """The database in a file, or at an address ``postgresql://…``; made where it is missing.

    Raises:
        InputError: It cannot be opened, or holds something else.
        MissingDependency: The extra ``postgres`` is not installed.
    """
    if str(place).startswith(POSTGRES):
        from .postgres_database import PostgresDatabase

        return PostgresDatabase(str(place), layout)
    from .sqlite_database import SqliteDatabase

    return SqliteDatabase(Path(place), layout)
