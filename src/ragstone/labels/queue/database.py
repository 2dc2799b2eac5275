"""Database: where labels are kept: a SQLite file beside the runs, or PostgreSQL for teams.

Both are spoken to in the same SQL, one transaction at a time, so that no item is given out twice. A
transaction is on disk before it is confirmed.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

from ragstone.argument import argument
from ragstone.errors import InputError, LabelsAway, MissingDependency
from ragstone.sqlite import SqliteLayout, explained, is_damaged, open_file, storable

from .address import FILE, POSTGRES, is_readable, unreadable, without_password

if TYPE_CHECKING:
    from psycopg import Connection

TABLES = (
    "CREATE TABLE queues (queue TEXT PRIMARY KEY, at TEXT NOT NULL, form TEXT NOT NULL)",
    "CREATE TABLE items (queue TEXT NOT NULL, item INTEGER NOT NULL, id TEXT NOT NULL, "
    "question TEXT NOT NULL, shown TEXT NOT NULL, hidden TEXT NOT NULL, parts TEXT NOT NULL, "
    "probability DOUBLE PRECISION, people INTEGER NOT NULL, doubt DOUBLE PRECISION, "
    "place DOUBLE PRECISION NOT NULL, weight DOUBLE PRECISION NOT NULL, "
    "passed DOUBLE PRECISION NOT NULL, earlier INTEGER NOT NULL, "
    "wanted INTEGER NOT NULL, taken INTEGER NOT NULL, PRIMARY KEY (queue, item))",
    "CREATE INDEX open_items ON items (queue, place, item) WHERE taken < wanted",
    "CREATE TABLE people (queue TEXT NOT NULL, person TEXT NOT NULL, role TEXT NOT NULL, "
    "token TEXT NOT NULL UNIQUE, at TEXT NOT NULL, revoked TEXT, PRIMARY KEY (queue, person))",
    "CREATE TABLE turns (queue TEXT NOT NULL, person TEXT NOT NULL, item INTEGER NOT NULL, "
    "state TEXT NOT NULL, until DOUBLE PRECISION NOT NULL, PRIMARY KEY (queue, person, item))",
    "CREATE INDEX turns_of ON turns (queue, item)",
    "CREATE INDEX turns_given ON turns (queue, until) WHERE state = 'given'",
    "CREATE TABLE said (number {serial}, queue TEXT NOT NULL, person TEXT NOT NULL, "
    "item INTEGER NOT NULL, at TEXT NOT NULL, once TEXT NOT NULL, answers TEXT NOT NULL, "
    "UNIQUE (queue, person, once))",
    "CREATE INDEX said_of ON said (queue, item, person)",
    "CREATE TABLE decided (number {serial}, queue TEXT NOT NULL, person TEXT NOT NULL, "
    "item INTEGER NOT NULL, at TEXT NOT NULL, once TEXT NOT NULL, answers TEXT NOT NULL, "
    "UNIQUE (queue, person, once))",
    "CREATE INDEX decided_of ON decided (queue, item, person)",
    "CREATE TABLE tagged (queue TEXT NOT NULL, item INTEGER NOT NULL, tag TEXT NOT NULL, "
    "PRIMARY KEY (queue, item, tag))",
    "CREATE TABLE events (number {serial}, queue TEXT NOT NULL, at TEXT NOT NULL, "
    "person TEXT NOT NULL, what TEXT NOT NULL, about TEXT NOT NULL)",
)
"""``said``, and ``decided`` by adjudicators, only grow: what somebody changes or takes back stays
beside what they said first.

Of an item, ``question`` is a word for its question, ``people`` is how many label it once it is
among those that are given out, ``wanted`` how many do now, ``taken`` how many have it or said
something. ``passed`` is the probability that it was not labelled in an earlier phase of the
routing, ``earlier`` whether it was given out in one.
"""

LAYOUT = SqliteLayout(
    owner=0x52616C62,
    version=1,
    tables=tuple(one.format(serial="INTEGER PRIMARY KEY") for one in TABLES),
    synchronous="FULL",
)
VERSION = 1
TURN = 0x52616C62
"""The advisory lock that a writing transaction holds in PostgreSQL."""

Run = Callable[..., list[tuple[Any, ...]]]
"""Runs a statement with ``?`` for each value, and returns its rows."""


class LabelDatabase(Protocol):
    """What keeps the labels."""

    name: str

    def transaction(self) -> AbstractContextManager[Run]:
        """All of what runs in it happens, or none; nobody else writes meanwhile.

        Raises:
            InputError: The database cannot be used.
        """

    def reading(self) -> AbstractContextManager[Run]:
        """What was confirmed, as it is at one moment; it waits for nobody who writes.

        Raises:
            InputError: The database cannot be used.
        """

    def close(self) -> None:
        """Let go of the connections."""


def open_labels(place: str | Path) -> LabelDatabase:
    """The labels in a folder, a file, or at an address ``postgresql://…``; created where missing.

    Raises:
        InputError: It cannot be opened, or is no store of labels.
        MissingDependency: The extra ``postgres`` is not installed.
    """
    if str(place).startswith(POSTGRES):
        return PostgresLabels(str(place))
    path = Path(place)
    return SqliteLabels(path / FILE if path.is_dir() else path)


class SqliteLabels:
    """Labels in a file.

    Args:
        file: Created, readable by this user alone, if it does not exist.

    Raises:
        InputError: It cannot be opened, or is no store of labels.
    """

    def __init__(self, file: Path) -> None:
        self.name = str(file)
        self._file = file
        self._writes, self._reads = RLock(), RLock()
        self._writer, self._reader = self._opened(), self._opened()

    @contextmanager
    def transaction(self) -> Iterator[Run]:
        with self._writes, self._within(self._writer, "BEGIN IMMEDIATE") as run:
            yield run

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._reads, self._within(self._reader, "BEGIN") as run:
            yield run

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def _opened(self) -> sqlite3.Connection:
        try:
            return open_file(self._file, LAYOUT)
        except sqlite3.Error as error:
            raise sqlite_fault(error, self._file) from error

    @contextmanager
    def _within(self, connection: sqlite3.Connection, begin: str) -> Iterator[Run]:
        """A transaction, which is on disk when it ends, or undone if that is by an error."""

        def run(statement: str, *values: object) -> list[tuple[Any, ...]]:
            return connection.execute(statement, storable(values)).fetchall()

        try:
            connection.execute(begin)
            try:
                yield run
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise sqlite_fault(error, self._file) from error


def sqlite_fault(error: sqlite3.Error, file: Path) -> InputError:
    """What is wrong with a file of labels, in words."""
    if not is_damaged(error):
        return LabelsAway(*explained(error, file).args)
    return InputError(
        f"{file}: it is damaged, or no file of Ragstone's ({error}). It holds what "
        "people labelled, which nothing else does: bring back a copy."
    )


@contextmanager
def postgres_in_words(name: str, failed: Callable[[], None]) -> Iterator[None]:
    """Say in words what PostgreSQL says of a database of labels.

    Args:
        name: Of the database, without a password.
        failed: What is done then.

    Raises:
        LabelsAway: PostgreSQL raised an error.
        MissingDependency: The extra ``postgres`` is not installed.
    """
    try:
        import psycopg
    except ModuleNotFoundError as error:
        raise MissingDependency("Labels in PostgreSQL", "postgres") from error
    try:
        yield
    except psycopg.Error as error:
        failed()
        words = " ".join(str(error).split())
        raise LabelsAway(
            f"{name}: the database of labels cannot be used ({words}). What was confirmed is kept; "
            f"see that it runs, and that {argument('labels', '…')} names it."
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


def postgres_rows(
    connection: "Connection[tuple[Any, ...]]", statement: str, *values: object
) -> list[tuple[Any, ...]]:
    """Run a statement with ``?`` for each value in PostgreSQL."""
    found = connection.execute(statement.replace("?", "%s"), values)
    return found.fetchall() if found.description else []


def check_version(run: Run, name: str) -> bool:
    """Whether the tables of labels are there; asked where ``ragstone_labels`` is.

    Raises:
        InputError: They are of another version.
    """
    versions = [version for (version,) in run("SELECT version FROM ragstone_labels")]
    if versions not in ([], [VERSION]):
        raise InputError(f"{name}: its labels are of version {versions[0]}, expected {VERSION}.")
    return bool(versions)


class PostgresLabels:
    """Labels in PostgreSQL. A connection that broke is opened again for the next transaction.

    Args:
        address: ``postgresql://USER@HOST/DATABASE``.

    Raises:
        InputError: It cannot be reached, or its tables are others.
        MissingDependency: The extra ``postgres`` is not installed.
    """

    def __init__(self, address: str) -> None:
        self._writer, self._reader = _PostgresLine(address), _PostgresLine(address, reads=True)
        self.name = without_password(address)
        with self.transaction() as run:
            _create(run, self.name)

    @contextmanager
    def transaction(self) -> Iterator[Run]:
        with self._within(self._writer) as run:
            run("SELECT pg_advisory_xact_lock(?)", TURN)
            yield run

    @contextmanager
    def reading(self) -> Iterator[Run]:
        with self._within(self._reader) as run:
            yield run

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    @contextmanager
    def _within(self, line: "_PostgresLine") -> Iterator[Run]:
        with line.lock, postgres_in_words(self.name, self._broken):
            connection = line.open()
            with connection.transaction():
                yield lambda statement, *values: postgres_rows(connection, statement, *values)

    def _broken(self) -> None:
        """Open both anew: a server that went away took all connections with it."""
        self._writer.is_broken = self._reader.is_broken = True


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


def _create(run: Run, name: str) -> None:
    """Make the tables if there are none.

    Raises:
        InputError: There are tables of another version.
    """
    run("CREATE TABLE IF NOT EXISTS ragstone_labels (version INTEGER NOT NULL)")
    if not check_version(run, name):
        serial = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
        for one in TABLES:
            run(one.format(serial=serial))
        run("INSERT INTO ragstone_labels VALUES (?)", VERSION)
