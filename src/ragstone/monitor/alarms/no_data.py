"""No data: nothing comes, nothing is judged, or a rule sees no score.

Silence is an alarm by itself: a monitor that sees nothing would else call everything well.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from ragstone.core.database import Sql
from ragstone.monitor.following.sign_of_life import DEAD, last_sign
from ragstone.monitor.settings import MonitorSettings
from ragstone.monitor.settings.rule import JUDGING, TRAFFIC
from ragstone.monitor.store.arrivals import arrivals, last_judged_at, missing_since, oldest_due
from ragstone.monitor.store.kept import keep, remembered
from ragstone.monitor.store.raised import firing_alarms
from ragstone.monitor.store.watched_scores import last_judged

from .closing import SILENCE
from .lifecycle import JUDGING_STOPPED, NO_DATA, WORSE, end, fire
from .rules import facet_of

AWAKE = "awake"
EXPECTED = "scores_expected"
"""Since when scores can be expected: answers come, and are judged."""

ASLEEP = 300.0
"""Seconds without a look after which the monitor itself was away, when nothing could come."""

HOUR = 3_600.0
ARRIVALS = 200
FEWEST = 10
"""Arrivals from which on the gap between them is called usual."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """How long nothing came.

    Attributes:
        last_at: When something came last; None: never.
        since: From when on silence counts: then, or when the monitor began to look.
        wait: Seconds of silence that are an alarm.
        usual: Seconds that usually lie between two; None: not known yet.
    """

    last_at: float | None
    since: float
    wait: float
    usual: float | None

    def over_at(self, now: float) -> bool:
        """Whether it is too long."""
        return now - self.since >= self.wait

    @property
    def facts(self) -> dict[str, Any]:
        """What an alarm says of it."""
        return {"last_at": self.last_at, "usual_gap": self.usual, "wait": self.wait}


def look_up(run: Sql, now: float, who: str = AWAKE) -> float:
    """Since when the monitor has been looking without a pause; within a transaction."""
    awake = remembered(run, who)
    away = awake is None or not 0 <= now - awake["looked"] <= ASLEEP
    since = now if away else awake["since"]
    keep(run, who, {"since": since, "looked": now})
    return float(since)


def watch_traffic(run: Sql, settings: MonitorSettings, awake: float, now: float) -> bool:
    """Raise or resolve the alarm that nothing comes; gives whether traffic is silent."""
    quiet = _quiet(arrivals(run, ARRIVALS), settings, awake)
    silent = quiet.over_at(now)
    if silent and settings.no_data.policy == "alarm":
        fire(
            run, settings, now, rule=TRAFFIC, slice="", kind=NO_DATA,
            since=quiet.since, facts=quiet.facts,
        )  # fmt: skip
    elif not silent:
        _end(run, TRAFFIC, "", "data_again", now)
    return silent


def watch_judging(
    run: Sql, settings: MonitorSettings, awake: float, now: float, *, from_outside: bool
) -> bool:
    """Raise or resolve the alarm that judging stopped; gives whether it has.

    It has if answers are due for an hour and none was judged within it, or, as only another
    process can see, if the worker gives no sign of life.

    Args:
        run: Within a transaction.
        settings: Of the monitor.
        awake: Since when the monitor looks.
        now: Seconds since the epoch.
        from_outside: Whether this is another process than the worker.
    """
    stopped = _no_life(run, awake, now) if from_outside else None
    stopped = stopped or _nothing_judged(run, awake, now)
    if stopped is None:
        _end(run, JUDGING, "", "judging_again", now)
        return False
    since, facts = stopped
    fire(
        run, settings, now, rule=JUDGING, slice="", kind=JUDGING_STOPPED,
        since=since, facts=facts,
    )  # fmt: skip
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
        run: Within a transaction.
        settings: With the rules.
        slices: The slices of each rule, by its name.
        awake: Since when the monitor looks.
        now: Seconds since the epoch.
        still: Rules that cannot be watched at present, and whose alarms stay.
        excused: Whether nothing came, or nothing was judged, which is an alarm of its own.
    """
    rules = {rule.name: rule for rule in settings.rules}
    expected = _expected(run, now, excused=excused)
    wanted = set()
    for name, slice in slices:
        rule = rules[name]
        if rule.no_data != "alarm":
            continue
        wanted.add((name, slice))
        times = last_judged(run, rule.metric, facet_of(slice), ARRIVALS, rule.of)
        if slice and rule.value is None and len(times) < FEWEST:
            continue
        least = _least_wait(run, settings, rule.metric, times)
        # A conversation is over, and has a score, only after a silence of its own.
        least += SILENCE + HOUR if rule.of == "sessions" else 0.0
        quiet = _quiet(times, settings, max(awake, expected), least)
        if not quiet.over_at(now):
            _end(run, name, slice, "data_again", now)
        elif not excused:
            missing, why = missing_since(run, rule.metric, quiet.since)
            fire(
                run, settings, now, rule=name, slice=slice, kind=NO_DATA, since=quiet.since,
                facts={
                    **quiet.facts, "metric": rule.metric, "of": rule.of, "missing": missing,
                    "why": why,
                },
            )  # fmt: skip
    for alarm in firing_alarms(run):
        stays = (alarm.rule, alarm.slice) in wanted or alarm.rule in (TRAFFIC, *still)
        if alarm.kind == NO_DATA and not stays:
            end(run, alarm, now, "rule_changed")


def _expected(run: Sql, now: float, *, excused: bool) -> float:
    """Since when scores can be expected: what comes after a silence has to be judged first."""
    if excused:
        keep(run, EXPECTED, now)
        return now
    return float(remembered(run, EXPECTED, 0.0))


def _quiet(
    times: list[float], settings: MonitorSettings, awake: float, least: float = 0.0
) -> Quiet:
    """How long nothing came, by when the last ones came, the latest first."""
    usual = None
    if len(times) >= FEWEST:
        usual = median(late - early for late, early in pairwise(times))
    wait = max(settings.no_data.after, settings.no_data.times * (usual or 0.0), least)
    last = times[0] if times else None
    return Quiet(last, max(awake, last or 0.0), wait, usual)


def _least_wait(run: Sql, settings: MonitorSettings, metric: str, times: list[float]) -> float:
    """Seconds that a score may keep one waiting by the settings themselves."""
    if metric.startswith("guard_"):
        return 0.0
    judging = settings.judging
    # A budget for an hour may be used up in its first minute.
    limited = judging.answers_an_hour is not None or judging.usd_an_hour is not None
    least = HOUR + settings.no_data.after if limited else 0.0
    if len(times) < FEWEST:
        # Before scores have a usual gap, that of the traffic tells it, of which a part is drawn.
        came = arrivals(run, ARRIVALS)
        if len(came) < FEWEST:
            return HOUR
        gap = median(late - early for late, early in pairwise(came))
        least = max(least, settings.no_data.times * gap / settings.sampling.least)
    return least


def _no_life(run: Sql, awake: float, now: float) -> tuple[float, dict[str, Any]] | None:
    """Since when the worker gives no sign of life, and what is known; None if it does."""
    last = last_sign(run)
    since = awake if last is None else max(last, awake)
    if now - since < DEAD:
        return None
    return since, {"why": "no_sign_of_life", "last_at": last, "due": oldest_due(run)[1]}


def _nothing_judged(run: Sql, awake: float, now: float) -> tuple[float, dict[str, Any]] | None:
    """Since when answers are due and none is judged, and what is known; None if all is well."""
    due_at, due = oldest_due(run)
    if due_at is None or now - max(due_at, awake) < HOUR:
        return None
    judged_at = last_judged_at(run)
    since = max(due_at, awake, judged_at or 0.0)
    if now - since < HOUR:
        return None
    return since, {"why": "nothing_judged", "last_at": judged_at, "due": due}


def _end(run: Sql, rule: str, slice: str, over: Any, now: float) -> None:
    for alarm in firing_alarms(run):
        if (alarm.rule, alarm.slice) == (rule, slice) and alarm.kind != WORSE:
            end(run, alarm, now, over)
