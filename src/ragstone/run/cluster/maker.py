"""Maker: reads, judges and scores a shard, in the process of a worker."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from ragstone.examples import Example, Examples, from_frame
from ragstone.examples.facts import ReadFacts
from ragstone.examples.ids import IdBlock, SeenIds
from ragstone.judgements import Similarity, Support
from ragstone.run.blocks import OF_A_SHARD, DataShard
from ragstone.run.manifest import RunTally
from ragstone.run.prefetch import Worker
from ragstone.run.scoring import block_tables, check_fields, set_aside_tables, shard_tables
from ragstone.run.shards import write_frame
from ragstone.run.spec import RunSpec
from ragstone.run.streaming import StreamedBlock, judged_blocks, prefetched_blocks
from ragstone.run.violations import violation_records

from .task import Brief, ShardTask, Tables

NO_LINES = ReadFacts()


@dataclass(frozen=True, slots=True)
class ShardMaker:
    """Makes shards.

    Args:
        spec: What the run is going to do.
        data: How records are read.
        asking: Runs what asks models; None if no judge is one.
    """

    spec: RunSpec
    data: Examples
    asking: Worker | None

    def make(self, task: ShardTask) -> tuple[Brief, Tables]:
        """Read, judge and score a shard; of a part that is only tried, or read, nothing is kept.

        Raises:
            IdsOfSystems: An id is that of a question of several systems.
            InputError: The fields to group by are not there, or models cannot be asked.
        """
        examples, facts, ids = self._read(task)
        if task.check and not task.only_read and examples:
            check_fields(self.spec, examples)
        brief = Brief(task.shard, len(examples), {}, {}, facts, ids, tuple(_broken(examples)))
        if task.only_read or not examples:
            return brief, {}
        kept = {row: one for row, one in enumerate(examples) if row not in task.aside}
        if task.part is not None:
            start, end = task.part
            kept = {row: one for row, one in kept.items() if start <= row < end}
        blocks = [
            block_tables(self.spec, task.shard, block.examples, block.judged)
            for block in self._judged(task.shard, list(kept.values()))
        ]
        if task.part is not None:
            return brief, {}
        blocks += [
            set_aside_tables(self.spec, task.shard, examples[row], why)
            for row, why in sorted(task.aside.items())
            if row < len(examples)
        ]
        return _written(brief, shard_tables(blocks))

    def _read(self, task: ShardTask) -> tuple[list[Example], ReadFacts, IdBlock | None]:
        if isinstance(task.data, pl.DataFrame):
            return from_frame(task.data), NO_LINES, None
        facts, ids = ReadFacts(), list[IdBlock]()
        read = self.data.read_part(task.data, SeenIds(), facts, task.refused, ids)
        return list(read), facts, IdBlock.joined(ids)

    def _judged(self, shard: int, examples: Sequence[Example]) -> Iterator[StreamedBlock]:
        shards = [DataShard(shard, iter(examples))] if examples else []
        if self.asking is None:
            return judged_blocks(self.spec, shards, _unchecked)
        return prefetched_blocks(
            self.spec, shards, _unchecked, self.asking, shard * OF_A_SHARD, _unwatched
        )


def _written(brief: Brief, tables: dict[str, pl.DataFrame]) -> tuple[Brief, Tables]:
    """The content of the files, as a run in one process writes them."""
    tally = RunTally()
    tally.add(brief.examples, tables["ledger"], tables.get(Similarity.name))
    tally.count_calls(tables["ledger"], tables.get(Support.name))
    files, content = {}, {}
    with TemporaryDirectory() as folder:
        for name in sorted(tables):
            file = Path(folder) / f"{name}.parquet"
            files[name] = write_frame(name, tables[name], file)
            content[name] = np.fromfile(file, np.uint8)
    whole = Brief(
        brief.shard,
        brief.examples,
        tally.counted,
        files,
        brief.facts,
        brief.ids,
        brief.violations,
    )
    return whole, content


def _broken(examples: Sequence[Example]) -> Iterator[dict[str, object]]:
    for example in examples:
        yield from violation_records(example)


def _unchecked(block: Sequence[Example]) -> None:
    """The fields are checked on the whole shard."""


def _unwatched(done: int, ready: Sequence[Example], judges: Sequence[object]) -> None:
    """Progress is told by the process of the run."""
