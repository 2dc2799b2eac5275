"""Blocks: examples that are judged, scored and written together.

Where a block ends follows from the examples alone, never from the clock, so that a run has the same
rows on every machine, and also where it was stopped and went on.
"""

from collections.abc import Iterator

from ragstone.examples import Example

CHARACTERS = 4_000_000
"""Of texts and ids of contexts. A block of long texts is as quickly judged as one of short ones."""


def blocks(examples: Iterator[Example], most: int) -> Iterator[list[Example]]:
    """Examples in blocks, which are never split; a block ends with the example that fills it.

    Args:
        examples: From the first of a block on.
        most: Maximum number of examples in a block.
    """
    block: list[Example] = []
    held = 0
    for example in examples:
        block.append(example)
        held += size(example)
        if len(block) >= most or held >= CHARACTERS:
            yield block
            block, held = [], 0
    if block:
        yield block


def size(example: Example) -> int:
    """Characters of what judges read of an example."""
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
