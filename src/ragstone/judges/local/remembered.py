"""Remembered: what was found of a word, so that it is found once.

Texts repeat their words: on most pages of a language nearly all have been read before.
"""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

LONGEST = 40
"""Characters of a word that is kept: a text without spaces is one word."""

MOST = 1 << 16
"""Words that are kept; when they are that many, all are forgotten."""


def remembered(find: Callable[[str], T]) -> Callable[[str], T]:
    """A function of a word that keeps what it finds, in at most some 20 MB.

    In contrast to ``functools.lru_cache`` no long text is kept, and what is known takes half the
    time.
    """
    return _Remembered(find).__getitem__


class _Remembered(dict[str, T]):
    __slots__ = ("_find",)

    def __init__(self, find: Callable[[str], T]) -> None:
        self._find = find

    def __missing__(self, word: str) -> T:
        found = self._find(word)
        if len(word) <= LONGEST:
            if len(self) >= MOST:
                self.clear()
            self[word] = found
        return found
