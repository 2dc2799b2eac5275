"""SQLite: opens Ragstone's databases, verifies that they are its own, and explains their errors.

A file is created for this user alone and uses a write-ahead log (WAL), so that several processes
can use it at once. It may have been damaged or written by another program: application id, version
and tables are checked before anything is read, and the type of each value when it is read.

Opened for writing, a file of an earlier version is converted in place, in one transaction and
after a copy was made beside it. Opened for reading, it stays: a temporary copy is converted.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Literal, TypeVar

from .errors import InputError
from .files import private_file

T = TypeVar("T")
# Seconds to wait for another program that is writing.
BUSY = 30.0
# What follows a file's name in that of its copy, before the version.
COPY = ".layout-"

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

# How SQLite fails on a read-only disk: who reads a write-ahead log writes beside it.
READ_ONLY = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}

# What reading raises. ``UnicodeDecodeError`` occurs if SQLite's error message quotes bytes of a
# damaged file.
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)


@dataclass(frozen=True, slots=True)
class SqliteLayout:
    """The layout of one type of database.

    Args:
        owner: The ``application_id``.
        version: The ``user_version``. Ragstone 0.1.0 began with 1 or 2; a later one is the release
            that it comes with, such as ``1_02_03_00`` for 1.2.3 and ``1_02_03_01`` for another
            change before that release.
        synchronous: ``FULL``: every commit survives a power cut. ``NORMAL``: the last ones may be
            lost, but the file stays consistent.
        page: The page size of a new file, in bytes.
        steps: For each earlier version, the statements that lead from it to the next one. Triggers
            do not fire meanwhile; those of the layout are created after the last step.
        is_cache: A file of an earlier version without steps is emptied.
    """

    owner: int
    version: int
    tables: tuple[str, ...]
    synchronous: Literal["FULL", "NORMAL"]
    page: int = 4096
    steps: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    is_cache: bool = False


class LaterLayout(sqlite3.DatabaseError):
    """A later version of Ragstone wrote the file."""


def steps_from(steps: Mapping[int, Sequence[str]], version: int) -> list[str]:
    """Return the statements that lead from a version to the newest."""
    return [statement for start in sorted(steps) if start >= version for statement in steps[start]]


def needs(version: int) -> str:
    """Advise which release opens a layout of a later version."""
    release = f"{version // 1_00_00_00}.{version // 1_00_00 % 100}.{version // 1_00 % 100}"
    return f"a later version of Ragstone wrote it: install Ragstone {release} or newer"


class Connection(sqlite3.Connection):
    """A connection that closes itself: Python 3.13 and later warn of one that is left open."""

    def __del__(self) -> None:
        # One that could not be opened cannot be closed.
        with suppress(sqlite3.ProgrammingError):
            self.close()


def open_file(
    file: Path, layout: SqliteLayout, note: Callable[[str], None] | None = None
) -> sqlite3.Connection:
    """Open a database for writing; if the file does not exist, create it for this user alone.

    A file of an earlier version is taken to the layout; ``note`` is called with one line if it
    was a cache that had to be emptied.

    Raises:
        sqlite3.Error: It cannot be opened, or has another layout.
    """
    private_file(file)
    connection = sqlite3.connect(
        file, timeout=BUSY, isolation_level=None, check_same_thread=False, factory=Connection
    )
    try:
        emptied = False
        if _version(connection, layout) != layout.version:
            connection.execute(f"PRAGMA page_size = {layout.page}")
            _write_ahead(connection)
            connection.execute("BEGIN IMMEDIATE")
            version = _version(connection, layout)
            if version is None:
                for table in layout.tables:
                    connection.execute(table)
                connection.execute(f"PRAGMA application_id = {layout.owner}")
                connection.execute(f"PRAGMA user_version = {layout.version}")
            elif version != layout.version:
                emptied = version not in layout.steps
                if not emptied:
                    # Nobody can write between the copy and the steps.
                    _copy_beside(file, version)
                _upgrade(connection, layout, version)
            connection.execute("COMMIT")
        if emptied and note:
            note(f"The cache {file} was of an earlier version of Ragstone and was emptied.")
        connection.execute(f"PRAGMA synchronous = {layout.synchronous}")
    except BaseException:
        connection.close()
        raise
    return connection


def open_to_read(file: Path, layout: SqliteLayout) -> sqlite3.Connection:
    """Open a database read-only, even on a file system that cannot be written to.

    Raises:
        sqlite3.Error: It cannot be opened, has another layout, or is empty, as is a cache of an
            earlier version.
    """
    for query in ("mode=ro", "immutable=1"):
        connection: sqlite3.Connection = sqlite3.connect(
            f"{file.absolute().as_uri()}?{query}", uri=True, timeout=BUSY, check_same_thread=False,
            factory=Connection,
        )  # fmt: skip
        try:
            version = _version(connection, layout)
            if version not in {layout.version, *layout.steps}:
                raise _fault("it is empty", sqlite3.SQLITE_EMPTY)
            if version is not None and version != layout.version:
                connection = _upgraded_copy(connection, layout, version)
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
        closing(sqlite3.connect(into)) as target,
    ):
        here.backup(target)


def _copy_beside(file: Path, version: int) -> None:
    copy = file.with_name(f"{file.name}{COPY}{version}")
    private_file(copy)
    try:
        copy_database(file, copy)
    except sqlite3.Error:
        # The disk may be full: half a copy would take what room there is.
        for half in (copy, copy.with_name(f"{copy.name}-journal")):
            with suppress(OSError):
                half.unlink()
        raise


def copies(file: Path) -> list[Path]:
    """Return the copies beside a file, of the versions from which it was taken to the next."""
    return [copy for copy in file.parent.iterdir() if copy.name.startswith(f"{file.name}{COPY}")]


def explained(error: Exception, file: Path) -> InputError:
    """Return the error as a message with the fault of the file, and what to do."""
    if isinstance(error, LaterLayout):
        return InputError(f"{file}: {error}.")
    if isinstance(error, UnicodeDecodeError):
        fault = FAULTS[sqlite3.SQLITE_CORRUPT]
    elif not isinstance(error, sqlite3.Error):
        fault = "an entry cannot be written, which is a fault of Ragstone: please report it"
    elif _code(error) in READ_ONLY and file.exists() and not os.access(file.parent, os.W_OK):
        fault = (
            "it is in a read-only folder. Make the folder writable, or copy the file to "
            "another folder and name that"
        )
    else:
        fault = FAULTS.get(_code(error), "it cannot be used")
    return InputError(
        f"{file}: {fault}; then run the same command again. What was written is kept. ({error})"
    )


@contextmanager
def explaining(file: Path) -> Iterator[None]:
    """Raise SQLite's errors as messages with the fault of the file, and what to do."""
    try:
        yield
    except UNREADABLE as error:
        raise explained(error, file) from error


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
    """Encode strings of the row that hold lone surrogates as bytes."""
    return tuple(_encoded(value) if isinstance(value, str) else value for value in row)


def insert(
    connection: sqlite3.Connection, statement: str, rows: Sequence[tuple[object, ...]]
) -> None:
    """Insert the rows, whose strings may hold lone surrogates."""
    try:
        connection.executemany(statement, rows)
    except UnicodeEncodeError:
        connection.executemany(statement, map(storable, rows))


def maybe(read: Callable[[object], T], value: object) -> T | None:
    """Return a stored value that may be NULL, as ``read`` returns it."""
    return None if value is None else read(value)


def as_text(value: object) -> str:
    """Return the stored string; with lone surrogates, it is stored as bytes.

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
    """Return the stored integer; anything else is damage."""
    if isinstance(value, int):
        return value
    raise damaged(f"{type(value).__name__} where a whole number belongs")


def as_number(value: object) -> float:
    """Return the stored finite number; anything else is damage."""
    if isinstance(value, int | float) and isfinite(value):
        return value
    raise damaged(f"{type(value).__name__} where a number belongs")


def is_damaged(error: Exception) -> bool:
    """Return True if the file itself is the cause: it is damaged, or not one of Ragstone's."""
    return isinstance(error, UnicodeDecodeError) or _code(error) in DAMAGED


def is_busy(error: Exception) -> bool:
    """Return True if another program has it locked."""
    return _code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def is_empty(error: Exception) -> bool:
    """Return True if the file holds nothing yet, as where its first writer was stopped."""
    return _code(error) == sqlite3.SQLITE_EMPTY


def damaged(words: str) -> sqlite3.DatabaseError:
    """Return an error for a database that holds a value Ragstone never wrote."""
    return _fault(words, sqlite3.SQLITE_CORRUPT)


def _encoded(value: str) -> str | bytes:
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def check_not_later(connection: sqlite3.Connection, newest: int) -> int:
    """Return the version of the file, at most the newest that this program knows."""
    ((version,),) = connection.execute("PRAGMA user_version")
    if version > newest:
        raise LaterLayout(needs(version))
    return int(version)


def _version(connection: sqlite3.Connection, layout: SqliteLayout) -> int | None:
    """Return the version of the file: the layout's, or an earlier one; None if it is empty."""
    begun = not connection.in_transaction
    if begun:
        # All is read at one moment, or a file that another process is just making looks foreign.
        connection.execute("BEGIN")
    try:
        return _checked_version(connection, layout)
    finally:
        if begun and connection.in_transaction:
            connection.execute("ROLLBACK")


def _checked_version(connection: sqlite3.Connection, layout: SqliteLayout) -> int | None:
    ((owner,),) = connection.execute("PRAGMA application_id")
    tables = connection.execute("SELECT sql FROM sqlite_master").fetchall()
    if not tables and not owner:
        return None
    if owner != layout.owner:
        raise _not_ours("it belongs to another program")
    version = check_not_later(connection, layout.version)
    if version != layout.version:
        if version in layout.steps or layout.is_cache:
            return version
        raise _not_ours(f"it is of version {version}, expected {layout.version}")
    if sorted(_plain(sql) for (sql,) in tables if sql) != sorted(map(_plain, layout.tables)):
        raise _not_ours("its tables are others than ours")
    return version


def _upgrade(connection: sqlite3.Connection, layout: SqliteLayout, version: int) -> None:
    if version in layout.steps:
        kind = "trigger"
        triggers = [table for table in layout.tables if table.startswith("CREATE TRIGGER")]
        statements = [*steps_from(layout.steps, version), *triggers]
    else:
        kind, statements = "table", [*layout.tables]
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = ?", (kind,)).fetchall()
    for statement in (*(f"DROP {kind} {name}" for (name,) in names), *statements):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {layout.version}")
    _checked_version(connection, layout)


def _upgraded_copy(
    connection: sqlite3.Connection, layout: SqliteLayout, version: int
) -> sqlite3.Connection:
    """A temporary copy, taken to the layout; the connection is closed."""
    copy = sqlite3.connect("", isolation_level=None, check_same_thread=False, factory=Connection)
    try:
        with closing(connection):
            connection.backup(copy)
        copy.execute("BEGIN")
        _upgrade(copy, layout, version)
        copy.execute("COMMIT")
    except BaseException:
        copy.close()
        raise
    return copy


def _plain(sql: str) -> str:
    # SQLite quotes the name of a table that a step renamed.
    return " ".join(sql.replace('"', "").split())


def _not_ours(words: str) -> sqlite3.DatabaseError:
    return _fault(words, sqlite3.SQLITE_NOTADB)


def _fault(words: str, code: int) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(words)
    error.sqlite_errorcode = code
    return error


def _code(error: Exception) -> int:
    """SQLite's primary result code; 0 if the error has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
