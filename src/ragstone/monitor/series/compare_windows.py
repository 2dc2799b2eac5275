"""Window comparisons: a metric beside a run, a deploy or labels, and the overview page's data."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, Protocol

import polars as pl

from ragstone.analysis.comparison.comparison_result import Verdict
from ragstone.analysis.scored_run import Scored, ValueRange, known_metric, known_system, mean_of
from ragstone.core.database import Sql
from ragstone.core.errors import UnknownName
from ragstone.core.messages import reason
from ragstone.monitor.store.incoming import deployed, first_seen
from ragstone.monitor.store.scores import labelled_scores
from ragstone.monitor.store.store import WIDTH, MonitorStore
from ragstone.monitor.store.stored_alarms import RaisedAlarm
from ragstone.run import Run
from ragstone.stats import Interval as BaselineRunInterval
from ragstone.stats.comparison.differences import unpaired_difference
from ragstone.stats.correction.corrected import two_phase_mean
from ragstone.stats.distributions import Interval
from ragstone.stats.monitoring.windows import WeightedSums

from .metric_over_time import Facet, MeanInWindow, MetricOverTime, Window, read_stretch

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
    now: Window, before: SettledMean, *, of: str | None, margin: float | None, family: int = 1
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


def _difference(now: Window, before: SettledMean, level: float) -> Interval | None:
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


def _why(now: Window, before: SettledMean) -> str:
    if now.scale.low is None or now.scale.high is None:
        return reason("no_bounds")
    return reason("too_few_to_compare", now=now.n, before=before.n)


def _as_data(side: SettledMean) -> MeanWithInterval:
    found = side.once(1 - ALPHA)
    return MeanWithInterval(
        side.value, None if found is None else found.low, None if found is None else found.high,
        side.n,
    )  # fmt: skip


@dataclass(frozen=True)
class BaselineMean:
    """The mean of a metric in a run.

    Attributes:
        scored: The run.
        metric: Its text form there.
        system: Of the run; None: all.
    """

    scored: Scored
    metric: str
    system: str | None

    @cached_property
    def value(self) -> float | None:
        """The mean; None if no answer has a score."""
        return mean_of(self._scores, self.scored.scale(self.metric)).value

    @cached_property
    def n(self) -> int:
        """Answers with a score."""
        return int((self._scores["status"] == "value").sum())

    def once(self, level: float) -> BaselineRunInterval | None:
        """Its interval, by the clusters of the run."""
        return mean_of(self._scores, self.scored.scale(self.metric), level=level).interval

    @cached_property
    def _scores(self) -> pl.DataFrame:
        scores = self.scored.of(self.metric)
        return scores if self.system is None else scores.filter(pl.col("system") == self.system)


@lru_cache(maxsize=256)
def baseline_mean(path: Path, system: str | None, metric: str) -> BaselineMean | None:
    """A metric of a finished run, which is read once; None if it was not measured there.

    Args:
        path: The run's folder.
        system: Of the run; None: all.
        metric: Any form of its name.

    Raises:
        InputError: It is no finished run, or lacks the system.
    """
    scored = _scored(path)
    try:
        form = known_metric(scored, metric)
    except UnknownName:
        return None
    return BaselineMean(scored, form, None if system is None else known_system(scored, system))


@lru_cache(maxsize=4)
def _scored(path: Path) -> Scored:
    return Scored(Run.open(path))


DAY = 86_400.0
EVER = 1e12


@dataclass(frozen=True, slots=True)
class AcrossDeploy:
    """A metric before and after a deploy.

    Attributes:
        version: That was deployed.
        at: When answers of it were first seen, in seconds since the epoch.
        since: Where the stretch before begins.
        until: Where the stretch after ends.
        found: Both, with their difference.
    """

    version: str
    at: float
    since: float
    until: float
    found: SideBySide


def across_deploy(
    store: MonitorStore,
    metric: str,
    version: str,
    *,
    now: float,
    span: float = DAY,
    slice: Facet | None = None,
    margin: float | None = None,
) -> AcrossDeploy:
    """A metric in the time before a version was first seen, and in the time after.

    Neither reaches over another deploy. The two minutes in which it happened count for neither. The
    answers are those of the time, whichever version gave them; for those of a version alone, take
    its slice.

    Args:
        store: What is monitored.
        metric: Its text form.
        version: Of answers that were seen.
        now: In seconds since the epoch.
        span: How far it looks before and after, in seconds.
        slice: Of which traffic; None: of all.
        margin: Up to which a difference does not matter; None: not asked.

    Raises:
        UnknownName: No answer of this version was seen.
    """
    with store.database.reading() as run:
        return across_deploy_in(
            run, metric, version, now=now, span=span, slice=slice, margin=margin
        )


def across_deploy_in(
    run: Sql,
    metric: str,
    version: str,
    *,
    now: float,
    span: float,
    slice: Facet | None,
    margin: float | None,
) -> AcrossDeploy:
    """As ``across_deploy``, within a reading of the store."""
    at = first_seen(run, version)
    if at is None:
        there = [name for name, _ in deployed(run, 0, EVER)]
        raise UnknownName("version of these answers", version, there)
    others = [seen for name, seen in deployed(run, at - span, at + span) if name != version]
    earlier = [seen for seen in others if seen <= at]
    since = max(earlier, default=at - span)
    until = min([at + span, now, *(seen for seen in others if seen > at)])
    slot = at // WIDTH * WIDTH
    # What an earlier deploy happened in counts for neither.
    begin = since + WIDTH if earlier else since
    before = read_stretch(run, metric, begin, slot, slice)
    end = until + WIDTH if until == now else until
    after = read_stretch(run, metric, slot + WIDTH, end, slice)
    found = side_by_side(after, before, of=None, margin=margin)
    return AcrossDeploy(version, at, since, until, found)


def corrected_now(
    run: Sql, metric: str, since: float, until: float, slice: Facet | None, judged: Window
) -> CorrectedNow | None:
    """The mean of a stretch of time by the judge, corrected by labels, and by labels alone.

    Labels are those of answers that were drawn by chance from the judged ones; each counts with one
    over the probability that it was judged and labelled.

    Args:
        run: A reading of the store.
        metric: Its text form.
        since: In seconds since the epoch.
        until: The same.
        slice: Of which traffic; None: of all.
        judged: All judged answers of this stretch.

    Returns:
        None if none of them is labelled.
    """
    rows = labelled_scores(run, metric, since, until, slice)
    if not rows:
        return None
    weights = [1 / row.label_probability for row in rows]
    found = two_phase_mean(
        judged.sums,
        [row.score for row in rows],
        [1 / row.probability for row in rows],
        [row.label for row in rows],
        weights,
        low=judged.scale.low,
        high=judged.scale.high,
        design_effect=judged.effect,
    )
    people = Window(
        judged.scale, WeightedSums.of([row.label for row in rows], weights), judged.effect
    )
    return CorrectedNow(
        raw=_mean(judged.value, judged.once(), judged.n),
        corrected=_mean(found.value, found.interval, found.n_labels),
        labels=_mean(people.value, people.always(), people.n),
        why=found.reason,
    )


def _mean(value: float | None, interval: Interval | None, n: int) -> MeanWithInterval:
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return MeanWithInterval(value, low, high, n)
