"""Store layout: the tables and triggers of a store, and the steps from each version to the next.

The same layout makes a SQLite file and tables in PostgreSQL. Whoever opens a store of an earlier
version to write takes it to this one in one transaction. To change a table:

1. change it in the layout, with a new column behind the others;
2. give the layout the next version, which says from which release on stores have it;
3. add the statements that lead from the last version to it, as a step of the layout;
4. keep the new layout for the tests: ``tests/core/layouts``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .sqlite import SqliteLayout, steps_from


@dataclass(frozen=True, slots=True)
class Reaction:
    """A trigger: after ``event`` on a row of ``table``, run the statement ``does``.

    In the statement, the row is ``NEW``, and as it was, ``OLD``.
    """

    name: str
    table: str
    event: Literal["INSERT", "UPDATE", "DELETE"]
    does: str

    @property
    def in_sqlite(self) -> tuple[str, ...]:
        return (
            f"CREATE TRIGGER {self.name} AFTER {self.event} ON {self.table} BEGIN {self.does}; END",
        )

    @property
    def in_postgres(self) -> tuple[str, ...]:
        return (
            f"CREATE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {self.does}; RETURN NULL; END $$",
            f"CREATE TRIGGER {self.name} AFTER {self.event} ON {self.table} "
            f"FOR EACH ROW EXECUTE FUNCTION {self.name}()",
        )


@dataclass(frozen=True, slots=True)
class DatabaseLayout:
    """The layout of a database.

    Args:
        holds: Its content in a word or two, such as ``labels``.
        irreplaceable: What would be lost with it, as the end of a sentence.
        argument: The name of the argument for its place.
        owner: The ``application_id`` in SQLite, and the advisory lock of writers in PostgreSQL.
        version: Of the tables, numbered as for ``SqliteLayout``.
        tables: The statements that create them, with ``{serial}`` for a primary key that counts
            up and ``{blob}`` for bytes.
        steps: As for ``SqliteLayout``, in the SQL that both databases speak.
    """

    holds: str
    irreplaceable: str
    argument: str
    owner: int
    version: int
    tables: tuple[str, ...]
    reactions: tuple[Reaction, ...] = ()
    steps: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def in_sqlite(self) -> SqliteLayout:
        """The layout of the file; every commit survives a power cut."""
        return SqliteLayout(
            self.owner,
            self.version,
            _in_sqlite(self.tables)
            + tuple(statement for reaction in self.reactions for statement in reaction.in_sqlite),
            "FULL",
            steps={start: _in_sqlite(step) for start, step in self.steps.items()},
        )

    @property
    def in_postgres(self) -> tuple[str, ...]:
        return _in_postgres(self.tables) + self.reactions_in_postgres

    def steps_in_postgres(self, version: int) -> tuple[str, ...]:
        """Return the statements that take tables without triggers from a version to this one."""
        return _in_postgres(steps_from(self.steps, version)) + self.reactions_in_postgres

    @property
    def reactions_in_postgres(self) -> tuple[str, ...]:
        return tuple(statement for reaction in self.reactions for statement in reaction.in_postgres)

    @property
    def version_table(self) -> str:
        """The table in PostgreSQL that holds the version alone."""
        return f"ragstone_{self.holds}"


def _in_sqlite(statements: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        statement.format(serial="INTEGER PRIMARY KEY", blob="BLOB") for statement in statements
    )


def _in_postgres(statements: Iterable[str]) -> tuple[str, ...]:
    serial = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    return tuple(statement.format(serial=serial, blob="BYTEA") for statement in statements)
