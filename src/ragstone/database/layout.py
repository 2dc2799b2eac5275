"""Layout: what a database holds, and what is said where it cannot be used."""

from dataclasses import dataclass

from ragstone.sqlite import SqliteLayout

from .reaction import Reaction


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
