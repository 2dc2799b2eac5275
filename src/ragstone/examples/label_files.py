"""Label files: what annotators said, one row an annotator, in a file of its own.

A row names an example (``id``), who labelled (``annotator``), for labels of a
context also which one (``context``: its id or its position from 1), and the
labels in columns of their names::

    id,annotator,context,topically_relevant,evidence_sufficient,misleading
    q1,ann,1,1,0,0
    q1,ben,1,1,1,0

The majority of the annotators speaks for each label. A tie is left open, for a
person to settle.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ragstone.errors import DataError, Fault
from ragstone.examples.csv_table import CsvTable
from ragstone.examples.example import Example
from ragstone.examples.fields import squash
from ragstone.examples.files import Meter
from ragstone.examples.jsonlines import JsonLines
from ragstone.examples.labels import (
    ANSWER_LABELS,
    CONTEXT_LABELS,
    RESPONSE_TYPES,
    is_label,
    majority,
)
from ragstone.examples.problem import BadRow, Problem, shown

OF_CONTEXTS = CONTEXT_LABELS
OF_ANSWERS = (*ANSWER_LABELS, "response_type")

Unit = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class LabelRow:
    """What one annotator said of one example, or of one of its contexts."""

    line: int
    id: str
    annotator: str
    context: str | None
    labels: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tie:
    """A label on which as many annotators say one thing as another."""

    id: str
    context: str | None
    label: str
    votes: tuple[Any, ...]


@dataclass(frozen=True)
class LabelRows:
    """A label file.

    Attributes:
        rows: All rows, in order.
        ties: The labels without a majority.
        merged: What the majority says, by example id and context.
    """

    source: str
    rows: tuple[LabelRow, ...]
    ties: tuple[Tie, ...] = ()
    merged: Mapping[str, Mapping[str | None, Mapping[str, Any]]] = field(default_factory=dict)


def read_labels(path: str | PathLike[str]) -> LabelRows:
    """Read a .jsonl or .csv file of labels, each also as .gz.

    Raises:
        DataError: With every fault: a missing id, a label without its context, a
            value that is no label, an annotator who labels the same thing twice.
    """
    name = fspath(path)
    place = Path(path)
    if not place.is_file():
        raise DataError([Fault(name, None, "", "a file of labels", "none of this name")])
    ending = place.name.removesuffix(".gz")
    tabular = ending.endswith((".csv", ".tsv"))
    source = CsvTable(place, name) if tabular else JsonLines(place, name)
    faults: list[Fault] = []
    rows: list[LabelRow] = []
    said: dict[tuple[str, str, str | None], int] = {}
    for line, record in source.rows(Meter(place.stat().st_size)):
        line = line or 0
        problems: list[Problem] = []
        if isinstance(record, BadRow):
            problems.extend(record.problems)
        elif isinstance(record, Mapping):
            row = _row(record, line, tabular, problems)
            if not problems:
                key = (row.id, row.annotator, row.context)
                before = said.setdefault(key, line)
                if before == line:
                    rows.append(row)
                else:
                    who = row.annotator or "an annotator without a name"
                    problems.append(
                        Problem("annotator", "one row an annotator", f"{who} as in line {before}")
                    )
        faults += [Fault(name, line, *problem) for problem in problems]
    if not rows and not faults:
        faults.append(Fault(name, None, "", "at least one row of labels", "none"))
    if faults:
        raise DataError(faults)
    ties: list[Tie] = []
    merged = _merge(rows, ties)
    return LabelRows(name, tuple(rows), tuple(ties), merged)


def with_labels(example: Example, labels: LabelRows) -> Example:
    """The example with the file's labels; they go before labels of the same name it has.

    Raises:
        DataError: A row names a context that the example does not have.
    """
    found = labels.merged.get(example.id)
    if not found:
        return example
    all_labels = dict(example.labels)
    answer = {**(all_labels.get("answer") or {})}
    contexts = [dict(one or {}) for one in all_labels.get("contexts") or ()]
    places = _places(example)
    faults = []
    for context, values in found.items():
        if context is None:
            kind = values.get("response_type")
            if kind is not None:
                all_labels["response_type"] = kind
            answer.update({name: v for name, v in values.items() if name != "response_type"})
        elif (place := places.get(context)) is None:
            faults += _unknown_context(example, context, labels)
        else:
            contexts += [{} for _ in range(place + 1 - len(contexts))]
            contexts[place].update(values)
    if faults:
        raise DataError(faults)
    if answer:
        all_labels["answer"] = answer
    if contexts:
        all_labels["contexts"] = contexts
    return replace(example, labels=all_labels)


def _row(record: Mapping[str, Any], line: int, tabular: bool, problems: list[Problem]) -> LabelRow:
    by_name = {squash(str(key)): value for key, value in record.items()}
    id = _name(by_name.get("id", by_name.get("exampleid")), "id", problems)
    if id is None and not problems:
        problems.append(Problem("id", "the id of an example", "null"))
    annotator = _name(by_name.get("annotator"), "annotator", problems)
    context = _name(by_name.get("context", by_name.get("contextid")), "context", problems)
    labels = {}
    for name in (*OF_CONTEXTS, *OF_ANSWERS):
        value = by_name.get(squash(name))
        if value is None:
            continue
        if tabular and name != "response_type":
            value = _of_cell(value)
        if name == "response_type":
            if value not in RESPONSE_TYPES:
                problems.append(Problem(name, f"one of {', '.join(RESPONSE_TYPES)}", shown(value)))
        elif not is_label(value):
            problems.append(Problem(name, "0, 1, true, false or null", shown(value)))
        elif (name in OF_CONTEXTS) != (context is not None):
            expected = "a context beside it" if context is None else "no context beside it"
            problems.append(Problem(name, expected, f"{context or 'none'}"))
        else:
            value = bool(value)
        labels[name] = value
    if not labels and not problems:
        known = ", ".join((*OF_CONTEXTS, *OF_ANSWERS))
        problems.append(Problem("", f"a label ({known})", f"the columns {', '.join(record)}"))
    return LabelRow(line, id or "", annotator or "", context, labels)


def _name(value: object, field: str, problems: list[Problem]) -> str | None:
    if value is None or (type(value) is str and value):
        return value
    if type(value) is int:
        return str(value)
    problems.append(Problem(field, "text or a whole number", shown(value)))
    return None


def _of_cell(cell: object) -> object:
    known = {"1": True, "0": False, "true": True, "false": False, "1.0": True, "0.0": False}
    return known.get(cell.strip().lower(), cell) if isinstance(cell, str) else cell


def _merge(rows: list[LabelRow], ties: list[Tie]) -> dict[str, dict[str | None, dict[str, Any]]]:
    votes: dict[Unit, dict[str, list[Any]]] = {}
    for row in rows:
        unit = votes.setdefault((row.id, row.context), {})
        for name, value in row.labels.items():
            unit.setdefault(name, []).append(value)
    merged: dict[str, dict[str | None, dict[str, Any]]] = {}
    for (id, context), labels in votes.items():
        place = merged.setdefault(id, {}).setdefault(context, {})
        for name, given in labels.items():
            place[name] = majority(given)
            if place[name] is None:
                ties.append(Tie(id, context, name, tuple(given)))
    return merged


def _places(example: Example) -> dict[str, int]:
    """Index of each context by its position and by its id, which goes first."""
    contexts = example.contexts or ()
    places = {str(index + 1): index for index in range(len(contexts))}
    places.update({context.id: index for index, context in enumerate(contexts)})
    return places


def _unknown_context(example: Example, context: str, labels: LabelRows) -> list[Fault]:
    n = len(example.contexts or ())
    expected = f"the id of a context of {example.id!r} or a position from 1 to {n}"
    if n == 0:
        expected = f"no label of a context, for {example.id!r} has none"
    return [
        Fault(labels.source, row.line, "context", expected, repr(context))
        for row in labels.rows
        if row.id == example.id and row.context == context
    ]
