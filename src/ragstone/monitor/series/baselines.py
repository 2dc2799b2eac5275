"""Baselines: a metric beside an earlier window, a run or a deploy; and the bars of alarms.

A margin is counted from a finished run or from the first answers of the slice. The bar is the
confidence limit of that baseline less the margin, so that uncertainty about the baseline raises
no alarm.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import polars as pl

from ragstone.analysis.comparison.comparison_result import Verdict
from ragstone.analysis.scored_run import Scored, known_metric, known_system, mean_of
from ragstone.analysis.summaries.session_figures import has_sessions
from ragstone.core.database import Sql
from ragstone.core.errors import InputError, UnknownName
from ragstone.data.example import SESSION
from ragstone.monitor.settings import AlarmRule, BaselineSettings, MonitorSettings
from ragstone.monitor.store.rows import remembered
from ragstone.monitor.store.watched_scores import WatchedScore
from ragstone.run import Run
from ragstone.run.estimates.groups import NO_VALUE
from ragstone.stats.comparison.differences import unpaired_difference
from ragstone.stats.distributions import Interval, ends_of
from ragstone.stats.weights_and_groups import weighted_wilson_ends

from .metric_over_time import Window


@dataclass(frozen=True, slots=True)
class MeanWithInterval:
    """A mean with its interval at 95 %, which is for one look; None where there is none."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    @classmethod
    def of(cls, value: float | None, interval: Interval | None, n: int) -> Self:
        """Return a mean with its interval, or with None for both ends."""
        return cls(value, **ends_of(interval), n=n)


ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class SettledMean:
    """A mean that does not change any more while it is looked at; ``once`` gives its interval."""

    value: float | None
    n: int
    once: Callable[[float], Interval | None]


def verdict_beside(
    now: Window, before: SettledMean, *, margin: float | None, family: int = 1
) -> Verdict:
    """Return the verdict of a window that may still be filling, beside what was before.

    It goes by the difference, whose interval is that of two means of different rows. The
    window's part of that interval holds at every look: the page may be looked at again and again.
    Of a family of m comparisons each has 1 / m of the 5 % (Bonferroni). *Equivalent* is said first,
    where the interval of level 1 - 2 · 5 % / m lies within ±margin (two one-sided tests), then
    *better* or *worse* where that of level 1 - 5 % / m leaves out 0.

    Args:
        margin: Up to which a difference does not matter, in the metric's unit; None: not asked.

    Source: Newcombe (1998) and Zou & Donner (2008) for the interval; Schuirmann (1987) for
    equivalence; ``benchmarks/monitor_numbers.py`` measures how often it holds at all looks,
    which is a little less than it says where what was before has 50 answers or fewer.
    """
    if margin is not None:
        within = _difference(now, before, 1 - 2 * ALPHA / family)
        if within is not None and -margin < within.low <= within.high < margin:
            return "equivalent"
    interval = _difference(now, before, 1 - ALPHA / family)
    if interval is None or interval.low <= 0 <= interval.high or now.scale.better == "0":
        return "cannot_tell"
    return "better" if (interval.low > 0) == (now.scale.better == "+") else "worse"


def _difference(now: Window, before: SettledMean, level: float) -> Interval | None:
    after, other = now.always(level), before.once(level)
    if after is None or other is None or now.value is None or before.value is None:
        return None
    return unpaired_difference(now.value, after, before.value, other, level=level)


@lru_cache(maxsize=256)
def baseline_mean(path: Path, system: str | None, metric: str) -> SettledMean | None:
    """Return a metric of a finished run, which is read once; None if it was not measured there."""
    scored = _scored(path, ())
    try:
        form = known_metric(scored, metric)
    except UnknownName:
        return None
    scores, scale = scored.of(form), scored.scale(form)
    if system is not None:
        scores = scores.filter(pl.col("system") == known_system(scored, system))
    n = int((scores["status"] == "value").sum())
    # The interval is by the clusters of the run.
    return SettledMean(
        mean_of(scores, scale).value, n, lambda level: mean_of(scores, scale, level=level).interval
    )


BarSource = Literal["rule", "run", "slice_of_run", "first_answers"]


@dataclass(frozen=True, slots=True)
class AlarmBar:
    """The mean that is still right.

    Attributes:
        source: Where it comes from: the rule, the baseline run, the slice's own part of that run,
            or the first judged answers of the slice.
        limit: The baseline's confidence limit, of which the margin was taken; None for a bar of
            the rule.
    """

    value: float
    source: BarSource = "rule"
    limit: float | None = None
    mean: float | None = None
    n: int | None = None


def unit_of(rule: AlarmRule) -> dict[str, str]:
    """Return what lets a rule that looks at sessions begin anew when that changes."""
    return {} if rule.of == "answers" else {"of": rule.of}


# The level of an interval of which only one end is used: that end holds with 95 %.
BAR_LEVEL = 0.9

# The mean that first answers are taken to have, as a share of the best, until some have come.
USUAL_MEAN = 0.85

# Answers of a slice in a run, from which on its own mean counts in place of the whole run's.
FEWEST = 30


@lru_cache(maxsize=4096)
def bar_of_run(rule: AlarmRule, path: Path, system: str | None, slice: str) -> AlarmBar:
    """Return the bar of a rule with a margin to a run, or to a system of it.

    A slice is compared with the same slice of the run where that has enough answers, else with the
    whole run.
    """
    facet, _, value = slice.partition("=")
    whole = _scores(path, system, rule, "")
    part = _part(path, system, rule, facet, value) if facet else None
    scores = whole if part is None else part
    scale = _scored(path, ()).scale(known_metric(_scored(path, ()), rule.metric))
    scale = replace(scale, rate=False) if rule.of == "sessions" else scale
    estimate = mean_of(scores, scale, level=BAR_LEVEL)
    if estimate.value is None or estimate.interval is None:
        raise InputError(
            f"{rule.name}: {path} has too few scores of {rule.metric} to count a margin from. "
            "Name another run in [baseline], or write bar in place of margin."
        )
    source: BarSource = "run" if part is None else "slice_of_run"
    return _bar(rule, source, estimate.value, estimate.interval, estimate.n)


def bar_without_answers(rule: AlarmRule, baseline: BaselineSettings, slice: str) -> AlarmBar | None:
    """Return the bar of a rule or of its baseline run; None if the first answers will set it."""
    if rule.bar is not None:
        return AlarmBar(rule.bar)
    if baseline.run is not None:
        return bar_of_run(rule, baseline.run, baseline.system, slice)
    return None


def bar_beforehand(rule: AlarmRule, baseline: BaselineSettings) -> AlarmBar:
    """Return the bar that a rule has, or would have after ``USUAL_MEAN`` in its first answers."""
    if bar := bar_without_answers(rule, baseline, rule.slice if rule.value is not None else ""):
        return bar
    low, high = rule.range.low, rule.range.high
    good = round(baseline.answers * USUAL_MEAN)
    best, worst = (high, low) if rule.better == "+" else (low, high)
    scores = [WatchedScore(0, "", 0, 0, best, 1.0, None, "")] * good
    return bar_of_first(
        rule, [*scores, *[scores[0]._replace(value=worst)] * (baseline.answers - good)]
    )


def bar_of_first(rule: AlarmRule, scores: Sequence[WatchedScore]) -> AlarmBar:
    """Return the bar of a rule with a margin to these scores, each weighted by one over its
    probability.

    Source: Horvitz & Thompson (1952); the interval as in ``stats.heavy_rows``.
    """
    low, high = rule.range.low, rule.range.high
    values = np.clip([score.value for score in scores], low, high)
    weights = 1 / np.array([score.probability for score in scores])
    total = float(weights.sum())
    mean = min(max(float((weights * values).sum()) / total, low), high)
    variance = float((np.square(weights) * np.square(values - mean)).sum()) / total**2
    ends = weighted_wilson_ends(mean, variance, weights, level=BAR_LEVEL, low=low, high=high)
    return _bar(rule, "first_answers", mean, Interval(*ends, BAR_LEVEL, "wilson"), len(scores))


def _bar(rule: AlarmRule, source: BarSource, mean: float, interval: Interval, n: int) -> AlarmBar:
    limit = interval.low if rule.better == "+" else interval.high
    margin = rule.margin or 0.0
    value = limit - margin if rule.better == "+" else limit + margin
    return AlarmBar(value, source, limit, mean, n)


def _part(
    path: Path, system: str | None, rule: AlarmRule, facet: str, value: str
) -> pl.DataFrame | None:
    try:
        scores = _scores(path, system, rule, facet)
    except InputError:
        return None
    column = "system" if facet == "system" else f"by {facet}"
    part = scores.filter(pl.col(column) == value)
    return part if (part["status"] == "value").sum() >= FEWEST else None


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
    field = f"by {SESSION}"
    session = pl.when(pl.col(field) == NO_VALUE).then(pl.col("example_id")).otherwise(pl.col(field))
    by_session = scores.group_by("system", session.alias("own session"), maintain_order=True).agg(
        pl.exclude("value", "status").last(),
        pl.col("value").mean(),
        status=pl.when((pl.col("status") == "missing").any())
        .then(pl.lit("missing"))
        .when((pl.col("status") == "value").any())
        .then(pl.lit("value"))
        .otherwise(pl.lit("undefined")),
    )
    return by_session.with_columns(value=pl.when(pl.col("status") == "value").then("value"))


def settled_bar(
    run: Sql, settings: MonitorSettings, rule: AlarmRule, slice: str
) -> AlarmBar | None:
    """Return the bar of a rule in a slice; None where its first answers have not all come yet."""
    if bar := bar_without_answers(rule, settings.baseline, slice):
        return bar
    learnt = learnt_bar(run, rule, slice, settings.baseline.answers)
    return learnt and learnt[0]


def learnt_bar(
    run: Sql, rule: AlarmRule, slice: str, answers: int
) -> tuple[AlarmBar, int, str] | None:
    """Return the bar that first answers made, the number of their last one, and its judge."""
    learnt = remembered(run, learnt_name(rule, slice))
    if learnt is None or learnt.get("of") != learnt_of(rule, answers):
        return None
    return AlarmBar(**learnt["bar"]), learnt["last"], learnt["judge"]


def learnt_name(rule: AlarmRule, slice: str) -> str:
    return f"bar {rule.name} {slice}"


def learnt_of(rule: AlarmRule, answers: int) -> dict[str, Any]:
    """Return what a bar was counted for: with another metric or margin it is counted anew."""
    of = {"metric": rule.metric, "better": rule.better, "margin": rule.margin, "answers": answers}
    return {**of, **unit_of(rule)}
