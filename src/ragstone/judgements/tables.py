"""Tables: the judgements of a block of examples, one judge's word for each unit."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import polars as pl

from .ask import ASKS
from .kind import kind_of
from .view import View

VALUE, UNDEFINED, MISSING = 0, 1, 2
"""How an ask, or a score, came out."""


class Judged(Protocol):
    """What metrics are evaluated on: examples, views of them, and how each ask came out."""

    @property
    def examples(self) -> pl.DataFrame:
        """One row an example, as ``ragstone.examples.to_frame`` makes it."""

    def view(self, view: type[View], wanted: Collection[str]) -> pl.DataFrame:
        """The view's rows, ordered by example and unit, with at least the wanted columns."""

    def outcome(self, ask: str) -> pl.DataFrame:
        """How an ask came out: one row an example with ``status`` and ``reason``."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Examples, what was judged of them, and how each ask came out.

    Args:
        examples: One row an example, in order, as ``ragstone.examples.to_frame``
            makes it.
        rows: For each ask its rows; ``row`` says which example, counted from 0.
        status: For each ask one row an example: ``status`` and ``reason``. An
            ask that stands in neither was not put to anybody.
    """

    examples: pl.DataFrame
    rows: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    status: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    def of(self, ask: str) -> pl.DataFrame:
        """The rows of an ask; none where it was not put."""
        if ask in self.rows:
            return self.rows[ask]
        return kind_of(ask).empty().with_columns(row=pl.lit(0, pl.UInt32))

    def view(self, view: type[View], wanted: Collection[str]) -> pl.DataFrame:
        """A view, joined from the asks it needs."""
        return view.frame(self, wanted)

    def outcome(self, ask: str) -> pl.DataFrame:
        """How an ask came out, one row an example."""
        if ask in self.status:
            return self.status[ask]
        return same_outcome(MISSING, ASKS[ask].not_judged, self.examples.height)


def same_outcome(status: int, reason: str | None, height: int) -> pl.DataFrame:
    """One outcome for all examples."""
    return pl.select(
        pl.repeat(status, height, dtype=pl.UInt8).alias("status"),
        pl.repeat(reason, height, dtype=pl.String).alias("reason"),
    )
