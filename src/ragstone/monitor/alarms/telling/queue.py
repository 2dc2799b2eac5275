"""Queue: what is to be told, by the alarms there are and the rules that are silenced.

That an alarm is over is told once it has been for a while, so that one that flaps is told once.
"""

from ragstone.core.database import Sql
from ragstone.monitor.settings import MonitorSettings
from ragstone.monitor.store.raised import (
    RaisedAlarm,
    firing_alarms,
    resolved_after,
    silenced_until,
)
from ragstone.monitor.store.telling import queue_tellings, queued

FIRED, RESOLVED = "fired", "resolved"

LATE = 7 * 86_400.0
"""Seconds after which it is no longer told that an alarm is over."""


def queue_what_is_to_be_told(run: Sql, settings: MonitorSettings, now: float) -> None:
    """Queue it, within a transaction; what is queued already stays as it is."""
    channels = [one.name for one in settings.tells]
    if not channels:
        return
    silenced = silenced_until(run, now)
    firing = [one for one in firing_alarms(run) if one.rule not in silenced]
    over = [
        one
        for one in resolved_after(run, now - LATE)
        if one.rule not in silenced and _is_over(one, settings, now)
    ]
    there = queued(run, [one.number for one in (*firing, *over)])
    fired = [(one.number, channel, FIRED) for one in firing for channel in channels]
    # Whoever was not told that it fired is not told that it is over.
    resolved = [
        (one.number, channel, RESOLVED)
        for one in over
        for channel in channels
        if (one.number, channel, FIRED) in there
    ]
    new = [one for one in (*fired, *resolved) if one not in there]
    if new:
        queue_tellings(run, now, new)


def _is_over(alarm: RaisedAlarm, settings: MonitorSettings, now: float) -> bool:
    if alarm.resolved_at is None:
        return False
    by_hand = alarm.facts.get("over") == "by_hand"
    return by_hand or now - alarm.resolved_at >= settings.debounce
