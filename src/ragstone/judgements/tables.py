"""Tables: the judgements of a block of examples, with one judgement for each unit."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import polars as pl

from .kind import ASKS, kind_of
from .view import View

# How an ask, or a score, came out.
VALUE, UNDEFINED, MISSING = 0, 1, 2


class Judged(Protocol):
    """The input of metrics: examples, views of them, and the outcome of each ask."""

    @property
    def examples(self) -> pl.DataFrame:
        """One row an example, as ``ragstone.data.to_frame`` makes it."""

    def view(self, view: type[View], needed: Collection[str]) -> pl.DataFrame:
        """The view's rows, ordered by example and unit, with at least the wanted columns."""

    def outcome(self, ask: str) -> pl.DataFrame:
        """The outcome of an ask: one row per example with ``status`` and ``reason``."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Examples, their judgements, and the outcome of each ask.

    Args:
        examples: One row an example, in order, as ``ragstone.data.to_frame`` makes it.
        rows: The rows of each ask; ``row`` is the number of the example, from 0.
        status: ``status`` and ``reason`` of each ask, one row per example. An ask that is in
            neither mapping was not put to any judge.
    """

    examples: pl.DataFrame
    rows: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    status: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    def of(self, ask: str) -> pl.DataFrame:
        """The rows of an ask; an empty table if it was not put to any judge."""
        if ask in self.rows:
            return self.rows[ask]
        return kind_of(ask).empty().with_columns(row=pl.lit(0, pl.UInt32))

    def view(self, view: type[View], needed: Collection[str]) -> pl.DataFrame:
        return view.frame(self, needed)

    def outcome(self, ask: str) -> pl.DataFrame:
        if ask in self.status:
            return self.status[ask]
        return same_outcome(MISSING, ASKS[ask].not_judged, self.examples.height)


def same_outcome(status: int, reason: str | None, height: int) -> pl.DataFrame:
    columns = pl.Series("status", [status], pl.UInt8), pl.Series("reason", [reason], pl.String)
    return pl.DataFrame([column.new_from_index(0, height) for column in columns])
