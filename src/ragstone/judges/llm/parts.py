"""Parts: splits contexts and propositions over several questions, and merges the replies."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

from ragstone.data import Example
from ragstone.models.chat import ITEMS

from .blocks import Passage, passages
from .question import Item, Piece
from .task import TaskReply

Text = TypeVar("Text")
Sort = TypeVar("Sort", bound=Item)

CONTEXTS_SHARE = 0.75
"""Of a question's room; the rest is for what is asked about the contexts."""
NOT_SAID = "not_in_reply"


def groups(example: Example, room: int) -> list[list[Passage]]:
    """The contexts of an example in groups that fit into a question; the same for related tasks.

    Args:
        example: The example; contexts without text are left out.
        room: The most characters of text in one question.
    """
    return passages(example.contexts or (), int(room * CONTEXTS_SHARE))


def balanced(texts: Sequence[Text], at_most: int = ITEMS) -> list[Sequence[Text]]:
    """The texts in order, in as few parts as possible, of equal length to within one."""
    count = -(-len(texts) // at_most)
    ends = [len(texts) * number // count for number in range(count + 1)] if count else []
    return [texts[start:end] for start, end in pairwise(ends)]


def portions(pieces: Iterable[Piece], at_most: int) -> list[Piece]:
    """The pieces, split so that none has too many items."""
    return [
        piece.only(names) if len(names) < len(piece.items) else piece
        for piece in pieces
        for names in balanced(list(piece.items), at_most)
    ]


def numbered(letter: str, texts: Sequence[str], first: int = 1) -> dict[str, str]:
    """The texts by their ids: ``p01``, ``p02``, …"""
    return {f"{letter}{number:02d}": text for number, text in enumerate(texts, first)}


def said(reply: TaskReply, name: str | None, sort: type[Sort]) -> list[Sort]:
    """The items under an id; several if the contexts were split."""
    items = reply.items.get(name, ()) if name is not None else ()
    return [item for item in items if isinstance(item, sort)]


def why_lacking(reply: TaskReply, name: str | None) -> str:
    """Why there is no verdict under an id."""
    return reply.lacking.get(name, NOT_SAID) if name is not None else NOT_SAID
