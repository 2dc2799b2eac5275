"""Over time: a metric in windows, with intervals and a confidence sequence."""

from math import isnan

import numpy as np

from ragstone.analysis.scored_run import ValueRange
from ragstone.core.database import Sql
from ragstone.core.messages import reason
from ragstone.monitor.store.session_scores import last_session_scores
from ragstone.monitor.store.store import MonitorStore
from ragstone.stats.monitoring.windows import session_effect, window_intervals, window_sequences
from ragstone.stats.rate_bounds import worst_best

from .metric_over_time import Facet, MeanInWindow, MetricOverTime
from .step_sums import StepSums, read_steps
from .time_grid import MOST_WINDOWS, TimeGrid
from .value_range import value_range


def over_time(
    store: MonitorStore,
    metric: str,
    *,
    since: float,
    until: float,
    slice: Facet | None = None,
    buckets: int = MOST_WINDOWS,
    window: float | None = None,
    level: float = 0.95,
) -> MetricOverTime:
    """A metric in windows, the end of each one step after the last.

    Args:
        store: What is monitored.
        metric: Its text form.
        since: In seconds since the epoch.
        until: Later than that.
        slice: Of which traffic; None: of all.
        buckets: Number of steps, at most 240. None is shorter than two minutes, so there may be
            fewer.
        window: Width of a window in seconds, rounded to whole steps; by default the 24th part.
        level: Of the intervals, and of the sequence of all windows together, in (0, 1).

    Raises:
        InputError: An argument is out of its range.
    """
    grid = TimeGrid.of(since, until, buckets=buckets, window=window)
    with store.database.reading() as run:
        steps, effect = read_grid(run, metric, grid, slice)
    return in_windows(metric, slice, grid, steps, effect, level=level)


def read_grid(run: Sql, metric: str, grid: TimeGrid, slice: Facet | None) -> tuple[StepSums, float]:
    """The sums of all steps that windows of a grid have, and the design effect of sessions."""
    steps = read_steps(run, metric, grid.begin, grid.last, grid.slots, slice)
    return steps, sessions_effect(run, metric, grid.begin * grid.step, grid.until, slice)


def in_windows(
    metric: str,
    slice: Facet | None,
    grid: TimeGrid,
    steps: StepSums,
    effect: float,
    *,
    level: float = 0.95,
) -> MetricOverTime:
    """As ``over_time``, of sums that were read."""
    scale = value_range(metric)
    width = grid.abreast * grid.step
    return MetricOverTime(
        metric,
        slice,
        scale,
        grid.since,
        grid.until,
        grid.step,
        width,
        level,
        _windows(steps.over(grid.abreast), scale, grid.step, width, effect, level),
        None if scale.low is not None and scale.high is not None else reason("no_bounds"),
        effect,
    )


def _windows(
    sums: StepSums, scale: ValueRange, step: float, width: float, effect: float, level: float
) -> tuple[MeanInWindow, ...]:
    """What is drawn of each window.

    Args:
        sums: Of each window; ``first`` is the number of the step with which the first one ends.
        scale: Of the metric.
        step: In seconds.
        width: Of a window, in seconds.
        effect: Of sessions.
        level: Of the intervals.
    """
    scores, (low, high) = sums.scores, (scale.low, scale.high)
    windows = len(scores.n)
    means = scores.mean
    lows, highs = window_intervals(scores, low=low, high=high, design_effect=effect, level=level)
    band_lows, band_highs = np.full(windows, np.nan), np.full(windows, np.nan)
    if low is not None and high is not None:
        inner = window_sequences(
            scores.stretched(low, high), windows=windows, design_effect=effect, level=level
        )
        band_lows, band_highs = (low + one * (high - low) for one in inner)
        means = np.clip(means, low, high)
    found = []
    for k in range(windows):
        n = int(scores.n[k])
        end = (sums.first + k + 1) * step
        ends = worst_best(
            float(scores.wx[k]), float(scores.w[k]), float(sums.missing_w[k]), low, high,
            scale.better,
        )  # fmt: skip
        worst, best = ends or (None, None)
        numbers = (means[k], lows[k], highs[k], band_lows[k], band_highs[k])
        known = (None if not n or isnan(one) else float(one) for one in numbers)
        value, least, greatest, band_low, band_high = known
        found.append(
            MeanInWindow(
                end - width, end, value, least, greatest, band_low, band_high, n,
                int(sums.undefined[k]), int(sums.missing[k]), worst, best,
            )
        )  # fmt: skip
    return tuple(found)


def sessions_effect(
    run: Sql, metric: str, since: float, until: float, slice: Facet | None
) -> float:
    """The design effect of sessions, by the last answers of all that is drawn.

    Of each window alone it could not be told from chance.
    """
    rows = last_session_scores(run, metric, since, until, slice)
    if not rows:
        return 1.0
    weights = [1 / row.probability for row in rows]
    return session_effect([row.value for row in rows], weights, [row.session for row in rows])
