"""Database: SQL transactions, tables and triggers, in a SQLite file or on a PostgreSQL server.

Both speak the same SQL, with a single writing transaction at a time. A transaction is on disk
before it is confirmed. A password in an address ``postgresql://…`` is never shown.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from .errors import InputError, StoreAway, StoreBusy, needing
from .messages import argument
from .sqlite import (
    BUSY,
    check_not_later,
    copies,
    explained,
    is_busy,
    is_damaged,
    needs,
    open_file,
    storable,
)
from .store_layout import DatabaseLayout

if TYPE_CHECKING:
    from psycopg import Connection


# Seconds that a transaction waits for others; clients that send traces give up after ten.
PATIENCE = 4.0

POSTGRES = ("postgresql://", "postgres://")

HOSTS = r"(?:\[[^\]@/?#]*\]|[^:@/?#,\[\]]*)(?::[0-9]*)?"
# What stands behind the scheme, as PostgreSQL's programs read it, without a queue.
READABLE = re.compile(
    rf"(?P<user>[^:@/?#]*)(?::[^@/]*)?@(?P<there>{HOSTS}(?:,{HOSTS})*(?:/[^@/?#]*)?)(?:\?[^@#]*)?"
    rf"|(?P<here>{HOSTS}(?:,{HOSTS})*(?:/[^@/?#]*)?)(?:\?[^@#]*)?"
)


def without_password(address: str) -> str:
    """Return an address ``postgresql://…`` as user, host and database; only … if it is none."""
    scheme, _, _ = address.partition("://")
    read = _readable(address)
    if read is None:
        return f"{scheme}://…"
    user = f"{read['user']}@" if read["user"] else ""
    return f"{scheme}://{user}{read['there'] if read['there'] is not None else read['here']}"


def is_readable(address: str) -> bool:
    """Return True if it is clear which part of an address ``postgresql://…`` is a password."""
    return _readable(address) is not None


def unreadable(address: str) -> InputError:
    """Return the error of an address that cannot be read: a password may be anywhere in it."""
    return InputError(
        f"{without_password(address)}: the address of the database cannot be read. It is written "
        "postgresql://USER:PASSWORD@HOST/DATABASE; in a password write @ as %40, / as %2F and % "
        "as %25."
    )


def _readable(address: str) -> "re.Match[str] | None":
    return READABLE.fullmatch(address.partition("://")[2])


class Sql(Protocol):
    """Runs statements with ``?`` for each value, within a transaction."""

    def __call__(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement, and return its rows."""

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run one statement for each row of values."""


class Database(Protocol):
    """A database with transactions; every method raises ``StoreAway`` if it cannot be used."""

    name: str

    def transaction(self) -> AbstractContextManager[Sql]:
        """Begin a transaction: all or nothing of it happens, and nobody else writes meanwhile."""

    def reading(self) -> AbstractContextManager[Sql]:
        """Read what was confirmed at one moment; it waits for nobody who writes."""

    def close(self) -> None: ...


def rows_of(database: Database, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """Return the rows of one statement that only reads."""
    with database.reading() as run:
        return run(statement, *values)


class SqliteRun:
    """Runs statements on a connection, which is the caller's."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __call__(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, storable(values)).fetchall()

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        self._connection.executemany(statement, (storable(tuple(row)) for row in rows))


@contextmanager
def _turn(lock: RLock, name: str) -> Iterator[float]:
    """Hold a lock of this process; yields the seconds that are left to wait for others."""
    until = monotonic() + PATIENCE
    if not lock.acquire(timeout=PATIENCE):
        raise StoreBusy(
            f"{name}: it is busy, so nothing was written. What was there is kept; try again."
        )
    try:
        yield max(0.0, until - monotonic())
    finally:
        lock.release()


class SqliteDatabase:
    """A database in a file."""

    def __init__(self, file: Path, layout: DatabaseLayout) -> None:
        self.name = str(file)
        self._file, self._layout = file, layout
        self._writes, self._reads = RLock(), RLock()
        self._writer, self._reader = self._opened(), self._opened()

    @contextmanager
    def transaction(self) -> Iterator[Sql]:
        with (
            _turn(self._writes, self.name) as left,
            self._within(self._writer, "BEGIN IMMEDIATE", left) as run,
        ):
            yield run

    @contextmanager
    def reading(self) -> Iterator[Sql]:
        with self._reads, self._within(self._reader, "BEGIN", PATIENCE) as run:
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
                self._writer.execute(f"PRAGMA busy_timeout = {round(1000 * BUSY)}")
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
        for copy in copies(self._file):
            copy.unlink()

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
    def _within(self, connection: sqlite3.Connection, begin: str, patience: float) -> Iterator[Sql]:
        try:
            connection.execute(f"PRAGMA busy_timeout = {round(1000 * patience)}")
            connection.execute(begin)
            try:
                check_not_later(connection, self._layout.version)
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
    """Explain an error of a file."""
    if not is_damaged(error):
        kind = StoreBusy if is_busy(error) else StoreAway
        return kind(*explained(error, file).args)
    return InputError(
        f"{file}: it is damaged, or no file of Ragstone's ({error}). It holds "
        f"{layout.irreplaceable}: bring back a copy."
    )


_CREATES = re.compile("CREATE TABLE ([a-z_]+)")
# The triggers of tables that a ``Reaction`` made, each with a function of its name.
TRIGGERS = """SELECT proname FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE tgname = proname AND tgrelid::regclass::text = ANY(?)"""

UNKNOWN = "\N{REPLACEMENT CHARACTER}"


class PostgresRun:
    """Runs statements on a connection, which is the caller's."""

    def __init__(self, connection: "Connection[tuple[Any, ...]]") -> None:
        self._connection = connection

    def __call__(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        result = self._connection.execute(_asked(statement), _sendable(values))
        return result.fetchall() if result.description else []

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_asked(statement), [_sendable(row) for row in rows])


def _asked(statement: str) -> Any:
    return statement.replace("?", "%s")


def _sendable(values: Sequence[object]) -> tuple[object, ...]:
    """The values; PostgreSQL takes no NUL and no half of a surrogate pair in a text."""
    return tuple(_clean(value) if isinstance(value, str) else value for value in values)


def _clean(text: str) -> str:
    if not text.isprintable():
        text = text.replace("\0", UNKNOWN)
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


@contextmanager
def postgres_in_words(
    name: str, layout: DatabaseLayout, failed: Callable[[], None]
) -> Iterator[None]:
    """Explain PostgreSQL's errors; ``failed`` is called before."""
    with needing(f"{layout.holds.capitalize()} in PostgreSQL", "postgres"):
        import psycopg
    try:
        yield
    except psycopg.Error as error:
        failed()
        words = " ".join(str(error).split())
        late = isinstance(
            error, (psycopg.errors.LockNotAvailable, psycopg.errors.ConnectionTimeout)
        )
        raise (StoreBusy if late else StoreAway)(
            f"{name}: the database of {layout.holds} cannot be used ({words}). What was confirmed "
            f"is kept; see that it runs, and that {argument(layout.argument, '…')} names it."
        ) from error


def connect(address: str, *, autocommit: bool) -> "Connection[tuple[Any, ...]]":
    """Connect to PostgreSQL."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    if not is_readable(address):
        raise unreadable(address)
    try:
        conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        # Its words may have the password in them.
        raise unreadable(address) from None
    return psycopg.connect(address, autocommit=autocommit, connect_timeout=int(PATIENCE))


def version_of(run: Sql, name: str, layout: DatabaseLayout) -> int | None:
    """Return the version of the tables, the layout's or an earlier one; None without tables."""
    version = None
    for (version,) in run(f"SELECT version FROM {layout.version_table}"):
        if version > layout.version:
            raise StoreAway(f"{name}: {needs(version)}.")
        if version not in {layout.version, *layout.steps}:
            raise InputError(
                f"{name}: its {layout.holds} are of version {version}, expected {layout.version}."
            )
    return version


class PostgresDatabase:
    """A database in PostgreSQL. A broken connection is opened again for the next transaction."""

    def __init__(self, address: str, layout: DatabaseLayout) -> None:
        self._writer, self._reader = _PostgresLine(address), _PostgresLine(address, reads=True)
        self._layout = layout
        self.name = without_password(address)
        try:
            with self._writing() as run:
                self._create(run)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[Sql]:
        with self._writing() as run:
            version_of(run, self.name, self._layout)
            yield run

    @contextmanager
    def _writing(self) -> Iterator[Sql]:
        with _turn(self._writer.lock, self.name), self._within(self._writer) as run:
            run("SELECT pg_advisory_xact_lock(?)", self._layout.owner)
            yield run

    @contextmanager
    def reading(self) -> Iterator[Sql]:
        with self._within(self._reader) as run:
            yield run

    def size(self) -> int:
        tables = self._tables()
        with self.reading() as run:
            return sum(
                int(run("SELECT pg_total_relation_size(CAST(? AS regclass))", table)[0][0])
                for table in tables
            )

    def compact(self) -> None:
        line = self._writer
        with line.lock, postgres_in_words(self.name, self._layout, self._broken):
            for table in self._tables():
                line.open().execute(f"VACUUM {table}")

    def _tables(self) -> list[str]:
        return [created[1] for table in self._layout.tables if (created := _CREATES.match(table))]

    def close(self) -> None:
        # Not while another thread is using them.
        with self._writer.lock, self._reader.lock:
            self._reader.close()
            self._writer.close()

    @contextmanager
    def _within(self, line: "_PostgresLine") -> Iterator[Sql]:
        with line.lock, postgres_in_words(self.name, self._layout, self._broken):
            connection = line.open()
            with connection.transaction():
                yield PostgresRun(connection)

    def _broken(self) -> None:
        """Open both anew: a server that went away took all connections with it."""
        self._writer.is_broken = self._reader.is_broken = True

    def _create(self, run: Sql) -> None:
        layout, table = self._layout, self._layout.version_table
        run(f"CREATE TABLE IF NOT EXISTS {table} (version INTEGER NOT NULL)")
        version = version_of(run, self.name, layout)
        if version == layout.version:
            return
        statements = layout.in_postgres
        if version is not None:
            for (name,) in run(TRIGGERS, self._tables()):
                run(f"DROP FUNCTION {name}() CASCADE")
            statements = layout.steps_in_postgres(version)
        for statement in statements:
            run(statement)
        run(f"DELETE FROM {table}")
        run(f"INSERT INTO {table} VALUES (?)", layout.version)


class _PostgresLine:
    """A connection to PostgreSQL that is opened when it is needed, one user at a time.

    With ``reads``, it only reads, what there is at the moment when a transaction begins.
    """

    def __init__(self, address: str, *, reads: bool = False) -> None:
        self._address, self._reads = address, reads
        self._connection: Connection[tuple[Any, ...]] | None = None
        self.lock = RLock()
        self.is_broken = False

    def open(self) -> "Connection[tuple[Any, ...]]":
        if self.is_broken:
            self.close()
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._address, autocommit=True)
            self._connection.execute(f"SET lock_timeout = {round(1000 * PATIENCE)}")
            if self._reads:
                from psycopg import IsolationLevel

                self._connection.isolation_level = IsolationLevel.REPEATABLE_READ
                self._connection.read_only = True
        return self._connection

    def close(self) -> None:
        self.is_broken = False
        if self._connection is not None:
            self._connection.close()
            self._connection = None


# A database that is opened for good, not for one look. ``size`` returns the bytes that it takes
# up; ``compact`` leaves no trace of deleted rows: a file's bytes are gone, a server may overwrite
# them.
KeptDatabase = SqliteDatabase | PostgresDatabase


def open_database(address: str | Path, layout: DatabaseLayout) -> KeptDatabase:
    """Open the database in a file, or at ``postgresql://…``; create it where it is missing."""
    if str(address).startswith(POSTGRES):
        return PostgresDatabase(str(address), layout)
    return SqliteDatabase(Path(address), layout)
