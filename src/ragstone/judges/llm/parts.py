"""Parts: how contexts and propositions are shared out over questions, and put together again."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from ragstone.examples import Example

from .blocks import Passage, passages
from .question import ITEMS_AT_ONCE, Item
from .task import Told

Text = TypeVar("Text")
Sort = TypeVar("Sort", bound=Item)

CONTEXTS_SHARE = 0.75
"""Of a question's room; the rest is for what is asked about the contexts."""
NOT_SAID = "the reply does not say"


def groups(example: Example, room: int) -> list[list[Passage]]:
    """The contexts of an example in groups that fit a question each; the same for sibling tasks.

    Args:
        example: Whose; contexts without text are left out.
        room: Characters that the texts of one question may have.
    """
    return passages(example.contexts or (), int(room * CONTEXTS_SHARE))


def balanced(texts: Sequence[Text], at_most: int = ITEMS_AT_ONCE) -> list[Sequence[Text]]:
    """The texts in order, in as few parts as can be, whose lengths differ by one at most."""
    count = -(-len(texts) // at_most)
    ends = [len(texts) * number // count for number in range(count + 1)] if count else []
    return [texts[start:end] for start, end in pairwise(ends)]


def numbered(letter: str, texts: Sequence[str], first: int = 1) -> dict[str, str]:
    """The texts by their ids: ``p01``, ``p02``, …"""
    return {f"{letter}{number:02d}": text for number, text in enumerate(texts, first)}


def said(told: Told, name: str | None, sort: type[Sort]) -> list[Sort]:
    """What the replies hold under an id; several where the contexts were split."""
    items = told.items.get(name, ()) if name is not None else ()
    return [item for item in items if isinstance(item, sort)]


def why_lacking(told: Told, name: str | None) -> str:
    """Why there is no verdict under an id."""
    return told.lacking.get(name, NOT_SAID) if name is not None else NOT_SAID
