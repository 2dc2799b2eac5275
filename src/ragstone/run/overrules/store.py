"""Store: ``RUN/overrules.sqlite``, which only grows: overrules, and those taken back.

Every entry is on disk before it is confirmed. An entry is written only if the file is as its author
saw it, so two people at once never overwrite each other.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ragstone.core.errors import InputError
from ragstone.core.files import RunEntry
from ragstone.core.sqlite import (
    UNREADABLE,
    SqliteLayout,
    as_text,
    as_whole,
    damaged,
    explained,
    is_damaged,
    is_empty,
    open_file,
    open_to_read,
    storable,
)

from .overrule import Overrule, Undone

T = TypeVar("T")

FILE = RunEntry.OVERRULES

LAYOUT = SqliteLayout(
    owner=0x52616F76,
    version=1,
    tables=(
        "CREATE TABLE overrules (number INTEGER PRIMARY KEY, at TEXT NOT NULL, "
        "author TEXT NOT NULL, reason TEXT NOT NULL, example TEXT NOT NULL, ask TEXT NOT NULL, "
        "unit TEXT, subject TEXT NOT NULL, key TEXT NOT NULL, about TEXT, judge TEXT, "
        "was TEXT NOT NULL, said TEXT NOT NULL, again TEXT NOT NULL)",
        "CREATE TABLE undone (number INTEGER PRIMARY KEY REFERENCES overrules, "
        "at TEXT NOT NULL, author TEXT NOT NULL, reason TEXT NOT NULL)",
    ),
    synchronous="FULL",
)
COLUMNS = (
    "number", "at", "author", "reason", "example", "ask", "unit", "subject", "key", "about",
    "judge", "was", "said", "again",
)  # fmt: skip
OBJECTS = ("key", "was", "said", "again")
OPTIONAL = ("unit", "about", "judge")

Stamp = tuple[int, int]
"""How many overrules there are, and how many were taken back: the state of a file that grows."""

NOTHING: Stamp = (0, 0)


@dataclass(frozen=True, slots=True)
class Store:
    """The overrules of a run.

    Args:
        folder: Of the run.
    """

    folder: Path

    @property
    def file(self) -> Path:
        """Where they are kept."""
        return self.folder / FILE

    def stamp(self) -> Stamp:
        """The state of the file.

        Raises:
            InputError: The file is damaged, or not ours.
        """
        return self._read(_stamp, NOTHING)

    def read(self) -> tuple[Stamp, tuple[Overrule, ...]]:
        """The state of the file, and every overrule, the oldest first.

        Raises:
            InputError: The file is damaged, or not ours.
        """
        nothing: tuple[Stamp, tuple[Overrule, ...]] = NOTHING, ()
        return self._read(_all, nothing)

    def add(self, seen: Stamp, one: Overrule) -> bool:
        """Add an overrule; False if the file has grown since it was in this state.

        Raises:
            InputError: It cannot be written, or is damaged.
        """
        values = {name: getattr(one, name) for name in COLUMNS}
        for name in OBJECTS:
            values[name] = json.dumps(values[name], ensure_ascii=False)
        places = ", ".join("?" * len(COLUMNS))
        return self._write(
            seen,
            f"INSERT INTO overrules ({', '.join(COLUMNS)}) VALUES ({places})",
            tuple(values.values()),
        )

    def undo(self, seen: Stamp, number: int, by: Undone) -> bool:
        """Note that an overrule was taken back; False if the file has grown since then.

        Raises:
            InputError: It cannot be written, or is damaged.
        """
        return self._write(
            seen,
            "INSERT INTO undone (number, at, author, reason) VALUES (?, ?, ?, ?)",
            (number, by.at, by.author, by.reason),
        )

    def _write(self, seen: Stamp, statement: str, values: Sequence[Any]) -> bool:
        try:
            with closing(open_file(self.file, LAYOUT)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                grown = _stamp(connection) != seen
                if not grown:
                    connection.execute(statement, storable(tuple(values)))
                connection.execute("COMMIT")
                return not grown
        except UNREADABLE as error:
            raise self._fault(error) from error
        except OSError as error:
            raise InputError(
                f"{self.file}: an overrule is kept there, and it cannot be written "
                f"({error.strerror or error}). Make the folder writable, or copy the run."
            ) from error

    def _read(self, what: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        if not self.file.exists():
            return nothing
        try:
            with closing(open_to_read(self.file, LAYOUT)) as connection:
                return what(connection)
        except UNREADABLE as error:
            # Its first writer was stopped before it wrote anything.
            if is_empty(error):
                return nothing
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> InputError:
        if not is_damaged(error):
            return explained(error, self.file)
        return InputError(
            f"{self.file}: it is damaged, or no file of Ragstone's ({error}). It holds what people "
            "overruled, which nothing else does: bring back a copy, or move it away, and the run "
            "is as its judges left it."
        )


def _stamp(connection: sqlite3.Connection) -> Stamp:
    query = "SELECT (SELECT count(*) FROM overrules), (SELECT count(*) FROM undone)"
    ((overrules, undone),) = connection.execute(query)
    return as_whole(overrules), as_whole(undone)


def _all(connection: sqlite3.Connection) -> tuple[Stamp, tuple[Overrule, ...]]:
    connection.execute("BEGIN")
    there = _stamp(connection)
    undone = {
        as_whole(number): Undone(as_text(author), as_text(at), as_text(reason))
        for number, author, at, reason in connection.execute(
            "SELECT number, author, at, reason FROM undone"
        )
    }
    rows = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM overrules ORDER BY number")
    return there, tuple(_overrule(row, undone) for row in rows)


def _overrule(row: Sequence[object], undone: dict[int, Undone]) -> Overrule:
    values: dict[str, Any] = {}
    for name, value in zip(COLUMNS, row, strict=True):
        if name == "number":
            values[name] = as_whole(value)
        elif name in OBJECTS:
            values[name] = _object(as_text(value))
        else:
            values[name] = None if value is None and name in OPTIONAL else as_text(value)
    return Overrule(**values, undone=undone.get(values["number"]))


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged("no JSON where an object belongs") from error
    if not isinstance(found, dict):
        raise damaged(f"{type(found).__name__} where an object belongs")
    return found
