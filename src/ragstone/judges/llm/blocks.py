"""Blocks: texts to be judged as a model sees them, each between its own boundary lines.

    ANSWER
    ==== 5f0c…
    [s1] The bridge opened in 1859. [s2] It is still in use.
    ==== 5f0c… end

Everything between the lines is data, whatever it says; ``boundary.py`` ensures that.
Equal texts give equal bytes in every run. Every block ends with an empty line.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ragstone.data import Turn
from ragstone.judges.local.sentences import sentences

from .boundary import boundary, escaped, line
from .passages import Passage, passages
from .quotes import found

__all__ = [
    "Passage",
    "block",
    "contexts_block",
    "found",
    "listing",
    "passages",
    "sentences_block",
    "turns_block",
]

_KEPT = 1_024
"""Blocks of contexts that several questions may still begin with."""


def contexts_block(group: Sequence[Passage]) -> str:
    """The passages of a question, each after its id, with the sentences of each context numbered.

    ``[s1]`` is the first sentence of a context; further parts of it continue the numbers.
    """
    return _contexts_block(tuple(group))


def block(title: str, text: str) -> str:
    """One text: ``QUESTION``, ``ANSWER``, ``REFERENCE``, ``POLICY``."""
    return _between(title, {"": escaped(text)}, (text,))


def sentences_block(title: str, text: str) -> str:
    """One text with its sentences numbered from ``[s1]``."""
    starts = [one.start for one in sentences(text)]
    return _between(title, {"": _numbered(text, starts)}, (text,))


def listing(title: str, texts: Mapping[str, str]) -> str:
    """Several short texts, each after its id."""
    return _between(
        title, {name: escaped(text) for name, text in texts.items()}, tuple(texts.values())
    )


def turns_block(history: Sequence[Turn]) -> str:
    """The earlier turns of a conversation, each with its role, after ``t01``, ``t02``, …"""
    turns = {f"t{n:02d}": f"{turn.role}: {turn.text}" for n, turn in enumerate(history, 1)}
    return listing("EARLIER TURNS", turns)


@lru_cache(_KEPT)
def _contexts_block(group: tuple[Passage, ...]) -> str:
    shown = {one.id: _numbered(one.text, one.starts, one.first) for one in group}
    return _between("CONTEXTS", shown, tuple(one.text for one in group))


def _between(title: str, shown: Mapping[str, str], texts: Sequence[str]) -> str:
    mark = boundary((title, *shown, *shown.values()), texts)
    parts = [f"{title}\n"]
    for name, text in shown.items():
        parts += (line(mark, name), text, "\n")
    parts += (line(mark, "end"), "\n")
    return "".join(parts)


def _numbered(text: str, starts: Sequence[int], first: int = 0) -> str:
    if not starts:
        return escaped(text)
    parts = [escaped(text[: starts[0]])]
    for number, start, end in zip(
        range(first + 1, first + 1 + len(starts)), starts, (*starts[1:], len(text)), strict=True
    ):
        parts += (f"[s{number}] ", escaped(text[start:end]))
    return "".join(parts)
