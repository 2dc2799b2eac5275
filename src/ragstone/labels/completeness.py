"""Completeness: how many of the labels that an annotator was asked for are given."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .given import GivenRow
from .names import Name


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


def completeness_of(
    rows: Sequence[GivenRow], names: Mapping[str, Name]
) -> tuple[Completeness, ...]:
    """Of each annotator and label, in the order of the rows.

    Args:
        rows: All rows, those without a label too.
        names: The judgement of each column.
    """
    sorts: dict[str, set[str]] = {}
    given: dict[str, dict[tuple[str, str | None], set[str]]] = {}
    for row in rows:
        labels = [names[column].shown for column in row.labels if column in names]
        for label in labels:
            sorts.setdefault(label, set()).add(row.about)
        if not row.discarded:
            units = given.setdefault(row.annotator, {})
            units.setdefault((row.id, row.unit), set()).update(labels)
    about = {(row.id, row.unit): row.about for row in rows}
    found = []
    for annotator, units in given.items():
        for label, of in sorts.items():
            asked = [labels for unit, labels in units.items() if about[unit] in of]
            if asked:
                n = sum(label in labels for labels in asked)
                found.append(Completeness(annotator, label, n, len(asked)))
    return tuple(found)
