"""Finished run: its judges, and its shards with their judgements as tables."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from ragstone.data import Example, from_frame
from ragstone.judgements import ASKS, KINDS, Tables
from ragstone.judges import LEDGER, Block, Filled, Judge, RowBuilder
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.schemas import Manifest

from .judge_blocks import resolve


@dataclass(frozen=True, slots=True)
class FinishedJudge:
    """A judge of the finished run, which is not asked any more."""

    name: str
    about: str
    asks: frozenset[str]

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:  # noqa: ARG002
        """Nothing."""
        return RowBuilder(ask, self.name).filled()


@dataclass(frozen=True, slots=True)
class StoredJudge:
    """A judge that repeats what the finished run holds of a shard, except failures."""

    filled: Mapping[str, Filled]
    name: str = "known"
    about: str = "the judgements of the run"

    @property
    def asks(self) -> frozenset[str]:
        """What has been judged."""
        return frozenset(self.filled)

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:  # noqa: ARG002
        """The same rows as before, under the name of the judge that made them."""
        return self.filled[ask]


@dataclass(frozen=True, slots=True)
class StoredShard:
    """A shard of a finished run.

    Args:
        examples: Its examples.
        tables: What was judged of it, one judge's word for each unit.
        judge: Says again what was said of asks that are put once more.
    """

    examples: list[Example]
    tables: Tables
    judge: StoredJudge


def finished_judges(manifest: Manifest) -> list[Judge]:
    """The judges of a finished run, in the order they were asked."""
    return [
        FinishedJudge(
            one.name,
            one.about,
            frozenset(name for name, ask in ASKS.items() if ask.kind in one.kinds),
        )
        for one in manifest.judges
    ]


def stored_shards(
    folder: Folder, judges: Sequence[Judge], again: Collection[str] = ()
) -> Iterator[StoredShard]:
    """The shards, in order.

    Args:
        folder: Of the finished run.
        judges: In the order they were asked.
        again: Asks that are put once more, and so are not in the tables.
    """
    for form in folder.shards.ledger:
        here = [form.shard]
        frame = folder.read("examples", shards=here).drop("shard")
        ids = frame.select(example_id="id").with_row_index("row")
        ledger = folder.read("ledger", shards=here).join(ids, on="example_id").select(*LEDGER)
        tables = Tables(frame)
        stays: dict[str, Filled] = {}
        for ask in (name for name in ASKS if name in set(ledger["ask"])):
            entries = ledger.filter(pl.col("ask") == ask)
            rows = _rows(folder, ask, here)
            if ask in again:
                stays[ask] = Filled(rows, entries.filter(pl.col("status") != "failed"))
            else:
                tables = resolve(tables, ask, entries, rows, judges)
        yield StoredShard(from_frame(frame), tables, StoredJudge(stays))


def _rows(folder: Folder, ask: str, here: list[int]) -> pl.DataFrame:
    kind = ASKS[ask].kind
    if not folder.has(kind):
        return KINDS[kind].empty()
    return folder.read(kind, pl.col("ask") == ask, shards=here).select(*KINDS[kind].schema())
