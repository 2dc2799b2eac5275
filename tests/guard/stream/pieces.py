"""Texts to fuzz streams with, and every way to cut one."""

from collections.abc import Iterable, Iterator, Sequence

from hypothesis import strategies as st

from ragstone.guard.stream.sentence_boundaries import StreamUnit, Units

PIECES = [
    *["a", "B", "Foo", "bar", "iPhone", "é", "中", "😀", "ⓐ", "Ǆ", "ǅ", "١", "שלום", "مرحبا"],
    *[" ", " ", "  ", "\t", "\xa0", "\n", "\n", "\n\n", "\r\n", "\r", "\u2028", "\x00", "\x1b"],
    *[".", ". ", ". ", "!", "?", "…", "...", "。", "؟", "।", ":", ",", ";", "-", "–", "—", "%"],
    *["[1]", " [1]", "[1, 2]", "[1,", "[", " [", "[Data: x (1)]", "[Data: ", "[citation needed]"],
    *['"', "'", "”", ")", "(", "«", "**", "_", "}"],
    *["- ", "* ", "1. ", "2) ", "(a) ", "a) ", "# ", "## ", "> ", "#", "|", "| a | b |", "\n|---|"],
    *["<br>", "<", "<b", "ά", "; ", "· ", "།", "5 Mio. "],
    *["```", "\n```\n", "```py\n", "`", "~~~"],
    *["Dr", "St", "No", "no", "Jan", "U.S", "z.B", "The", "the", "3", "12", "1990", "Oktober"],
    *["word " * 8, "A long line that somebody wrapped by hand, as one does"],
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join).map(str.lower),
    st.text(max_size=60),
)

MIXED = """\
# Die Brücke von Truro 🌉

The red bridge of Truro opened in 1859. [1] Dr. Smith paid £3.5 million, e.g. in gold... It is \
“lovely”! 他去了学校。他很高兴。[2] هل هذا سؤال؟ نعم.

| Bridge | Opened |
|:--|--:|
| Truro | 1859 |
| Bath. No. 2 | 1773 |

- one thing, wrapped near the end of its line by somebody
  who wrote a second line.
  1. a first thing. Then more [Data: Reports (1, 2)]
  2. a second

```python
print("Secret. 1")

```
Am 3. Oktober war es so.\r\nThe end \x00 is near\u2028\r\n\r\nIt ends. [3]"""


def cut(text: str | bytes, places: Iterable[int]) -> Iterator[str | bytes]:
    """The text in pieces that end at these places."""
    last = 0
    for place in sorted(places):
        yield text[last:place]
        last = place
    yield text[last:]


def every_split(text: str | bytes) -> Iterator[Sequence[str | bytes]]:
    """The text in two pieces, at every place; in pieces of one, two, three and seven; and whole."""
    for place in range(len(text) + 1):
        yield text[:place], text[place:]
    for size in (1, 2, 3, 7, len(text) + 1):
        yield [text[at : at + size] for at in range(0, len(text), size)]


def units_of(text: str) -> list[StreamUnit]:
    units = Units()
    return [*units.feed(text), *units.close()]
