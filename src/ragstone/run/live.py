"""Live: an example right after it was judged, while the run continues."""

from collections.abc import Callable, Collection, Sequence

import polars as pl

from ragstone.judgements import ASKS, KINDS

from .calls.entries import FILE, Entry, entries
from .excerpt import of_no_example
from .folder import Folder
from .judging import JudgedBlock


class Live:
    """The examples of a judged block, with the interface of a finished run.

    Args:
        folder: Of the run.
        judged: The block.
        scores: As the run keeps them.
    """

    def __init__(self, folder: Folder, judged: JudgedBlock, scores: pl.DataFrame) -> None:
        self._folder, self._judged, self._scores = folder, judged, scores
        self._ids = judged.tables.examples.select(
            pl.int_range(pl.len(), dtype=pl.UInt32).alias("row"), example_id="id"
        )

    def excerpt(self, examples: Collection[str]) -> "Live":  # noqa: ARG002
        """The block as it is, for it is in memory."""
        return self

    def examples(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """The examples, or only some columns."""
        found = self._judged.tables.examples
        return found if columns is None else found.select(columns)

    def scores(self) -> pl.DataFrame:
        """One row per example and metric."""
        return self._scores

    def judgements(self, kind: str) -> pl.DataFrame:
        """The rows of a kind, each with its example's id."""
        columns = ["example_id", *KINDS[kind].schema()]
        ledger = self._judged.ledger.filter(pl.col("status").is_in(["ok", "vote"])).join(
            self._ids, on="row"
        )
        parts = [
            ledger.filter(pl.col("ask") == ask)
            .select("example_id", "judge", "subject")
            .join(rows, on=["judge", "subject"], maintain_order="left")
            .select(columns)
            for ask, rows in self._judged.rows.items()
            if ASKS[ask].kind == kind
        ]
        return pl.concat([of_no_example(kind).select(columns), *parts])

    def calls(self, example: str) -> list[Entry]:
        """The model calls about an example."""
        rows = self._ids.filter(pl.col("example_id") == example).select("row")
        keys = (
            self._judged.ledger.join(rows, on="row", how="semi")
            .select(pl.col("requests").explode())
            .drop_nulls()
            .unique(maintain_order=True)["requests"]
        )
        return entries(self._folder.path / FILE, keys.to_list()) if len(keys) else []


Debug = Callable[[Live, str], None]
"""Called with a judged block and the id of one of its examples."""
