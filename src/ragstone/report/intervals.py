"""Intervals: how a page shows a value with its interval, its scale and its method."""

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
    """A cell with a value and its interval, drawn if there is a scale."""
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return IntervalCell(value, low, high, scale, tone=tone, strong=stands_out)


def scale_for(metric: str) -> Scale | None:
    """A scale over the whole range of a metric; None for a metric that is not known here."""
    found = scale_of(metric)
    return None if found is None else Scale(found.low, found.high)


def method_notes(
    methods: Iterable[str | None], instead: Mapping[str, str] = NO_WORDS
) -> Iterator[Note]:
    """A note on each interval method, once for each.

    Args:
        methods: Names of methods, as in estimates; None where there is no interval.
        instead: Descriptions that replace the usual ones, by method.
    """
    for method in dict.fromkeys(filter(None, methods)):
        word, about = METHODS.get(method, (method, ""))
        yield Note("intervals", (strong(word), f"  {instead.get(method, about)}"))
