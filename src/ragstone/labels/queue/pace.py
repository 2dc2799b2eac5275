"""Pace: how many items somebody labels in an hour, and how long the rest takes."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from statistics import median

LAST = 50
"""Saves from which the pace is taken, the newest."""

FEWEST = 5
"""Gaps between saves below which no pace is told."""

PAUSE = 5.0
"""A gap of more than so many usual ones is a pause."""

TAKEN_OVER = 0.2
"""Seconds between saves below which nobody labelled: they were taken over together."""

HOUR = 3600.0


def pace_of(saves: Sequence[str]) -> float | None:
    """Items in an hour of work, from the times of somebody's saves, in their order; pauses aside.

    None where too little is known.

    >>> pace_of([f"2026-11-23T10:{minute:02}:00+00:00" for minute in (0, 1, 2, 3, 4, 5, 6, 56, 57)])
    60.0
    """
    times = [datetime.fromisoformat(one).timestamp() for one in saves[-LAST:]]
    gaps = [after - before for before, after in pairwise(times) if after - before > TAKEN_OVER]
    if len(gaps) < FEWEST:
        return None
    worked = [one for one in gaps if one <= PAUSE * median(gaps)]
    return HOUR * len(worked) / sum(worked)


def hours_for(wanted: int, people: Iterable[tuple[float, int]]) -> float | None:
    """Hours until so many labels are given, if everybody goes on; None if they cannot be.

    Args:
        wanted: Labels of items that are still wanted.
        people: The pace of each, and how many items they can still label.
    """
    able = sorted((left / pace, pace) for pace, left in people if pace > 0 and left > 0)
    hours, rate, rest = 0.0, sum(pace for _, pace in able), float(wanted)
    for until, pace in able:
        if rest <= rate * (until - hours):
            break
        rest -= rate * (until - hours)
        hours, rate = until, rate - pace
    if rest <= 1e-9:
        return hours
    return None if rate <= 1e-9 else hours + rest / rate
