"""Page facts: all that the first screen of the monitor shows, as data."""

from dataclasses import dataclass
from typing import Literal

from ragstone.analysis.comparison.comparison_result import Verdict
from ragstone.monitor.store.raised import RaisedAlarm

from .metric_over_time import Facet, MeanInWindow, MetricOverTime

MetricState = Literal[
    "below_bar", "above_bar", "as_before", "better", "worse", "cannot_tell", "no_data"
]
"""``below_bar``: an alarm of a rule on this metric is firing; or its confidence sequence lies
beyond the bar, on the bad side. ``above_bar``: it lies on the good side. Without a bar, or where
that leaves it open, the verdict beside what was before: ``as_before`` is *equivalent*."""


@dataclass(frozen=True, slots=True)
class DeployMarker:
    """When answers of a version were first seen."""

    version: str
    at: float


@dataclass(frozen=True, slots=True)
class MeanWithInterval:
    """A mean with its interval at 95 %, which is for one look; None where there is none."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A metric now beside what it was before.

    Attributes:
        of: What it was before in: the name of a run's folder; None: in earlier answers.
        before: The mean before.
        now: The mean now, of all that is shown.
        difference: ``now`` less ``before``; None where one of them is.
        low: Low end of its interval at 95 %, which holds at every look; None where there is none.
        high: Its high end.
        margin: Within which both are equivalent; None: not asked.
        verdict: The conclusion, for all metrics that are shown together.
        why: Why there is no interval, as a reason; None if there is one.
    """

    of: str | None
    before: MeanWithInterval
    now: MeanWithInterval
    difference: float | None
    low: float | None
    high: float | None
    margin: float | None
    verdict: Verdict
    why: str | None


@dataclass(frozen=True, slots=True)
class CorrectedNow:
    """The mean by the judge and the same corrected by people's labels, of all that is shown.

    Attributes:
        raw: By the judge alone.
        corrected: By people's labels of some of these answers; its interval is for one look, so
            settle when to look before labels come.
        labels: The mean of people's labels alone, with an interval that holds at every look while
            labels come in, exactly; None where the metric has no bounds.
        why: Why there is no corrected mean, as a reason.
    """

    raw: MeanWithInterval
    corrected: MeanWithInterval
    labels: MeanWithInterval
    why: str | None


@dataclass(frozen=True, slots=True)
class MetricNow:
    """A metric on the first screen.

    Attributes:
        metric: Its text form.
        state: What can be said of it.
        window: The last full or filling window in which answers were judged; None: there is none.
        judged_last_hour: Answers with a score that were given within the last hour.
        bar: Of the first rule on it; None without one.
        series: At most 240 windows with their bands.
        before: Beside the baseline run, or, without one that has the metric, beside the stretch of
            the same length before.
        corrected: None where nobody labelled any of these answers.
        alarms: Of the rules on this metric, the latest last.
    """

    metric: str
    state: MetricState
    window: MeanInWindow | None
    judged_last_hour: int
    bar: float | None
    series: MetricOverTime
    before: SideBySide
    corrected: CorrectedNow | None
    alarms: tuple[RaisedAlarm, ...]


@dataclass(frozen=True, slots=True)
class SliceValues:
    """A name that traffic can be sliced by, with its most frequent values."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MonitorPageFacts:
    """The first screen.

    Attributes:
        now: When it was made, in seconds since the epoch.
        since: What is shown begins here and ends ``now``.
        slice: Of which traffic; None: of all.
        baseline: The name of the baseline run's folder; None without one.
        metrics: Those with a rule first, then the others by name.
        deploys: Versions first seen since then.
        alarms: That were firing at any time since then, the latest last.
        slices: What can be sliced by.
    """

    now: float
    since: float
    slice: Facet | None
    baseline: str | None
    metrics: tuple[MetricNow, ...]
    deploys: tuple[DeployMarker, ...]
    alarms: tuple[RaisedAlarm, ...]
    slices: tuple[SliceValues, ...]
