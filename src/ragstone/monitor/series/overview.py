"""Monitor overview: the facts of its first screen, and figures of whole sessions over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np

from ragstone.analysis.comparison.comparison_result import Verdict
from ragstone.core.database import Sql
from ragstone.core.errors import InputError
from ragstone.monitor.settings import AlarmRule, MonitorSettings
from ragstone.monitor.settings.alarm_rules import GUARD
from ragstone.monitor.store.draws import TurnChance, probability_of_all
from ragstone.monitor.store.incoming import deployed
from ragstone.monitor.store.rows import Facet
from ragstone.monitor.store.scores import facet_values, labelled_scores, scored_metrics
from ragstone.monitor.store.store import WIDTH, MonitorStore
from ragstone.monitor.store.stored_alarms import WORSE, RaisedAlarm, alarms_firing_after
from ragstone.monitor.store.stored_examples import ScoredTurn, session_turns
from ragstone.stats.correction.corrected import two_phase_mean
from ragstone.stats.monitoring.windows import WeightedSums
from ragstone.stats.sessions import Better, SessionEstimate, Sessions, SessionValues, TurnScores

from .baselines import MeanWithInterval, SettledMean, baseline_mean, settled_bar, verdict_beside
from .metric_over_time import (
    LEVEL,
    MeanInWindow,
    MetricOverTime,
    TimeGrid,
    Window,
    in_windows,
    read_grid,
    read_window,
    value_range,
)

DAY = 86_400.0
HOUR = 3_600.0
# Values of a facet that can be chosen.
MOST_VALUES = 50

# The share of a metric's range up to which a difference does not matter, unless a rule has its own.
MARGIN = 0.05


# ``below_bar``: an alarm of a rule on this metric is firing; or its confidence sequence lies
# beyond the bar, on the bad side. ``above_bar``: it lies on the good side. Without a bar, or where
# that leaves it open, the verdict beside what was before: ``as_before`` is *equivalent*.
MetricState = Literal[
    "below_bar", "above_bar", "as_before", "better", "worse", "cannot_tell", "no_data"
]


@dataclass(frozen=True, slots=True)
class CorrectedNow:
    """The mean by the judge and the same corrected by people's labels, of all that is shown.

    Attributes:
        corrected: By people's labels of some of these answers; its interval is for one look, so
            settle when to look before labels come.
        labels: The mean of people's labels alone, with an interval that holds at every look while
            labels come in, exactly; None where the metric has no bounds.
    """

    raw: MeanWithInterval
    corrected: MeanWithInterval
    labels: MeanWithInterval
    why: str | None


@dataclass(frozen=True, slots=True)
class MetricNow:
    """A metric on the first screen.

    Attributes:
        before: The mean in the baseline run, or, without one that has the metric, in the window
            of the same length before.
        baseline: The name of the run; None where there is none that has the metric.
    """

    metric: str
    state: MetricState
    window: MeanInWindow | None
    judged_last_hour: int
    bar: float | None
    series: MetricOverTime
    before: MeanWithInterval
    baseline: str | None
    corrected: CorrectedNow | None
    alarms: tuple[RaisedAlarm, ...]


@dataclass(frozen=True, slots=True)
class MonitorPageFacts:
    """The first screen.

    Attributes:
        deploys: The versions that were first seen in this time, and when.
        slices: The names that traffic can be sliced by, with their most frequent values.
    """

    now: float
    since: float
    slice: Facet | None
    baseline: str | None
    metrics: tuple[MetricNow, ...]
    deploys: Sequence[tuple[str, float]]
    alarms: tuple[RaisedAlarm, ...]
    slices: Mapping[str, Sequence[str]]


def monitored(
    store: MonitorStore,
    settings: MonitorSettings,
    now: float,
    *,
    last: float = DAY,
    slice: Facet | None = None,
    metrics: Sequence[str] | None = None,
) -> MonitorPageFacts:
    """Return all that the first screen shows of the last hours."""
    grid = TimeGrid.of(now - last, now)
    with store.database.reading() as run:
        rules = [rule.metric for rule in settings.rules]
        known = dict.fromkeys([*rules, *scored_metrics(run)]) if metrics is None else metrics
        names = list(known)
        alarms = tuple(alarms_firing_after(run, grid.since))
        figures = (
            _metric_now(run, settings, metric, grid, now, slice, alarms, len(names))
            for metric in names
        )
        baseline = None if settings.baseline.run is None else settings.baseline.run.name
        deploys = deployed(run, grid.since, now)
        slices = facet_values(run, grid.since, MOST_VALUES)
        return MonitorPageFacts(
            now, grid.since, slice, baseline, tuple(figures), deploys, alarms, slices
        )


def _metric_now(
    run: Sql,
    settings: MonitorSettings,
    metric: str,
    grid: TimeGrid,
    now: float,
    slice: Facet | None,
    alarms: tuple[RaisedAlarm, ...],
    family: int,
) -> MetricNow:
    steps, effect = read_grid(run, metric, grid, slice)
    series = in_windows(metric, slice, grid, steps, effect)
    scores = steps.scores.since(grid.first - grid.begin)
    window = Window(series.range, scores.over(len(scores.n)), effect)
    rule = _shown_rule(settings, metric, slice, alarms)
    before, baseline = _before(run, settings, metric, grid, slice, effect)
    verdict = verdict_beside(window, before, margin=_margin(rule, metric), family=family)
    bar = None if rule is None else _bar(run, settings, rule, _written(slice))
    rules = {rule.name for rule in settings.rules if rule.metric == metric}
    of_metric = tuple(alarm for alarm in alarms if alarm.rule in rules)
    fires = any(
        item.firing and item.kind == WORSE and item.slice == _written(slice) for item in of_metric
    )
    return MetricNow(
        metric=metric, state=_state(series, bar, verdict, fires=fires), window=series.now,
        judged_last_hour=read_window(run, metric, now - HOUR, now + WIDTH, slice, effect=1.0).n,
        bar=bar, series=series,
        before=MeanWithInterval.of(before.value, before.once(LEVEL), before.n), baseline=baseline,
        corrected=corrected_now(run, metric, grid.since, grid.until, slice, window),
        alarms=of_metric,
    )  # fmt: skip


def _before(
    run: Sql,
    settings: MonitorSettings,
    metric: str,
    grid: TimeGrid,
    slice: Facet | None,
    effect: float,
) -> tuple[SettledMean, str | None]:
    baseline = settings.baseline
    if baseline.run is not None:
        mean = baseline_mean(baseline.run, baseline.system, metric)
        if mean is not None:
            return mean, baseline.run.name
    since = grid.since - (grid.until - grid.since)
    window = read_window(run, metric, since, grid.since, slice, effect=effect)
    return SettledMean(window.value, window.n, window.once), None


def _shown_rule(
    settings: MonitorSettings, metric: str, slice: Facet | None, alarms: tuple[RaisedAlarm, ...]
) -> AlarmRule | None:
    here = _written(slice)
    firing = {alarm.rule for alarm in alarms if alarm.firing and alarm.slice == here}
    watched = {here, "" if slice is None else slice[0]}
    rules = [rule for rule in settings.rules if rule.metric == metric and rule.slice in watched]
    return next((rule for rule in rules if rule.name in firing), rules[0] if rules else None)


def _margin(rule: AlarmRule | None, metric: str) -> float | None:
    if rule is not None and rule.margin is not None:
        return rule.margin
    scale = value_range(metric)
    return None if scale.low is None or scale.high is None else MARGIN * (scale.high - scale.low)


def _bar(run: Sql, settings: MonitorSettings, rule: AlarmRule, slice: str) -> float | None:
    try:
        bar = settled_bar(run, settings, rule, slice)
    except InputError:
        return None
    return None if bar is None else bar.value


def _written(slice: Facet | None) -> str:
    return "" if slice is None else "=".join(slice)


def _state(
    series: MetricOverTime, bar: float | None, verdict: Verdict, *, fires: bool
) -> MetricState:
    window = series.windows[-1]
    if fires:
        return "below_bar"
    if not window.n:
        return "no_data"
    low, high = window.band_low, window.band_high
    if bar is not None and low is not None and high is not None and not low <= bar <= high:
        is_good = (low > bar) == (series.range.better != "-")
        return "above_bar" if is_good else "below_bar"
    if verdict == "equivalent" or verdict == "same":
        return "as_before"
    return verdict


def corrected_now(
    run: Sql, metric: str, since: float, until: float, slice: Facet | None, judged: Window
) -> CorrectedNow | None:
    """Return the mean of a window by the judge, corrected by labels, and by labels alone.

    Labels are those of answers that were drawn by chance from the judged ones; each counts with one
    over the probability that it was judged and labelled. None if none of them is labelled.
    """
    rows = labelled_scores(run, metric, since, until, slice)
    if not rows:
        return None
    scores, probabilities, labels, label_probabilities = np.array(rows, dtype=float).T
    weights = 1 / label_probabilities
    corrected = two_phase_mean(
        judged.sums, scores, 1 / probabilities, labels, weights,
        low=judged.scale.low, high=judged.scale.high, design_effect=judged.effect,
    )  # fmt: skip
    people = Window(judged.scale, WeightedSums.of(labels, weights), judged.effect)
    return CorrectedNow(
        raw=MeanWithInterval.of(judged.value, judged.once(), judged.n),
        corrected=MeanWithInterval.of(corrected.value, corrected.interval, corrected.n_labels),
        labels=MeanWithInterval.of(people.value, people.always(), people.n),
        why=corrected.reason,
    )


# The metric that says whether a turn is answered: 0 if it is.
ABSTENTION = "abstention"


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """The sessions whose last turn was within a window.

    Attributes:
        sessions: How many are counted, those of one turn among them, which have no figures.
        left_out: Those with a turn that was not drawn to be judged. The others weigh the more.
        resolved: The share whose last turn is answered, of the sessions whose last turn was drawn.
    """

    start: float
    end: float
    sessions: int
    left_out: int
    worst_turn: SessionEstimate | None
    mean_of_turns: SessionEstimate
    resolved: SessionEstimate


def sessions_over_time(
    store: MonitorStore,
    metric: str,
    *,
    since: float,
    until: float,
    windows: Sequence[int],
    slice: Facet | None = None,
) -> list[tuple[SessionWindow, ...]]:
    """Return the figures of sessions by the time of their last turn, for each number of windows.

    A session counts where all its turns were drawn to be judged, with a weight of one over the
    probability of that; the guard checks every turn. What is not judged yet, or failed, is
    missing, and bounds the figures. Sessions are independent.
    """
    with store.database.reading() as run:
        turns = session_turns(run, metric, since, until, slice)
        answers = session_turns(run, ABSTENTION, since, until, slice)
    last = {turn.session: turn.at for turn in turns}
    courses = []
    for n in windows:
        width = ceil((until - since) / n)
        window_of = {session: int((at - since) // width) for session, at in last.items()}
        turns_in: list[list[ScoredTurn]] = [[] for _ in range(n)]
        answers_in: list[list[ScoredTurn]] = [[] for _ in range(n)]
        for turn, answer in zip(turns, answers, strict=True):
            if 0 <= (k := window_of[turn.session]) < n:
                turns_in[k].append(turn)
                answers_in[k].append(answer)
        course = (
            _window(metric, since + k * width, width, turns_in[k], answers_in[k]) for k in range(n)
        )
        courses.append(tuple(course))
    return courses


def _window(
    metric: str,
    start: float,
    width: float,
    turns: Sequence[ScoredTurn],
    answers: Sequence[ScoredTurn],
) -> SessionWindow:
    drawn = _weights(turns, every=GUARD.fullmatch(metric) is not None)
    scale = value_range(metric)
    session_scores, sessions = _of(turns, drawn, scale.low, scale.high, scale.better)

    def estimate(figure: SessionValues, *, rate: bool) -> SessionEstimate:
        return sessions.estimate(
            figure, rate=rate, low=scale.low, high=scale.high, better=scale.better
        )

    return SessionWindow(
        start, start + width, len(drawn), len({turn.session for turn in turns}) - len(drawn),
        None if scale.better == "0" else estimate(sessions.worst(session_scores), rate=scale.rate),
        estimate(sessions.mean(session_scores), rate=False), _resolved(answers),
    )  # fmt: skip


def _resolved(answers: Sequence[ScoredTurn]) -> SessionEstimate:
    last = {turn.session: turn for turn in answers}
    drawn = _weights(list(last.values()), every=False)
    abstains, sessions = _of(answers, drawn, 0, 1, "-")
    answered = TurnScores(1 - abstains.values, abstains.missing, 0, 1, "+")
    resolved = sessions.resolved(answered)
    return sessions.estimate(resolved, rate=True, low=0, high=1, better="+")


def _of(
    turns: Sequence[ScoredTurn],
    drawn: Mapping[str, float],
    low: float | None,
    high: float | None,
    better: Better,
) -> tuple[TurnScores, Sessions]:
    rows = [turn for turn in turns if turn.session in drawn]
    values = np.array([np.nan if turn.value is None else turn.value for turn in rows], dtype=float)
    missing = np.array([turn.status in (None, "missing") for turn in rows], dtype=bool)
    sessions = Sessions(
        np.array([turn.session for turn in rows], dtype=str),
        [turn.at for turn in rows],
        [drawn[turn.session] for turn in rows],
    )
    return TurnScores(values, missing, low, high, better), sessions


def _weights(turns: Sequence[ScoredTurn], *, every: bool) -> dict[str, float]:
    if every:
        return {turn.session: 1.0 for turn in turns}
    by_session: dict[str, list[TurnChance]] = {}
    out = set()
    for turn in turns:
        if turn.state == "out" or turn.probability is None:
            out.add(turn.session)
        else:
            drawn = TurnChance(turn.example, turn.probability, turn.lot)
            by_session.setdefault(turn.session, []).append(drawn)
    return {
        session: 1 / probability_of_all(drawn)
        for session, drawn in by_session.items()
        if session not in out
    }
