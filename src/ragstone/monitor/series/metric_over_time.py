"""Metric over time: means in windows, with intervals and a confidence sequence."""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor, isnan
from typing import NamedTuple, Self

import numpy as np

from ragstone.analysis.scored_run import ValueRange
from ragstone.core.database import Sql
from ragstone.core.errors import InputError, RagstoneError
from ragstone.core.messages import argument, reason
from ragstone.monitor.settings.alarm_rules import GUARD, metric_range
from ragstone.monitor.store.rows import Facet
from ragstone.monitor.store.scores import SUMS, last_session_scores, slot_sums
from ragstone.monitor.store.store import WIDTH, MonitorStore
from ragstone.stats.distributions import Interval, Method, clamp
from ragstone.stats.monitoring.windows import (
    WeightedSums,
    session_effect,
    window_intervals,
    window_sequences,
)
from ragstone.stats.rate_bounds import worst_best
from ragstone.stats.weights_and_groups import Floats

MOST_WINDOWS = 240
# By default, this many windows side by side fill the time shown: for a day, one hour each.
WINDOWS_ABREAST = 24


@dataclass(frozen=True, slots=True)
class TimeGrid:
    """Steps that begin at whole multiples of their length since the epoch.

    It is the same however often a page is made within a step, so that its windows are too.

    Attributes:
        first: The number of the first step with which a window ends.
        begin: The number of the step with which the first window begins.
        step: Seconds of a step.
        since: When the first step begins that ends a window, in seconds since the epoch.
        until: When the last one ends.
    """

    slots: int
    first: int
    last: int
    abreast: int
    begin: int
    step: float
    since: float
    until: float

    @classmethod
    def of(
        cls, since: float, until: float, *, buckets: int = MOST_WINDOWS, window: float | None = None
    ) -> Self:
        """Return the grid for a period from ``since`` to ``until``.

        Args:
            buckets: Number of steps, at most 240. None is shorter than two minutes, so there may be
                fewer.
        """
        if not since < until:
            raise InputError(
                f"{argument('since', since)} must be before {argument('until', until)}."
            )
        if not 1 <= buckets <= MOST_WINDOWS:
            raise InputError(f"There are 1 to {MOST_WINDOWS} windows, got {buckets}.")
        slots = max(1, ceil((until - since) / (buckets * WIDTH)))
        step = float(slots * WIDTH)
        wide = (until - since) / WINDOWS_ABREAST if window is None else window
        last = ceil(until / step)
        first = last - ceil((until - since) / step)
        abreast = max(1, floor(wide / step + 0.5))
        begin = first - abreast + 1
        return cls(slots, first, last, abreast, begin, step, first * step, last * step)


@dataclass(frozen=True, slots=True)
class MeanInWindow:
    """The mean score of the answers that were given within a window.

    Each judged answer is weighted by one over the probability with which it was drawn.

    Attributes:
        low: Low end of the interval, which is for one look at one window; None where there is none.
        band_low: Low end of the confidence sequence, which holds in all windows that are drawn
            and at every look, together; None where there is none.
        worst: The mean if all missing scores were the worst possible; None without bounds.
    """

    start: float
    end: float
    value: float | None
    low: float | None
    high: float | None
    band_low: float | None
    band_high: float | None
    n: int
    n_undefined: int
    n_missing: int
    worst: float | None
    best: float | None


@dataclass(frozen=True, slots=True)
class MetricOverTime:
    """A metric in windows of one width, the end of each one step after the last.

    Attributes:
        no_band: Why there is no confidence sequence, as a reason; None if there is one.
        design_effect: How much larger the variance is because answers of one session are alike;
            1 if they are not.
    """

    metric: str
    slice: Facet | None
    range: ValueRange
    since: float
    until: float
    step: float
    window: float
    level: float
    windows: tuple[MeanInWindow, ...]
    no_band: str | None
    design_effect: float

    @property
    def now(self) -> MeanInWindow | None:
        """The last window in which an answer was judged."""
        return next((window for window in reversed(self.windows) if window.n), None)


class StepSums(NamedTuple):
    """Sums over the scores of each step; ``missing_w`` is the weight of those that are missing."""

    scores: WeightedSums
    undefined: Floats
    missing: Floats
    missing_w: Floats


def read_steps(
    run: Sql, metric: str, first: int, end: int, slots: int, slice: Facet | None
) -> StepSums:
    """Return the sums of the steps from ``first`` on and before ``end``."""
    rows = slot_sums(run, metric, first * slots, end * slots, slice)
    names = ("slot", *SUMS.split(", "))
    columns = np.array(rows, dtype=np.float64).reshape(-1, len(names)).T
    of_slots = dict(zip(names, columns, strict=True))
    steps = (of_slots.pop("slot") // slots - first).astype(int)
    of_steps = {name: np.zeros(end - first) for name in of_slots}
    for name, column in of_slots.items():
        together = np.maximum if name == "most" else np.add
        together.at(of_steps[name], steps, column)
    counts = [of_steps.pop(name) for name in ("undefined", "missing", "missing_w")]
    return StepSums(WeightedSums(**of_steps), *counts)


CONFIDENCE = "guard_confidence"


@lru_cache(maxsize=1024)
def value_range(metric: str) -> ValueRange:
    """Return the range of a metric's values, and which end is better; nothing is known of a strange
    one.

    All that the guard says of an answer is 0 or 1, but for its confidence. Kept, for a name that is
    no metric is looked for among all packages that are installed.
    """
    try:
        scale = metric_range(metric)
    except RagstoneError:
        return ValueRange(None, None, "0", rate=False)
    rate = scale.rate or (GUARD.fullmatch(metric) is not None and metric != CONFIDENCE)
    return ValueRange(*scale.ends, scale.better, rate)


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
    """Return a metric in windows, the end of each one step after the last."""
    grid = TimeGrid.of(since, until, buckets=buckets, window=window)
    with store.database.reading() as run:
        steps, effect = read_grid(run, metric, grid, slice)
    return in_windows(metric, slice, grid, steps, effect, level=level)


def read_grid(run: Sql, metric: str, grid: TimeGrid, slice: Facet | None) -> tuple[StepSums, float]:
    """Return the sums of all steps of a grid's windows, and the design effect of sessions."""
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
    """Estimate as ``over_time`` does, from sums that were read."""
    scale, width = value_range(metric), grid.abreast * grid.step
    low, high = scale.low, scale.high
    scores = steps.scores.over(grid.abreast)
    undefined, missing, missing_w = (
        np.lib.stride_tricks.sliding_window_view(counts, grid.abreast).sum(axis=1)
        for counts in (steps.undefined, steps.missing, steps.missing_w)
    )
    n_windows = len(scores.n)
    no_band: str | None = reason("no_bounds")
    means = scores.mean
    lows, highs = window_intervals(scores, low=low, high=high, design_effect=effect, level=level)
    band_lows, band_highs = np.full(n_windows, np.nan), np.full(n_windows, np.nan)
    if low is not None and high is not None:
        inner = window_sequences(
            scores.stretched(low, high), windows=n_windows, design_effect=effect, level=level
        )
        band_lows, band_highs = (low + item * (high - low) for item in inner)
        means, no_band = np.clip(means, low, high), None
    windows = []
    for k in range(n_windows):
        n = int(scores.n[k])
        end = (grid.first + k + 1) * grid.step
        ends = worst_best(
            float(scores.wx[k]), float(scores.w[k]), float(missing_w[k]), low, high,
            scale.better,
        )  # fmt: skip
        worst, best = ends or (None, None)
        numbers = (means[k], lows[k], highs[k], band_lows[k], band_highs[k])
        known = (None if not n or isnan(number) else float(number) for number in numbers)
        value, least, greatest, band_low, band_high = known
        window = MeanInWindow(
            end - width, end, value, least, greatest, band_low, band_high, n,
            int(undefined[k]), int(missing[k]), worst, best,
        )  # fmt: skip
        windows.append(window)
    return MetricOverTime(
        metric, slice, scale, grid.since, grid.until, grid.step, width, level, tuple(windows),
        no_band, effect,
    )  # fmt: skip


def sessions_effect(
    run: Sql, metric: str, since: float, until: float, slice: Facet | None
) -> float:
    """Return the design effect of sessions, by the last answers of all that is drawn.

    Of each window alone it could not be told from chance.
    """
    rows = last_session_scores(run, metric, since, until, slice)
    if not rows:
        return 1.0
    values, probabilities, sessions = zip(*rows, strict=True)
    return session_effect(values, [1 / item for item in probabilities], sessions)


LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The weighted mean of a metric over a window."""

    scale: ValueRange
    sums: WeightedSums
    effect: float

    @property
    def n(self) -> int:
        """Number of scores."""
        return int(self.sums.n[0])

    @property
    def value(self) -> float | None:
        """The mean; None without a score."""
        return clamp(float(self.sums.mean[0]), self.scale.low, self.scale.high) if self.n else None

    def once(self, level: float = LEVEL) -> Interval | None:
        """Return its interval for one look; None where there is none."""
        low, high = window_intervals(
            self.sums, low=self.scale.low, high=self.scale.high, design_effect=self.effect,
            level=level,
        )  # fmt: skip
        if isnan(low[0]):
            return None
        bounded = self.scale.low is not None and self.scale.high is not None
        method: Method = "linearised_wilson" if bounded else "t"
        return Interval(float(low[0]), float(high[0]), level, method)

    def always(self, level: float = LEVEL) -> Interval | None:
        """Return its interval that holds at every look; None without a score or without bounds."""
        low, high = self.scale.low, self.scale.high
        if low is None or high is None or not self.n:
            return None
        ends = window_sequences(
            self.sums.stretched(low, high), windows=1, design_effect=self.effect, level=level
        )
        least, most = (low + float(bound[0]) * (high - low) for bound in ends)
        return Interval(least, most, level, "betting_sequence")


def read_window(
    run: Sql,
    metric: str,
    since: float,
    until: float,
    slice: Facet | None,
    *,
    effect: float | None = None,
) -> Window:
    """Return the sums of a metric from the slot of ``since`` on and before that of ``until``.

    Args:
        effect: The design effect of sessions; None: by the answers of this window.
    """
    first, end = int(since // WIDTH), int(until // WIDTH)
    if end <= first:
        return Window(value_range(metric), WeightedSums.of([]), 1.0)
    scores = read_steps(run, metric, first, end, 1, slice).scores
    if effect is None:
        effect = sessions_effect(run, metric, first * WIDTH, end * WIDTH, slice)
    return Window(value_range(metric), scores.over(end - first), effect)
