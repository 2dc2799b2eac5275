"""SQLite database: a file of one machine, which several processes can use at once."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from ragstone.errors import InputError, StoreAway
from ragstone.sqlite import explained, is_damaged, open_file, storable

from .database import Sql
from .layout import DatabaseLayout


class SqliteRun:
    """Runs statements on a connection, which is the caller's."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __call__(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, storable(values)).fetchall()

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        self._connection.executemany(statement, (storable(tuple(row)) for row in rows))


class SqliteDatabase:
    """A database in a file.

    Args:
        file: Created, readable by this user alone, if it does not exist.
        layout: What it holds.

    Raises:
        InputError: It cannot be opened, or holds something else.
    """

    def __init__(self, file: Path, layout: DatabaseLayout) -> None:
        self.name = str(file)
        self._file, self._layout = file, layout
        self._writes, self._reads = RLock(), RLock()
        self._writer, self._reader = self._opened(), self._opened()

    @contextmanager
    def transaction(self) -> Iterator[Sql]:
        with self._writes, self._within(self._writer, "BEGIN IMMEDIATE") as run:
            yield run

    @contextmanager
    def reading(self) -> Iterator[Sql]:
        with self._reads, self._within(self._reader, "BEGIN") as run:
            yield run

    def size(self) -> int:
        with self.reading() as run:
            ((pages,),) = run("PRAGMA page_count")
            ((free,),) = run("PRAGMA freelist_count")
            ((page,),) = run("PRAGMA page_size")
        return int((pages - free) * page)

    def compact(self) -> None:
        with self._writes:
            try:
                self._writer.execute("VACUUM")
                # The log of writes still has what was deleted, until it is emptied.
                emptied = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.Error as error:
                raise sqlite_fault(error, self._file, self._layout) from error
        if emptied[0]:
            raise StoreAway(
                f"{self.name}: another program reads it all the while, so that what was deleted is "
                "still in its log of writes. Run the same command again."
            )

    def close(self) -> None:
        # SQLite crashes where a connection is closed that another thread is using.
        with self._writes, self._reads:
            self._reader.close()
            self._writer.close()

    def _opened(self) -> sqlite3.Connection:
        try:
            return open_file(self._file, self._layout.in_sqlite)
        except sqlite3.Error as error:
            raise sqlite_fault(error, self._file, self._layout) from error

    @contextmanager
    def _within(self, connection: sqlite3.Connection, begin: str) -> Iterator[Sql]:
        """A transaction, which is on disk when it ends, or undone if that is by an error."""
        try:
            connection.execute(begin)
            try:
                yield SqliteRun(connection)
                connection.execute("COMMIT")
            except BaseException:
                # A full disk has ended it by itself.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise sqlite_fault(error, self._file, self._layout) from error


def sqlite_fault(error: sqlite3.Error, file: Path, layout: DatabaseLayout) -> InputError:
    """What is wrong with a file, in words."""
    if not is_damaged(error):
        return StoreAway(*explained(error, file).args)
    return InputError(
        f"{file}: it is damaged, or no file of Ragstone's ({error}). It holds "
        f"{layout.irreplaceable}: bring back a copy."
    )
