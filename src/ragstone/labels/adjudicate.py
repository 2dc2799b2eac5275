"""Adjudicate: several annotators' labels combined into one, or marked as a tie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import polars as pl

from ragstone.examples import majority

from .names import named
from .scale import Scale
from .words import number_in_words, plain_value

SAID = {
    **dict.fromkeys(("example_id", "kind", "column", "unit", "value"), pl.String),
    "number": pl.Float64,
}
"""The columns that a label has in common, by any annotator or by all combined."""

ADJUDICATED = {
    **SAID,
    "inclusion_probability": pl.Float64,
    "n_votes": pl.UInt32,
    "tie": pl.Boolean,
}


@dataclass(frozen=True, slots=True)
class Vote:
    """The label that one annotator gave one unit in one column."""

    kind: str
    column: str
    unit: str | None
    annotator: str
    value: str
    number: float | None


@dataclass(frozen=True, slots=True)
class Settled:
    """The annotators' combined label; value and number are None on a tie."""

    value: str | None
    number: float | None

    @property
    def tie(self) -> bool:
        return self.value is None


@dataclass(frozen=True, slots=True)
class Tie:
    """A unit and column on which two or more values share the most votes.

    ``votes`` are truth values, numbers or words, in the order of ``annotators``.
    """

    example_id: str
    kind: str
    column: str
    unit: str | None
    annotators: tuple[str, ...]
    votes: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The name of the label in files."""
        return str(named(self.kind, self.column))


def settle(votes: Sequence[tuple[str, float | None]], scale: Scale) -> Settled:
    """Combine labels into one: the majority or a tie; on an interval scale, the mean.

    Args:
        votes: Value and number of each label, at least one.
        scale: Interval: the mean, if all labels are numbers. Otherwise the majority.
    """
    numbers = [number for _, number in votes if number is not None]
    if scale == "interval" and len(numbers) == len(votes):
        return _number(fsum(numbers) / len(numbers))
    value = majority(value for value, _ in votes)
    return Settled(value, None if value is None else dict(votes)[value])


def adjudicated(used: pl.DataFrame, scales: Mapping[tuple[str, str], Scale]) -> pl.DataFrame:
    """One row for each unit and column, see ``LabelTable.adjudicated``."""
    keys = ["example_id", "kind", "column", "unit"]
    units = used.group_by(keys, maintain_order=True).agg(
        "value", "number", pl.col("inclusion_probability").drop_nulls().first()
    )
    rows = []
    for id, kind, column, unit, values, numbers, inclusion in units.iter_rows():
        votes = list(zip(values, numbers, strict=True))
        one = settle(votes, scales[kind, column])
        said = (one.value, one.number, inclusion, len(votes), one.tie)
        rows.append((id, kind, column, unit, *said))
    return pl.DataFrame(rows, schema=ADJUDICATED, orient="row")


def ties(used: pl.DataFrame, settled: pl.DataFrame) -> list[Tie]:
    """The votes on each unit and column that ``settled`` leaves undecided."""
    keys = ["example_id", "kind", "column", "unit"]
    split = settled.filter("tie").select(keys)
    votes = split.join(used, on=keys, how="left", nulls_equal=True, maintain_order="left_right")
    said = votes.group_by(keys, maintain_order=True).agg("annotator", "value", "number")
    return [
        Tie(id, kind, column, unit, tuple(annotators), tuple(map(plain_value, values, numbers)))
        for id, kind, column, unit, annotators, values, numbers in said.iter_rows()
    ]


def _number(value: float) -> Settled:
    return Settled(number_in_words(value), value)
