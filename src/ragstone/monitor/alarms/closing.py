"""Closing: which sessions are over, with one score each, for the rules that look at sessions.

The score is the mean of the turns'. What comes of a session after that counts no second time.
"""

from collections.abc import Sequence

from ragstone.core.database import Sql
from ragstone.monitor.settings import AlarmRule
from ragstone.monitor.settings.judging import LEAST_RATE
from ragstone.monitor.settings.rule import GUARD
from ragstone.monitor.store.drawn_together import DrawnTurn, probability_of_all
from ragstone.monitor.store.scored import last_score
from ragstone.monitor.store.watched_sessions import (
    SessionOver,
    SessionStatus,
    WatchedTurn,
    drop_open,
    end_sessions,
    sessions_to_look_at,
    stop_noting,
    take_note,
    wait_for,
    watched_turns,
)

SILENCE = 1_800.0
"""Seconds without another turn after which a session is over."""

AGAIN = 300.0
"""Seconds until a session is looked at again that waits for its turns to be judged; a score that
comes lets it be looked at at once."""

MOST_SCORES, MOST_SESSIONS = 2_000, 500
"""In one transaction: whoever takes traces in waits for it."""


def close_sessions(run: Sql, rules: Sequence[AlarmRule], now: float) -> bool:
    """Write the scores of sessions that are over; gives whether there are more.

    Args:
        run: Within a transaction.
        rules: All; those that look at sessions say of which metrics.
        now: Seconds since the epoch.
    """
    metrics = sorted({rule.metric for rule in rules if rule.of == "sessions"})
    stop_noting(run, metrics)
    more, last = False, last_score(run) if metrics else 0
    for metric in metrics:
        more = take_note(run, metric, now, last, MOST_SCORES, AGAIN) or more
        more = _close(run, metric, now) or more
    return more


def _close(run: Sql, metric: str, now: float) -> bool:
    sessions = sessions_to_look_at(run, metric, now, MOST_SESSIONS)
    if not sessions:
        return False
    guard = GUARD.fullmatch(metric) is not None
    turns = watched_turns(run, metric, sessions, guard=guard)
    over, waiting, gone = list[SessionOver](), list[tuple[str, float]](), list[str]()
    for session in sessions:
        if not turns[session]:
            gone.append(session)
            continue
        found = looked_at(metric, turns[session], now, guard=guard)
        if isinstance(found, SessionOver):
            over.append(found)
        else:
            waiting.append((session, found))
    end_sessions(run, metric, over)
    wait_for(run, metric, waiting)
    drop_open(run, metric, gone)
    return len(sessions) == MOST_SESSIONS


def looked_at(
    metric: str, turns: Sequence[WatchedTurn], now: float, *, guard: bool
) -> SessionOver | float:
    """A session that is over; or when to look at it again, in seconds since the epoch.

    Args:
        metric: Its text form.
        turns: All of them, in order; at least one.
        now: Seconds since the epoch.
        guard: Whether the metric is the guard's, of every answer.
    """
    if not guard and any(one.state == "out" or one.source == "backfill" for one in turns):
        return _over(metric, turns, now, "out", 1.0)
    over_at = max(one.folded_at for one in turns) + SILENCE
    if not turns[-1].alone and now < over_at:
        return over_at
    if any(not one.settled for one in turns):
        return now + AGAIN
    probability = 1.0
    if not guard:
        if any(one.probability is None or one.state == "due" for one in turns):
            return now + AGAIN
        probability = probability_of_all(
            DrawnTurn(one.example, one.probability or 0.0, one.lot) for one in turns
        )
        if probability < LEAST_RATE:
            # Drawn turn by turn: its weight would outbid all others.
            return _over(metric, turns, now, "out", 1.0)
    if any(one.status in (None, "missing") for one in turns):
        return _over(metric, turns, now, "missing", probability)
    if all(one.value is None for one in turns):
        return _over(metric, turns, now, "undefined", probability)
    return _over(metric, turns, now, "value", probability)


def _over(
    metric: str,
    turns: Sequence[WatchedTurn],
    now: float,
    status: SessionStatus,
    probability: float,
) -> SessionOver:
    last = turns[-1]
    values = [one.value for one in turns if one.value is not None]
    return SessionOver(
        last.session,
        last.example,
        metric,
        last.at,
        now,
        sum(values) / len(values) if status == "value" else None,
        status,
        probability,
        last.version,
        ", ".join(sorted({one.judge for one in turns if one.judge})),
    )
