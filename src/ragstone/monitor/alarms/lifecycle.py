"""Lifecycle: an alarm fires, goes on firing, and is resolved. One alarm of a kind at a time,
for each rule and slice.

One that fires again soon after it was resolved is the same alarm: nobody was told yet that it was
over, and nobody is told again.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from ragstone.core.database import Sql
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.escape import on_one_line
from ragstone.monitor.settings import MonitorSettings
from ragstone.monitor.settings.rule import OWN_RULES
from ragstone.monitor.store.arrivals import deploys_before
from ragstone.monitor.store.kept import remembered
from ragstone.monitor.store.raised import (
    RaisedAlarm,
    add_alarm,
    any_alarm_of,
    firing_alarms,
    last_alarm,
    raised_alarm,
    silence,
    write_alarm,
)
from ragstone.monitor.store.store import MonitorStore

from .detecting import Detection, Fall
from .slices import RULES

WORSE, NO_DATA, JUDGING_STOPPED = "worse", "no_data", "judging_stopped"

SLACK = 900.0
"""Seconds for which a deploy may come after the estimated beginning of a fall and be its cause."""

SOON = 7 * 86_400.0
"""Seconds after a deploy in which what begins may be due to it."""

Over = Literal["recovered", "data_again", "judging_again", "rule_changed", "by_hand"]
"""Why an alarm was resolved."""


def fire(
    run: Sql,
    settings: MonitorSettings,
    now: float,
    *,
    rule: str,
    slice: str,
    kind: str,
    since: float,
    facts: Mapping[str, Any],
) -> RaisedAlarm:
    """Raise an alarm, or find the one that is firing, or let the last one fire on.

    Args:
        run: Within a transaction.
        settings: How soon is the same alarm.
        now: Seconds since the epoch.
        rule: Its name.
        slice: ``facet=value``, or nothing.
        kind: What fired.
        since: From when on things were worse.
        facts: What is known of it.
    """
    last = last_alarm(run, rule, slice, kind)
    if last is not None and last.firing:
        return last
    if last is not None and _is_same(last, settings, now):
        again = int(last.facts.get("again", 0)) + 1
        kept = {name: one for name, one in last.facts.items() if name not in ("over", "person")}
        reopened = last._replace(state="firing", resolved_at=None, facts={**kept, "again": again})
        write_alarm(run, reopened)
        return reopened
    since = min(since, now)
    deploy = _deploy(run, since, now)
    return add_alarm(run, rule, slice, kind, since=since, fired_at=now, facts={**facts, **deploy})


def end(
    run: Sql, alarm: RaisedAlarm, now: float, over: Over, person: str | None = None
) -> RaisedAlarm:
    """Resolve an alarm that is firing; within a transaction."""
    facts = {**alarm.facts, "over": over, **({"person": person} if person else {})}
    ended = alarm._replace(state="resolved", resolved_at=now, facts=facts)
    write_alarm(run, ended)
    return ended


def resolve_alarm(store: MonitorStore, number: int, person: str, now: float) -> RaisedAlarm:
    """Call an alarm over by hand. The rule goes on watching; another fall is another alarm.

    Args:
        store: Where it is.
        number: Of the alarm.
        person: Who says so.
        now: Seconds since the epoch.

    Raises:
        InputError: There is no such alarm.
    """
    with store.database.transaction() as run:
        alarm = raised_alarm(run, number)
        if alarm is None:
            raise InputError(f"There is no alarm {number}.")
        if not alarm.firing:
            return alarm
        return end(run, alarm, now, "by_hand", on_one_line(person)[:100])


def silence_rule(store: MonitorStore, rule: str, until: float, person: str) -> None:
    """Tell nobody of a rule until then; a time that is past ends a silence.

    Args:
        store: Where it is kept.
        rule: The name of a rule that is watched, or was.
        until: Seconds since the epoch.
        person: Who says so.

    Raises:
        UnknownName: No rule is called that.
    """
    with store.database.transaction() as run:
        known = [*remembered(run, RULES, []), *OWN_RULES]
        if rule not in known and not any_alarm_of(run, rule):
            raise UnknownName(
                "rule of this monitor", rule, known, hint=f"There are {', '.join(known)}."
            )
        silence(run, rule, until, on_one_line(person)[:100])


def firing_worse(run: Sql) -> set[tuple[str, str]]:
    """The rules and slices with an alarm that fires because their mean is worse."""
    return {(one.rule, one.slice) for one in firing_alarms(run) if one.kind == WORSE}


def follow(run: Sql, settings: MonitorSettings, detection: Detection, now: float) -> None:
    """Raise and resolve alarms by what the detectors found; in the transaction of their states."""
    for one in detection.found:
        rule, slice = one.watched.rule.name, one.watched.slice
        last = last_alarm(run, rule, slice, WORSE)
        if isinstance(one, Fall):
            fire(
                run, settings, now, rule=rule, slice=slice, kind=WORSE,
                since=one.since, facts=_facts(one),
            )  # fmt: skip
        elif last is not None and last.firing:
            end(run, last, now, "recovered")


def end_what_nobody_watches(run: Sql, detection: Detection, still: set[str], now: float) -> None:
    """Resolve the alarms of rules that changed or are gone: no detector can tell their end.

    Args:
        run: Within a transaction.
        detection: How all detectors stand.
        still: Rules that cannot be watched at present, and whose alarms stay.
        now: Seconds since the epoch.
    """
    fallen = {
        (one.watched.rule.name, one.watched.slice) for one in detection.standings if one.fallen
    }
    for alarm in firing_alarms(run):
        if alarm.kind != WORSE or alarm.rule in still:
            continue
        if (alarm.rule, alarm.slice) not in fallen:
            end(run, alarm, now, "rule_changed")


def _is_same(last: RaisedAlarm, settings: MonitorSettings, now: float) -> bool:
    """Whether an alarm was over for so short a time that it was not."""
    if last.resolved_at is None or last.facts.get("over") in ("by_hand", "rule_changed"):
        return False
    return now - last.resolved_at < settings.debounce


def _facts(fall: Fall) -> dict[str, Any]:
    watched = fall.watched
    return {
        "metric": watched.rule.metric,
        "better": watched.rule.better,
        "mean": fall.mean,
        "answers": fall.answers,
        "found_at": fall.at,
        "margin": watched.rule.margin,
        "of": watched.rule.of,
        **{f"bar_{name}" if name != "value" else "bar": value
           for name, value in asdict(watched.bar).items()},
    }  # fmt: skip


def _deploy(run: Sql, since: float, now: float) -> dict[str, Any]:
    """The deploy that was last when things got worse; nothing if that is long ago."""
    found = deploys_before(run, min(since + SLACK, now), since - SOON)
    if not found:
        return {}
    version, at = found[0]
    return {"version": version, "version_at": at}
