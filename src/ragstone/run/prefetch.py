"""Prefetch: questions to models are put while earlier blocks are still being judged.

Each example goes on as soon as its own replies are in, so no block holds up the next.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from ragstone.examples import Example, to_frame
from ragstone.judgements import Tables
from ragstone.judges import Block, Judge
from ragstone.plan import foreseen

from .blocks import blocks
from .chat_judge import ChatJudge
from .judging import still_open

BLOCK = 250
"""Examples of a block."""

AHEAD = 2
"""Blocks whose questions are out beside those of the block that is being judged."""

TICK = 0.2
"""Seconds between two reports of progress."""


class Worker(Protocol):
    """Runs coroutines that ask models, beside the thread that judges."""

    def submit(self, work: Coroutine[Any, Any, None]) -> "Future[None]":
        """Begin one."""

    def settled(self, work: "Future[Any]", seconds: float) -> bool:
        """Wait so many seconds for it; whether it has ended."""


@dataclass(frozen=True, slots=True)
class PrefetchedBlock:
    """A block whose questions are being put.

    Args:
        examples: The block.
        frame: The same as a table.
        judges: Those of the run; chat models among them keep the replies to this block.
        done: When all questions have come out.
        answered: The places of the examples of which all questions have.
    """

    examples: list[Example]
    frame: pl.DataFrame
    judges: tuple[Judge, ...]
    done: "Future[None]"
    answered: set[int]


class Prefetch:
    """Puts the questions of blocks to models before their turn to be judged.

    Args:
        judges: In the order they are asked; some of them by model.
        asks: Of the run.
        asking: What questions are put with.
        first: The place of the first example in the data.

    Attributes:
        examples: How many have been answered, with those before the first.
    """

    def __init__(
        self,
        judges: Sequence[Judge],
        asks: Sequence[str],
        asking: Worker,
        first: int = 0,
    ) -> None:
        self.judges = judges
        self.asks = asks
        self.asking = asking
        self.turn = first
        self.examples = first

    def blocks(
        self,
        examples: Iterator[Example],
        check: Callable[[list[Example]], None],
        tick: Callable[[PrefetchedBlock, int], None],
    ) -> Iterator[PrefetchedBlock]:
        """The blocks in order, each when its questions have been answered.

        Args:
            examples: All that are left to judge.
            check: Called with each block before anything is asked about it.
            tick: Called now and then with the block that is next, and the number of examples done.
        """
        queue: deque[PrefetchedBlock] = deque()
        source = blocks(examples, BLOCK)
        held = 0
        while True:
            # Enough for servers to be busy while a block is judged; more would only take memory.
            while held <= AHEAD * BLOCK and (block := next(source, None)):
                check(block)
                queue.append(self._begin(block))
                held += len(block)
            if not queue:
                return
            first = queue.popleft()
            while not self.asking.settled(first.done, TICK):
                tick(first, self.examples)
            yield first
            held -= len(first.examples)

    def _begin(self, examples: list[Example]) -> PrefetchedBlock:
        frame = to_frame(examples)
        judges = tuple(
            judge.for_block() if isinstance(judge, ChatJudge) else judge for judge in self.judges
        )
        block = Block(examples, frame, Tables(frame))
        asked: list[tuple[ChatJudge, list[set[str]]]] = []
        for judge in (one for one in judges if isinstance(one, ChatJudge)):
            open_asks: list[set[str]] = [set() for _ in examples]
            # What judges before it settle, such as people, is not asked and not paid.
            before = judges[: judges.index(judge)]
            for ask in foreseen(judge, judges, self.asks):
                for row in still_open(ask, block, before):
                    open_asks[row].add(ask)
            asked.append((judge, open_asks))
        turn, self.turn = self.turn, self.turn + len(examples)
        answered: set[int] = set()
        done = self.asking.submit(self._put(examples, asked, turn, answered))
        return PrefetchedBlock(examples, frame, judges, done, answered)

    async def _put(
        self,
        examples: Sequence[Example],
        asked: Sequence[tuple[ChatJudge, Sequence[set[str]]]],
        turn: int,
        answered: set[int],
    ) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for place, example in enumerate(examples):
                    group.create_task(self._put_one(example, place, asked, turn + place, answered))
        except ExceptionGroup as errors:
            raise _first(errors) from None

    async def _put_one(
        self,
        example: Example,
        place: int,
        asked: Sequence[tuple[ChatJudge, Sequence[set[str]]]],
        turn: int,
        answered: set[int],
    ) -> None:
        for judge, open_asks in asked:
            asks = open_asks[place]
            if asks:
                await judge.ask_about(example, asks, turn)
        answered.add(place)
        self.examples += 1


def _first(errors: ExceptionGroup[Exception]) -> Exception:
    """The first error of a group, so that one in the user's own function arrives as it is."""
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
