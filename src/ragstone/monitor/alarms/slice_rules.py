"""Slice rules: an alarm rule on a slice, with its bar, detectors and share of the promise.

A margin is counted from a finished run or from the first answers of the slice. The bar is the
confidence limit of that baseline less the margin, so that uncertainty about the baseline raises
no alarm.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from ragstone.analysis.scored_run import NO_VALUE, Scored, known_metric, known_system, mean_of
from ragstone.analysis.summaries.session_figures import has_sessions
from ragstone.core.errors import InputError
from ragstone.data.example import SESSION
from ragstone.monitor.settings import AlarmPromise, AlarmRule, BaselineSettings, MonitorSettings
from ragstone.monitor.store.watched_scores import WatchedScore
from ragstone.run import Run
from ragstone.stats import Interval
from ragstone.stats.monitoring.detector import Detector, limit_of_gap, on_a_share, promised_limit
from ragstone.stats.weights_and_groups import heaviest_size, heavy_wilson_ends, variance_df

BarSource = Literal["rule", "run", "slice_of_run", "first_answers"]

EDGE = 0.001
"""A bar is at least this far inside the range: at an end of it the first worse answer would be an
alarm, or none ever."""

MOST_SLICES = 200
"""Slices of a rule that are watched. The more there are, the more evidence each of them wants."""

RECOVERY = AlarmPromise(0.05, 200)
"""For each alarm: the probability that it is called over, within so many judged answers, although
the mean is still at its bar or worse."""


@dataclass(frozen=True, slots=True)
class AlarmBar:
    """The mean that is still right.

    Attributes:
        value: On the metric's own scale.
        source: Where it comes from: the rule, the baseline run, the slice's own part of that run,
            or the first judged answers of the slice.
        limit: The baseline's confidence limit, of which the margin was taken; None for a bar of
            the rule.
        mean: The baseline's mean; None for a bar of the rule.
        n: Its answers.
    """

    value: float
    source: BarSource = "rule"
    limit: float | None = None
    mean: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class WatchedSlice:
    """A rule at work on one slice.

    Attributes:
        rule: What it watches.
        slice: ``facet=value``; empty for all traffic.
        number: The how many-th slice of the rule it is, from 1.
        bar: The mean that is still right.
        limit: The evidence that an alarm wants.
        least: The least probability with which its answers are drawn to be judged.
        begun: The number of the score after which it watches.
        judge: Whose scores the bar was counted from; None where the bar is nobody's.
    """

    rule: AlarmRule
    slice: str
    number: int
    bar: AlarmBar
    limit: float
    least: float = 1.0
    begun: int = 0
    judge: str | None = None

    @property
    def facet(self) -> tuple[str, str] | None:
        """Facet and value of its answers; None for all."""
        return facet_of(self.slice)

    @cached_property
    def bar_share(self) -> float:
        """The bar as a share from 0 to 1, of which 1 is the best."""
        return min(max(share_of(self.rule, self.bar.value), EDGE), 1 - EDGE)

    @cached_property
    def falling(self) -> Detector:
        """Notices that the mean is worse than the bar."""
        return Detector(self.bar_share, self.limit, self.least)

    @cached_property
    def recovering(self) -> Detector:
        """Notices that the mean is better than the bar: of the scores' distance from 1."""
        return Detector(1 - self.bar_share, limit_for(RECOVERY, 1), self.least)

    @property
    def identity(self) -> str:
        """What its state is good for: with another bar or metric a detector starts anew."""
        of = {"metric": self.rule.metric, "better": self.rule.better, "bar": self.bar_share}
        return json.dumps({**of, **unit_of(self.rule)})

    def with_least(self, least: float) -> "WatchedSlice":
        """The same for answers that are drawn with a lower probability."""
        return replace(self, least=least)


def facet_of(slice: str) -> tuple[str, str] | None:
    """Facet and value of a slice that is written ``facet=value``; None for all traffic."""
    facet, _, value = slice.partition("=")
    return (facet, value) if facet else None


def unit_of(rule: AlarmRule) -> dict[str, str]:
    """What is kept of a rule that looks at sessions, so that it begins anew when that changes."""
    return {} if rule.of == "answers" else {"of": rule.of}


def share_of(rule: AlarmRule, value: float) -> float:
    """A value of the rule's metric as a share from 0 to 1, of which 1 is the best."""
    scale = rule.range
    low, high = scale.low, scale.high
    kept = min(max(value, low), high)
    return float(on_a_share(kept, low=low, high=high, less_is_better=rule.better == "-"))


def limit_for(promise: AlarmPromise, shares: int) -> float:
    """The evidence that an alarm wants where a detector has one of so many shares of a promise."""
    if promise.false_alarms is None:
        return limit_of_gap(promise.answers, detectors=shares)
    return promised_limit(promise.false_alarms, promise.answers, detectors=shares)


def shares_of(settings: MonitorSettings, rule: AlarmRule, slices: int = 1) -> int:
    """Of how many shares of its promise each slice of a rule has one.

    A promise is divided evenly by the rules that have it together, and a rule's part by the slices
    that came so far. When another one comes, all want more evidence from then on. As each look adds
    at most one over its limit to the false alarms that are expected, of the next ``answers`` looks
    of all slices no more are expected, at any time, than the promise allows.

    Args:
        settings: With all rules.
        rule: One of them.
        slices: How many it watches.
    """
    return slices * (settings.sharing if rule.promise is None else 1)


def watched(
    settings: MonitorSettings,
    rule: AlarmRule,
    bar: AlarmBar,
    *,
    slice: str = "",
    number: int = 1,
    slices: int = 1,
    begun: int = 0,
    judge: str | None = None,
) -> WatchedSlice:
    """A rule at work on its ``number``-th slice of so many."""
    promise = rule.promise or settings.promise
    limit = limit_for(promise, shares_of(settings, rule, slices))
    # The guard checks every answer.
    least = 1.0 if rule.metric.startswith("guard_") else settings.sampling.least
    return WatchedSlice(rule, slice, number, bar, limit, least, begun, judge)


LEVEL = 0.9
"""Of the interval, of which one end counts: that end holds with 95 %."""

USUAL_MEAN = 0.85
"""Of the first answers, as a share of the best, where a rule's delay is told before any came."""

FEWEST = 30
"""Answers of a slice in a run, from which on its own mean counts in place of the whole run's."""


def bar_of_run(rule: AlarmRule, baseline: BaselineSettings, slice: str) -> AlarmBar:
    """The bar of a rule with a margin to a run.

    A slice is compared with the same slice of the run where that has enough answers, else with the
    whole run.

    Args:
        rule: With a margin.
        baseline: With a run.
        slice: ``facet=value``, or nothing.

    Raises:
        InputError: The run cannot be read, or lacks the metric or the system.
    """
    if baseline.run is None:
        raise InputError(f"{rule.name}: there is no baseline run to count its margin from.")
    return _bar_of_run(rule, baseline.run, baseline.system, slice)


def bar_beforehand(rule: AlarmRule, baseline: BaselineSettings) -> AlarmBar:
    """The bar that a rule has, or would have after ``USUAL_MEAN`` in its first answers.

    Args:
        rule: Any.
        baseline: What margins are counted from.

    Raises:
        InputError: The baseline run cannot be read, or lacks the metric or the system.
    """
    if rule.bar is not None:
        return AlarmBar(rule.bar)
    if baseline.run is not None:
        return bar_of_run(rule, baseline, rule.slice if rule.value is not None else "")
    low, high = rule.range.low, rule.range.high
    good = round(baseline.answers * USUAL_MEAN)
    best, worst = (high, low) if rule.better == "+" else (low, high)
    scores = [WatchedScore(0, "", 0, 0, best, 1.0, None, "")] * good
    return bar_of_first(
        rule, [*scores, *[scores[0]._replace(value=worst)] * (baseline.answers - good)]
    )


def bar_of_first(rule: AlarmRule, scores: Sequence[WatchedScore]) -> AlarmBar:
    """The bar of a rule with a margin to these scores, each weighted by one over its probability.

    Args:
        rule: With a margin.
        scores: At least two.

    Source: Horvitz & Thompson (1952); the interval as in ``stats.heavy_rows``.
    """
    low, high = rule.range.low, rule.range.high
    values = np.clip([one.value for one in scores], low, high)
    weights = 1 / np.array([one.probability for one in scores])
    total = float(weights.sum())
    mean = min(max(float((weights * values).sum()) / total, low), high)
    variance = float((np.square(weights) * np.square(values - mean)).sum()) / total**2
    ends = heavy_wilson_ends(
        mean,
        variance,
        rows=heaviest_size(weights),
        df=variance_df(weights),
        level=LEVEL,
        low=low,
        high=high,
    )
    return _bar(rule, "first_answers", mean, Interval(*ends, LEVEL, "wilson"), len(scores))


@lru_cache(maxsize=4096)
def _bar_of_run(rule: AlarmRule, path: Path, system: str | None, slice: str) -> AlarmBar:
    facet, _, value = slice.partition("=")
    whole = _scores(path, system, rule, "")
    part = _part(path, system, rule, facet, value) if facet else None
    scores, source = (whole, "run") if part is None else (part, "slice_of_run")
    scale = _scored(path, ()).scale(known_metric(_scored(path, ()), rule.metric))
    scale = replace(scale, rate=False) if rule.of == "sessions" else scale
    found = mean_of(scores, scale, level=LEVEL)
    if found.value is None or found.interval is None:
        raise InputError(
            f"{rule.name}: {path} has too few scores of {rule.metric} to count a margin from. "
            "Name another run in [baseline], or write bar in place of margin."
        )
    return _bar(rule, source, found.value, found.interval, found.n)  # type: ignore[arg-type]


def _bar(rule: AlarmRule, source: BarSource, mean: float, interval: Interval, n: int) -> AlarmBar:
    limit = interval.low if rule.better == "+" else interval.high
    margin = rule.margin or 0.0
    value = limit - margin if rule.better == "+" else limit + margin
    return AlarmBar(value, source, limit, mean, n)


def _part(
    path: Path, system: str | None, rule: AlarmRule, facet: str, value: str
) -> pl.DataFrame | None:
    """The scores of a slice of the run; None where it has none or few."""
    try:
        scores = _scores(path, system, rule, facet)
    except InputError:
        return None
    column = "system" if facet == "system" else f"by {facet}"
    found = scores.filter(pl.col(column) == value)
    return found if (found["status"] == "value").sum() >= FEWEST else None


@lru_cache(maxsize=8)
def _scored(path: Path, fields: tuple[str, ...]) -> Scored:
    return Scored(Run.open(path), by=fields)


def _scores(path: Path, system: str | None, rule: AlarmRule, facet: str) -> pl.DataFrame:
    by = (facet,) if facet else ()
    in_sessions = rule.of == "sessions" and has_sessions(_scored(path, by).run)
    scored = _scored(path, (*by, SESSION) if in_sessions else by)
    scores = scored.of(known_metric(scored, rule.metric))
    if system is not None:
        scores = scores.filter(pl.col("system") == known_system(scored, system))
    return _of_sessions(scores) if in_sessions else scores


def _of_sessions(scores: pl.DataFrame) -> pl.DataFrame:
    """One row a session, with the mean of its turns and the facets of its last turn.

    Where a turn is missing, so is its session; undefined turns do not count.
    """
    field = f"by {SESSION}"
    session = pl.when(pl.col(field) == NO_VALUE).then(pl.col("example_id")).otherwise(pl.col(field))
    found = scores.group_by("system", session.alias("own session"), maintain_order=True).agg(
        pl.exclude("value", "status").last(),
        pl.col("value").mean(),
        status=pl.when((pl.col("status") == "missing").any())
        .then(pl.lit("missing"))
        .when((pl.col("status") == "value").any())
        .then(pl.lit("value"))
        .otherwise(pl.lit("undefined")),
    )
    return found.with_columns(value=pl.when(pl.col("status") == "value").then("value"))
