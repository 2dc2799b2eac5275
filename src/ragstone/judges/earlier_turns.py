"""Earlier turns: what was said before, as passages behind the contexts of an example.

In a conversation an answer may rest on the retrieved contexts and on what was said before. A judge
of both reads the turns as further contexts, whose ids say which turn each is: ``turn 1``, ….
"""

from collections.abc import Callable
from dataclasses import replace

from ragstone.data import Context, Example, Turn

from .judge import Block


def with_turns(
    example: Example, written: Callable[[Turn], str] = lambda turn: turn.text
) -> Example:
    """The example with its earlier turns behind its contexts.

    Args:
        example: The example; it may have no contexts, or contexts that are not known.
        written: The text of a turn; by default what was said, without the role.
    """
    contexts = example.contexts or ()
    turns = (
        Context(f"turn {number}", written(turn), len(contexts) + number)
        for number, turn in enumerate(example.history, 1)
    )
    return replace(example, contexts=(*contexts, *turns))


def block_with_turns(block: Block) -> Block:
    """The block with the earlier turns of each example behind its contexts."""
    return replace(block, examples=[with_turns(example) for example in block.examples])
