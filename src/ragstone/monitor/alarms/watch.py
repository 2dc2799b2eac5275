"""Alarm checks: each look at new scores, ended sessions, silent traffic and a dead worker.

The score of a session is the mean of its turns; turns that come after it ended do not count
again. Silence is an alarm in itself, because a monitor that sees nothing would otherwise call
everything well.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from itertools import pairwise
from statistics import median
from threading import Event, Thread
from time import time
from typing import Any

from ragstone.core.database import Sql
from ragstone.core.errors import RagstoneError
from ragstone.core.messages import worded
from ragstone.monitor.settings import AlarmRule, MonitorSettings
from ragstone.monitor.settings.alarm_rules import GUARD, JUDGING, TRAFFIC
from ragstone.monitor.settings.sections import LEAST_RATE
from ragstone.monitor.store import watched_scores
from ragstone.monitor.store.draws import TurnChance, oldest_due, probability_of_all
from ragstone.monitor.store.incoming import arrivals
from ragstone.monitor.store.rows import DEAD, keep, last_heartbeat, log, remembered
from ragstone.monitor.store.scores import (
    count_answers_together,
    last_judged_at,
    last_score,
    missing_since,
)
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.stored_alarms import JUDGING_STOPPED, NO_DATA, WORSE, firing_alarms
from ragstone.monitor.store.watched_scores import SessionOver, SessionStatus, WatchedTurn

from . import lifecycle
from .detectors import Detection, detect
from .lifecycle import SlicesAtWork
from .notifications import notify_soon, queue_due_notifications, wait_until_notified
from .slice_rules import facet_of

# Seconds without another turn after which a session is over.
SILENCE = 1_800.0

# Seconds until a session is looked at again that waits for its turns to be judged; a score that
# comes lets it be looked at at once.
AGAIN = 300.0

# Scores and sessions of a metric handled in one transaction, during which the intake waits.
MOST_SCORES, MOST_SESSIONS = 2_000, 500


def close_sessions(run: Sql, rules: Sequence[AlarmRule], now: float) -> bool:
    """Write the scores of sessions that are over; gives whether there are more."""
    metrics = sorted({rule.metric for rule in rules if rule.of == "sessions"})
    watched_scores.stop_noting(run, metrics)
    more, last = False, last_score(run) if metrics else 0
    for metric in metrics:
        more = watched_scores.take_note(run, metric, now, last, MOST_SCORES, AGAIN) or more
        more = _close(run, metric, now) or more
    return more


def _close(run: Sql, metric: str, now: float) -> bool:
    sessions = watched_scores.sessions_to_look_at(run, metric, now, MOST_SESSIONS)
    if not sessions:
        return False
    guard = GUARD.fullmatch(metric) is not None
    turns = watched_scores.watched_turns(run, metric, sessions, guard=guard)
    watched_scores.drop_open(run, metric, [session for session in sessions if not turns[session]])
    over, waiting = list[SessionOver](), list[tuple[str, float]]()
    for session in sessions:
        if not turns[session]:
            continue
        result = looked_at(metric, turns[session], now, guard=guard)
        if isinstance(result, SessionOver):
            over.append(result)
        else:
            waiting.append((session, result))
    watched_scores.end_sessions(run, metric, over)
    watched_scores.wait_for(run, metric, waiting)
    return len(sessions) == MOST_SESSIONS


def looked_at(
    metric: str, turns: Sequence[WatchedTurn], now: float, *, guard: bool
) -> SessionOver | float:
    """Return a session that is over, or when to look at it again, in seconds since the epoch."""
    if not guard and any(turn.state == "out" or turn.source == "backfill" for turn in turns):
        return _over(metric, turns, now, "out", 1.0)
    over_at = max(turn.folded_at for turn in turns) + SILENCE
    if not turns[-1].alone and now < over_at:
        return over_at
    if any(not turn.settled for turn in turns):
        return now + AGAIN
    probability = 1.0
    if not guard:
        if any(turn.probability is None or turn.state == "due" for turn in turns):
            return now + AGAIN
        probability = probability_of_all(
            TurnChance(turn.example, turn.probability or 0.0, turn.lot) for turn in turns
        )
        if probability < LEAST_RATE:
            # Drawn turn by turn: its weight would outbid all others.
            return _over(metric, turns, now, "out", 1.0)
    if any(turn.status in (None, "missing") for turn in turns):
        return _over(metric, turns, now, "missing", probability)
    if all(turn.value is None for turn in turns):
        return _over(metric, turns, now, "undefined", probability)
    return _over(metric, turns, now, "value", probability)


def _over(
    metric: str, turns: Sequence[WatchedTurn], now: float, status: SessionStatus, probability: float
) -> SessionOver:
    last = turns[-1]
    values = [turn.value for turn in turns if turn.value is not None]
    mean = sum(values) / len(values) if status == "value" else None
    judges = ", ".join(sorted({turn.judge for turn in turns if turn.judge}))
    return SessionOver(
        last.session, last.example, metric, last.at, now, mean, status, probability, last.version,
        judges,
    )  # fmt: skip


AWAKE = "awake"
# Since when scores can be expected: answers come, and are judged.
EXPECTED = "scores_expected"

# Seconds without a look after which the monitor itself was away, when nothing could come.
ASLEEP = 300.0

HOUR = 3_600.0
ARRIVALS = 200
# Arrivals from which on the gap between them is called usual.
FEWEST = 10


def look_up(run: Sql, now: float, who: str = AWAKE) -> float:
    """Return since when the monitor has been looking without a pause; within a transaction."""
    awake = remembered(run, who)
    away = awake is None or not 0 <= now - awake["looked"] <= ASLEEP
    since = now if away else awake["since"]
    keep(run, who, {"since": since, "looked": now})
    return float(since)


def watch_traffic(run: Sql, settings: MonitorSettings, awake: float, now: float) -> bool:
    """Raise or resolve the alarm that nothing comes; gives whether traffic is silent."""
    since, wait, facts = _silence(arrivals(run, ARRIVALS), settings, awake)
    silent = now - since >= wait
    if silent and settings.no_data.policy == "alarm":
        lifecycle.fire(
            run, settings, now, rule=TRAFFIC, slice="", kind=NO_DATA, since=since, facts=facts
        )
    elif not silent:
        _end(run, TRAFFIC, "", "data_again", now)
    return silent


def watch_judging(
    run: Sql, settings: MonitorSettings, awake: float, now: float, *, from_outside: bool
) -> bool:
    """Raise or resolve the alarm that judging stopped; gives whether it has.

    It has if answers are due for an hour and none was judged within it, or, as only another
    process can see, if the worker gives no sign of life.
    """
    beat, judged_at, (due_at, due) = last_heartbeat(run), last_judged_at(run), oldest_due(run)
    silent_since = awake if beat is None else max(beat, awake)
    idle_since = max(at for at in (due_at, awake, judged_at) if at is not None)
    if from_outside and now - silent_since >= DEAD:
        since, facts = silent_since, {"why": "no_sign_of_life", "last_at": beat, "due": due}
    elif due_at is not None and now - idle_since >= HOUR:
        since, facts = idle_since, {"why": "nothing_judged", "last_at": judged_at, "due": due}
    else:
        _end(run, JUDGING, "", "judging_again", now)
        return False
    lifecycle.fire(
        run, settings, now, rule=JUDGING, slice="", kind=JUDGING_STOPPED, since=since, facts=facts
    )
    return True


def watch_scores(
    run: Sql,
    settings: MonitorSettings,
    slices: list[tuple[str, str]],
    awake: float,
    now: float,
    *,
    still: Collection[str] = (),
    excused: bool = False,
) -> None:
    """Raise or resolve the alarms that a rule sees no score of a slice.

    Args:
        still: Rules that cannot be watched at present, and whose alarms stay.
        excused: Whether nothing came, or nothing was judged, which is an alarm of its own.
    """
    rules = {rule.name: rule for rule in settings.rules}
    # After a silence, answers are judged before scores can be expected.
    if excused:
        keep(run, EXPECTED, now)
    expected = float(remembered(run, EXPECTED, 0.0))
    expecting = set()
    for name, slice in slices:
        rule = rules[name]
        if rule.no_data != "alarm":
            continue
        expecting.add((name, slice))
        times = watched_scores.last_judged(run, rule.metric, facet_of(slice), ARRIVALS, rule.of)
        if slice and rule.value is None and len(times) < FEWEST:
            continue
        least = _least_wait(run, settings, rule.metric, times)
        # A conversation is over, and has a score, only after a silence of its own.
        least += SILENCE + HOUR if rule.of == "sessions" else 0.0
        since, wait, facts = _silence(times, settings, max(awake, expected), least)
        if now - since < wait:
            _end(run, name, slice, "data_again", now)
        elif not excused:
            missing, why = missing_since(run, rule.metric, since)
            facts |= {"metric": rule.metric, "of": rule.of, "missing": missing, "why": why}
            lifecycle.fire(
                run, settings, now, rule=name, slice=slice, kind=NO_DATA, since=since, facts=facts
            )
    for alarm in firing_alarms(run):
        stays = (alarm.rule, alarm.slice) in expecting or alarm.rule in (TRAFFIC, *still)
        if alarm.kind == NO_DATA and not stays:
            lifecycle.end(run, alarm, now, "rule_changed")


def _silence(
    times: list[float], settings: MonitorSettings, awake: float, least: float = 0.0
) -> tuple[float, float, dict[str, Any]]:
    """Return since when a silence counts, after how many seconds it is an alarm, and its facts."""
    usual = _usual_gap(times)
    wait = max(settings.no_data.after, settings.no_data.times * (usual or 0.0), least)
    last = times[0] if times else None
    return max(awake, last or 0.0), wait, {"last_at": last, "usual_gap": usual, "wait": wait}


def _usual_gap(times: list[float]) -> float | None:
    if len(times) < FEWEST:
        return None
    return median(late - early for late, early in pairwise(times))


def _least_wait(run: Sql, settings: MonitorSettings, metric: str, times: list[float]) -> float:
    if metric.startswith("guard_"):
        return 0.0
    judging = settings.judging
    # A budget for an hour may be used up in its first minute.
    limited = judging.answers_an_hour is not None or judging.usd_an_hour is not None
    least = HOUR + settings.no_data.after if limited else 0.0
    if len(times) < FEWEST:
        # Before scores have a usual gap, it follows from the gap of the traffic, of which a part
        # is drawn.
        gap = _usual_gap(arrivals(run, ARRIVALS))
        if gap is None:
            return HOUR
        least = max(least, settings.no_data.times * gap / settings.sampling.least)
    return least


def _end(run: Sql, rule: str, slice: str, over: Any, now: float) -> None:
    for alarm in firing_alarms(run):
        if (alarm.rule, alarm.slice) == (rule, slice) and alarm.kind != WORSE:
            lifecycle.end(run, alarm, now, over)


STANDINGS = "rules_standing"


def watch(store: MonitorStore, settings: MonitorSettings, now: float) -> None:
    """Look at what came since the last call; raise, resolve and queue. Sending goes on by itself.

    Each step is one transaction with what follows from it, so that a kill loses no alarm and
    raises none twice.
    """
    while True:
        with store.database.transaction() as run:
            more = close_sessions(run, settings.rules, now)
            at_work = lifecycle.slices_at_work(run, settings)
            detection = detect(run, at_work.watched, lifecycle.firing_worse(run))
            more = more or detection.more
            lifecycle.learn_again(run, detection.outdated)
            lifecycle.follow(run, settings, detection, now)
            _say(run, at_work, detection, now)
            if not more:
                rules = [rule for rule in settings.rules if rule.of == "answers"]
                facets = {rule.name: facet_of(rule.slice) if rule.value else None for rule in rules}
                metrics = {rule.name: (rule.metric, facets[rule.name]) for rule in rules}
                count_answers_together(run, now, metrics)
                _watch_silence(run, settings, at_work, detection, now)
                queue_due_notifications(run, settings, now)
        if not more:
            break
    notify_soon(store, settings)


def _watch_silence(
    run: Sql, settings: MonitorSettings, at_work: SlicesAtWork, detection: Detection, now: float
) -> None:
    awake = look_up(run, now)
    broken = {name for name, _ in at_work.broken}
    lifecycle.end_what_nobody_watches(run, detection, broken, now)
    silent = watch_traffic(run, settings, awake, now)
    stopped = watch_judging(run, settings, awake, now, from_outside=False)
    slices = [(item.rule.name, item.slice) for item in at_work.watched]
    slices += [(item.rule, item.slice) for item in at_work.learning]
    watch_scores(run, settings, slices, awake, now, still=broken, excused=silent or stopped)


def _say(run: Sql, at_work: SlicesAtWork, detection: Detection, now: float) -> None:
    standings: dict[str, object] = {
        "broken": dict(at_work.broken),
        "overfull": list(at_work.overfull),
        "learning": [list(row) for row in at_work.learning],
        "watched": [
            [each.watched.rule.name, each.watched.slice, each.looks, round(each.evidence, 3)]
            for each in detection.standings
        ],
    }
    before = remembered(run, STANDINGS, {})
    if standings == before:
        return
    keep(run, STANDINGS, standings)
    for name, why in at_work.broken:
        if before.get("broken", {}).get(name) != why:
            log(run, now, "error", f"The rule {name} cannot be watched: {why}")
    for rule, slice, why in detection.anew:
        where = f" in {slice}" if slice else ""
        log(run, now, "info", f"The rule {rule}{where} begins anew: {worded(why)}.")


SERVER_AWAKE = "awake_server"
# Seconds between two looks.
PAUSE = 15.0

# Seconds for notifications at the end; what is not sent then is sent by the next server.
PATIENCE = 3.0


def check_alive(store: MonitorStore, settings: MonitorSettings, now: float) -> bool:
    """Look from the server whether the worker judges, and notify people if it does not.

    Returns whether it does.
    """
    with store.database.transaction() as run:
        awake = look_up(run, now, SERVER_AWAKE)
        stopped = watch_judging(run, settings, awake, now, from_outside=True)
        queue_due_notifications(run, settings, now)
    notify_soon(store, settings, from_server=True)
    return not stopped


def watch_worker(store: MonitorStore, settings: MonitorSettings) -> Callable[[], None]:
    """Look at the worker again and again, in a thread of its own; return what ends that.

    Once it ended, nothing uses the store any more.
    """
    stopping = Event()

    def look_on() -> None:
        while not stopping.wait(PAUSE):
            # Where the store is away, the next look finds it again; the pages say so meanwhile.
            with suppress(RagstoneError):
                check_alive(store, settings, time())

    def stop() -> None:
        stopping.set()
        thread.join()
        wait_until_notified(store, PATIENCE)

    thread = Thread(target=look_on, name="alive watch", daemon=True)
    thread.start()
    return stop
