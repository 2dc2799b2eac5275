"""Differences: how the difference of two systems is drawn, and the word and tone of its verdict."""

from collections.abc import Iterable
from math import floor, log10
from typing import TYPE_CHECKING

from .page import IntervalCell, Mark, Scale, Tone

if TYPE_CHECKING:
    from ragstone.analysis.comparison.comparison_result import Comparison

VERDICTS: dict[str, tuple[str, Tone]] = {
    "better": ("better", "good"),
    "worse": ("worse", "bad"),
    "equivalent": ("equivalent", "equal"),
    "same": ("same", "quiet"),
    "cannot_tell": ("cannot tell", "quiet"),
}
"""The words and the tone of each verdict; the interval of a difference takes the same tone."""

FAR = 2
"""Larger values are not drawn: next to them, shares and cosines would shrink to a point."""


def difference_cell(one: "Comparison", reach: float) -> IntervalCell:
    """The difference with its interval, and inside it the one that equivalence is read from."""
    low, high = one.equivalence_low, one.equivalence_high
    core = None if low is None or high is None else (low, high)
    scale = difference_scale(reach, one.margin) if reach and _is_drawn(one) else None
    tone = VERDICTS[one.verdict][1]
    return IntervalCell(one.difference, one.low, one.high, scale, core, signed=True, tone=tone)


def difference_scale(reach: float, margin: float | None) -> Scale:
    """A scale from -reach to reach, marked with the margin if it lies within."""
    within = margin is not None and margin <= reach
    ends = (Mark(-margin, "margin"), Mark(margin, "margin")) if margin and within else ()
    return Scale(-reach, reach, (Mark(0, "zero"), *ends))


def reach_of(ones: Iterable["Comparison"]) -> float:
    """One, two or five times a power of ten that covers all drawn values; 0 if there are none."""
    largest = 0.0
    for one in ones:
        if _is_drawn(one):
            ends = (one.difference, one.low, one.high, one.margin)
            largest = max(largest, *(abs(end) for end in ends if end is not None))
    if largest == 0:
        return 0.0
    power = 10.0 ** floor(log10(largest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= largest * (1 - 1e-9))


def _is_drawn(one: "Comparison") -> bool:
    ends = [abs(end) for end in (one.difference, one.low, one.high) if end is not None]
    return one.difference is not None and max(ends) <= FAR
