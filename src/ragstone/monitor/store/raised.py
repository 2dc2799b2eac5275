"""Raised: alarms as screens show them, with who was told."""

import json
from typing import Any, NamedTuple

from ragstone.database.database import Sql

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
    return [_alarm(row) for row in rows]


def raised_alarm(run: Sql, number: int) -> RaisedAlarm | None:
    """The alarm of a number."""
    rows = run(f"SELECT {COLUMNS} FROM alarms WHERE number = ?", number)
    return _alarm(rows[0]) if rows else None


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


def _alarm(row: tuple[Any, ...]) -> RaisedAlarm:
    number, rule, slice, kind, state, since, fired_at, resolved_at, facts = row
    return RaisedAlarm(
        number, rule, slice, kind, state, since, fired_at, resolved_at, json.loads(facts)
    )
