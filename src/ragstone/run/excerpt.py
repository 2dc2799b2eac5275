"""Excerpt: some examples of a finished run, read without the rest of its tables.

Only the shards are read in which they lie, once their tables were verified, which reads all of
each. Examples lie in small groups there, for their texts are long.
"""

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from ragstone.judgements import KINDS

from .calls.entries import FILE as JOURNAL
from .calls.entries import Entry, entries
from .folder import Folder

if TYPE_CHECKING:
    from .overrules.overlay import Overlay


class StoredRows:
    """The rows about some examples in the tables of a finished run, as its judges left them.

    Args:
        folder: Of the run.
        ids: Of the examples; unknown ones are passed over.
    """

    def __init__(self, folder: Folder, ids: Collection[str]) -> None:
        self.folder = folder
        self.ids = list(dict.fromkeys(ids))

    @cached_property
    def examples(self) -> pl.DataFrame:
        """The examples, in the order of the data."""
        return self.folder.read("examples", pl.col("id").is_in(self.ids), shards=self._shards)

    @cached_property
    def ledger(self) -> pl.DataFrame:
        """The outcome of each question: one row per example, ask and judge."""
        return self._of_examples("ledger")

    def scores(self) -> pl.DataFrame:
        """One row per example and metric."""
        return self._of_examples("scores")

    def of_kind(self, kind: str) -> pl.DataFrame:
        """The rows of a kind about what was judged of these examples, whichever of its asks."""
        subjects = self.ledger["subject"].unique().implode()
        return self.folder.read(kind, pl.col("subject").is_in(subjects), shards=self._shards)

    def _of_examples(self, name: str) -> pl.DataFrame:
        return self.folder.read(name, pl.col("example_id").is_in(self.ids), shards=self._shards)

    @cached_property
    def _shards(self) -> list[int]:
        """Those in which these examples lie."""
        return self.folder.shards_of(self.ids)


class Excerpt:
    """The tables of a finished run, reduced to some examples.

    Args:
        rows: Of the judges.
        overlay: What people overruled; None where their word is not to be seen.
    """

    def __init__(self, rows: StoredRows, overlay: "Overlay | None") -> None:
        self._rows = rows
        self._overlay = overlay

    def examples(self) -> pl.DataFrame:
        """The examples, in the order of the data."""
        return self._rows.examples.drop("shard")

    def scores(self) -> pl.DataFrame:
        """One row per example and metric."""
        scores = self._rows.scores().drop("shard")
        return scores if self._overlay is None else self._overlay.scores(scores)

    def ledger(self) -> pl.DataFrame:
        """The outcome of each question: one row per example, ask and judge."""
        return self._rows.ledger.drop("shard")

    def judgements(self, kind: str) -> pl.DataFrame:
        """The rows of one kind of judgement, one for each example they are about."""
        if not self._rows.folder.has(kind):
            rows = of_no_example(kind)
        else:
            found = self._rows.of_kind(kind).lazy()
            rows = of_examples(self._rows.ledger.lazy(), found, kind).collect()
        if self._overlay is not None:
            rows = self._overlay.judgements(kind, rows)
            # People's word is laid over all examples that it changes.
            rows = rows.filter(pl.col("example_id").is_in(self._rows.ids))
        return rows.drop("ask", "status")

    def calls(self, example: str) -> list[Entry]:
        """The model calls about an example: prompt, replies, tokens and cost."""
        journal = self._rows.folder.path / JOURNAL
        if not journal.is_file():
            return []
        asked = self._rows.ledger.filter(pl.col("example_id") == example)
        keys = asked.select(pl.col("requests").explode()).drop_nulls().unique(maintain_order=True)
        return entries(journal, keys["requests"].to_list())


def of_examples(ledger: pl.LazyFrame, rows: pl.LazyFrame, kind: str) -> pl.LazyFrame:
    """The rows of a kind, each once for every example that the ledger says it is about.

    With the ``ask`` that they answer, and its ``status``.
    """
    said = ledger.filter(pl.col("status").is_in(["ok", "vote"])).select(
        "shard", "example_id", "ask", "judge", "subject", "status"
    )
    keys = ["shard", "ask", "judge", "subject"]
    joined = said.join(rows, on=keys, maintain_order="left_right")
    return joined.select("example_id", "ask", "status", *KINDS[kind].schema())


def of_no_example(kind: str) -> pl.DataFrame:
    """The same of a kind that the run has not judged."""
    texts = dict.fromkeys(("example_id", "ask", "status"), pl.String())
    return pl.DataFrame(schema={**texts, **KINDS[kind].schema()})
