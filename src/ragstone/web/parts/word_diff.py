"""Word diff: two texts with the words marked that only one of them has."""

import re
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from ragstone.core.escape import html
from ragstone.web.drawing import drawn

LONGEST = 10_000
"""Characters of a text that are shown and compared."""

TOKEN = re.compile(r"\w+|[^\w\s]")


def word_diff(first: str, second: str, longest: int = LONGEST) -> tuple[Markup, Markup]:
    """Both texts; what is not in a longest common sequence of their words is marked.

    Their beginnings if they are longer; the page says so beside them.
    """
    texts = first[:longest], second[:longest]
    words = [list(TOKEN.finditer(text)) for text in texts]
    alike = list(_alike(*([one.group() for one in found] for found in words)))
    left, right = ({pair[side] for pair in alike} for side in (0, 1))
    return (
        _marked(texts[0], words[0], left, "del"),
        _marked(texts[1], words[1], right, "ins"),
    )


def _marked(text: str, words: Sequence[re.Match[str]], alike: set[int], tag: str) -> Markup:
    """The text with its other words in tags, neighbours in one."""
    parts, at = [], 0
    other = [place for place in range(len(words)) if place not in alike]
    for place in other:
        start, end = words[place].span()
        if place - 1 in alike or not place:
            parts += [html(text[at:start]), f"<{tag}>", html(text[start:end])]
        else:
            parts.append(html(text[at:end]))
        at = end
        if place + 1 in alike or place + 1 == len(words):
            parts.append(f"</{tag}>")
    return drawn("".join([*parts, html(text[at:])]))


def _alike(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of a longest common sequence of words, from the last to the first.

    A row of the table is one whole number, so ten thousand words take a fraction of a second
    whatever they are.

    Source: Hyyrö (2004), "Bit-parallel LCS-length computation revisited".
    """
    where: dict[str, int] = {}
    for place, word in enumerate(first):
        where[word] = where.get(word, 0) | 1 << place
    whole = (1 << len(first)) - 1
    rows = [whole]
    for word in second:
        row = rows[-1]
        common = row & where.get(word, 0)
        rows.append(((row + common) | (row - common)) & whole)
    column, line = len(first), len(second)
    while column and line:
        if rows[line] >> (column - 1) & 1:
            column -= 1
        elif rows[line - 1] >> (column - 1) & 1:
            column, line = column - 1, line - 1
            yield column, line
        else:
            line -= 1
