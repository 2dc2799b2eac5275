"""Raised: alarms, who was told of them, and who is not to be told.

For each rule and slice one of a kind fires at a time.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ragstone.core.database import Sql

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
        """Whether it is still raised."""
        return self.resolved_at is None


class ToldOf(NamedTuple):
    """That a channel was told, or is to be."""

    alarm: int
    channel: str
    event: str
    at: float
    tries: int
    state: str
    error: str


def raised_alarms(run: Sql, most: int, start: int = 0) -> list[RaisedAlarm]:
    """The alarms, those that are firing first, then the newest."""
    rows = run(
        f"SELECT {COLUMNS} FROM alarms ORDER BY CASE WHEN resolved_at IS NULL THEN 0 ELSE 1 END, "
        "fired_at DESC, number DESC LIMIT ? OFFSET ?",
        most, start,
    )  # fmt: skip
    return [_raised(row) for row in rows]


def raised_alarm(run: Sql, number: int) -> RaisedAlarm | None:
    """The alarm of a number."""
    rows = run(f"SELECT {COLUMNS} FROM alarms WHERE number = ?", number)
    return _raised(rows[0]) if rows else None


def told_of(run: Sql, alarms: list[int]) -> list[ToldOf]:
    """Who was told of these alarms."""
    if not alarms:
        return []
    marks = ", ".join("?" * len(alarms))
    rows = run(
        "SELECT alarm, channel, event, at, tries, state, error FROM told "
        f"WHERE alarm IN ({marks}) ORDER BY at, channel",
        *alarms,
    )
    return [ToldOf(*row) for row in rows]


def firing_alarms(run: Sql) -> list[RaisedAlarm]:
    """The alarms that are firing, the oldest first."""
    rows = run(f"SELECT {COLUMNS} FROM alarms WHERE state = 'firing' ORDER BY number")
    return [_raised(row) for row in rows]


def last_alarm(run: Sql, rule: str, slice: str, kind: str) -> RaisedAlarm | None:
    """The last alarm of its kind of a rule and slice."""
    rows = run(
        f"SELECT {COLUMNS} FROM alarms WHERE rule = ? AND slice = ? AND kind = ? "
        "ORDER BY number DESC LIMIT 1",
        rule, slice, kind,
    )  # fmt: skip
    return _raised(rows[0]) if rows else None


def any_alarm_of(run: Sql, rule: str) -> bool:
    """Whether a rule of this name ever raised one."""
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
    """A new alarm, which is firing; its rule and slice must have none that is."""
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
    """The alarms that were resolved later than this, the oldest first."""
    rows = run(
        f"SELECT {COLUMNS} FROM alarms WHERE resolved_at > ? ORDER BY number",
        after,
    )
    return [_raised(row) for row in rows]


def silenced_until(run: Sql, now: float) -> dict[str, tuple[float, str]]:
    """The rules that are silenced: until when, and by whom."""
    rows = run("SELECT rule, until, person FROM silences WHERE until > ?", now)
    return {rule: (float(until), person) for rule, until, person in rows}


def silence(run: Sql, rule: str, until: float, person: str) -> None:
    """Tell nobody of a rule until then; at a time that is past, tell them again."""
    run(
        "INSERT INTO silences VALUES (?, ?, ?) ON CONFLICT (rule) "
        "DO UPDATE SET until = excluded.until, person = excluded.person",
        rule, until, person,
    )  # fmt: skip


def _raised(row: tuple[Any, ...]) -> RaisedAlarm:
    number, rule, slice, kind, state, since, fired_at, resolved_at, facts = row
    return RaisedAlarm(
        number, rule, slice, kind, state, since, fired_at, resolved_at, json.loads(facts)
    )
