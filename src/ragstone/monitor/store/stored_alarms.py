"""Stored alarms: alarms, silenced rules, and the notifications due to each channel.

A rule never has two alarms of the same kind firing on the same slice.

A notification is ``due`` (waits for its time), ``done`` (delivered) or ``failed`` (tried for the
last time). A sender first claims the row for a while, so that the two processes do not both
deliver it. After a kill it is due again, so it may be delivered twice but is not lost.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from ragstone.core.database import Sql

from .rows import column, marks, upsert

WORSE, NO_DATA, JUDGING_STOPPED = "worse", "no_data", "judging_stopped"

COLUMNS = "number, rule, slice, kind, state, since, fired_at, resolved_at, facts"


class RaisedAlarm(NamedTuple):
    """An alarm. ``slice`` is ``facet=value``, or empty for all traffic."""

    number: int
    rule: str
    slice: str
    kind: str
    state: str
    since: float
    fired_at: float
    resolved_at: float | None
    facts: dict[str, Any]

    @property
    def firing(self) -> bool:
        """Tell whether it is still raised."""
        return self.resolved_at is None

    def over_for(self, now: float) -> float:
        """Return the seconds since it was resolved; 0 while it is firing."""
        return 0.0 if self.resolved_at is None else now - self.resolved_at


class Delivery(NamedTuple):
    """The state of a notification to one channel."""

    alarm: int
    channel: str
    event: str
    at: float
    tries: int
    state: str
    error: str


def _raised(run: Sql, clauses: str, *values: object) -> list[RaisedAlarm]:
    rows = run(f"SELECT {COLUMNS} FROM alarms {clauses}", *values)
    return [RaisedAlarm._make((*row[:-1], json.loads(row[-1]))) for row in rows]


def raised_alarms(run: Sql, most: int) -> list[RaisedAlarm]:
    """Return the alarms, those that are firing first, then the newest."""
    firing_first = "CASE WHEN resolved_at IS NULL THEN 0 ELSE 1 END"
    return _raised(run, f"ORDER BY {firing_first}, fired_at DESC, number DESC LIMIT ?", most)


def raised_alarm(run: Sql, number: int) -> RaisedAlarm | None:
    """Return the alarm of a number."""
    return next(iter(_raised(run, "WHERE number = ?", number)), None)


def deliveries_of(run: Sql, alarms: list[int]) -> list[Delivery]:
    """Return the deliveries of these alarms' notifications, by channel and event."""
    rows = run(
        "SELECT alarm, channel, event, at, tries, state, error FROM told "
        f"WHERE alarm IN ({marks(alarms)}) ORDER BY at, channel",
        *alarms,
    )
    return [Delivery(*row) for row in rows]


def firing_alarms(run: Sql) -> list[RaisedAlarm]:
    """Return the alarms that are firing, the oldest first."""
    return _raised(run, "WHERE state = 'firing' ORDER BY number")


def last_alarm(run: Sql, rule: str, slice: str, kind: str) -> RaisedAlarm | None:
    """Return the last alarm of its kind of a rule and slice."""
    same = "WHERE rule = ? AND slice = ? AND kind = ? ORDER BY number DESC LIMIT 1"
    return next(iter(_raised(run, same, rule, slice, kind)), None)


def any_alarm_of(run: Sql, rule: str) -> bool:
    """Tell whether a rule of this name ever raised one."""
    return bool(run("SELECT 1 FROM alarms WHERE rule = ? LIMIT 1", rule))


def add_alarm(
    run: Sql,
    rule: str,
    slice: str,
    kind: str,
    *,
    since: float,
    fired_at: float,
    facts: Mapping[str, Any],
) -> RaisedAlarm:
    """Add an alarm, which is firing; its rule and slice must have none that is."""
    ((number,),) = run(
        "INSERT INTO alarms (rule, slice, kind, state, since, fired_at, resolved_at, facts) "
        "VALUES (?, ?, ?, 'firing', ?, ?, NULL, ?) RETURNING number",
        rule, slice, kind, since, fired_at, json.dumps(facts),
    )  # fmt: skip
    return RaisedAlarm(int(number), rule, slice, kind, "firing", since, fired_at, None, dict(facts))


def write_alarm(run: Sql, alarm: RaisedAlarm) -> None:
    """Write the state, the times and the facts of an alarm anew."""
    run(
        "UPDATE alarms SET kind = ?, state = ?, since = ?, fired_at = ?, resolved_at = ?, "
        "facts = ? WHERE number = ?",
        alarm.kind, alarm.state, alarm.since, alarm.fired_at, alarm.resolved_at,
        json.dumps(alarm.facts), alarm.number,
    )  # fmt: skip


def resolved_after(run: Sql, after: float) -> list[RaisedAlarm]:
    """Return the alarms that were resolved later than this, the oldest first."""
    return _raised(run, "WHERE resolved_at > ? ORDER BY number", after)


def silenced_until(run: Sql, now: float) -> dict[str, tuple[float, str]]:
    """Return the rules that are silenced: until when, and by whom."""
    rows = run("SELECT rule, until, person FROM silences WHERE until > ?", now)
    return {rule: (float(until), person) for rule, until, person in rows}


def silence(run: Sql, rule: str, until: float, person: str) -> None:
    """Notify nobody of a rule until then; at a time that is past, notify them again."""
    upsert(run, "silences", "rule", "until, person", [(rule, until, person)])


DUE, DONE, FAILED = "due", "done", "failed"


def queue_notifications(
    run: Sql, now: float, notifications: Iterable[tuple[int, str, str]]
) -> None:
    """Let these be due from now on: alarm, channel and event. What is there stays."""
    run.many(
        "INSERT INTO told VALUES (?, ?, ?, ?, 0, 'due', '') ON CONFLICT DO NOTHING",
        [(alarm, channel, event, now) for alarm, channel, event in notifications],
    )


def queued(run: Sql, alarms: Collection[int]) -> set[tuple[int, str, str]]:
    """Return the notifications of these alarms, sent or due: alarm, channel and event."""
    rows = run(f"SELECT alarm, channel, event FROM told WHERE alarm IN ({marks(alarms)})", *alarms)
    return {(int(alarm), channel, event) for alarm, channel, event in rows}


# Seconds; a notification due further ahead than this was put off by a clock that ran ahead.
AHEAD = 7_200.0


def channels_due(run: Sql, now: float) -> list[str]:
    """The channels that have a notification due."""
    due = "SELECT DISTINCT channel FROM told WHERE state = 'due' AND (at <= ? OR at > ?)"
    return column(run, due, now, now + AHEAD)


def take_notification(run: Sql, channel: str, now: float, until: float) -> Delivery | None:
    """Take the next notification of a channel; nobody else does until then.

    Of an alarm the earlier event comes first, and the later one waits until it is done or failed.
    """
    rows = run(
        "SELECT t.alarm, t.channel, t.event, t.at, t.tries, t.state, t.error FROM told t "
        "WHERE t.channel = ? AND t.state = 'due' AND (t.at <= ? OR t.at > ?) "
        "AND (t.event = 'fired' OR NOT EXISTS "
        "(SELECT 1 FROM told f WHERE f.alarm = t.alarm AND f.channel = t.channel "
        "AND f.event = 'fired' AND f.state = 'due')) ORDER BY t.alarm, t.event LIMIT 1",
        channel, now, now + AHEAD,
    )  # fmt: skip
    if not rows:
        return None
    notification = Delivery(*rows[0])
    run(
        "UPDATE told SET at = ?, tries = tries + 1 WHERE alarm = ? AND channel = ? AND event = ?",
        until, notification.alarm, notification.channel, notification.event,
    )  # fmt: skip
    return notification._replace(tries=notification.tries + 1)


def end_notification(
    run: Sql, notification: Delivery, state: str, at: float, error: str = ""
) -> None:
    """Write down how a try ended, and when: of one that is still due, when to try again."""
    run(
        "UPDATE told SET state = ?, at = ?, error = ? WHERE alarm = ? AND channel = ? "
        "AND event = ?",
        state, at, error, notification.alarm, notification.channel, notification.event,
    )  # fmt: skip


def channel_standings(run: Sql) -> list[dict[str, Any]]:
    """Return the state of each channel that ever had a notification, as plain data.

    ``done``, ``waiting`` and ``failed`` are counts; ``error`` is why the last try of what is not
    done failed.
    """
    rows = run(
        "SELECT channel, sum(CASE WHEN state = 'done' THEN 1 ELSE 0 END), "
        "sum(CASE WHEN state = 'due' THEN 1 ELSE 0 END), "
        "sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END), "
        "max(CASE WHEN state <> 'done' THEN error ELSE '' END) "
        "FROM told GROUP BY channel ORDER BY channel"
    )
    return [
        {"channel": name, "done": int(done), "waiting": int(waiting), "failed": int(failed),
         "error": error}
        for name, done, waiting, failed, error in rows
    ]  # fmt: skip


def alarms_firing_after(run: Sql, since: float) -> list[RaisedAlarm]:
    """Return the alarms that were firing at this time or later, the first that fired first."""
    return _raised(
        run, "WHERE resolved_at IS NULL OR resolved_at >= ? ORDER BY fired_at, number", since
    )
