"""Sentence boundaries: where the units of a text end, told once no further text can change it.

A unit is a sentence, by the rules of ``judges/local/sentences.py``; a row of a table, of which the
headings go with the dashes below them; a whole block of fenced code. Those rules look ahead: at the
next word, the next line, and at the whole text for whether it has a capital at all. So an end is
told once every continuation leaves it where it is, and the ends of a text are the same however it
is cut.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from ragstone.judges.local.sentences import (
    CITATION,
    GERMAN_MONTHS,
    GREEK,
    GREEK_STOPS,
    HOLDS_WORD,
    MARK,
    NEWLINE,
    NEXT,
    NEXT_WORD,
    ONE_LINE,
    OPENERS,
    OTHER_STOPS,
    STOP,
    Sentence,
    after_mark,
    continues,
    each_sentence,
    ends_sentence,
    trimmed,
)

# ``rest``: what is left at the end of a text and holds no word.
UnitKind = Literal["sentence", "row", "code", "rest"]

# Characters after a place at which it is decided as if the text ended there: white space, quotes
# or citations that go on for so long after a stop, or a text of so many letters without a capital.
MOST_DOUBT = 2_000

# Characters before a place that the rules look back at, and some more.
_KEPT = 150

_TRIMMED_AT = 2_000

# Characters in which the mark of a list and the word after it are known.
_FIRST_WORD = 16

# Characters in which the mark of a line is known.
_LINE_MARK = 8

_LONGEST_CLOSING = 200

_ASCII, _OTHER = ".!?…", OTHER_STOPS
_CITATION_BEGUN = (
    r"(?:\[(?:\^?[\d\s,;–-]*+\^?|D[a-z]{0,3}|Data:[^\]\n]{0,200}|[Cc][a-z ]{0,14}(?::[\d, ]{0,20})?"
    r"|n[a-z ]{0,4}\d{0,3})|【[^【】\n]{0,60}|［[\d,，;–-]{0,20}"
    r"|<(?:s|su|sup(?:>[\d,; –-]{0,20}(?:<[/sup]{0,4})?)?)?)"
)
# A stop at the end of the text that has come, or a begun one, and what may still belong to it.
_UNFINISHED = re.compile(
    rf"[{_ASCII}{_OTHER}{GREEK_STOPS}](?:"
    rf"(?<=[{_ASCII}])(?<![{_ASCII}]{{2}})[{_ASCII}]*+[\"'”’»›)\]}}*_]*+"
    rf"|(?<=[{_OTHER}])(?<![{_OTHER}]{{2}})[{_OTHER}]*+[\"'”’»›)\]」』】》）]*+"
    rf"|(?<={GREEK}[{GREEK_STOPS}])[\"”»)]*+)"
    rf"(?:[ ]?{CITATION})*+[ ]?(?:{_CITATION_BEGUN})?\Z"
    r"|<(?:[bB](?:[rR] ?/?)?)?\Z"
)

_THING = re.compile(r"\S")
_LINE_BREAK = re.compile(f"[{NEWLINE}]")
_STOP_OR_BREAK = re.compile(f"[{_ASCII}{_OTHER}{GREEK_STOPS}>{NEWLINE}]")
_ROW = re.compile(r"[ \t]*\|")
_DASHES_BEGUN = re.compile(r"[ \t|:-]*")
_DASHES = re.compile(rf"[ \t|:]*-[-:| \t]*(?=[{NEWLINE}]|\Z)")
_LEAD = r"[ \t]*+(?:(?:[-*+•·▪◦‣–—>]|\(?\d{1,2}[.)])[ \t]++)*+"
_FENCE = re.compile(rf"{_LEAD}(`{{3,}})[^`{NEWLINE}]*\Z")
_FENCE_BEGUN = re.compile(
    rf"{_LEAD}(?:[-*+•·▪◦‣–—>]|\(?\d{{0,2}}[.)]?|`{{1,2}}|`{{3,}}[^`{NEWLINE}]*)\Z"
)
_FENCE_END = re.compile(r"[ \t>]*(`{3,})[ \t]*\Z")


@dataclass(slots=True)
class _Block:
    """Text that no sentence crosses. Places are in what is kept, negative before it."""

    start: int
    thing: int
    line: int
    scan: int
    kind: UnitKind | None = None
    first: int | None = None
    worded: bool = False
    one_line: bool = False
    fence: int = 0


@dataclass(frozen=True, slots=True)
class StreamUnit:
    """A sentence, a row of a table or a block of code, with the white space and marks before it.

    Attributes:
        first: The place in ``text`` of the sentence, after the white space and marks before it.
        lower_case_only: Whether the answer is taken to have no capital, by which sentences in rows
            and code are told.
    """

    text: str
    start: int
    kind: UnitKind
    first: int = 0
    lower_case_only: bool = False

    @property
    def end(self) -> int:
        """The place in the answer of its end."""
        return self.start + len(self.text)

    def sentences(self) -> Iterator[Sentence]:
        """Yield its sentences, by their places in ``text``."""
        if self.kind == "sentence":
            yield trimmed(self.text, self.first, len(self.text))
        elif self.kind != "rest":
            yield from each_sentence(self.text, self.lower_case_only)


class Units:
    """The units of one text that comes in pieces.

    Their texts, one after the other, are the text; they are the same however it is cut.
    """

    def __init__(self) -> None:
        self._text = ""
        self._base = 0
        self._waiting: list[str] = []
        self._held_back = 0
        self._wakes: re.Pattern[str] | None = None
        self._doubt: int | None = None
        self._lower_case_only: bool | None = None
        self._block: _Block | None = None
        self._at = 0
        self._closed = False
        self._boundaries: list[tuple[int, int, UnitKind, bool]] = []
        self._held: list[str] = []
        self._start = 0

    def feed(self, piece: str) -> list[StreamUnit]:
        """Return the units that are complete with this piece of the text."""
        self._held.append(piece)
        read = 0
        while read < len(piece):
            known = len(self._text) + self._held_back
            start = known if self._doubt is None else self._doubt
            # Looked at no later than where a doubt ends, whatever the pieces.
            part = piece[read : read + max(1, start + MOST_DOUBT - known)]
            read += len(part)
            self._waiting.append(part)
            self._held_back += len(part)
            quiet = self._wakes is not None and self._wakes.search(part) is None
            if self._doubt is not None or not quiet or self._held_back >= MOST_DOUBT:
                self._look()
        return self._complete()

    def close(self, rest: str = "") -> list[StreamUnit]:
        """Return the units that are left when nothing comes behind this piece."""
        if self._closed:
            return []
        units = self.feed(rest)
        self._closed = True
        if self._lower_case_only is None and _no_capital("".join(self._waiting)):
            self._lower_case_only = True
        self._look()
        units += self._complete()
        if left := "".join(self._held):
            units.append(StreamUnit(left, self._start, "rest", len(left)))
        return units

    def _complete(self) -> list[StreamUnit]:
        if not self._boundaries:
            return []
        units, text, base = list[StreamUnit](), "".join(self._held), self._start
        for first, end, kind, lower in self._boundaries:
            piece = text[self._start - base : end - base]
            place = max(first - self._start, 0)
            units.append(StreamUnit(piece, self._start, kind, place, lower))
            self._start = end
        self._held, self._boundaries = [text[self._start - base :]], []
        return units

    def _look(self) -> None:
        new = "".join(self._waiting)
        if self._lower_case_only is None and not _no_capital(new):
            self._lower_case_only = False
        self._text += new
        self._waiting.clear()
        self._held_back = 0
        self._doubt = self._wakes = None
        while (self._block or self._next_block()) and self._finished():
            self._block = self._wakes = None
        self._trim()

    def _next_block(self) -> bool:
        thing = _THING.search(self._text, self._at)
        self._at = _line_start(self._text, self._at, thing.start() if thing else len(self._text))
        if thing is None:
            self._wakes = _THING
            return False
        self._block = _Block(self._at, thing.start(), self._at, self._at)
        return True

    def _finished(self) -> bool:
        """Tell whether all ends of the block are told; if not, more text is needed."""
        block = self._block
        assert block is not None
        if block.kind is None:
            block.kind = self._kind(block)
        match block.kind:
            case None:
                return False
            case "row":
                return self._row(block)
            case "code":
                return self._code(block)
            case _:
                return self._prose(block)

    def _kind(self, block: _Block) -> UnitKind | None:
        if _ROW.match(self._text, block.start):
            return "row"
        over = _LINE_BREAK.search(self._text, block.thing)
        end = over.start() if over else len(self._text)
        if over or self._closed:
            fence = _FENCE.match(self._text, block.start, end)
            block.fence = len(fence.group(1)) if fence else 0
            block.scan = block.line = end if fence else block.start
            return "code" if fence else "sentence"
        if _FENCE_BEGUN.match(self._text, block.start, end) and self._doubts(block.thing):
            return None
        return "sentence"

    def _row(self, block: _Block) -> bool:
        over = _LINE_BREAK.search(self._text, block.scan)
        if over is None and not self._closed:
            block.scan = len(self._text)
            self._wakes = _LINE_BREAK
            return False
        end = over.start() if over else len(self._text)
        if over:
            below = over.end() + self._text.startswith("\r\n", end)
            begun = _DASHES_BEGUN.match(self._text, below)
            if begun and begun.end() == len(self._text) and self._doubts(end):
                return False
            if dashes := _DASHES.match(self._text, below):
                end = dashes.end()
        if self._split_is_doubted(block.start, end):
            return False
        self._tell(block.start, end, "row")
        return True

    def _code(self, block: _Block) -> bool:
        while over := _LINE_BREAK.search(self._text, block.scan):
            if _closes(block, self._text, over.start()):
                if self._split_is_doubted(over.start(), over.start()):
                    return False
                self._tell(block.start, over.start(), "code")
                return True
            block.line = block.scan = over.end()
        block.scan = len(self._text)
        if self._closed:
            self._tell(block.start, len(self._text), "code")
            return True
        self._wakes = _LINE_BREAK
        return False

    def _split_is_doubted(self, start: int, end: int) -> bool:
        """Tell whether a capital that may still come decides how a unit is split."""
        if self._lower_case_only is not None:
            return False
        if start < end and STOP.search(self._text, start, end) is None:
            return False
        if self._doubts(end):
            return True
        self._lower_case_only = True
        return False

    def _prose(self, block: _Block) -> bool:
        end, over = self._extent(block)
        if not self._mark_is_known(block, end, over):
            return False
        if not self._stops(block, end, over):
            return False
        if not over:
            return False
        first = _first(block, self._text, end)
        if block.worded or HOLDS_WORD.search(self._text, max(first, 0), end):
            self._tell(first, len(self._text[:end].rstrip()), "sentence")
        self._at = end
        return True

    def _extent(self, block: _Block) -> tuple[int, bool]:
        """Return where the block ends as far as is known, and whether it ends there."""
        at = max(block.line, block.scan, block.thing, 0)
        while True:
            over = _LINE_BREAK.search(self._text, at)
            if over is None:
                return len(self._text), self._closed
            end = over.start()
            line = self._next_line(block, end)
            if line is None:
                return end, not self._doubts(end)
            if line < 0:
                return end, True
            if self._text[line - 1] == "\n":
                block.line = line
            at = line

    def _next_line(self, block: _Block, end: int) -> int | None:
        """Return where the next line starts; -1 if there is none, None if not known yet."""
        text = self._text
        thing = _THING.search(text, end)
        line = _line_start(text, end, thing.start() if thing else len(text))
        gap = text[end:line]
        if len(gap) > 1 and gap != "\r\n":
            return -1
        if thing is None:
            return -1 if self._closed else None
        over = _LINE_BREAK.search(text, thing.start())
        known = over is not None or self._closed or thing.group().isalpha()
        if not known and len(text) - thing.start() < _LINE_MARK:
            return None
        if block.start < 0 and block.one_line:
            return -1
        start = block.start if block.start >= 0 else end
        last = over.start() if over else len(text)
        return line if continues(text, start, block.line, end, line, last) else -1

    def _mark_is_known(self, block: _Block, end: int, over: bool) -> bool:
        """Tell whether it is known where the first sentence of the block starts."""
        if block.first is not None or over:
            return True
        mark = MARK.match(self._text, block.start, end)
        after = mark.end() if mark else block.start
        thing = _THING.search(self._text, after, end)
        seen = end - thing.start() if thing else 0
        known = seen >= _LINE_MARK and HOLDS_WORD.search(self._text, after, end) is not None
        if (known and seen >= _FIRST_WORD) or not self._doubts(block.thing):
            block.first = after_mark(self._text, block.start, end)
            return True
        return known

    def _stops(self, block: _Block, end: int, over: bool) -> bool:
        """Tell the ends at stops, and return whether all stops are decided."""
        text, first = self._text, _first(block, self._text, end)
        scan = max(block.scan, first)
        unfinished = None if over else _UNFINISHED.search(text, scan, end)
        if unfinished and not self._doubts(unfinished.start()):
            unfinished = None
        for stop in STOP.finditer(text, scan, end):
            if unfinished and stop.start() >= unfinished.start():
                break
            ends = self._ends(first, stop, end, over)
            if ends is None:
                block.scan = stop.start()
                return False
            block.scan = stop.end()
            if ends:
                if block.worded or HOLDS_WORD.search(text, max(first, 0), stop.end()):
                    self._tell(first, stop.end(), "sentence")
                block.first = first = stop.end()
                block.worded = False
        block.scan = unfinished.start() if unfinished else max(end, block.scan)
        if self._doubt is None:
            self._wakes = _STOP_OR_BREAK
        return True

    def _ends(self, first: int, stop: re.Match[str], end: int, over: bool) -> bool | None:
        """Tell whether a sentence ends at a stop; None while that hangs on what is to come."""
        text = self._text
        sure = self._lower_case_only
        readings = (False, True) if sure is None else (sure,)
        following = NEXT.match(text, stop.end(), end)
        after = following.end() if following else stop.end()
        open_ended = not over and text[stop.start()] in _ASCII + GREEK_STOPS
        verdicts = set[bool]()
        if not open_ended or after < end:
            rests = _continuations(text, after, end) if open_ended else ("",)
            verdicts = {
                ends_sentence(text + rest, first, stop, end + len(rest), reading)
                for rest in rests
                for reading in readings
            }
        if len(verdicts) == 1:
            return verdicts.pop()
        if self._doubts(stop.start()):
            return None
        if sure is None:
            self._lower_case_only = True
        return ends_sentence(text, first, stop, end, bool(self._lower_case_only))

    def _doubts(self, at: int) -> bool:
        """Tell whether to wait for more text to decide what is at a place."""
        if self._closed or len(self._text) - at >= MOST_DOUBT:
            return False
        self._doubt = at if self._doubt is None else min(at, self._doubt)
        return True

    def _tell(self, first: int, end: int, kind: UnitKind) -> None:
        lower = kind != "sentence" and bool(self._lower_case_only)
        self._boundaries.append((self._base + first, self._base + end, kind, lower))
        self._at = end

    def _trim(self) -> None:
        block = self._block
        cut = self._at if block is None else block.scan - _KEPT
        if block is not None and block.kind == "row":
            cut = block.start
        if self._doubt is not None:
            cut = min(cut, self._doubt - _KEPT)
        if cut < _TRIMMED_AT:
            return
        if block is not None:
            if block.kind == "sentence":
                if block.first is None:
                    return
                if block.start >= 0:
                    block.one_line = ONE_LINE.match(self._text, block.start) is not None
                first = max(block.first, 0)
                block.worded |= HOLDS_WORD.search(self._text, first, max(first, cut)) is not None
                block.first -= cut
            block.start -= cut
            block.thing -= cut
            block.line -= cut
            block.scan -= cut
        self._at = max(self._at - cut, 0)
        if self._doubt is not None:
            self._doubt -= cut
        self._text = self._text[cut:]
        self._base += cut


def _closes(block: _Block, text: str, end: int) -> bool:
    if end - block.line > _LONGEST_CLOSING:
        return False
    fence = _FENCE_END.match(text, block.line, end)
    return fence is not None and len(fence.group(1)) >= block.fence


def _first(block: _Block, text: str, end: int) -> int:
    return after_mark(text, block.start, end) if block.first is None else block.first


def _no_capital(text: str) -> bool:
    return f"{text}a".islower()


def _line_start(text: str, start: int, end: int) -> int:
    """Return where the last line begins in ``text[start:end]``; ``start`` if none does."""
    return max((text.rfind(mark, start, end) + 1 for mark in NEWLINE), default=0) or start


def _continuations(text: str, after: int, end: int) -> Iterable[str]:
    """Return texts that may follow, one of each sort that the rules tell apart at the next word."""
    word = NEXT_WORD.match(text, after, end)
    if end < len(text) or (word.end() if word else after + 1) < end:
        return ("",)
    begun = word.group().lower() if word else ""
    likely = [*OPENERS, *GERMAN_MONTHS] if begun else []
    ends = (each[len(begun) :] for each in likely if each.startswith(begun))
    return ("", "A", "x", *ends)
