"""Completeness: how many of the labels that an annotator was asked for are given."""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from .given import unit_kind
from .names import named

UNIT = ("annotator", "example_id", "unit")
"""What names a row that has no label."""


@dataclass(frozen=True, slots=True)
class Completeness:
    """How far an annotator got with one label.

    Attributes:
        annotator: Empty if the file names none.
        label: Its name, as people know it.
        given: How many units have the label.
        asked: How many could: the units in the annotator's rows, without the discarded ones, of a
            sort (answer, context, claim, statement) to which anybody gives the label.
    """

    annotator: str
    label: str
    given: int
    asked: int

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def completeness_of(labels: pl.DataFrame, blank: pl.DataFrame) -> tuple[Completeness, ...]:
    """Of each annotator and label, in the order of the rows.

    Args:
        labels: The columns of a label table, without rows that people discarded.
        blank: The rows without any label, with the columns of ``UNIT``.
    """
    sorts: dict[str, set[str]] = {}
    given: dict[str, dict[tuple[str, str | None], set[str]]] = {}
    for annotator, id, unit, kind, column in labels.select(*UNIT, "kind", "column").iter_rows():
        label = named(kind, column).shown
        sorts.setdefault(label, set()).add(_about(unit))
        given.setdefault(annotator, {}).setdefault((id, unit), set()).add(label)
    for annotator, id, unit in blank.iter_rows():
        given.setdefault(annotator, {}).setdefault((id, unit), set())
    found = []
    for annotator, units in given.items():
        for label, of in sorts.items():
            asked = [said for (_, unit), said in units.items() if _about(unit) in of]
            if asked:
                n = sum(label in said for said in asked)
                found.append(Completeness(annotator, label, n, len(asked)))
    return tuple(found)


def _about(unit: str | None) -> str:
    return "answer" if unit is None else unit_kind(unit)
