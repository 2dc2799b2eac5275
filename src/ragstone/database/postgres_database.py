"""PostgreSQL database: a server that several machines share."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any

from ragstone.argument import argument
from ragstone.errors import InputError, MissingDependency, StoreAway

from .database import Sql
from .layout import DatabaseLayout
from .postgres_address import is_readable, unreadable, without_password

if TYPE_CHECKING:
    from psycopg import Connection

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
