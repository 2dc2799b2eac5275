"""Maker: reads, judges and scores a shard, in the process of a worker."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from ragstone.core.errors import room_for
from ragstone.data import Example, Examples, from_frame
from ragstone.data.read_facts import ReadFacts, SeenIds
from ragstone.judgements import Similarity, Support
from ragstone.run.alike_scores import parted
from ragstone.run.blocks import OF_A_SHARD, DataShard
from ragstone.run.manifest import RunTally
from ragstone.run.prefetch import Worker
from ragstone.run.scoring import (
    CheckedFields,
    UnfitFields,
    block_tables,
    set_aside_tables,
    shard_tables,
)
from ragstone.run.shards import write_frame
from ragstone.run.spec import RunSpec
from ragstone.run.streaming import StreamedBlock, judged_blocks, prefetched_blocks
from ragstone.run.violations import Violations

from .task import Brief, ShardTask, Tables


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
            InputError: Models cannot be asked.
        """
        brief, placed = self._read(task)
        if task.only_read or not placed:
            return brief, {}
        start, end = task.places
        kept = [one for at, one in placed.items() if start <= at < end and at not in task.aside]
        try:
            blocks = [
                block_tables(self.spec, task.shard, block.examples, block.judged)
                for block in self._judged(task, kept)
            ]
        except UnfitFields as unfit:
            return replace(brief, unfit=unfit.text), {}
        if task.part is not None:
            return brief, {}
        blocks += [
            set_aside_tables(self.spec, task.shard, placed[at], why)
            for at, why in sorted(task.aside.items())
            if at in placed
        ]
        tables = shard_tables(blocks)
        tables["scores"], alike = parted(self.spec, tables["scores"])
        return _written(replace(brief, alike=tuple(alike)), tables)

    def _read(self, task: ShardTask) -> tuple[Brief, dict[int, Example]]:
        """What was found out about the shard, and its examples by their place."""
        facts, ids, broken = ReadFacts(), SeenIds(), Violations()
        if isinstance(task.data, pl.DataFrame):
            placed = dict(enumerate(from_frame(task.data)))
        else:
            placed = dict(self.data.read_part(task.data, ids, facts, task.refused))
        for _ in broken.watch(placed.values()):
            """All pass by."""
        facts.label_violations = []  # They are in ``broken``.
        brief = Brief(
            task.shard,
            len(placed),
            {},
            {},
            facts,
            None if isinstance(task.data, pl.DataFrame) else ids.all(),
            broken.lines,
            broken.rules,
        )
        return brief, placed

    def _judged(self, task: ShardTask, examples: Sequence[Example]) -> Iterator[StreamedBlock]:
        shards = [DataShard(task.shard, iter(examples))] if examples else []
        check = CheckedFields(self.spec, checked=not task.check or task.part is not None)
        if self.asking is None:
            return judged_blocks(self.spec, shards, check)
        first = task.shard * OF_A_SHARD
        return prefetched_blocks(self.spec, shards, check, self.asking, first, _unwatched)


def _written(brief: Brief, tables: dict[str, pl.DataFrame]) -> tuple[Brief, Tables]:
    """The content of the files, as a run in one process writes them."""
    tally = RunTally()
    tally.add(brief.examples, tables["ledger"], tables.get(Similarity.name))
    tally.count_calls(tables["ledger"], tables.get(Support.name))
    files, content = {}, {}
    with TemporaryDirectory() as folder, room_for(folder):
        for name in sorted(tables):
            file = Path(folder) / f"{name}.parquet"
            files[name] = write_frame(name, tables[name], file)
            content[name] = np.fromfile(file, np.uint8)
    return replace(brief, counted=tally.counted, files=files), content


def _unwatched(done: int, ready: Sequence[Example], judges: Sequence[object]) -> None:
    """Progress is told by the process of the run."""
