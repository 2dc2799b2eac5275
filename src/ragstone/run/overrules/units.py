"""Units: what of an example can be overruled, and how people name it.

Claims, statements, references and ranks count from 1, as ``ragstone show`` numbers them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ragstone.judgements import ASKS, REQUIREMENTS, UNDEFINED, Ask, Kind, Tables, View, kind_of
from ragstone.judges import fingerprint

from .overrule import TEXT, Overrule, Row

BY_JUDGES = frozenset({"local", "people", "model"})
"""Who can answer what people can overrule. What is counted or computed they cannot."""


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """One thing that an ask is about in an example, with the rows that count for it.

    Attributes:
        ask: The ask.
        name: As people name it; None for the answer itself.
        key: The columns that identify it, without the votes.
        rows: What is said of it: several rows only if a judge voted on it several times.
        subject: The fingerprint of what was judged.
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
        """What is said of it; None if nothing is."""
        return self.rows[0] if self.rows else None

    @property
    def version(self) -> str:
        """What it is said to be by whom, in short: another judgement has another version."""
        rows = [sorted((name, repr(value)) for name, value in row.items()) for row in self.rows]
        return fingerprint(self.ask, self.subject, sorted(self.key.items()), rows)[:16]


Viewed = tuple[dict[str, Any], str | None, tuple[str, ...]]
"""The key of a unit, its wording, and its other names."""


def judgement_of(one: JudgedUnit | Overrule) -> tuple[str, str, str]:
    """What identifies a judgement, whoever made it."""
    return one.ask, one.subject, repr(sorted(one.key.items()))


def can_be_overruled(ask: Ask) -> bool:
    """Whether judges, rather than arithmetic, answer it."""
    return not BY_JUDGES.isdisjoint(ask.by)


def has_what_it_takes(tables: Tables, ask: str, row: int) -> bool:
    """Whether an example has what the ask requires; without it there is nothing to judge."""
    holds = (REQUIREMENTS[name].holds for name in ASKS[ask].requires)
    one = tables.examples.slice(row, 1)
    return bool(one.select(pl.all_horizontal(pl.lit(value=True), *holds)).item())


def key_columns(kind: type[Kind]) -> list[str]:
    """The columns that identify a unit, whatever the number of votes on it."""
    return kind.having("unit", "topic")


def units(tables: Tables, ledger: pl.DataFrame, asks: Sequence[Ask]) -> list[JudgedUnit]:
    """The units of asks about a single example.

    Args:
        tables: Of that example alone.
        ledger: How its asks came out.
        asks: Those that are meant.
    """
    return [
        unit
        for ask in asks
        if can_be_overruled(ask)
        and ask.name in tables.status
        and has_what_it_takes(tables, ask.name, 0)
        and tables.outcome(ask.name)["status"][0] != UNDEFINED
        for unit in _of_ask(tables, ledger, ask)
    ]


def _of_ask(tables: Tables, ledger: pl.DataFrame, ask: Ask) -> Iterator[JudgedUnit]:
    kind = kind_of(ask.name)
    if kind.key is None:
        return
    said: dict[tuple[Any, ...], list[Row]] = {}
    columns = key_columns(kind)
    for row in tables.of(ask.name).drop("row").to_dicts():
        said.setdefault(tuple(row[name] for name in columns), []).append(row)
    several = by_reference(ask) and tables.examples["reference"].list.len()[0] > 1
    found: list[Viewed] = [(dict(zip(columns, one, strict=True)), None, ()) for one in said]
    if ask.over is not None:
        found = list(_viewed(tables, ask.over, ask.origin, columns))
    asked = ledger.filter(pl.col("ask") == ask.name)["subject"]
    nobody = asked[0] if len(asked) else fingerprint("overruled", tables.examples["id"][0])
    for key, about, also in found:
        rows = tuple(said.get(tuple(key[name] for name in columns), ()))
        subject = str(rows[0]["subject"]) if rows else nobody
        text = rows[0][TEXT] if kind.made and rows and TEXT in rows[0] else about
        yield JudgedUnit(ask.name, unit_name(key, several=several), key, rows, subject, text, also)


def _viewed(
    tables: Tables, over: type[View], origin: str | None, columns: Sequence[str]
) -> Iterator[Viewed]:
    made = [row for maker in over.made_by for row in tables.of(maker).to_dicts()]
    wanted = [name for name in ("context",) if name in over.columns]
    for unit in over.frame(tables, wanted).to_dicts():
        maker = next(
            (row for row in made if all(row[name] == unit[name] for name in over.keys
                                        if name in row)),
            None,
        )  # fmt: skip
        given = {
            "origin": origin,
            "author": "data" if maker is None else maker["judge"],
            "reference": 0,
            **{name: unit[name] for name in over.keys},
        }
        about = None if maker is None else maker.get(TEXT)
        also = (str(unit["context"]),) if "context" in unit else ()
        yield {name: given[name] for name in columns}, about, also


def by_reference(ask: Ask) -> bool:
    """Whether the units are of one reference each, or are compared with each."""
    return "reference" in (key_columns(kind_of(ask.name)) if ask.over is None else ask.over.keys)


def unit_name(key: Mapping[str, Any], *, several: bool) -> str | None:
    """How people name a unit; ``2.3`` is the third of the second reference, if it has several."""
    numbers = [int(key["reference"]) + 1] if several and "reference" in key else []
    if "index" in key:
        numbers.append(int(key["index"]) + 1)
    elif "rank" in key:
        numbers.append(int(key["rank"]))
    elif "reference" in key:
        numbers = [int(key["reference"]) + 1]
    rest = [
        str(value)
        for name, value in key.items()
        if name not in ("origin", "author", "reference", "index", "rank")
    ]
    words = [*rest, ".".join(map(str, numbers))] if numbers else rest
    return " ".join(words) or None
