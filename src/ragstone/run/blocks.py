"""Blocks: examples that are judged together; consecutive blocks make a shard, written together.

Where they end depends on the examples alone, never on time, so that a run has the same rows on
every machine, and also if it was interrupted and resumed. A block is what memory has to hold of
judging, a shard is what files are made of.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from ragstone.examples import Example

CHARACTERS = 4_000_000
"""Characters of a block, texts and context ids, with which it ends."""

OF_A_SHARD = 5_000
CHARACTERS_OF_A_SHARD = 32_000_000
"""The most examples and characters of a shard, unless one example alone has more."""


@dataclass(frozen=True, slots=True)
class CutBlock:
    """A block, and the number of its shard."""

    shard: int
    examples: list[Example]


def none_done(shard: int) -> int | None:  # noqa: ARG001
    """Of a run that begins."""
    return None


def blocks(
    examples: Iterator[Example], most: int, done: Callable[[int], int | None] = none_done
) -> Iterator[CutBlock]:
    """Group examples into blocks, which end with the example that fills them, and into shards.

    Args:
        examples: All of the data.
        most: Maximum number of examples in a block.
        done: Says how many examples a shard has that is done, which are passed over; None for one
            that is not.
    """
    ahead, shard = _Ahead(examples), 0
    while True:
        if (passed := done(shard)) is not None:
            ahead.skip(passed)
        elif ahead.peek() is None:
            return
        else:
            yield from _of_a_shard(ahead, shard, most)
        shard += 1


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


def _of_a_shard(examples: _Ahead, shard: int, most: int) -> Iterator[CutBlock]:
    block: list[Example] = []
    held = taken = characters = 0
    while taken < OF_A_SHARD and (example := examples.peek()) is not None:
        added = size(example)
        if taken and characters + added > CHARACTERS_OF_A_SHARD:
            break
        examples.take()
        block.append(example)
        held, taken, characters = held + added, taken + 1, characters + added
        if len(block) >= most or held >= CHARACTERS:
            yield CutBlock(shard, block)
            block, held = [], 0
    if block:
        yield CutBlock(shard, block)


def size(example: Example) -> int:
    """The number of characters in an example that judges read."""
    texts = (
        example.question,
        example.answer,
        *example.reference,
        *example.evidence,
        *(turn.text for turn in example.history),
    )
    return sum(len(text) for text in texts if text) + sum(
        len(context.id) + len(context.text or "") for context in example.contexts or ()
    )
