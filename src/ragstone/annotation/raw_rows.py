"""Label rows: rows of label files split into their parts, and cells as words and numbers.

A row is wide, with a column for each label, or long, with columns ``kind``, ``column`` and
``value``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import isfinite
from typing import Any, NamedTuple

from ragstone.data.example import id_text
from ragstone.data.fields import NAMES, squash
from ragstone.data.json_text import Problem, add_problem
from ragstone.data.record_labels import PROPOSITIONS, Unit
from ragstone.judgements import KINDS

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
LARGEST_WHOLE = 2**53
NAMED_TRUTHS = {"true": True, "false": False}
YES_NO = {"yes": 1.0, "ja": 1.0, "no": 0.0, "nein": 0.0}


class LabelValue(NamedTuple):
    """A label in words, and as a number if it is one."""

    value: str
    number: float | None


def number_in_words(value: float) -> str:
    """Return a number as short as it can be written: ``3`` rather than ``3.0``.

    >>> number_in_words(3.0), number_in_words(0.25), number_in_words(-0.0)
    ('3', '0.25', '0')
    """
    if value == int(value) and abs(value) < LARGEST_WHOLE:
        return str(int(value))
    return repr(float(value))


def in_words(cell: object) -> LabelValue | None:
    """Read a cell as a label of any kind; None if it cannot be one: an object, a list, NaN.

    ``true`` and ``false`` in any case are truth values; text that parses as a number is a number.

    >>> in_words("True"), in_words(" a bit ")
    (LabelValue(value='true', number=1.0), LabelValue(value='a bit', number=None))
    """
    if isinstance(cell, bool):
        return LabelValue("true", 1.0) if cell else LabelValue("false", 0.0)
    if isinstance(cell, (int, float)):
        return _finite(cell)
    if not isinstance(cell, str):
        return None
    text = cell.strip()
    if text.lower() in NAMED_TRUTHS:
        return in_words(NAMED_TRUTHS[text.lower()])
    if NUMBER.fullmatch(text) and (value := _finite(float(text))) is not None:
        return value
    return LabelValue(text, None)


def _finite(value: float) -> LabelValue | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return LabelValue(number_in_words(number), number + 0.0) if isfinite(number) else None


def number_of(cell: object) -> float | None:
    """Return the number that a cell holds; None if it holds a word or a truth value."""
    value = in_words(cell)
    return None if value is None or value.value in NAMED_TRUTHS else value.number


def yes_or_no(value: LabelValue | None) -> float | None:
    """Return a label as a number, with 1 for yes and 0 for no; None for any other word."""
    return None if value is None else YES_NO.get(value.value.lower(), value.number)


def plain_value(value: str, number: float | None) -> bool | int | float | str:
    """Return a label as a JSON value.

    >>> plain_value("true", 1.0), plain_value("3", 3.0), plain_value("correct", 1.0)
    (True, 3, 'correct')
    """
    if value in NAMED_TRUTHS:
        return NAMED_TRUTHS[value]
    if number is None or NUMBER.fullmatch(value) is None:
        return value
    return int(number) if value == str(int(number)) else number


# The columns that are not labels, by meaning; names are normalised by ``squash``.
PARTS = {
    "id": tuple(squash(name) for name in NAMES["id"]),
    "annotator": ("annotator", "annotatorid"),
    "context": ("context", "contextid"),
    "claim": ("claim",),
    "statement": ("statement",),
    "criterion": ("criterion",),
    "unit": ("unit",),
    "system": tuple(squash(name) for name in NAMES["system"]),
    "inclusion_probability": ("inclusionprobability",),
    "note": ("note",),
    "discard": ("discard", "discarded"),
}

# Columns that repeat the example for the annotator to read; they are not labels.
OF_EXAMPLES = frozenset(
    squash(name) for field_name, names in NAMES.items() if field_name != "labels" for name in names
) | {"text", "rank", "stratum", "tie", "nvotes"}

# An id or a date in the wrong column is no claim; no answer has that many.
MOST_PARTS = 10_000

LONG = ("kind", "column", "value")
# The reason recorded if a row is discarded without one.
DISCARDED = "discarded"


def named_by_user() -> list[str]:
    """Return the kinds in which every column is allowed."""
    return [*(name for name, kind in KINDS.items() if kind.having("topic")), "metric", "own"]


def kinds_of_labels() -> list[str]:
    """Return the kinds that people's labels can have."""
    free = named_by_user()
    return [*(name for name, kind in KINDS.items() if kind.labels() and name not in free), *free]


@dataclass(slots=True)
class GivenRow:
    """A row; ``labels`` maps columns to the cells that are not empty, as they are in the file."""

    file: str
    line: int | None
    id: str = ""
    annotator: str = ""
    unit: str | None = None
    labels: dict[str, Any] = field(default_factory=dict)
    inclusion_probability: float | None = None
    note: str | None = None
    discarded: str | None = None
    system: str | None = None

    @property
    def about(self) -> Unit:
        """``context``, ``claim``, ``statement`` or ``criterion``; ``answer`` if none is named."""
        return unit_kind(self.unit)


@lru_cache(maxsize=4096)
def unit_kind(unit: str | None) -> Unit:
    """Return the kind of unit that a unit's name stands for; an answer has none.

    >>> unit_kind("claim 1"), unit_kind("3"), unit_kind("d7"), unit_kind(None)
    ('claim', 'context', 'context', 'answer')
    """
    if unit is None:
        return "answer"
    kind, _, number = unit.partition(" ")
    named = next((unit for unit in PROPOSITIONS if unit == kind), None)
    return named if named is not None and number.isdecimal() else "context"


def row_of(
    record: Mapping[str, Any], file: str, line: int | None, columns: Mapping[str, str]
) -> tuple[GivenRow, list[Problem]]:
    """Split a record of a label file into its parts.

    ``columns`` maps names to columns, as given by the user; it takes precedence.
    """
    problems: list[Problem] = []
    header = header_of(record, columns)
    parts: dict[str, Any] = {}
    for column, part in header.parts:
        if parts.get(part) is None:
            parts[part] = record[column]
    cells = ((name, record[column]) for column, name in header.labels)
    labels = {
        name: cell
        for name, cell in cells
        if cell is not None and not (isinstance(cell, str) and not cell.strip())
    }
    id = _text(parts.get("id"), "id", problems)
    if not id and not problems:
        add_problem(problems, "id", "the id of an example", parts.get("id"))
    row = GivenRow(
        file,
        line,
        id or "",
        _text(parts.get("annotator"), "annotator", problems) or "",
        _unit(parts, problems),
        inclusion_probability=_probability(parts.get("inclusion_probability"), problems),
        note=_text(parts.get("note"), "note", problems) or None,
        discarded=_discarded(parts.get("discard")),
        system=id_text(parts.get("system")),
    )
    row.labels = _long(labels, problems) if header.is_long else labels
    return row, problems


@dataclass(frozen=True, slots=True)
class Header:
    """The meaning of each column, for rows with the same columns.

    Attributes:
        parts: Columns that are not labels, each with its name in ``PARTS``.
        labels: Label columns, each with the name of the label in it.
        is_long: True if a row is a single label, named by its kind and column.
        is_data: True if a row is a record of a dataset, with its labels in a field.
    """

    parts: tuple[tuple[str, str], ...]
    labels: tuple[tuple[str, str], ...]
    is_long: bool
    is_data: bool


def header_of(record: Mapping[str, Any], columns: Mapping[str, str]) -> Header:
    """Return the header of a record; ``columns`` maps names to columns, as given by the user."""
    return _header(tuple(map(str, record)), tuple(columns.items()))


@lru_cache(maxsize=1024)
def _header(names: tuple[str, ...], mapped: tuple[tuple[str, str], ...]) -> Header:
    name_of = {column: name for name, column in mapped}
    parts: list[tuple[str, str]] = []
    labels: list[tuple[str, str]] = []
    for column in names:
        name = name_of.get(column, column)
        word = squash(name)
        part = next((part for part, words in PARTS.items() if word in words), None)
        if part is not None:
            parts.append((column, part))
        elif column in name_of or word not in OF_EXAMPLES:
            labels.append((column, name))
    return Header(
        tuple(parts),
        tuple(labels),
        set(map(squash, names)) >= set(LONG),
        any(name == "labels" or name.startswith("labels.") for name in names),
    )


def _long(cells: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    by_name = {squash(name): cell for name, cell in cells.items()}
    kind, column = by_name.get("kind"), by_name.get("column")
    if kind is None and column is None:
        return {}
    kinds = kinds_of_labels()
    value = by_name.get("value", by_name.get("number"))
    if kind not in kinds:
        add_problem(problems, "kind", f"one of {', '.join(kinds)}", kind)
    elif not isinstance(column, (str, int)):
        add_problem(problems, "column", "the name of a column", column)
    elif value is not None:
        return {f"{kind}.{column}": value}
    return {}


def _unit(parts: Mapping[str, Any], problems: list[Problem]) -> str | None:
    units = {
        name: parts[name]
        for name in ("context", *PROPOSITIONS, "unit")
        if parts.get(name) not in (None, "")
    }
    if len(units) > 1:
        both = " and ".join(units)
        problems.append(
            Problem(next(iter(units)), "one of context, claim, statement and criterion", both)
        )
    for name, cell in units.items():
        if name in ("context", "unit"):
            unit = _text(cell, name, problems)
            if unit is None or unit_kind(unit) == "context":
                return unit
            kind, _, number = unit.partition(" ")
        else:
            value = in_words(cell)
            kind, number = name, "" if value is None else value.value.removeprefix(f"{name} ")
        if number.isdecimal() and len(number) < 9 and 0 < int(number) <= MOST_PARTS:
            return f"{kind} {int(number)}"
        add_problem(problems, name, f"the number of a {kind}, from 1 to {MOST_PARTS:,}", cell)
    return None


def _text(cell: object, field: str, problems: list[Problem]) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    if (text := id_text(cell)) is not None:
        return text
    add_problem(problems, field, "text or a whole number", cell)
    return None


def _probability(cell: object, problems: list[Problem]) -> float | None:
    if cell is None or cell == "":
        return None
    number = number_of(cell)
    if number is None or not 0 < number <= 1:
        expected = "a probability above 0, at most 1"
        add_problem(problems, "inclusion_probability", expected, cell)
        return None
    return number


def _discarded(cell: object) -> str | None:
    """Why a row is discarded; a bare yes gives no reason, but still discards the row."""
    value = in_words(cell) if isinstance(cell, (bool, int, float, str)) else None
    number = yes_or_no(value)
    if value is None or value.value == "" or number == 0:
        return None
    return DISCARDED if number == 1 else value.value
