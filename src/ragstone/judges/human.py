"""Human: the labels by people in the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ragstone.data import Example
from ragstone.data.record_labels import FIELDS, LABELS
from ragstone.judgements import ASKS, Ask, Column, Kind, kind_of

from .judge import Block, Filled, Sheet, fingerprint

Rows = list[dict[str, Any]]
Labels = Mapping[str, Any]


@dataclass(frozen=True)
class HumanJudge:
    """Reads the ``labels`` of an example: of its answer, contexts, claims and statements.

    A missing label is a null in the row, which metrics handle. What follows from the
    grade of a context is added if the person did not label it. An example without labels of a kind
    is left to the next judge.
    """

    name: str = "human"
    about: str = "labels that people put into the data"

    @property
    def asks(self) -> frozenset[str]:
        """Everything with a label name, and the claims and statements themselves."""
        return frozenset(
            name
            for name, ask in ASKS.items()
            if "people" in ask.by and (kind_of(name).made or _labelled(ask))
        )

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """One row per label given."""
        sheet = Sheet(ask, self.name)
        columns = _labelled(ASKS[ask])
        for row in rows:
            example = block.examples[row]
            if not example.labels:
                continue
            found = _listed(example, ask) if sheet.kind.made else _said(example, ASKS[ask], columns)
            if found is not None:
                subject = fingerprint("labels", example.id)
                sheet.done(row, subject)
                for values in found:
                    sheet.add(subject, **values)
        return sheet.filled()


def _listed(example: Example, field: str) -> Rows | None:
    """The claims or statements listed in the labels."""
    given: Sequence[Labels] | None = example.labels.get(field)
    if given is None:
        return None
    return [
        {
            "reference": one.get("reference", 0),
            "index": index,
            "text": one["text"],
            "sentence": one.get("sentence"),
            "factual": True,
        }
        for index, one in enumerate(given)
    ]


def _said(example: Example, ask: Ask, columns: Sequence[Column]) -> Rows | None:
    """The labels of each unit; None if there are none at all."""
    over = ask.over
    if over is None:
        return None
    if over.unit == "answer":
        record = {name: example.labels.get(name) for name in LABELS["record"]}
        given = record | (example.labels.get("answer") or {})
        row = _values(given, columns)
        return [row] if any(value is not None for value in row.values()) else None
    field = FIELDS[over.unit]
    units: Sequence[Labels | None] | None = example.labels.get(field)
    if units is None:
        return None
    said = [_values(one or {}, columns) for one in units]
    is_open = [all(value is None for value in row.values()) for row in said]
    if over.unit == "context":
        rows = [{"rank": rank, **_with_grade(row, columns)}
                for rank, row in enumerate(said, start=1) if not is_open[rank - 1]]  # fmt: skip
        return rows or None
    if units and all(is_open):
        return None
    kind = kind_of(ask.name)
    return [
        {
            "origin": over.unit,
            "author": "human",
            "reference": reference,
            "index": index,
            **row,
            **_beside(kind, row, one or {}),
        }
        for index, (one, row) in enumerate(zip(units, said, strict=True))
        for reference in _references(ask, one or {}, example)
    ]


def _labelled(ask: Ask) -> list[Column]:
    """The labels that a unit may have; none if labels cannot refer to such units."""
    if ask.over is None or ask.over.unit not in ("answer", *FIELDS):
        return []
    return [column for column in kind_of(ask.name).filled_by(ask) if column.label]


def _values(given: Labels, columns: Sequence[Column]) -> dict[str, Any]:
    """The values by column, with yes/no labels as truth values."""
    found = {}
    for column in columns:
        value = given.get(column.label)
        yes_or_no = value is not None and column.dtype == pl.Boolean
        found[column.name] = bool(value) if yes_or_no else value
    return found


def _with_grade(row: dict[str, Any], columns: Sequence[Column]) -> dict[str, Any]:
    """The values, with what follows from a grade added if it is not labelled."""
    grade = next((row[one.name] for one in columns if one.role == "grade"), None)
    follows = {
        one.name: grade >= one.at_least
        for one in columns
        if one.at_least and grade is not None and row[one.name] is None
    }
    return row | follows


def _beside(kind: type[Kind], row: Mapping[str, Any], given: Labels) -> dict[str, Any]:
    """The probability and the evidence that go with a verdict."""
    found: dict[str, Any] = {}
    verdict = row.get(kind.decides)
    is_positive = verdict in kind.columns[kind.decides].positive
    for name, column in kind.columns.items():
        if column.certain:
            found[name] = None if verdict is None else float(is_positive)
        elif column.role == "evidence":
            said = given.get(name)
            found[name] = [] if said is None and not is_positive else said
    return found


def _references(ask: Ask, one: Labels, example: Example) -> Sequence[int]:
    """The references of a claim; all of them if its label names none."""
    against = ask.over is not None and ask.over.unit == "claim" and "reference" in ask.over.keys
    if against and one.get("reference") is None:
        return range(len(example.reference))
    return [one.get("reference", 0)]
