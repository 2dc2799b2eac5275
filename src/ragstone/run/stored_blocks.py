"""Stored blocks: the examples and judgements of a finished run, block by block."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from ragstone.examples import Example, from_frame
from ragstone.judgements import ASKS, KINDS, Tables
from ragstone.judges import LEDGER, Block, Filled, Judge, Sheet

from .folder import Folder
from .forms import Manifest
from .judging import resolve
from .written import collect


@dataclass(frozen=True, slots=True)
class FinishedJudge:
    """A judge of the finished run, which is not asked any more."""

    name: str
    about: str
    asks: frozenset[str]

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:  # noqa: ARG002
        """Nothing."""
        return Sheet(ask, self.name).filled()


@dataclass(frozen=True, slots=True)
class StoredJudge:
    """A judge that repeats what the finished run holds of a block, except failures."""

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
class StoredBlock:
    """A block of a finished run.

    Args:
        examples: The block.
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


def stored_blocks(
    folder: Folder, judges: Sequence[Judge], again: Collection[str] = ()
) -> Iterator[StoredBlock]:
    """The blocks, in order.

    Args:
        folder: Of the finished run.
        judges: In the order they were asked.
        again: Asks that are put once more, and so are not in the tables.
    """
    blocks = folder.finished("examples").select(pl.col("block").unique().sort())
    for number in collect(blocks, folder.table("examples"))["block"]:
        here = pl.col("block") == number
        frame = folder.read("examples", here).drop("block")
        ids = frame.select(example_id="id").with_row_index("row")
        ledger = folder.read("ledger", here).join(ids, on="example_id").select(*LEDGER)
        tables = Tables(frame)
        stays: dict[str, Filled] = {}
        for ask in (name for name in ASKS if name in set(ledger["ask"])):
            entries = ledger.filter(pl.col("ask") == ask)
            rows = _rows(folder, ask, here)
            if ask in again:
                stays[ask] = Filled(rows, entries.filter(pl.col("status") != "failed"))
            else:
                tables = resolve(tables, ask, entries, rows, judges)
        yield StoredBlock(from_frame(frame), tables, StoredJudge(stays))


def _rows(folder: Folder, ask: str, here: pl.Expr) -> pl.DataFrame:
    kind = ASKS[ask].kind
    if not folder.has(kind):
        return KINDS[kind].empty()
    return folder.read(kind, here, pl.col("ask") == ask).select(*KINDS[kind].schema())
