"""Passages: contexts as shown to a model; a long one is split, and nothing is left out."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragstone.data import Context
from ragstone.judges.local.sentences import sentences
from ragstone.models.chat import ITEMS

_KEPT = 1_024
"""Context lists that several tasks may still ask for."""

_KEPT_TEXTS = 2048
"""Contexts that other examples may have too."""

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_WORD = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A context as shown to a model, or a part of a long one.

    Args:
        id: ``c01``, ``c02``, …: its place among all passages of the example.
        context: Id of the context in the data.
        rank: Its rank.
        text: As in the data.
        first: Number of its first sentence within the context, from 0.
        starts: Where in ``text`` each of its sentences begins. A part that begins
            within a sentence begins with that sentence, whose number then is in both parts.
    """

    id: str
    context: str
    rank: int
    text: str
    first: int = 0
    starts: tuple[int, ...] = ()

    @property
    def sentences(self) -> int:
        """The number of sentences, including one that it begins inside of."""
        return len(self.starts)


def passages(contexts: Sequence[Context], room: int, at_once: int = ITEMS) -> list[list[Passage]]:
    """The passages of contexts, in groups that each fit into one question; nearly always one.

    A context longer than the room is split at the end of a paragraph, else of a sentence or a word,
    else anywhere; its parts joined are its text. A context without text is left out.

    Args:
        contexts: In rank order.
        room: The most characters of text in a group, at least 1.
        at_once: The most passages in a group.
    """
    return [list(group) for group in _groups(tuple(contexts), room, at_once)]


@lru_cache(_KEPT)
def _groups(
    contexts: tuple[Context, ...], room: int, at_once: int
) -> tuple[tuple[Passage, ...], ...]:
    if room < 1 or at_once < 1:
        raise ValueError(f"room and at_once are at least 1, got {room} and {at_once}")
    groups: list[list[Passage]] = []
    taken = number = 0
    for context in contexts:
        if context.text is None:
            continue
        for text, first, starts in _parts(context.text, room):
            if not groups or len(groups[-1]) == at_once or taken + len(text) > room:
                groups.append([])
                taken = 0
            number += 1
            name = f"c{number:02d}"
            groups[-1].append(Passage(name, context.id, context.rank, text, first, starts))
            taken += len(text)
    return tuple(map(tuple, groups))


@lru_cache(_KEPT_TEXTS)
def _parts(text: str, room: int) -> tuple[tuple[str, int, tuple[int, ...]], ...]:
    """Each part, the number of its first sentence, and where in it its sentences begin."""
    return tuple(_split(text, room))


def _split(text: str, room: int) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    found = sentences(text)
    starts = [one.start for one in found]
    start = 0
    while True:
        end = len(text) if len(text) - start <= room else _cut(text, start, start + room, starts)
        first, after = bisect_left(starts, start), bisect_left(starts, end)
        mine = [place - start for place in starts[first:after]]
        if first and found[first - 1].end > start:
            first -= 1
            mine.insert(0, 0)
        yield text[start:end], first, tuple(mine)
        start = end
        if start >= len(text):
            return


def _cut(text: str, start: int, limit: int, starts: Sequence[int]) -> int:
    """Where to end the part from ``start``: at ``limit`` at the latest, past its half if it can."""
    half = (start + limit + 1) // 2
    paragraphs = [one.end() for one in _PARAGRAPH.finditer(text, start, limit)]
    if paragraphs and paragraphs[-1] >= half:
        return paragraphs[-1]
    after = bisect_left(starts, limit + 1)
    if after and starts[after - 1] >= half:
        return starts[after - 1]
    words = [one.end() for one in _WORD.finditer(text, half, limit)]
    return words[-1] if words else limit
