"""Streaming: the blocks of a run, each judged, in the order of the data."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.data import Example
from ragstone.judgements import Tables
from ragstone.judges import Judge

from .blocks import OF_A_SHARD, DataShard, blocks
from .judging import JudgedBlock, judge_block, judge_further
from .spec import RunSpec

if TYPE_CHECKING:
    from .prefetch import Worker

BLOCK = OF_A_SHARD
"""Examples of a block, where no model by server is asked."""

Check = Callable[[Sequence[Example]], None]
Watch = Callable[[int, Sequence[Example], Sequence[Judge]], None]
"""Called with how many examples have been answered, and the next of them with their judges."""


@dataclass(frozen=True, slots=True)
class StreamedBlock:
    """A judged block, and the number of its shard."""

    shard: int
    examples: Sequence[Example]
    judged: JudgedBlock


def judged_blocks(
    spec: RunSpec, shards: Iterable[DataShard], check: Check
) -> Iterator[StreamedBlock]:
    """The blocks, if no server is asked.

    Args:
        spec: Of the run.
        shards: Those that are not done.
        check: Called with each block before it is judged.
    """
    for block in blocks(shards, BLOCK):
        check(block.examples)
        yield StreamedBlock(
            block.shard, block.examples, judge_block(block.examples, spec.judges, spec.asks)
        )


def prefetched_blocks(
    spec: RunSpec,
    shards: Iterable[DataShard],
    check: Check,
    asking: "Worker",
    first: int,
    watch: Watch,
) -> Iterator[StreamedBlock]:
    """The blocks, asking models about later blocks while an earlier one is judged.

    Args:
        spec: Of the run.
        shards: Those that are not done.
        check: Called with each block before anything is asked about it.
        asking: The asker.
        first: The place of the first example in the data.
        watch: Called periodically with the examples, in order, whose questions are settled.
    """
    from .prefetch import Prefetch, PrefetchedBlock

    prefetch = Prefetch(spec.judges, spec.asks, asking, first)
    watched = first
    start = first

    def tick(block: PrefetchedBlock, done: int) -> None:
        # Answers come in any order, and examples are shown in the order of the data.
        nonlocal watched
        ready = []
        while watched - start in block.answered:
            ready.append(block.examples[watched - start])
            watched += 1
        watch(done, ready, block.judges)

    for block in prefetch.blocks(shards, check, tick):
        tick(block, prefetch.examples)
        tables = Tables(block.frame)
        judged = judge_further(block.examples, tables, block.judges, spec.asks)
        yield StreamedBlock(block.shard, block.examples, judged)
        start += len(block.examples)
