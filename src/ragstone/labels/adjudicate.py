"""Adjudicate: one label out of what several annotators said, or a tie named as one."""

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
"""What is said of a unit, whoever says it."""

ADJUDICATED = {
    **SAID,
    "inclusion_probability": pl.Float64,
    "n_votes": pl.UInt32,
    "tie": pl.Boolean,
}


@dataclass(frozen=True, slots=True)
class Vote:
    """What one annotator said of one unit in one column."""

    kind: str
    column: str
    unit: str | None
    annotator: str
    value: str
    number: float | None


@dataclass(frozen=True, slots=True)
class Settled:
    """What the annotators say together; value and number are None on a tie."""

    value: str | None
    number: float | None

    @property
    def tie(self) -> bool:
        return self.value is None


@dataclass(frozen=True, slots=True)
class Tie:
    """A label on which as many annotators say one thing as another.

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
        """The label as files call it."""
        return str(named(self.kind, self.column))


def settle(votes: Sequence[tuple[str, float | None]], scale: Scale) -> Settled:
    """One label out of several: the majority, or a tie; of amounts the mean.

    Args:
        votes: Value and number of each, at least one.
        scale: Interval: the mean, where all are numbers. Else the majority.
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
    """What was said where ``settled`` is open."""
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
