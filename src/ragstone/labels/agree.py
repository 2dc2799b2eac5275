"""Agree: how far the annotators of label files agree, as one result with a page."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

from ragstone.core.messages import HasPage

from .agreement import ColumnAgreement, agreement_of
from .broken_rules import BrokenRule
from .clusters import clusters_of
from .read import read_label_table
from .scale import Scale
from .table import LabelTable


@dataclass(frozen=True, eq=False, repr=False)
class LabelAgreement(HasPage):
    """How far annotators agree.

    Attributes:
        labels: The labels, one row per annotator, unit and column.
        columns: The agreement on each column.
        broken: Labels that break a hard rule.
    """

    labels: LabelTable
    columns: tuple[ColumnAgreement, ...]
    broken: tuple[BrokenRule, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "labels": [one.to_dict() for one in self.columns],
            "source": self.labels.source,
            "n_rows": self.labels.frame.height,
            "annotators": list(self.labels.annotators),
            "adjudicators": list(self.labels.adjudicators),
            "adjudication": asdict(self.labels.adjudication),
            "discarded": self.labels.discarded,
            "set_aside": self.labels.set_aside,
            "broken_rules": [one.to_dict() for one in self.broken],
            "notes": list(self.labels.notes),
        }

    def __repr__(self) -> str:
        return f"LabelAgreement({self.labels.source!r}, {len(self.columns)} columns)"


def agreement(
    labels: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    column: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    scales: Mapping[str, Scale] | None = None,
    cluster: str | None = None,
    seed: int = 0,
    limit: int | None = 3,
) -> LabelAgreement:
    """How far the annotators of label files agree, column by column.

    Args:
        labels: Label files, or data that carry labels.
        column: Columns to measure; by default all.
        columns: For a label, the column it is read from.
        scales: For a column, its scale: nominal, ordinal or interval; see ``scale_of``.
        cluster: Field that groups dependent rows; by default the question.
        seed: Random seed of the intervals.
        limit: How many disputed items of a column are kept; None for all.

    Raises:
        DataError: A file cannot be read.
        UnknownName: There is no such column.
    """
    paths = [labels] if isinstance(labels, str | PathLike) else list(labels)
    table = read_label_table(paths, columns=columns)
    found = agreement_of(
        table,
        columns=column,
        scales=scales,
        clusters=clusters_of(paths, cluster),
        seed=seed,
        limit=limit,
    )
    return LabelAgreement(table, tuple(found), tuple(table.broken_rules()))
