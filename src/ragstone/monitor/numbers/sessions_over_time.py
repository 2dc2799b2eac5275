"""Sessions over time: figures of whole conversations, in windows that follow each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from ragstone.analysis.scored_run import ValueRange
from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.monitor.settings.rule import GUARD
from ragstone.monitor.store.drawn_together import DrawnTurn, probability_of_all
from ragstone.monitor.store.session_turns import ScoredTurn, session_turns
from ragstone.monitor.store.store import MonitorStore
from ragstone.stats.sessions import Better, SessionEstimate, Sessions, SessionValues, TurnScores

from .metric_over_time import Facet
from .value_range import value_range

ABSTENTION = "abstention"
"""The metric that says whether a turn is answered: 0 if it is."""


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """The sessions whose last turn was within a window.

    Attributes:
        start: In seconds since the epoch.
        end: The same; of the last window, sessions may still go on.
        sessions: How many are counted, those of one turn among them, which have no figures.
        left_out: Those with a turn that was not drawn to be judged. The others weigh the more.
        worst_turn: The mean of their worst turns; None where the metric has no better end.
        mean_of_turns: The mean of the means of their turns.
        resolved: The share whose last turn is answered, and reaches the bar if there is one; of the
            sessions whose last turn was drawn.
    """

    start: float
    end: float
    sessions: int
    left_out: int
    worst_turn: SessionEstimate | None
    mean_of_turns: SessionEstimate
    resolved: SessionEstimate


@dataclass(frozen=True, slots=True)
class TurnsInTime:
    """All turns of the sessions of a stretch of time, which windows of it are counted from.

    Attributes:
        metric: Its text form.
        since: In seconds since the epoch.
        until: Later than that.
        turns: With the scores of the metric.
        answers: The same turns, with whether they are answered.
    """

    metric: str
    since: float
    until: float
    turns: Sequence[ScoredTurn]
    answers: Sequence[ScoredTurn]

    def windows(self, n: int, bar: float | None = None) -> tuple[SessionWindow, ...]:
        """The figures of ``n`` windows, at least 1; ``bar`` as in ``sessions_over_time``."""
        width = ceil((self.until - self.since) / n)
        last = {turn.session: turn.at for turn in self.turns}
        place = {session: int((at - self.since) // width) for session, at in last.items()}
        turns: list[list[ScoredTurn]] = [[] for _ in range(n)]
        answers: list[list[ScoredTurn]] = [[] for _ in range(n)]
        for turn, answer in zip(self.turns, self.answers, strict=True):
            if 0 <= (k := place[turn.session]) < n:
                turns[k].append(turn)
                answers[k].append(answer)
        return tuple(
            _window(self.metric, self.since + k * width, width, turns[k], answers[k], bar)
            for k in range(n)
        )


def turns_in_time(
    store: MonitorStore, metric: str, *, since: float, until: float, slice: Facet | None = None
) -> TurnsInTime:
    """Read the turns of the sessions of a stretch of time.

    Args:
        store: What is monitored.
        metric: Its text form.
        since: In seconds since the epoch.
        until: Later than that.
        slice: That a turn of each session has; None: all.
    """
    with store.database.reading() as run:
        turns = session_turns(run, metric, since, until, slice)
        answers = session_turns(run, ABSTENTION, since, until, slice)
    return TurnsInTime(metric, since, until, turns, answers)


def sessions_over_time(
    store: MonitorStore,
    metric: str,
    *,
    since: float,
    until: float,
    windows: int = 24,
    slice: Facet | None = None,
    bar: float | None = None,
) -> tuple[SessionWindow, ...]:
    """Figures of the sessions of a stretch of time, by when their last turn was.

    A session counts where all its turns were drawn to be judged, with a weight of one over the
    probability of that; the guard checks every turn. What is not judged yet,
    or failed, is missing, and bounds the figures. Sessions are independent.

    Args:
        store: What is monitored.
        metric: Its text form.
        since: In seconds since the epoch.
        until: Later than that.
        windows: How many, at least 1.
        slice: That a turn of each session has; None: all.
        bar: The score of the last turn with which a session is resolved; None: an answer will do.

    Raises:
        InputError: An argument is out of its range.
    """
    if not since < until or windows < 1:
        raise InputError(
            f"{argument('since', since)} must be before {argument('until', until)}, with at least "
            "one window between them."
        )
    read = turns_in_time(store, metric, since=since, until=until, slice=slice)
    return read.windows(windows, bar)


def _window(
    metric: str,
    start: float,
    width: float,
    turns: Sequence[ScoredTurn],
    answers: Sequence[ScoredTurn],
    bar: float | None,
) -> SessionWindow:
    drawn = _weights(turns, every=GUARD.fullmatch(metric) is not None)
    scale = value_range(metric)
    own, sessions = _of(turns, drawn, scale.low, scale.high, scale.better)

    def estimate(figure: SessionValues, *, rate: bool) -> SessionEstimate:
        return sessions.estimate(
            figure, rate=rate, low=scale.low, high=scale.high, better=scale.better
        )

    return SessionWindow(
        start,
        start + width,
        len(drawn),
        len({turn.session for turn in turns}) - len(drawn),
        None if scale.better == "0" else estimate(sessions.worst(own), rate=scale.rate),
        estimate(sessions.mean(own), rate=False),
        _resolved(turns, answers, scale, bar),
    )


def _resolved(
    turns: Sequence[ScoredTurn],
    answers: Sequence[ScoredTurn],
    scale: ValueRange,
    bar: float | None,
) -> SessionEstimate:
    """The share of resolved sessions, for which their last turns alone have to be drawn."""
    last = {turn.session: turn for turn in answers}
    drawn = _weights(list(last.values()), every=False)
    abstains, sessions = _of(answers, drawn, 0, 1, "-")
    answered = TurnScores(1 - abstains.values, abstains.missing, 0, 1, "+")
    if bar is None:
        found = sessions.resolved(answered)
    else:
        own, _ = _of(turns, drawn, scale.low, scale.high, scale.better)
        found = sessions.resolved(answered, own, bar)
    return sessions.estimate(found, rate=True, low=0, high=1, better="+")


def _of(
    turns: Sequence[ScoredTurn],
    drawn: Mapping[str, float],
    low: float | None,
    high: float | None,
    better: Better,
) -> tuple[TurnScores, Sessions]:
    """The scores of the turns of drawn sessions, and these sessions with their weights."""
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
    """The weight of each session all of whose turns were drawn."""
    if every:
        return {turn.session: 1.0 for turn in turns}
    found: dict[str, list[DrawnTurn]] = {}
    out = set()
    for turn in turns:
        if turn.state == "out" or turn.probability is None:
            out.add(turn.session)
        else:
            drawn = DrawnTurn(turn.example, turn.probability, turn.lot)
            found.setdefault(turn.session, []).append(drawn)
    return {
        session: 1 / probability_of_all(drawn)
        for session, drawn in found.items()
        if session not in out
    }
