"""Baseline: what a margin is counted from: a finished run, or the first answers of a slice itself.

The bar is the baseline's confidence limit less the margin, so that what is not known of the
baseline raises no alarm.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from ragstone.analysis.scored_run import NO_VALUE, Scored, known_metric, known_system, mean_of
from ragstone.analysis.summaries.session_figures import has_sessions
from ragstone.core.errors import InputError
from ragstone.data.example import SESSION
from ragstone.monitor.settings import AlarmRule, BaselineSettings
from ragstone.monitor.store.watched_scores import WatchedScore
from ragstone.run import Run
from ragstone.stats import Interval
from ragstone.stats.weights_and_groups import heaviest_size, heavy_wilson_ends, variance_df

from .rules import AlarmBar, BarSource

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
