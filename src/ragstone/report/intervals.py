"""Intervals: a value beside its interval on a page, what it is drawn on, how it was made."""

from collections.abc import Iterable, Iterator, Mapping

from ragstone.stats import Interval

from .figures import METHODS, scale_of
from .page import IntervalCell, Note, Scale, Tone, strong

NO_WORDS: Mapping[str, str] = {}


def interval_cell(
    value: float | None,
    interval: Interval | None,
    scale: Scale | None = None,
    *,
    tone: Tone = "",
    stands_out: bool = True,
) -> IntervalCell:
    """A value with its interval, drawn where there is a scale."""
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return IntervalCell(value, low, high, scale, tone=tone, strong=stands_out)


def scale_for(metric: str) -> Scale | None:
    """The whole range of a metric; None of one that is not known here."""
    found = scale_of(metric)
    return None if found is None else Scale(found.low, found.high)


def method_notes(
    methods: Iterable[str | None], instead: Mapping[str, str] = NO_WORDS
) -> Iterator[Note]:
    """What each method of an interval is, once.

    Args:
        methods: As estimates name them; None where there is no interval.
        instead: Other words for what some of them are.
    """
    for method in dict.fromkeys(filter(None, methods)):
        word, about = METHODS.get(method, (method, ""))
        yield Note("intervals", (strong(word), f"  {instead.get(method, about)}"))
