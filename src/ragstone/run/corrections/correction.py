"""Correction: a person's word over a judgement, the units it can be about, and its store.

Claims, statements, references and ranks count from 1, as ``ragstone show`` numbers them.

``RUN/overrules.sqlite`` only grows. Every entry is on disk before it is confirmed, and is
written only if the file is as its author saw it, so two people never overwrite each other.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.files import RunEntry
from ragstone.core.messages import Renamed
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
from ragstone.judgements import ASKS, REQUIREMENTS, UNDEFINED, Ask, Kind, Tables, View, kind_of
from ragstone.judges import fingerprint
from ragstone.judges.judge import PERSON

Row = Mapping[str, Any]

# What is said of a claim, or of anything else that a judge extracts: its wording, or that it goes.
# Neither is a verdict.
TEXT, DROPPED = "text", "dropped"


@dataclass(frozen=True, slots=True)
class Undone:
    """Author, time and reason of a correction's withdrawal."""

    author: str
    at: str
    reason: str


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction of one judgement by a person.

    Attributes:
        number: Counts the corrections of the run, from 1.
        example: The id of the example in which it was made.
        ask: What was asked, such as ``support/claim``.
        unit: What it is about as people name it, such as ``3``; None for the answer.
        author: Who corrected.
        reason: Why.
        at: When, in UTC.
        judge: Who had judged; None if nobody had.
        was: What was said before, by column; empty if nothing was.
        said: What the person says, by column.
        subject: The fingerprint of what was judged. Answers that share it share the judgement.
        key: The columns that identify the unit in the kind's table.
        about: The wording that the verdict is about, where it is about a claim or statement.
        again: For a new wording, by example and ask: the rows that the judges gave to it.
        undone: Who took it back; None if it stands.
    """

    number: int
    example: str
    ask: str
    unit: str | None
    author: str
    reason: str
    at: str
    judge: str | None
    was: Row
    said: Row
    subject: str
    key: Row
    about: str | None = None
    again: Mapping[str, Mapping[str, list[Row]]] = field(default_factory=dict)
    undone: Undone | None = None

    @property
    def kind(self) -> str:
        return ASKS[self.ask].kind

    @property
    def person(self) -> str:
        """The name of the judge in the corrected rows. A comma would make it that of a panel."""
        return PERSON + " ".join(self.author.replace(",", " ").split())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without what only the run needs."""
        inner = ("subject", "key", "again")
        return {
            **{name: value for name, value in asdict(self).items() if name not in inner},
            "kind": self.kind,
        }


@dataclass(frozen=True, slots=True)
class CorrectionResult:
    """The result of a correction, or of its withdrawal.

    Attributes:
        correction: The correction.
        examples: The ids of the examples that it changes: all that share the judgement.
        version: The version of the judgement now, to be given as ``seen`` by whoever saw this.
        unasked: Of a new wording, why a judge gave no verdict on it, by ask.
    """

    correction: Correction
    examples: tuple[str, ...]
    version: str
    unasked: Mapping[str, str] = field(default_factory=dict)

    overrule = Renamed("correction")

    def to_dict(self) -> dict[str, Any]:
        about = {"examples": list(self.examples), "version": self.version}
        return {**self.correction.to_dict(), **about, "unasked": dict(self.unasked)}


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judgement of one example that a person may correct.

    Attributes:
        ask: What was asked, such as ``support/claim``.
        unit: What it is about as people name it; None for the answer.
        values: What is said of it, by column; empty if no judge said anything.
        judge: Who said so; None if nobody did.
        version: Given as ``seen``, so that nobody corrects what they have not seen.
        examples: The ids of the examples that share the judgement.
        correction: The latest correction that stands; None if the judge's word does.
    """

    ask: str
    unit: str | None
    values: Row
    judge: str | None
    version: str
    examples: tuple[str, ...]
    correction: Correction | None = None

    overrule = Renamed("correction")

    @property
    def kind(self) -> str:
        return ASKS[self.ask].kind


# Judges whose answers people can correct, unlike what is counted or computed.
BY_JUDGES = frozenset({"local", "people", "model"})


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """One thing that an ask is about in an example, with the rows that count for it.

    Attributes:
        name: As people name it; None for the answer itself.
        rows: What is said of it: several rows only if a judge voted on it several times.
        about: The wording of a claim or statement; None for everything else.
        also: Other names that people may use, such as the id of a context.
    """

    ask: str
    name: str | None
    key: Row
    rows: tuple[Row, ...]
    subject: str
    about: str | None
    also: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """The unit as it is written: ``support/claim#3``."""
        return self.ask if self.name is None else f"{self.ask}#{self.name}"

    @property
    def row(self) -> Row | None:
        return self.rows[0] if self.rows else None

    @property
    def version(self) -> str:
        """A short fingerprint of the judgement and its judge."""
        rows = [sorted((name, repr(value)) for name, value in row.items()) for row in self.rows]
        return fingerprint(self.ask, self.subject, sorted(self.key.items()), rows)[:16]


# The key of a unit, its wording, and its other names.
Viewed = tuple[dict[str, Any], str | None, tuple[str, ...]]


def judgement_of(judged: JudgedUnit | Correction) -> tuple[str, str, str]:
    """Return what identifies a judgement, whoever made it."""
    return judged.ask, judged.subject, repr(sorted(judged.key.items()))


def correctable(ask: Ask) -> bool:
    """Return whether judges, rather than arithmetic, answer the ask."""
    return not BY_JUDGES.isdisjoint(ask.by)


def has_what_it_takes(tables: Tables, ask: str, row: int) -> bool:
    """Return whether an example has what the ask requires; without it there is nothing to judge."""
    holds = (REQUIREMENTS[name].holds for name in ASKS[ask].requires)
    example = tables.examples.slice(row, 1)
    return bool(example.select(pl.all_horizontal(pl.lit(value=True), *holds)).item())


def key_columns(kind: type[Kind]) -> list[str]:
    """The columns that identify a unit, whatever the number of votes on it."""
    return kind.having("unit", "topic")


def units(tables: Tables, ledger: pl.DataFrame, asks: Sequence[Ask]) -> list[JudgedUnit]:
    """The units of asks about a single example."""
    return [
        unit
        for ask in asks
        if correctable(ask)
        and ask.name in tables.status
        and has_what_it_takes(tables, ask.name, 0)
        and tables.outcome(ask.name)["status"][0] != UNDEFINED
        for unit in _of_ask(tables, ledger, ask)
    ]


def _of_ask(tables: Tables, ledger: pl.DataFrame, ask: Ask) -> Iterator[JudgedUnit]:
    kind = kind_of(ask.name)
    if kind.key is None:
        return
    by_key: dict[tuple[Any, ...], list[Row]] = {}
    columns = key_columns(kind)
    for row in tables.of(ask.name).drop("row").to_dicts():
        by_key.setdefault(tuple(row[name] for name in columns), []).append(row)
    several = by_reference(ask) and tables.examples["reference"].list.len()[0] > 1
    viewed: list[Viewed] = [(dict(zip(columns, key, strict=True)), None, ()) for key in by_key]
    if ask.over is not None:
        viewed = list(_viewed(tables, ask.over, ask.origin, columns))
    subjects = ledger.filter(pl.col("ask") == ask.name)["subject"]
    nobody = subjects[0] if len(subjects) else fingerprint("overruled", tables.examples["id"][0])
    for key, about, also in viewed:
        rows = tuple(by_key.get(tuple(key[name] for name in columns), ()))
        subject = str(rows[0]["subject"]) if rows else nobody
        text = rows[0][TEXT] if kind.made and rows and TEXT in rows[0] else about
        yield JudgedUnit(ask.name, unit_name(key, several=several), key, rows, subject, text, also)


def _viewed(
    tables: Tables, over: type[View], origin: str | None, columns: Sequence[str]
) -> Iterator[Viewed]:
    makers = [row for maker in over.made_by for row in tables.of(maker).to_dicts()]
    more = [name for name in ("context",) if name in over.columns]
    for unit in over.frame(tables, more).to_dicts():
        maker = next(
            (row for row in makers if all(row[name] == unit[name] for name in over.keys
                                        if name in row)),
            None,
        )  # fmt: skip
        values = {
            "origin": origin,
            "author": "data" if maker is None else maker["judge"],
            "reference": 0,
            **{name: unit[name] for name in over.keys},
        }
        about = None if maker is None else maker.get(TEXT)
        also = (str(unit["context"]),) if "context" in unit else ()
        yield {name: values[name] for name in columns}, about, also


def by_reference(ask: Ask) -> bool:
    """Return whether each unit belongs to one reference, or is compared with each."""
    return "reference" in (key_columns(kind_of(ask.name)) if ask.over is None else ask.over.keys)


def unit_name(key: Mapping[str, Any], *, several: bool) -> str | None:
    """Return a unit's name; ``2.3`` is the third of the second reference, if it has several."""
    numbers = [int(key["reference"]) + 1] if several and "reference" in key else []
    if "index" in key:
        numbers.append(int(key["index"]) + 1)
    elif "rank" in key:
        numbers.append(int(key["rank"]))
    elif "reference" in key:
        numbers = [int(key["reference"]) + 1]
    numbering = ("origin", "author", "reference", "index", "rank")
    rest = [str(value) for name, value in key.items() if name not in numbering]
    words = [*rest, ".".join(map(str, numbers))] if numbers else rest
    return " ".join(words) or None


T = TypeVar("T")


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

# Number of corrections and of those taken back: the state of a file that grows.
Stamp = tuple[int, int]

NOTHING: Stamp = (0, 0)


@dataclass(frozen=True, slots=True)
class Store:
    """The corrections of a run."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / RunEntry.CORRECTIONS

    def stamp(self) -> Stamp:
        """The state of the file."""
        return self._read(_stamp, NOTHING)

    def read(self) -> tuple[Stamp, tuple[Correction, ...]]:
        """The state of the file, and every correction, the oldest first."""
        nothing: tuple[Stamp, tuple[Correction, ...]] = NOTHING, ()
        return self._read(_all, nothing)

    def add(self, seen: Stamp, correction: Correction) -> bool:
        """Add a correction; False if the file has grown since it was in this state."""
        values = {name: getattr(correction, name) for name in COLUMNS}
        for name in OBJECTS:
            values[name] = json.dumps(values[name], ensure_ascii=False)
        places = ", ".join("?" * len(COLUMNS))
        statement = f"INSERT INTO overrules ({', '.join(COLUMNS)}) VALUES ({places})"
        return self._write(seen, statement, tuple(values.values()))

    def undo(self, seen: Stamp, number: int, by: Undone) -> bool:
        """Note that a correction was taken back; False if the file has grown since then."""
        statement = "INSERT INTO undone (number, at, author, reason) VALUES (?, ?, ?, ?)"
        return self._write(seen, statement, (number, by.at, by.author, by.reason))

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
                f"{self.file}: a correction is kept there, and it cannot be written "
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
            "corrected, which is stored nowhere else: bring back a copy, or move it away, and the "
            "run is as its judges left it."
        )


def _stamp(connection: sqlite3.Connection) -> Stamp:
    query = "SELECT (SELECT count(*) FROM overrules), (SELECT count(*) FROM undone)"
    ((corrections, undone),) = connection.execute(query)
    return as_whole(corrections), as_whole(undone)


def _all(connection: sqlite3.Connection) -> tuple[Stamp, tuple[Correction, ...]]:
    connection.execute("BEGIN")
    state = _stamp(connection)
    withdrawals = connection.execute("SELECT number, author, at, reason FROM undone")
    undone = {as_whole(number): Undone(*map(as_text, about)) for number, *about in withdrawals}
    rows = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM overrules ORDER BY number")
    return state, tuple(_read_correction(row, undone) for row in rows)


def _read_correction(row: Sequence[object], undone: dict[int, Undone]) -> Correction:
    values: dict[str, Any] = {}
    for name, value in zip(COLUMNS, row, strict=True):
        if name == "number":
            values[name] = as_whole(value)
        elif name in OBJECTS:
            values[name] = _object(as_text(value))
        else:
            values[name] = None if value is None and name in OPTIONAL else as_text(value)
    return Correction(**values, undone=undone.get(values["number"]))


def _object(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged("no JSON where an object belongs") from error
    if not isinstance(content, dict):
        raise damaged(f"{type(content).__name__} where an object belongs")
    return content
