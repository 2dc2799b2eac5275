"""Dates: the days and months of a text, in whatever order or language their parts are written."""

import re
from dataclasses import dataclass
from itertools import chain

from .figure_words import NARROW, plainly
from .text_terms import MARKS, fold, word_lists


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A date with a month and a day or a year, ``text == original[start:end]``.

    ``readings`` are the years, months and days that it may mean, 0 for a part that is not written.
    """

    text: str
    start: int
    end: int
    readings: frozenset[tuple[int, int, int]]

    @property
    def has_day(self) -> bool:
        return all(day for _, _, day in self.readings)

    @property
    def is_range(self) -> bool:
        """True if it has two days of a month."""
        return len(self.readings) > len({month for _, month, _ in self.readings})

    def is_same(self, other: "CalendarDate") -> bool:
        """True if both have a reading in common; of a range, both days."""
        if self.is_range or other.is_range:
            return self.readings == other.readings
        return not self.readings.isdisjoint(other.readings)

    def agrees(self, other: "CalendarDate") -> bool:
        """True if the parts that both have are the same in some reading."""
        return any(all(part == its or not (part and its)
                       for part, its in zip(date, another, strict=True))
                   for date in self.readings for another in other.readings)  # fmt: skip

    def has_another_month(self, other: "CalendarDate") -> bool:
        """True if the other has its day, or its year if neither has a day, in another month."""
        at = 2 if self.has_day else 0
        return self.has_day == other.has_day and any(
            mine[at] == its[at] and mine[1] != its[1]
            for mine in self.readings
            for its in other.readings
        )


def dates(text: str) -> list[CalendarDate]:
    """The dates of a text, each once."""
    if not any(map(str.isdecimal, text)):
        return []
    plain = plainly(text)
    known: list[CalendarDate] = []
    for written in chain.from_iterable(form.finditer(plain) for form in _FORMS):
        start, end = written.span()
        if any(start < date.end and date.start < end for date in known):
            continue
        readings = frozenset((year, month, day)
                             for year, month, day in _readings(written.groupdict())
                             if 1 <= month <= 12 and day <= 31)  # fmt: skip
        if readings:
            known.append(CalendarDate(text[start:end], start, end, readings))
    return known


def _readings(parts: dict[str, str | None]) -> set[tuple[int, int, int]]:
    year, day = int(parts.get("year") or 0), int(parts.get("day") or 0)
    if name := parts.get("name"):
        month = 0 if name in _VERBS and not year else _MONTHS.get(fold(name), 0)
    else:
        month = int(parts["month"] or 0)
    days = {day, int(parts.get("first") or parts.get("last") or day)}
    readings = {(year, month, day) for day in days}
    return readings | {(year, day, month)} if parts.get("mark") in ("/", "-") else readings


_SPACE = rf"[ {NARROW}\n]"
_DAY, _MONTH = r"(?P<day>[0-3]?\d)", r"(?P<month>\d{1,2})"
_NAMED = rf"(?P<name>(?:[^\W\d_][{MARKS}]*+){{2,12}})"
_YEAR = r"(?P<year>[12]\d{3})"
_OF = r"(?:of |del? |d')?"
_TO = r"(?: ?[-–] ?| (?:to|and|bis|und|al?|au|et|e|y|i|и|en|do|по) )"
_NTH = r"(?:st|nd|rd|th|er|[.ºª])?"
_FORMS = [
    re.compile(form)
    for form in (
        rf"(?<![\d./-]){_YEAR}(?P<middle>[./-]){_MONTH}(?P=middle){_DAY}(?![\d./-]*\d)",
        rf"(?<!\d){_YEAR}{_SPACE}?[年년]{_SPACE}?{_MONTH}{_SPACE}?[月월]{_SPACE}?{_DAY}[日号號일]?(?!\d)",
        rf"(?<![\d./-]){_DAY}(?P<mark>[./-]){_MONTH}(?P=mark){_YEAR}(?![\d./-]*\d)",
        rf"(?<![\d.,])(?:(?P<first>[0-3]?\d){_NTH}{_TO})?{_DAY}{_NTH} {_OF}{_NAMED}"
        rf"(?:\.?,? {_OF}{_YEAR}(?!\d))?",
        rf"\b{_NAMED}\.? {_DAY}{_NTH}(?:{_TO}(?P<last>[0-3]?\d){_NTH})?(?:,? {_YEAR})?(?![\d:])",
        rf"\b{_NAMED}\.? {_OF}{_YEAR}(?!\d)",
    )
]
# Words that are a month only with a capital or a year.
_VERBS = frozenset({"may", "march", "mar"})

_MONTHS = {
    fold(name): number
    for names in word_lists()["months"]
    for number, name in enumerate(names.split(), 1)
}
