"""A metric over time is data that a page draws."""

from ragstone.analysis.scored_run import ValueRange
from ragstone.monitor.series.metric_over_time import MeanInWindow, MetricOverTime


def window(start: float, n: int) -> MeanInWindow:
    value = 0.5 if n else None
    return MeanInWindow(start, start + 60, value, None, None, None, None, n, 0, 0, value, value)


def series(*windows: MeanInWindow) -> MetricOverTime:
    scale = ValueRange(0, 1, "+", rate=True)
    return MetricOverTime("hit", None, scale, 0, 180, 60, 60, 0.95, windows, None, 1.0)


def test_now_is_the_last_window_with_a_judged_answer() -> None:
    assert series(window(0, 2), window(60, 3), window(120, 0)).now == window(60, 3)


def test_there_is_no_now_where_nothing_was_judged() -> None:
    assert series(window(0, 0)).now is None
    assert series().now is None
