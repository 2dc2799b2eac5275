"""Metric over time: its mean in windows that follow each other, as data."""

from dataclasses import dataclass
from typing import NamedTuple

from ragstone.analysis.scored_run import ValueRange


class Facet(NamedTuple):
    """What traffic can be sliced by, such as ``version`` ``v42``."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class MeanInWindow:
    """The mean score of the answers that were given within a window.

    Each judged answer is weighted by one over the probability with which it was drawn.

    Attributes:
        start: When the window begins, in seconds since the epoch.
        end: When it ends; the last one may still be filling.
        value: None if no answer in it was judged.
        low: Low end of the interval, which is for one look at one window; None where there is none.
        high: Its high end.
        band_low: Low end of the confidence sequence, which holds in all windows that are drawn
            and at every look, together; None where there is none.
        band_high: Its high end.
        n: Answers with a score.
        n_undefined: Answers for which the metric is undefined.
        n_missing: Answers whose judgement failed.
        worst: The mean if all missing scores were the worst possible; None without bounds.
        best: The same for the best possible.
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
        metric: Its text form.
        slice: Of which traffic; None: of all.
        range: Of its values, and which end is better.
        since: Where the first step begins, in seconds since the epoch.
        until: Where the last one ends.
        step: Between the ends of two windows, in seconds.
        window: How wide each is, in seconds.
        level: Of the intervals, and of the confidence sequence of all windows together.
        windows: One a step, at most 240.
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
        return next((one for one in reversed(self.windows) if one.n), None)
