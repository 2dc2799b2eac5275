"""Desk texts: what people read of an item, in the order in which they read it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragstone.annotation.queue.form import QueueItem, name_of, texts_of
from ragstone.data.record_labels import FIELDS
from ragstone.report.number_format import spoken

from .marked import MarkedPiece, answer_pieces

CONTEXTS = FIELDS["context"]
FIRST, LAST = ("history", "question", "policy", "answer", "answers"), (CONTEXTS, "reference")
"""The texts in their order; others stand between."""

ONE_TEXT, ALL_TEXTS, LEAST = 40_000, 240_000, 3_000
"""Bytes that a text may take at once, all of one sort, and at least each of them."""

LONG_CONTEXT = 1_200
"""Characters from which on a context among others is folded."""


@dataclass(frozen=True, slots=True)
class DeskText:
    """A text to read.

    Attributes:
        name: As in ``texts_of``.
        title: What it is called among its like; who spoke, of a turn.
        pieces: Its beginning, and what of it is fetched when somebody asks for it.
        is_long: Whether it is folded.
        part: The number of the part that it is; empty if it is none.
    """

    name: str
    title: str
    pieces: tuple[MarkedPiece, ...]
    is_long: bool
    part: str


@dataclass(frozen=True, slots=True)
class DeskSection:
    """Texts of one sort, such as the contexts."""

    key: str
    title: str
    texts: tuple[DeskText, ...]


def sections_of(item: QueueItem, part: str = "", start: int = 0) -> Iterator[DeskSection]:
    """The texts of an item, each sort in a section.

    Args:
        item: The item.
        part: The name of the text of which more was asked for; empty if none.
        start: From which character on.
    """
    texts = texts_of(item)
    parts = {name_of(one): str(at) for at, one in enumerate(item.parts)}
    sorts: dict[str, list[str]] = {}
    for name in texts:
        sort = name.partition("/")[0]
        # A part that is no context is short, and read on the sheet beside what is asked of it.
        if sort in item.shown or sort == CONTEXTS:
            sorts.setdefault(sort, []).append(name)
    between = [one for one in sorts if one not in FIRST + LAST]
    for sort in (one for one in (*FIRST, *between, *LAST) if one in sorts):
        names = sorts[sort]
        room = min(ONE_TEXT, max(LEAST, ALL_TEXTS // len(names)))
        titles = _titles(item.shown.get(sort), names)
        yield DeskSection(
            sort,
            spoken(sort).capitalize(),
            tuple(
                DeskText(
                    name,
                    title,
                    tuple(_pieces(texts[name], start if name == part else 0, room)),
                    sort == CONTEXTS and len(names) > 1 and len(texts[name]) > LONG_CONTEXT,
                    parts.get(name, ""),
                )
                for name, title in zip(names, titles, strict=True)
            ),
        )


def piece_of(item: QueueItem, name: str, start: int) -> list[MarkedPiece]:
    """A text of an item from a character on; nothing if it has none of that name."""
    text = texts_of(item).get(name, "")
    return _pieces(text, start, ONE_TEXT) if start < len(text) else []


def _pieces(text: str, start: int, most_bytes: int) -> list[MarkedPiece]:
    # A carriage return would be shown as a sign; places in the text stay what they are.
    lines = text.replace("\r\n", " \n").replace("\r", "\n")
    return answer_pieces(lines, (), min(start, len(text)), most_bytes)


def _titles(shown: object, names: Sequence[str]) -> list[str]:
    """Who spoke, where that is said; else the end of the name."""
    given = shown if isinstance(shown, list) else []
    who = [one.get("role") if isinstance(one, Mapping) else None for one in given]
    return [
        str(role or name.partition("/")[2])
        for name, role in zip(names, [*who, *[None] * len(names)], strict=False)
    ]
