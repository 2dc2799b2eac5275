"""Reaction: what a database does by itself when a row changes, whoever changes it."""

from dataclasses import dataclass
from typing import Literal


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
