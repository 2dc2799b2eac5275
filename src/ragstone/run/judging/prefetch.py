"""Prefetch: judged blocks in the order of the data; models are asked about later blocks early.

Each example proceeds as soon as its own replies have arrived, so no block delays the next.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from ragstone.data import Example, to_frame
from ragstone.judgements import Tables
from ragstone.judges import Block, Judge
from ragstone.run.run_spec import RunSpec

from .chat_judge import ChatJudge, prefetchable
from .judge_blocks import JudgedBlock, judge_block, judge_further, still_open
from .scoring import check_fields
from .sharding import OF_A_SHARD, DataShard, blocks

PREFETCHED = 250

# Number of later blocks that are asked about while a block is being judged.
AHEAD = 2

TICK = 0.2


class Worker(Protocol):
    """Runs coroutines that ask models, outside the thread that judges."""

    def submit(self, work: Coroutine[Any, Any, None]) -> "Future[None]": ...

    def settled(self, work: "Future[Any]", seconds: float) -> bool:
        """Wait at most this long; returns whether it has finished."""


@dataclass(frozen=True, slots=True)
class PrefetchedBlock:
    """A block whose questions are being asked.

    Args:
        judges: The run's judges; chat models among them hold the replies for this block.
    """

    shard: int
    examples: list[Example]
    tables: Tables
    judges: tuple[Judge, ...]
    done: "Future[None]"
    answered: set[int]


class Prefetch:
    """Asks models about blocks before these are judged."""

    def __init__(
        self, judges: Sequence[Judge], asks: Sequence[str], asking: Worker, first: int = 0
    ) -> None:
        self.judges = judges
        self.asks = asks
        self.asking = asking
        self.turn = first
        self.examples = first
        """Examples whose questions are settled, including those before the first."""

    def blocks(
        self, shards: Iterable[DataShard], check: Callable[[list[Example]], None],
        tick: Callable[[PrefetchedBlock, int], None],
    ) -> Iterator[PrefetchedBlock]:  # fmt: skip
        """The blocks in order, each when its questions have been answered."""
        queue: deque[PrefetchedBlock] = deque()
        source = blocks(shards, PREFETCHED)
        held = 0
        while True:
            # Enough to keep servers busy while a block is judged; more would only use memory.
            while held <= AHEAD * PREFETCHED and (block := next(source, None)):
                shard, examples = block
                check(examples)
                queue.append(self._begin(shard, examples))
                held += len(examples)
            if not queue:
                return
            first = queue.popleft()
            while not self.asking.settled(first.done, TICK):
                tick(first, self.examples)
            yield first
            held -= len(first.examples)

    def _begin(self, shard: int, examples: list[Example]) -> PrefetchedBlock:
        tables = Tables(to_frame(examples))
        judges = tuple(
            judge.for_block() if isinstance(judge, ChatJudge) else judge for judge in self.judges
        )
        block = Block(examples, tables.examples, tables)
        open_by_judge: list[tuple[ChatJudge, list[set[str]]]] = []
        for judge in (other for other in judges if isinstance(other, ChatJudge)):
            open_asks: list[set[str]] = [set() for _ in examples]
            # What earlier judges such as people have settled is not asked, and so not paid for.
            before = judges[: judges.index(judge)]
            for ask in prefetchable(judge, judges, self.asks):
                for row in still_open(ask, block, before):
                    open_asks[row].add(ask)
            open_by_judge.append((judge, open_asks))
        turn, self.turn = self.turn, self.turn + len(examples)
        answered: set[int] = set()
        done = self.asking.submit(self._put(examples, open_by_judge, turn, answered))
        return PrefetchedBlock(shard, examples, tables, judges, done, answered)

    async def _put(
        self, examples: Sequence[Example],
        open_by_judge: Sequence[tuple[ChatJudge, Sequence[set[str]]]], turn: int,
        answered: set[int],
    ) -> None:  # fmt: skip
        async def put(position: int, example: Example) -> None:
            for judge, open_asks in open_by_judge:
                if asks := open_asks[position]:
                    await judge.ask_about(example, asks, turn + position)
            answered.add(position)
            self.examples += 1

        try:
            async with asyncio.TaskGroup() as group:
                for position, example in enumerate(examples):
                    group.create_task(put(position, example))
        except ExceptionGroup as errors:
            raise _first(errors) from None


def _first(errors: ExceptionGroup[Exception]) -> Exception:
    """Return the first error of a group, so that a user's own error arrives unchanged."""
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error


# Examples of a block, where no model by server is asked.
BLOCK = OF_A_SHARD

# Called with how many examples have been answered, and the next of them with their judges.
Watch = Callable[[int, Sequence[Example], Sequence[Judge]], None]


# The number of a shard, and a block of it, judged.
StreamedBlock = tuple[int, Sequence[Example], JudgedBlock]


def judged_blocks(
    spec: RunSpec, shards: Iterable[DataShard], asking: Worker | None, first: int, *, check: bool,
    watch: Watch = lambda *_: None,
) -> Iterator[StreamedBlock]:  # fmt: skip
    """The judged blocks; models by server are asked about later ones while one is judged.

    Args:
        check: Check the fields to group by on the first block.
    """

    def check_first(examples: Sequence[Example]) -> None:
        nonlocal check
        if check:
            check_fields(spec, examples)
            check = False

    if asking is None:
        for shard, examples in blocks(shards, BLOCK):
            check_first(examples)
            yield shard, examples, judge_block(examples, spec.judges, spec.asks)
        return
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

    for block in prefetch.blocks(shards, check_first, tick):
        tick(block, prefetch.examples)
        judged = judge_further(block.examples, block.tables, block.judges, spec.asks)
        yield block.shard, block.examples, judged
        start += len(block.examples)
