"""Broken rules: labels of one annotator that contradict each other; reported, never corrected."""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from ragstone.data.record_labels import Severity, violations
from ragstone.judgements import KINDS

from .names import label_of


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule between labels, such as that sufficient evidence is relevant, broken in one unit."""

    rule: str
    severity: Severity
    example_id: str
    unit: str | None
    annotator: str

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def broken_rules(used: pl.DataFrame) -> list[BrokenRule]:
    """Every rule broken between two labels that one annotator gave one unit."""
    said: dict[tuple[str, str | None, str], dict[str, bool]] = {}
    ruled = [name for name, kind in KINDS.items() if kind.rules]
    truths = used.filter(pl.col("kind").is_in(ruled), pl.col("value").is_in(["true", "false"]))
    columns = ("example_id", "unit", "annotator", "kind", "column", "number")
    for id, unit, annotator, kind, column, number in truths.select(columns).iter_rows():
        said.setdefault((id, unit, annotator), {})[label_of(kind, column)] = bool(number)
    return [
        BrokenRule(one.rule, one.severity, id, unit, annotator)
        for (id, unit, annotator), labels in said.items()
        for one in violations({"contexts": [labels]} if unit is not None else {"answer": labels})
    ]
