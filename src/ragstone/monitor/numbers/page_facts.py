"""Page facts: all that the first screen of the monitor shows, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ragstone.decisions.comparing.verdict import Verdict

from .metric_over_time import Facet, MeanInWindow, MetricOverTime

MetricState = Literal[
    "below_bar", "above_bar", "as_before", "better", "worse", "cannot_tell", "no_data"
]
"""``below_bar``: an alarm of a rule on this metric is firing; or its confidence sequence lies
beyond the bar, on the bad side. ``above_bar``: it lies on the good side. Without a bar, or where
that leaves it open, the verdict against the baseline: ``as_before`` is *equivalent*."""


@dataclass(frozen=True, slots=True)
class DeployMarker:
    """When answers of a version were first seen."""

    version: str
    at: float


@dataclass(frozen=True, slots=True)
class AlarmStretch:
    """From when to when an alarm was firing.

    Attributes:
        number: Of the alarm.
        rule: Its name.
        slice: Of which traffic, as the rule has it; empty: of all.
        kind: What fired: ``quality``, ``no_data``, ``judging_stopped``.
        metric: Of the rule; None where the alarm is about no metric.
        since: From when on, by its evidence, things were worse.
        fired_at: When it fired.
        resolved_at: None while it is firing.
        facts: What else is kept of it.
    """

    number: int
    rule: str
    slice: str
    kind: str
    metric: str | None
    since: float
    fired_at: float
    resolved_at: float | None
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MeanWithInterval:
    """A mean with its interval at 95 %, which is for one look; None where there is none."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class AgainstBaseline:
    """A metric now beside the same metric in a run.

    Attributes:
        run: The name of its folder.
        baseline: The run's estimate.
        difference: Now less the baseline, with its interval.
        margin: Within which they are equivalent; None: not asked.
        verdict: The conclusion; ``why`` is a reason where none can be drawn.
    """

    run: str
    baseline: MeanWithInterval
    difference: MeanWithInterval
    margin: float | None
    verdict: Verdict
    why: str | None


@dataclass(frozen=True, slots=True)
class CorrectedNow:
    """The mean by the judge and the same corrected by people's labels, of all that is shown.

    Attributes:
        raw: By the judge alone.
        corrected: By people's labels of some of these answers; it is for one look.
        labels: The mean of people's labels alone, with an interval that holds at every look while
            labels come in.
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
        baseline: None without a baseline run that has the metric.
        corrected: None where nobody labelled any of these answers.
        alarms: Of the rules on this metric, the latest last.
    """

    metric: str
    state: MetricState
    window: MeanInWindow | None
    judged_last_hour: int
    bar: float | None
    series: MetricOverTime
    baseline: AgainstBaseline | None
    corrected: CorrectedNow | None
    alarms: tuple[AlarmStretch, ...]


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
        last_trace_at: When the last trace came; None: none ever did.
        answers: How many were given since then, of this slice.
        drawn: How many of them were drawn to be judged.
        judged: How many of these were judged.
        due_last_hour: How many were to be judged within the last hour, of all traffic.
        judged_last_hour: How many of these were.
        counts: What was counted since then, of all traffic, by its name in the store.
        baseline: The name of the baseline run's folder; None without one.
        metrics: Those with a rule first, then the others by name.
        deploys: Versions first seen since then.
        alarms: That were firing at any time since then, the latest last.
        slices: What can be sliced by.
    """

    now: float
    since: float
    slice: Facet | None
    last_trace_at: float | None
    answers: int
    drawn: int
    judged: int
    due_last_hour: int
    judged_last_hour: int
    counts: Mapping[str, int]
    baseline: str | None
    metrics: tuple[MetricNow, ...]
    deploys: tuple[DeployMarker, ...]
    alarms: tuple[AlarmStretch, ...]
    slices: tuple[SliceValues, ...]
