"""Quotes: whether the words that a model quotes are in the texts it was shown."""

import re
from collections.abc import Iterable
from functools import lru_cache

from .boundary import unescaped

_ELLIPSIS = re.compile(r"\[\s*(?:…|\.{3,})\s*\]|\(\s*(?:…|\.{3,})\s*\)|…|\.{3,}")
_NUMBER = re.compile(r"\[s\d+\]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_MARKS = str.maketrans("", "", "\"'`´“”„‟‘’‚‛«»‹›＂＇「」『』")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−", "-"))


def found(quote: str, texts: Iterable[str]) -> bool:
    """Whether a quote is in one of the texts.

    Case, white space, quote marks, the length of dashes, a stop at an end, sentence numbers such
    as ``[s3]`` and what is shown escaped do not matter; of a quote with ellipses each piece has to
    be there, in order. An empty quote is not found.
    """
    parts = _ELLIPSIS.split(unescaped(quote))
    pieces = [piece for part in parts if (piece := _plain(part).strip(" .,;:!?"))]
    return bool(pieces) and any(_holds(_folded(text), pieces) for text in texts)


def _holds(text: str, pieces: list[str]) -> bool:
    at = 0
    for piece in pieces:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _plain(text: str) -> str:
    text = _NUMBER.sub(" ", text.lower())
    if not text.isascii():
        text = _UNSEEN.sub("", text.translate(_DASHES))
    return " ".join(text.translate(_MARKS).split())


@lru_cache(4_096)
def _folded(text: str) -> str:
    return _plain(text)
