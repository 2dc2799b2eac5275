"""Read rows: the judgements of a few examples of a finished run, as their judges left them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from ragstone.judgements import ASKS, KINDS, Tables
from ragstone.judges import LEDGER, Judge
from ragstone.run.excerpt import StoredRows
from ragstone.run.folder import Folder
from ragstone.run.judging import resolve


@dataclass(frozen=True, slots=True)
class FewExamples:
    """A few examples of a run.

    Attributes:
        tables: What was judged of them, one judge's word for each unit.
        ledger: How each ask came out for each of them, with ``example_id``.
    """

    tables: Tables
    ledger: pl.DataFrame


def read_few(folder: Folder, ids: Collection[str], judges: Sequence[Judge]) -> FewExamples:
    """These examples of a finished run, in its order."""
    stored = StoredRows(folder, ids)
    frame = stored.examples.drop("shard")
    numbers = frame.select(example_id="id").with_row_index("row")
    ledger = stored.ledger.join(numbers, on="example_id", maintain_order="left")
    tables = Tables(frame)
    for ask in (name for name in ASKS if name in set(ledger["ask"])):
        entries = ledger.filter(pl.col("ask") == ask)
        # A subject that lies in several blocks has its rows in each of them.
        once = entries.select("judge", "subject", "shard").unique(
            ["judge", "subject"], keep="first", maintain_order=True
        )
        tables = resolve(tables, ask, entries.select(*LEDGER), _rows(stored, ask, once), judges)
    return FewExamples(tables, ledger)


Sharing = dict[tuple[str, str], list[str]]
"""The examples that share a judgement, by ask and subject."""


def sharing(folder: Folder, subjects: Collection[str]) -> Sharing:
    """The examples that share what was judged under these subjects, in the order of the run."""
    chosen = pl.Series(list(subjects), dtype=pl.String).implode()
    rows = folder.read(
        "ledger", pl.col("subject").is_in(chosen), columns=["example_id", "ask", "subject"]
    )
    found: Sharing = {}
    for example, ask, subject in rows.unique(maintain_order=True).iter_rows():
        found.setdefault((ask, subject), []).append(example)
    return found


def _rows(stored: StoredRows, ask: str, once: pl.DataFrame) -> pl.DataFrame:
    kind = ASKS[ask].kind
    if not stored.folder.has(kind):
        return KINDS[kind].empty()
    rows = stored.of_kind(kind).filter(pl.col("ask") == ask)
    rows = rows.join(once, on=["judge", "subject", "shard"], how="semi", maintain_order="left")
    return rows.select(*KINDS[kind].schema())
