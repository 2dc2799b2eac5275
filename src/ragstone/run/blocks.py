"""Blocks: examples that are judged, scored and written together.

Where a block ends depends on the examples alone, never on time, so that a run has the same rows on
every machine, and also if it was interrupted and resumed.
"""

from collections.abc import Iterator

from ragstone.examples import Example

CHARACTERS = 4_000_000
"""Maximum characters of a block, texts and context ids, which bounds the memory it needs."""


def blocks(examples: Iterator[Example], most: int) -> Iterator[list[Example]]:
    """Group examples into blocks; a block ends with the example that fills it.

    Args:
        examples: Starting with the first example of a block.
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
