"""Windows: splits a text longer than the encoder's limit into overlapping windows."""

import re
from collections.abc import Sequence
from itertools import accumulate

from ragstone.models import Encoder

OVERLAP = 0.5
"""Of neighbouring windows, so that what one cuts through stands whole in the next."""

_PIECE = re.compile(r"\S{1,24}\s*|\s+")


def windows(encoder: Encoder, texts: Sequence[str]) -> list[list[str]]:
    """Each text in windows within the token limit of ``embed``; a short text is one window.

    The windows begin and end between words, and in scripts without spaces
    between pieces of a few characters. If the encoder does not report how long a
    text is, or has no known limit, the text is one window.
    """
    lengths = encoder.lengths(texts)
    long = {
        text: [(piece.start(), piece.end()) for piece in _PIECE.finditer(text)]
        for text, length in zip(texts, lengths, strict=True)
        if 0 < encoder.max_tokens < length
    }
    words = list(
        dict.fromkeys(text[start:end].strip() for text in long for start, end in long[text])
    )
    special = int(encoder.lengths([""])[0]) if words else 0
    sizes = dict(zip(words, (encoder.lengths(words) - special).tolist(), strict=True))
    room = encoder.max_tokens - special
    cut = {
        text: _cut(text, places, [sizes[text[start:end].strip()] for start, end in places], room)
        for text, places in long.items()
    }
    return [cut.get(text, [text]) for text in texts]


def _cut(
    text: str, places: Sequence[tuple[int, int]], sizes: Sequence[int], room: int
) -> list[str]:
    """Windows of whole pieces, each beginning ``1 - OVERLAP`` of the room behind the last."""
    ends = list(accumulate(sizes))
    total = ends[-1]
    found: list[str] = []
    first = 0
    while True:
        begin = ends[first] - sizes[first]
        last = first
        while last + 1 < len(places) and ends[last + 1] - begin <= room:
            last += 1
        found.append(text[places[first][0] : places[last][1]].strip())
        if ends[last] == total:
            return found
        step = begin + max(1, int(room * (1 - OVERLAP)))
        first += 1
        while ends[first] - sizes[first] < step and first < last + 1:
            first += 1
