"""Intervals as tests compare them."""

from ragstone.stats import Interval


def ends(interval: Interval | None) -> tuple[float, float]:
    """The low and the high end of an interval that there is."""
    assert interval is not None
    return interval.low, interval.high
