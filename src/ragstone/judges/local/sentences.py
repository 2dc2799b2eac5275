"""Sentences: where each sentence of a text begins and ends, by rules and without a model.

The rules know abbreviations, initials, decimals, dotted acronyms, citation marks after the stop,
closing quotes and brackets, ellipses, bullets, numbered lists, markdown headings and tables,
hard-wrapped lines and paragraphs, `<br>`, the Greek question mark and raised point, and the full
stops of Chinese, Japanese, Hindi, Arabic, Urdu, Armenian, Amharic, Khmer, Burmese, Tibetan and
Santali. Thai and Lao, which write no full stop, are split at line breaks only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .text_terms import word_set

SENTENCES_VERSION = "ragstone-sentences/4"

# Characters of a sentence: longer text without a stop is cut, so that no step takes long.
LONGEST = 5_000

# Characters of lines that belong together: from there on the next line begins a new block.
LONGEST_BLOCK = 50_000


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence and its position: ``text == original[start:end]``."""

    text: str
    start: int
    end: int


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text, in order, without overlap.

    A sentence holds at least one letter or digit and no white space at its ends. Marks of lists
    and headings (``-``, ``2.``, ``##``) stand outside. Each row of a table is a sentence. What
    has no stop for more than 5,000 characters is cut there, between words if it has any.
    """
    return list(each_sentence(text))


def each_sentence(text: str, lower_case_only: bool | None = None) -> Iterator[Sentence]:
    """The sentences of a text one by one, each found when it is asked for.

    Args:
        text: Any text.
        lower_case_only: True if the text that it is part of has no capital; None: it is the whole.
    """
    if lower_case_only is None:
        lower_case_only = text.islower()
    for start, end in _blocks(text):
        for first, last in _split(text, start, end, lower_case_only):
            if HOLDS_WORD.search(text, first, last) is not None:
                yield trimmed(text, first, last)


# Full stops that need no space behind them.
OTHER_STOPS = "。！？｡।॥؟۔։።။།༎᱾᱿។៕"

GREEK_STOPS = ";\u037e·\u0387"
NEWLINE = "\n\r\u2028\u2029\x85\x0b\x0c"
_LINE = re.compile(f"[^{NEWLINE}]+")
_LINE_BREAKS = re.compile(r"(?:\s|<br ?/?>)*", re.IGNORECASE)
_LAST_BREAK = re.compile(r"<br ?/?>\Z", re.IGNORECASE)
HOLDS_WORD = re.compile(r"(?!(?<=<)br ?/?>|(?<=<b)r ?/?>)[^\W_]", re.IGNORECASE)
_SPACE = re.compile(r"\s*")
MARK = re.compile(r"(?:[ \t]*(?:[-*+•·▪◦‣–—]|>|#{1,6}|\(?\d{1,2}[.)]|\(?[a-z]\))(?=[ \t]))+")
_STRUCTURE = re.compile(r"[ \t]*(?:[-*+•·▪◦‣–—>][ \t]|#{1,6}[ \t]|\||\(?\d{1,2}[.)][ \t]|```)")
ONE_LINE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\||```)")
_LINE_END = re.compile(rf"[.!?…:{OTHER_STOPS}{GREEK_STOPS}][\"'”’»)\]*_]{{0,12}}[ \t]{{0,12}}\Z")
_WRAPPED = range(45, 121)

CITATION = (
    r"(?:\[(?:\^?\d{1,4}\^?(?:\s?[,;–-]\s?\d{1,4})*|Data:[^\]\n]{0,200}|citation needed"
    r"|note \d{1,3}|[Cc]itation:\d{1,4}(?:,\s?\d{1,4})*)\]|【[^【】\n]{1,60}】"
    r"|［\d{1,4}(?:[,，;–-]\d{1,4})*］|<sup>\d{1,3}(?:[,;–-]\s?\d{1,3})*</sup>)"
)
GREEK = r"[\u0370-\u03ff\u1f00-\u1fff]"
GREEK_QUESTION = re.compile(rf"{GREEK}[;\u037e]\Z")
STOP = re.compile(
    # The first character is of one set, for which re searches five times as fast.
    rf"[.!?…{OTHER_STOPS}{GREEK_STOPS}<](?:"
    rf"(?<=[.!?…])(?<![.!?…]{{2}})[.!?…]*+[\"'”’»›)\]}}*_]*+(?:[ ]?{CITATION})*+(?=\s|\Z)"
    rf"|(?<=[{OTHER_STOPS}])[{OTHER_STOPS}]*+[\"'”’»›)\]」』】》）]*+(?:[ ]?{CITATION})*+"
    rf"|(?<={GREEK}[{GREEK_STOPS}])[\"”»)]*+(?=\s|\Z)"
    rf"|(?<=\d[·\u0387])(?=\s{{1,4}}{GREEK})"
    r"|(?<=<)[bB][rR] ?/?>)"
)
_BEFORE = re.compile(r"[^\s(\[{\"'“‘«/]{0,24}\Z")
NEXT = re.compile(r"[\s\"'“‘«‹(\[{*_¿¡]*")
NEXT_WORD = re.compile(r"\w+")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\Z|[^\W\d_]\Z")
_LIST_NUMBER = re.compile(r"\s*\(?(?:\d{1,2}|[A-Za-z])[.)]?\Z")
_FIRST_OF_LIST = re.compile(r":\s*\(?(?:1|a|A)\Z")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEVER_LAST = word_set("never_last")
_SELDOM_LAST = word_set("seldom_last")
OPENERS = word_set("openers")
_NUMBERED = _set("no nos fig figs eq eqs vol p pp ch sec art c ca r b d nr")
GERMAN_MONTHS = _set(
    "januar jänner februar märz april mai juni juli august september oktober november dezember"
)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Sections that no sentence crosses: paragraphs, list items, headings, table rows."""
    start = end = line_start = -1
    for line in _LINE.finditer(text):
        first, last = line.span()
        if text[first:last].isspace():
            continue
        long = last - start > LONGEST_BLOCK
        if start < 0 or long or not continues(text, start, line_start, end, first, last):
            if start >= 0:
                yield after_mark(text, start, end), end
            start = line_start = first
        elif text[first - 1] == "\n":
            line_start = first
        end = last
    if start >= 0:
        yield after_mark(text, start, end), end


def continues(text: str, start: int, line_start: int, end: int, first: int, last: int) -> bool:
    """True if the line at ``first`` continues the block that ended at ``end``."""
    gap = text[end:first]
    if len(gap) > 1 and gap != "\r\n":
        return False
    if _STRUCTURE.match(text, first, last) or ONE_LINE.match(text, start, end):
        return False
    if _LINE_END.search(text, max(line_start, end - 12), end):
        return end - line_start in _WRAPPED
    opening = text[first:last].lstrip()[:1]
    return opening.islower() or end - line_start in _WRAPPED


def after_mark(text: str, start: int, end: int) -> int:
    mark = MARK.match(text, start, end)
    if mark is None or HOLDS_WORD.search(text, mark.end(), end) is None:
        return start
    if text[mark.end() - 1] == "." and _is_german_date(text, mark.end(), end):
        return start
    return mark.end()


def _split(text: str, start: int, end: int, lower_case_only: bool) -> Iterator[tuple[int, int]]:
    first = start
    for stop in STOP.finditer(text, start, end):
        if stop.start() < first:
            continue
        while stop.end() - first > LONGEST:
            position = _cut(text, first)
            yield first, position
            first = position
        if ends_sentence(text, first, stop, end, lower_case_only):
            yield first, stop.end()
            first = stop.end()
    while end - first > LONGEST:
        position = _cut(text, first)
        yield first, position
        first = position
    if first < end:
        yield first, end


def _cut(text: str, first: int) -> int:
    space = max(text.rfind(mark, first + 1, first + LONGEST) for mark in " \t\n")
    return space if space > 0 else first + LONGEST


def ends_sentence(
    text: str, first: int, stop: re.Match[str], end: int, lower_case_only: bool
) -> bool:
    at = stop.start()
    mark = text[at]
    if mark not in ".!?…":
        return True
    following = NEXT.match(text, stop.end(), end)
    position = following.end() if following else stop.end()
    if position >= end:
        return True
    opening = text[position]
    if (
        opening.islower()
        and not lower_case_only
        and not (position + 1 < end and text[position + 1].isupper())
    ):
        return False
    if opening in ",;:%&" or (mark != "." and opening in "-–—"):
        return False
    if mark != "." or text.startswith("..", at):
        return True
    if at - first <= 4 and _LIST_NUMBER.match(text[first:at]):
        return False
    if _FIRST_OF_LIST.search(text, max(first, at - 6), at):
        return False
    token = _BEFORE.search(text, max(first, at - 24), at)
    word = token.group().lower() if token else ""
    if opening.isdigit() and word in _NUMBERED:
        return False
    if word in _NEVER_LAST:
        return False
    if word.isdigit() and len(word) <= 2 and _is_german_date(text, position, end):
        return False
    if word in _SELDOM_LAST or _ACRONYM.fullmatch(word):
        if word == "no" and not opening.isdigit():
            return True
        next_word = NEXT_WORD.match(text, position, end)
        return next_word is not None and next_word.group().lower() in OPENERS
    return True


def _is_german_date(text: str, position: int, end: int) -> bool:
    skipped = _SPACE.match(text, position, end)
    word = NEXT_WORD.match(text, skipped.end() if skipped else position, end)
    return word is not None and word.group().lower() in GERMAN_MONTHS


def trimmed(text: str, first: int, last: int) -> Sentence:
    """The sentence without white space and `<br>` at its ends."""
    start = _LINE_BREAKS.match(text, first, last).end()  # type: ignore[union-attr]
    piece = text[start:last].rstrip()
    while piece.endswith(">") and (tag := _LAST_BREAK.search(piece)):
        piece = piece[: tag.start()].rstrip()
    return Sentence(piece, start, start + len(piece))
