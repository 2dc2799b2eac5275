"""Database: SQL transactions, tables and triggers, in a SQLite file or on a PostgreSQL server.

Both speak the same SQL, with a single writing transaction at a time. A transaction is on disk
before it is confirmed. A password in an address ``postgresql://…`` is never shown.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .errors import InputError, MissingDependency, StoreAway
from .messages import argument
from .sqlite import SqliteLayout, explained, is_damaged, open_file, storable

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class Reaction:
    """A trigger.

    Args:
        name: Of its own.
        table: Whose rows are watched.
        event: What happens to one.
        does: A statement, with the row as ``NEW`` and as it was as ``OLD``.
    """

    name: str
    table: str
    event: Literal["INSERT", "UPDATE", "DELETE"]
    does: str

    @property
    def in_sqlite(self) -> tuple[str, ...]:
        """The statements that create it."""
        return (
            f"CREATE TRIGGER {self.name} AFTER {self.event} ON {self.table} BEGIN {self.does}; END",
        )

    @property
    def in_postgres(self) -> tuple[str, ...]:
        """The statements that create it."""
        return (
            f"CREATE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {self.does}; RETURN NULL; END $$",
            f"CREATE TRIGGER {self.name} AFTER {self.event} ON {self.table} "
            f"FOR EACH ROW EXECUTE FUNCTION {self.name}()",
        )


@dataclass(frozen=True, slots=True)
class DatabaseLayout:
    """What a database holds.

    Args:
        holds: In a word or two, such as ``labels``.
        irreplaceable: What would be lost with it, as the end of a sentence.
        argument: The name of the argument that says where it is.
        owner: The ``application_id`` in SQLite, and the advisory lock of writers in PostgreSQL.
        version: Of the tables.
        tables: The statements that create them, with ``{serial}`` for a primary key that counts
            up and ``{blob}`` for bytes.
        reactions: What it does by itself when rows change.
    """

    holds: str
    irreplaceable: str
    argument: str
    owner: int
    version: int
    tables: tuple[str, ...]
    reactions: tuple[Reaction, ...] = ()

    @property
    def in_sqlite(self) -> SqliteLayout:
        """The layout of the file; every commit survives a power cut."""
        tables = tuple(one.format(serial="INTEGER PRIMARY KEY", blob="BLOB") for one in self.tables)
        reactions = tuple(made for one in self.reactions for made in one.in_sqlite)
        return SqliteLayout(self.owner, self.version, tables + reactions, "FULL")

    @property
    def in_postgres(self) -> tuple[str, ...]:
        """The statements that create the tables."""
        serial = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
        tables = tuple(one.format(serial=serial, blob="BYTEA") for one in self.tables)
        return tables + tuple(made for one in self.reactions for made in one.in_postgres)

    @property
    def version_table(self) -> str:
        """The table in PostgreSQL that holds the version alone."""
        return f"ragstone_{self.holds}"


POSTGRES = ("postgresql://", "postgres://")

HOSTS = r"(?:\[[^\]@/?#]*\]|[^:@/?#,\[\]]*)(?::[0-9]*)?"
READABLE = re.compile(
    rf"(?P<user>[^:@/?#]*)(?::[^@/]*)?@(?P<there>{HOSTS}(?:,{HOSTS})*(?:/[^@/?#]*)?)(?:\?[^@#]*)?"
    rf"|(?P<here>{HOSTS}(?:,{HOSTS})*(?:/[^@/?#]*)?)(?:\?[^@#]*)?"
)
"""What stands behind the scheme, as PostgreSQL's programs read it, without a queue."""


def without_password(address: str) -> str:
    """An address ``postgresql://…`` as user, host and database; no more than … if it is none."""
    scheme, _, _ = address.partition("://")
    read = _readable(address)
    if read is None:
        return f"{scheme}://…"
    user = f"{read['user']}@" if read["user"] else ""
    return f"{scheme}://{user}{read['there'] if read['there'] is not None else read['here']}"


def is_readable(address: str) -> bool:
    """Whether it is clear what of an address ``postgresql://…`` is a password."""
    return _readable(address) is not None


def unreadable(address: str) -> InputError:
    """What is said of an address that cannot be read: it may have a password anywhere in it."""
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
        pass

        return PostgresDatabase(str(place), layout)
    pass

    return SqliteDatabase(Path(place), layout)


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


_CREATES = re.compile("CREATE TABLE ([a-z_]+)")
UNKNOWN = "\N{REPLACEMENT CHARACTER}"


class PostgresRun:
    """Runs statements on a connection, which is the caller's."""

    def __init__(self, connection: "Connection[tuple[Any, ...]]") -> None:
        self._connection = connection

    def __call__(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        found = self._connection.execute(_asked(statement), _sendable(values))
        return found.fetchall() if found.description else []

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_asked(statement), [_sendable(row) for row in rows])


def _asked(statement: str) -> Any:
    return statement.replace("?", "%s")


def _sendable(values: Sequence[object]) -> tuple[object, ...]:
    """The values; PostgreSQL takes no NUL and no half of a surrogate pair in a text."""
    return tuple(_clean(one) if isinstance(one, str) else one for one in values)


def _clean(text: str) -> str:
    if not text.isprintable():
        text = text.replace("\0", UNKNOWN)
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


@contextmanager
def postgres_in_words(
    name: str, layout: DatabaseLayout, failed: Callable[[], None]
) -> Iterator[None]:
    """Say in words what PostgreSQL says of a database.

    Args:
        name: Of the database, without a password.
        layout: What it holds.
        failed: What is done then.

    Raises:
        StoreAway: PostgreSQL raised an error.
        MissingDependency: The extra ``postgres`` is not installed.
    """
    try:
        import psycopg
    except ModuleNotFoundError as error:
        raise MissingDependency(f"{layout.holds.capitalize()} in PostgreSQL", "postgres") from error
    try:
        yield
    except psycopg.Error as error:
        failed()
        words = " ".join(str(error).split())
        raise StoreAway(
            f"{name}: the database of {layout.holds} cannot be used ({words}). What was confirmed "
            f"is kept; see that it runs, and that {argument(layout.argument, '…')} names it."
        ) from error


def connect(address: str, *, autocommit: bool) -> "Connection[tuple[Any, ...]]":
    """A connection to PostgreSQL.

    Raises:
        InputError: The address cannot be read.
        psycopg.Error: The database cannot be reached.
    """
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    if not is_readable(address):
        raise unreadable(address)
    try:
        conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        # Its words may have the password in them.
        raise unreadable(address) from None
    return psycopg.connect(address, autocommit=autocommit, connect_timeout=10)


def check_version(run: Sql, name: str, layout: DatabaseLayout) -> bool:
    """Whether the tables are there; asked where that of the version is.

    Raises:
        InputError: They are of another version.
    """
    versions = [version for (version,) in run(f"SELECT version FROM {layout.version_table}")]
    if versions not in ([], [layout.version]):
        raise InputError(
            f"{name}: its {layout.holds} are of version {versions[0]}, expected {layout.version}."
        )
    return bool(versions)


class PostgresDatabase:
    """A database in PostgreSQL. A connection that broke is opened again for the next transaction.

    Args:
        address: ``postgresql://USER@HOST/DATABASE``.
        layout: What it holds.

    Raises:
        InputError: It cannot be reached, or its tables are others.
        MissingDependency: The extra ``postgres`` is not installed.
    """

    def __init__(self, address: str, layout: DatabaseLayout) -> None:
        self._writer, self._reader = _PostgresLine(address), _PostgresLine(address, reads=True)
        self._layout = layout
        self.name = without_password(address)
        with self.transaction() as run:
            self._create(run)

    @contextmanager
    def transaction(self) -> Iterator[Sql]:
        with self._within(self._writer) as run:
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
                int(run("SELECT pg_total_relation_size(CAST(? AS regclass))", one)[0][0])
                for one in tables
            )

    def compact(self) -> None:
        line = self._writer
        with line.lock, postgres_in_words(self.name, self._layout, self._broken):
            for one in self._tables():
                line.open().execute(f"VACUUM {one}")

    def _tables(self) -> list[str]:
        return [found[1] for one in self._layout.tables if (found := _CREATES.match(one))]

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
        """Make the tables if there are none.

        Raises:
            InputError: There are tables of another version.
        """
        table = self._layout.version_table
        run(f"CREATE TABLE IF NOT EXISTS {table} (version INTEGER NOT NULL)")
        if not check_version(run, self.name, self._layout):
            for one in self._layout.in_postgres:
                run(one)
            run(f"INSERT INTO {table} VALUES (?)", self._layout.version)


class _PostgresLine:
    """A connection to PostgreSQL that is opened when it is needed, one user at a time.

    Args:
        address: Of the database.
        reads: Whether it only reads, what there is at the moment when a transaction begins.
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
