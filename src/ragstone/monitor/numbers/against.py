"""Against: a stretch of time beside a mean of other answers."""

from typing import Protocol

from ragstone.analysis.comparison.comparison_result import Verdict
from ragstone.analysis.scored_run import ValueRange
from ragstone.core.messages import reason
from ragstone.stats.comparison.differences import unpaired_difference
from ragstone.stats.distributions import Interval

from .page_facts import MeanWithInterval, SideBySide
from .stretch import Stretch

ALPHA = 0.05


class SettledMean(Protocol):
    """A mean that does not change any more while it is looked at."""

    @property
    def value(self) -> float | None: ...

    @property
    def n(self) -> int: ...

    def once(self, level: float) -> Interval | None:
        """Its interval."""


def side_by_side(
    now: Stretch, before: SettledMean, *, of: str | None, margin: float | None, family: int = 1
) -> SideBySide:
    """A stretch that may still be filling, beside what was before.

    The difference has the interval of two means of different rows, in which that of the stretch is
    the one that holds at every look: the page may be looked at again and again. Of a family of m
    comparisons each has 1 / m of the 5 % (Bonferroni). *Equivalent* is said first, where the
    interval of level 1 - 2 · 5 % / m lies within ±margin (two one-sided tests), then *better* or
    *worse* where that of level 1 - 5 % / m leaves out 0.

    Args:
        now: The stretch.
        before: What it is compared with.
        of: What that is: the name of a run; None: earlier answers.
        margin: Up to which a difference does not matter, in the metric's unit; None: not asked.
        family: How many comparisons are looked at together.

    Source: Newcombe (1998) and Zou & Donner (2008) for the interval; Schuirmann (1987) for
    equivalence; ``benchmarks/monitor_numbers.py`` measures how often it holds at all looks,
    which is a little less than it says where what was before has 50 answers or fewer.
    """
    interval = _difference(now, before, 1 - ALPHA / family)
    shown = _difference(now, before, 1 - ALPHA)
    difference = None
    if now.value is not None and before.value is not None:
        difference = now.value - before.value
    ends = (None, None) if shown is None else (shown.low, shown.high)
    within = None if margin is None else _difference(now, before, 1 - 2 * ALPHA / family)
    return SideBySide(
        of=of,
        before=_as_data(before),
        now=_as_data(now),
        difference=difference,
        low=ends[0],
        high=ends[1],
        margin=margin,
        verdict=_verdict(interval, within, margin, now.scale),
        why=None if interval is not None else _why(now, before),
    )


def _difference(now: Stretch, before: SettledMean, level: float) -> Interval | None:
    one, other = now.always(level), before.once(level)
    if one is None or other is None or now.value is None or before.value is None:
        return None
    return unpaired_difference(now.value, one, before.value, other, level=level)


def _verdict(
    interval: Interval | None, within: Interval | None, margin: float | None, scale: ValueRange
) -> Verdict:
    if margin is not None and within is not None and -margin < within.low <= within.high < margin:
        return "equivalent"
    if interval is None or interval.low <= 0 <= interval.high or scale.better == "0":
        return "cannot_tell"
    return "better" if (interval.low > 0) == (scale.better == "+") else "worse"


def _why(now: Stretch, before: SettledMean) -> str:
    if now.scale.low is None or now.scale.high is None:
        return reason("no_bounds")
    return reason("too_few_to_compare", now=now.n, before=before.n)


def _as_data(side: SettledMean) -> MeanWithInterval:
    found = side.once(1 - ALPHA)
    return MeanWithInterval(
        side.value, None if found is None else found.low, None if found is None else found.high,
        side.n,
    )  # fmt: skip
