"""Blocks: examples that are judged together; consecutive blocks make a shard, written together.

Where they end depends on the examples alone, never on time, so that a run has the same rows on
every machine, and also if it was interrupted and resumed. A block is what memory has to hold of
judging, a shard is what files are made of.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from ragstone.data import Example
from ragstone.data.line_ranges import PieceSize

CHARACTERS = 4_000_000
"""Characters of a block, texts and context ids, with which it ends."""

OF_A_SHARD = 2_500
CHARACTERS_OF_A_SHARD = 32_000_000
"""The most examples and characters of a shard, unless one example alone has more. Where lines of a
file are cut as they stand, their bytes count for characters."""


def size_of_a_shard() -> PieceSize:
    """Of lines that are cut as they stand."""
    return PieceSize(OF_A_SHARD, CHARACTERS_OF_A_SHARD)


@dataclass(frozen=True, slots=True)
class DataShard:
    """A shard of the data; its examples are read before those of the next."""

    number: int
    examples: Iterable[Example]


@dataclass(frozen=True, slots=True)
class CutBlock:
    """A block, and the number of its shard."""

    shard: int
    examples: list[Example]


def none_done(shard: int) -> int | None:  # noqa: ARG001
    """Of a run that begins."""
    return None


def blocks(shards: Iterable[DataShard], most: int) -> Iterator[CutBlock]:
    """Group the examples of shards into blocks, which end with the example that fills them.

    Args:
        shards: The shards.
        most: Maximum number of examples in a block.
    """
    for shard in shards:
        block: list[Example] = []
        held = 0
        for example in shard.examples:
            block.append(example)
            held += example.characters
            if len(block) >= most or held >= CHARACTERS:
                yield CutBlock(shard.number, block)
                block, held = [], 0
        if block:
            yield CutBlock(shard.number, block)


def shards_of(
    examples: Iterator[Example], done: Callable[[int], int | None] = none_done
) -> Iterator[DataShard]:
    """Cut examples into shards.

    Args:
        examples: All of the data.
        done: Says how many examples a shard has that is done, which are passed over; None for one
            that is not.
    """
    ahead, number = _Ahead(examples), 0
    while True:
        if (passed := done(number)) is not None:
            ahead.skip(passed)
        elif ahead.peek() is None:
            return
        else:
            yield DataShard(number, _of_a_shard(ahead))
        number += 1


class _Ahead:
    """Examples, of which the next can be looked at."""

    def __init__(self, examples: Iterator[Example]) -> None:
        self._examples = examples
        self._next: Example | None = None

    def peek(self) -> Example | None:
        """The next example; None at the end."""
        if self._next is None:
            self._next = next(self._examples, None)
        return self._next

    def take(self) -> None:
        """Go on to the example after it."""
        self._next = None

    def skip(self, count: int) -> None:
        """Pass over as many."""
        if count and self._next is not None:
            self._next, count = None, count - 1
        next(islice(self._examples, count, count), None)


def _of_a_shard(examples: _Ahead) -> Iterator[Example]:
    taken = characters = 0
    while taken < OF_A_SHARD and (example := examples.peek()) is not None:
        characters += example.characters
        if taken and characters > CHARACTERS_OF_A_SHARD:
            return
        examples.take()
        taken += 1
        yield example
