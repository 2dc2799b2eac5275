"""Quantities: the dates and amounts of a sentence, each with what it is a number of.

Two of them say different things only if they are of one kind: dates, compared part by part; money
of one currency; shares of a hundred; places in an order; or counts of the same thing. So 10 % is
not $2,900, the year 1859 is not 1,859 ships, and the third ship is not three ships.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile, islice, pairwise, takewhile
from math import isclose

from .figure_words import CURRENCIES
from .figures import FIGURES_VERSION, YEARS, Figure, Meaning, figures, is_number
from .text_terms import stem, stem_or_none, terms, tokens, word_set

QUANTITIES_VERSION = f"ragstone-quantities/2({FIGURES_VERSION})"


@dataclass(frozen=True, slots=True)
class Date:
    """A year, a month of a year, a day of a month, or all three, in folded words.

    ``limit`` is 1 behind `since` and the like, -1 behind `until` and the like, else 0. ``anchor``
    is the stem of the word it stands behind, ``near`` those of its clause.
    """

    year: str | None
    month: str | None
    day: str | None
    limit: int
    anchor: str | None
    near: tuple[str, ...]

    @property
    def written(self) -> tuple[str, ...]:
        return tuple(part for part in (self.month, self.day, self.year) if part)

    @property
    def stems(self) -> frozenset[str]:
        """The content words of a claim that it stands for."""
        return frozenset(map(stem, self.written))

    def same_kind(self, other: "Quantity") -> bool:
        """True if both give the same part, such as the year, of when it was or since when."""
        return isinstance(other, Date) and self.limit == other.limit and bool(self._shared(other))

    def agrees(self, other: "Quantity") -> bool:
        """True if each part that both give is the same."""
        return isinstance(other, Date) and not self.instead_of(other)

    def instead_of(self, other: "Quantity") -> tuple[str, ...]:
        """The words of its parts that differ from the other's."""
        shared = self._shared(other) if isinstance(other, Date) else ()
        return tuple(mine for mine, its in shared if MONTHS.get(mine, mine) != MONTHS.get(its, its))

    def as_exact_as(self, other: "Quantity") -> bool:
        """True if it gives all parts that the other date gives."""
        return isinstance(other, Date) and len(self._shared(other)) == len(other.written)

    def same_place(self, other: "Quantity") -> bool:
        """True if the word that the other stands behind is near this one too."""
        return other.anchor in self.near

    def _shared(self, other: "Date") -> list[tuple[str, str]]:
        parts = ((self.month, other.month), (self.day, other.day), (self.year, other.year))
        return [(mine, its) for mine, its in parts if mine and its]


@dataclass(frozen=True, slots=True)
class Amount:
    """A figure and the words of what it counts.

    ``limit`` is 1 if it is the least (`over 40`), -1 if it is the most, else 0; ``about`` says that
    it is an estimate. ``anchor`` is the stem of the word it stands behind, ``near`` those of its
    clause.
    """

    figure: Figure
    of: tuple[str, ...]
    limit: int
    about: bool
    anchor: str | None
    near: tuple[str, ...]

    @property
    def kind(self) -> str:
        return self.figure.meanings[0].kind

    @property
    def stems(self) -> frozenset[str]:
        """The content words of a claim that it stands for, and its figure as it is written."""
        return frozenset((self.figure.text, *terms(self.figure.text)))

    def same_kind(self, other: "Quantity") -> bool:
        """True if both are certain, of one kind and, if they count, count the same thing."""
        if not isinstance(other, Amount) or not self._alike(other):
            return False
        if not (self.figure.certain and other.figure.certain):
            return False
        if self.kind not in COUNTING:
            return True
        if not self.of or not other.of:
            return False
        return self.of[0] in other.of or other.of[0] in self.of

    def agrees(self, other: "Quantity") -> bool:
        """True if both can be true: the same, one rounded, near an estimate, within a limit."""
        if not isinstance(other, Amount):
            return False
        alike = [(mine.value, its.value) for mine, its in self._alike(other)]
        if self.limit != other.limit:
            sign = self.limit or -other.limit
            return any((its - mine) * sign >= 0 for mine, its in alike)
        if self.figure.agrees(other.figure) or self.figure.rounds(other.figure):
            return True
        about = self.about or other.about
        return about and any(isclose(mine, its, rel_tol=NEAR) for mine, its in alike)

    def instead_of(self, other: "Quantity") -> tuple[str, ...]:
        return (self.figure.text,) if isinstance(other, Amount) else ()

    def as_exact_as(self, other: "Quantity") -> bool:
        """True if it gives all that the other gives: an amount has no parts."""
        return isinstance(other, Amount)

    def same_place(self, other: "Quantity") -> bool:
        """True if it counts the same thing, or the word that the other stands behind is near."""
        return self.kind.split()[0] not in OF_ANYTHING or other.anchor in self.near

    def _alike(self, other: "Amount") -> list[tuple[Meaning, Meaning]]:
        return [(mine, its) for mine in self.figure.meanings for its in other.figure.meanings
                if mine.is_like(its)]  # fmt: skip


Quantity = Date | Amount


@lru_cache(maxsize=1024)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The dates and amounts of a sentence, in order; the number one is taken for a word.

    A date that only says when something was looked up, `as of 2021`, is left out.
    """
    words, at = _words(text)
    known: list[Quantity] = []
    position = 0
    while position < len(words):
        figure = at.get(position)
        date, behind = _date(words, position) if figure is None or _counts(figure) else (None, 0)
        if date is not None:
            before = pairwise(words[max(0, position - 6) : position])
            known += [] if ("as", "of") in before else [date]
            position = behind
            continue
        if figure is not None and _is_amount(figure) and not _in_range(words, position):
            known.append(_amount(figure, words, position))
        position += 1
    return tuple(known)


def _words(text: str) -> tuple[list[str], dict[int, Figure]]:
    """The folded words of a text, a figure as one of them, and where the figures are."""
    words: list[str] = []
    at: dict[int, Figure] = {}
    position = 0
    for figure in figures(text):
        words += tokens(_MARKS.sub(_mark, text[position : figure.start]))
        at[len(words)] = figure
        words.append(f"{abs(figure.meanings[0].number):.15g}")
        position = figure.end
    return words + tokens(_MARKS.sub(_mark, text[position:])), at


def _counts(figure: Figure) -> bool:
    return figure.meanings[0].kind in COUNTING


def _is_amount(figure: Figure) -> bool:
    """It is no part of a date or a version; a bare one is a word."""
    first = figure.meanings[0]
    return first.kind != "part" and not (first.kind in COUNTING and first.number == 1)


# How far from an estimate, relative to the larger number, is still the same.
NEAR = 0.1

# Words behind a number in which what it counts stands.
AHEAD = 3

# Words on either side of a quantity that are near it.
NEARBY = 9

PAUSE, RANGE = "xpausex", "xrangex"
# Kinds of a figure that need a word for what they count.
COUNTING = frozenset({"number", "ordinal"})

# Kinds of a figure that may be of anything.
OF_ANYTHING = frozenset({"share", "points", "clock", *CURRENCIES.values()})

MONTHS = {
    month[:letters]: month
    for month in [
        *("january", "february", "march", "april", "may", "june"),
        *("july", "august", "september", "october", "november", "december"),
    ]
    for letters in (3, len(month))
} | {"sept": "september"}
SAME_UNITS = {"persons": "people", "person": "people", "bce": "bc"}
_LEAST = "since after from over more least above exceed exceeds exceeding beyond minimum"
_MOST = "until till before by to under less fewer most below up maximum"
LIMITS = dict.fromkeys(_LEAST.split(), 1) | dict.fromkeys(_MOST.split(), -1)
ESTIMATES = word_set("estimates")
# What is told apart by the number behind it.
NUMBERED = word_set("numbered")

_BEFORE_YEAR = word_set("before_year")
_MARKS = re.compile(r"(?P<range>\A ?[-–—] ?\Z)|,|[;:()\[\]?!]|\.(?!\d)")


def _mark(sign: re.Match[str]) -> str:
    return f" {RANGE if sign['range'] else PAUSE} "


def _date(words: Sequence[str], position: int) -> tuple[Date | None, int]:
    """The date that begins at ``place``, and where the text goes on behind it."""
    day = words[position] if _is_day(words[position]) else None
    at = _behind(words, position + 1, ("of",)) if day else position
    end = position + 1
    if at >= len(words) or words[at] not in MONTHS:
        if not _is_year(words, position):
            return None, end
        return Date(
            words[position], None, None, _until(words, position), *_around(words, position, end)
        ), end
    month = words[at]
    end = at + 1
    if day is None and end < len(words) and _is_day(words[end]):
        day = words[end]
        end += 1
    year_at = _behind(words, end, (PAUSE, "of"))
    year = None
    if year_at < len(words) and _may_be_year(words[year_at]):
        year = words[year_at]
        end = year_at + 1
    if day or year or (at and words[at - 1] in _BEFORE_YEAR):
        return Date(year, month, day, _until(words, position), *_around(words, position, end)), end
    return None, position + 1


def _until(words: Sequence[str], position: int) -> int:
    return LIMITS.get(words[position - 1], 0) if position else 0


def _behind(words: Sequence[str], position: int, small: tuple[str, ...]) -> int:
    for word in small:
        if position < len(words) and words[position] == word:
            position += 1
    return position


def _is_day(token: str) -> bool:
    return token.isdecimal() and len(token) <= 2 and 1 <= int(token) <= 31


def _may_be_year(token: str) -> bool:
    return len(token) == 4 and token.isdecimal() and int(token) in YEARS


def _is_year(words: Sequence[str], position: int) -> bool:
    """A number of four digits behind a word such as `in`, or that counts nothing."""
    if not _may_be_year(words[position]):
        return False
    before = words[position - 1] if position else ""
    behind = words[position + 1] if position + 1 < len(words) else PAUSE
    return before in _BEFORE_YEAR or not _is_content(behind)


def _amount(figure: Figure, words: Sequence[str], position: int) -> Amount:
    before = words[max(0, position - 3) : position][::-1]
    behind = words[position + 1 : position + 3 + AHEAD]
    limit = next((LIMITS[word] for word in before if word in LIMITS), 0)
    if behind[:1] == ["or"] and behind[1:2] and behind[1] in LIMITS:
        limit, behind = LIMITS[behind[1]], behind[2:]
    about = not ESTIMATES.isdisjoint(before)
    of = _counted(before, behind[:AHEAD])
    return Amount(figure, of, limit, about, *_around(words, position, position + 1))


def _counted(before: Sequence[str], behind: Sequence[str]) -> tuple[str, ...]:
    label = next((word for word in before if _is_content(word)), None)
    touches = bool(before) and label == before[0]
    if label and touches and (label in NUMBERED or not (behind and _is_content(behind[0]))):
        return (f"#{_unit(label)}",)
    return tuple(_contents(behind)) or ((f"#{_unit(label)}",) if label else ())


def _around(words: Sequence[str], start: int, end: int) -> tuple[str | None, tuple[str, ...]]:
    """The stem before a quantity, else behind it, and all that are near it in its clause.

    With nothing else in its clause it belongs to the one before. If it opens a sentence, as in `In
    1859, the port opened`, it belongs to the next clause too.
    """
    before = words[max(0, start - NEARBY) : start][::-1]
    after = words[end : end + NEARBY]
    near = (*_clause(before), *_clause(after)) or _clause(_next_clause(before))
    if len(near) <= 1 and start == len(before) and _BORDERS.isdisjoint(before):
        near = (*near, *_clause(_next_clause(after)))
    return next(iter(near), None), near


def _clause(words: Iterable[str]) -> tuple[str, ...]:
    clause = takewhile(lambda word: word not in _BORDERS, words)
    return tuple(stem(word) for word in clause if word[0].isdigit() or _is_content(word))


def _next_clause(words: Iterable[str]) -> Iterable[str]:
    return islice(dropwhile(lambda word: word not in _BORDERS, words), 1, None)


def _in_range(words: Sequence[str], position: int) -> bool:
    """The end of a range, such as 8 to 12, says no number."""
    before, behind = words[max(0, position - 2) : position], words[position + 1 : position + 3]
    return any(pair[-1:] == [RANGE] or (pair[-1:] == ["to"] and is_number(pair[0]))
               for pair in (before, behind[::-1]) if pair)  # fmt: skip


def _contents(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if word == PAUSE or word[0].isdigit():
            return
        if _is_content(word):
            yield _unit(word)


def _unit(word: str) -> str:
    return SAME_UNITS.get(word) or stem(word)


def _is_content(word: str) -> bool:
    return not word[0].isdigit() and word not in _NO_CONTENT and stem_or_none(word) is not None


_BORDERS = frozenset({PAUSE, "and", "or", "but", "while", "when", "which", "who", "that"})
_NO_CONTENT = frozenset({PAUSE, RANGE})
