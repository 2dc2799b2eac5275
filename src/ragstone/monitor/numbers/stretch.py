"""Stretch: a metric over one stretch of time."""

from dataclasses import dataclass
from math import isnan

from ragstone.analysis.scored_run import ValueRange
from ragstone.core.database import Sql
from ragstone.monitor.store.slots import WIDTH
from ragstone.stats.distributions import Interval, Method, clamp
from ragstone.stats.monitoring.windows import WeightedSums, window_intervals, window_sequences

from .metric_over_time import Facet
from .over_time import sessions_effect
from .step_sums import read_steps
from .value_range import value_range

LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """The weighted mean of a metric over a stretch of time.

    Attributes:
        scale: Of the metric.
        sums: Over its scores.
        effect: The design effect of sessions.
    """

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
        """Its interval for one look; None where there is none."""
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
        """Its interval that holds at every look; None without a score or without bounds."""
        low, high = self.scale.low, self.scale.high
        if low is None or high is None or not self.n:
            return None
        ends = window_sequences(
            self.sums.stretched(low, high), windows=1, design_effect=self.effect, level=level
        )
        least, most = (low + float(one[0]) * (high - low) for one in ends)
        return Interval(least, most, level, "betting_sequence")


def read_stretch(
    run: Sql,
    metric: str,
    since: float,
    until: float,
    slice: Facet | None,
    *,
    effect: float | None = None,
) -> Stretch:
    """A metric from the slot of ``since`` on and before that of ``until``.

    Args:
        run: A reading of the store.
        metric: Its text form.
        since: In seconds since the epoch; a slot of the store has two minutes.
        until: The same.
        slice: Of which traffic; None: of all.
        effect: The design effect of sessions; None: by the answers of this stretch.
    """
    first, end = int(since // WIDTH), int(until // WIDTH)
    if end <= first:
        return Stretch(value_range(metric), WeightedSums.of([]), 1.0)
    steps = read_steps(run, metric, first, end, 1, slice)
    if effect is None:
        effect = sessions_effect(run, metric, first * WIDTH, end * WIDTH, slice)
    return Stretch(value_range(metric), steps.together, effect)
