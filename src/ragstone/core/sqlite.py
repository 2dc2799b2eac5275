"""SQLite: opens Ragstone's databases, verifies that they are its own, and explains their errors.

A file is created for this user alone and uses a write-ahead log (WAL), so that several processes
can use it at once. It may have been damaged or written by another program: application id, version
and tables are checked before anything is read, and the type of each value when it is read.
"""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Literal

from .errors import InputError
from .files import private_file

BUSY = 30.0
"""Seconds to wait for another program that is writing."""

FAULTS = {
    sqlite3.SQLITE_FULL: "the disk is full. Make room",
    sqlite3.SQLITE_IOERR: "the disk could not be written to; it may be full. Make room",
    sqlite3.SQLITE_READONLY: "it is not writable. Give yourself write permission",
    sqlite3.SQLITE_PERM: "it is not readable. Give yourself read permission",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened. Make its folder writable",
    sqlite3.SQLITE_BUSY: "another program is using it. Stop that program",
    sqlite3.SQLITE_LOCKED: "another program is using it. Stop that program",
    sqlite3.SQLITE_CORRUPT: "it is damaged. Move it away: what it held is asked again",
    sqlite3.SQLITE_NOTADB: "it is not a database that Ragstone wrote. Move it away",
    sqlite3.SQLITE_EMPTY: "it is not a database that Ragstone wrote. Move it away",
}


DAMAGED = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_EMPTY,
}

UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What reading raises. ``UnicodeDecodeError`` occurs if SQLite's error message quotes bytes of a
damaged file."""


@dataclass(frozen=True, slots=True)
class SqliteLayout:
    """The layout of one type of database.

    Args:
        owner: The ``application_id``.
        version: The ``user_version``.
        tables: The statements that create the tables.
        synchronous: ``FULL``: every commit survives a power cut. ``NORMAL``: the last ones may be
            lost, but the file stays consistent.
        page: The page size of a new file, in bytes.
    """

    owner: int
    version: int
    tables: tuple[str, ...]
    synchronous: Literal["FULL", "NORMAL"]
    page: int = 4096


def open_file(file: Path, layout: SqliteLayout) -> sqlite3.Connection:
    """Open a database for writing; if the file does not exist, create it for this user alone.

    Raises:
        sqlite3.Error: It cannot be opened, or has another layout.
    """
    private_file(file)
    connection = sqlite3.connect(file, timeout=BUSY, isolation_level=None, check_same_thread=False)
    try:
        if not _is_ours(connection, layout):
            connection.execute(f"PRAGMA page_size = {layout.page}")
            _write_ahead(connection)
            connection.execute("BEGIN IMMEDIATE")
            if not _is_ours(connection, layout):
                for table in layout.tables:
                    connection.execute(table)
                connection.execute(f"PRAGMA application_id = {layout.owner}")
                connection.execute(f"PRAGMA user_version = {layout.version}")
            connection.execute("COMMIT")
        connection.execute(f"PRAGMA synchronous = {layout.synchronous}")
    except BaseException:
        connection.close()
        raise
    return connection


def open_to_read(file: Path, layout: SqliteLayout) -> sqlite3.Connection:
    """Open a database read-only, even on a file system that cannot be written to.

    Raises:
        sqlite3.Error: It cannot be opened, or has another layout.
    """
    for query in ("mode=ro", "immutable=1"):
        connection = sqlite3.connect(
            f"{file.absolute().as_uri()}?{query}", uri=True, timeout=BUSY, check_same_thread=False
        )
        try:
            if not _is_ours(connection, layout):
                raise _fault("it is empty", sqlite3.SQLITE_EMPTY)
        except sqlite3.Error as error:
            connection.close()
            if query == "immutable=1" or _code(error) != sqlite3.SQLITE_CANTOPEN:
                raise
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise _not_ours("it cannot be read")


def copy_database(file: Path, into: Path) -> None:
    """Copy a database of one moment, while others may write to it."""
    source = f"{file.absolute().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(source, uri=True)) as here,
        closing(sqlite3.connect(into)) as there,
    ):
        here.backup(there)


def explained(error: Exception, file: Path) -> InputError:
    """The error as a message that says what is wrong with the file, and what to do."""
    if isinstance(error, UnicodeDecodeError):
        fault = FAULTS[sqlite3.SQLITE_CORRUPT]
    elif not isinstance(error, sqlite3.Error):
        fault = "an entry cannot be written, which is a fault of Ragstone: please report it"
    else:
        fault = FAULTS.get(_code(error), "it cannot be used")
    return InputError(
        f"{file}: {fault}; then run the same command again. What was written is kept. ({error})"
    )


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to WAL, retrying: SQLite's busy timeout does not cover two programs switching."""
    until = time.monotonic() + BUSY
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def storable(row: tuple[object, ...]) -> tuple[object, ...]:
    """The row, with strings that hold lone surrogates encoded as bytes."""
    return tuple(_encoded(value) if isinstance(value, str) else value for value in row)


def as_text(value: object) -> str:
    """The stored string, including one with lone surrogates, which is stored as bytes.

    Raises:
        sqlite3.DatabaseError: The value is not a string.
    """
    if isinstance(value, str):
        return value
    try:
        return bytes.decode(value, "utf-8", "surrogatepass")  # type: ignore[arg-type]
    except (TypeError, UnicodeDecodeError) as error:
        raise damaged(f"{type(value).__name__} where a text belongs") from error


def as_whole(value: object) -> int:
    """The stored integer.

    Raises:
        sqlite3.DatabaseError: The value is not an integer.
    """
    if isinstance(value, int):
        return value
    raise damaged(f"{type(value).__name__} where a whole number belongs")


def as_number(value: object) -> float:
    """The stored finite number.

    Raises:
        sqlite3.DatabaseError: The value is not a finite number.
    """
    if isinstance(value, int | float) and isfinite(value):
        return value
    raise damaged(f"{type(value).__name__} where a number belongs")


def is_damaged(error: Exception) -> bool:
    """Whether the file itself is the cause: it is damaged, or not one of Ragstone's."""
    return isinstance(error, UnicodeDecodeError) or _code(error) in DAMAGED


def is_empty(error: Exception) -> bool:
    """Whether the file holds nothing yet, as where its first writer was stopped."""
    return _code(error) == sqlite3.SQLITE_EMPTY


def damaged(words: str) -> sqlite3.DatabaseError:
    """An error for a database that holds a value Ragstone never wrote."""
    return _fault(words, sqlite3.SQLITE_CORRUPT)


def _encoded(value: str) -> str | bytes:
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def _is_ours(connection: sqlite3.Connection, layout: SqliteLayout) -> bool:
    """Whether the file has the layout; False if it is empty.

    Raises:
        sqlite3.DatabaseError: It belongs to another program or version, or has other tables.
    """
    begun = not connection.in_transaction
    if begun:
        # All is read at one moment, or a file that another process is just making looks foreign.
        connection.execute("BEGIN")
    try:
        return _has_layout(connection, layout)
    finally:
        if begun and connection.in_transaction:
            connection.execute("ROLLBACK")


def _has_layout(connection: sqlite3.Connection, layout: SqliteLayout) -> bool:
    ((owner,),) = connection.execute("PRAGMA application_id")
    ((version,),) = connection.execute("PRAGMA user_version")
    ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_master")
    if not tables and not owner:
        return False
    if owner != layout.owner:
        raise _not_ours("it belongs to another program")
    if version != layout.version:
        raise _not_ours(f"it is of version {version}, expected {layout.version}")
    there = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    if sorted(_plain(sql) for (sql,) in there) != sorted(map(_plain, layout.tables)):
        raise _not_ours("its tables are others than ours")
    return True


def _plain(sql: object) -> str:
    return " ".join(str(sql).split())


def _not_ours(words: str) -> sqlite3.DatabaseError:
    return _fault(words, sqlite3.SQLITE_NOTADB)


def _fault(words: str, code: int) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(words)
    error.sqlite_errorcode = code
    return error


def _code(error: Exception) -> int:
    """SQLite's primary result code; 0 if the error has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
