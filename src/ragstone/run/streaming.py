"""Streaming: the blocks of a run, each judged, in the order of the data."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.examples import Example
from ragstone.judgements import Tables
from ragstone.judges import Judge

from .blocks import blocks
from .judging import JudgedBlock, judge_block, judge_further
from .spec import RunSpec

if TYPE_CHECKING:
    from .calls.asking import Asking

BLOCK = 20_000
"""Examples of a block, where no model by server is asked."""

Check = Callable[[Sequence[Example]], None]
Watch = Callable[[int, Sequence[Example], Sequence[Judge]], None]
"""Called with how many examples have been answered, and the next of them with their judges."""


def judged_blocks(
    spec: RunSpec, examples: Iterator[Example], check: Check
) -> Iterator[tuple[list[Example], JudgedBlock]]:
    """The blocks, if no server is asked.

    Args:
        spec: Of the run.
        examples: All that are left to judge.
        check: Called with each block before it is judged.
    """
    for block in blocks(examples, BLOCK):
        check(block)
        yield block, judge_block(block, spec.judges, spec.asks)


def prefetched_blocks(
    spec: RunSpec,
    examples: Iterator[Example],
    check: Check,
    asking: "Asking",
    first: int,
    watch: Watch,
) -> Iterator[tuple[list[Example], JudgedBlock]]:
    """The blocks, asking models about later blocks while an earlier one is judged.

    Args:
        spec: Of the run.
        examples: All that are left to judge.
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

    for block in prefetch.blocks(examples, check, tick):
        tick(block, prefetch.examples)
        tables = Tables(block.frame)
        yield block.examples, judge_further(block.examples, tables, block.judges, spec.asks)
        start += len(block.examples)
