"""Snapshot: the labels of a store as they are at one moment, read without writing anything."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragstone.core.database import (
    PostgresRun,
    Sql,
    SqliteRun,
    check_version,
    connect,
    postgres_in_words,
    sqlite_fault,
    without_password,
)
from ragstone.core.errors import DataError, Fault
from ragstone.core.sqlite import is_empty, open_to_read

from .address import StoreAddress
from .database import LAYOUT, LabelDatabase


@contextmanager
def labels_as_they_are(store: StoreAddress) -> Iterator[LabelDatabase | None]:
    """The labels of a store, to read; None if nothing was kept there yet.

    Raises:
        DataError: There is no such file.
        InputError: It cannot be opened, or is no store of labels.
        MissingDependency: The extra ``postgres`` is not installed.
    """
    with _in_file(Path(store.place)) if store.is_file else _in_postgres(store) as found:
        yield found


class LabelSnapshot:
    """Labels that can be read and not written."""

    def __init__(self, name: str, run: Sql) -> None:
        self.name, self._run = name, run

    @contextmanager
    def transaction(self) -> Iterator[Sql]:
        yield self._run

    @contextmanager
    def reading(self) -> Iterator[Sql]:
        yield self._run

    def close(self) -> None:
        """Nothing: who opened it closes it."""


@contextmanager
def _in_file(file: Path) -> Iterator[LabelSnapshot | None]:
    if not file.is_file():
        raise DataError([Fault(str(file), None, "", "a store of labels", "none of this name")])
    try:
        connection = open_to_read(file, LAYOUT.in_sqlite)
    except sqlite3.Error as error:
        if not is_empty(error):
            raise sqlite_fault(error, file, LAYOUT) from error
        yield None
        return
    try:
        connection.execute("BEGIN")
        yield LabelSnapshot(str(file), SqliteRun(connection))
    except sqlite3.Error as error:
        raise sqlite_fault(error, file, LAYOUT) from error
    finally:
        connection.close()


@contextmanager
def _in_postgres(store: StoreAddress) -> Iterator[LabelSnapshot | None]:
    name = without_password(store.place)
    with postgres_in_words(name, LAYOUT, lambda: None):
        connection = connect(store.place, autocommit=False)
        run = PostgresRun(connection)
        try:
            run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            ((there,),) = run(f"SELECT to_regclass('{LAYOUT.version_table}')")
            is_there = there is not None and check_version(run, name, LAYOUT)
            yield LabelSnapshot(name, run) if is_there else None
        finally:
            connection.close()
