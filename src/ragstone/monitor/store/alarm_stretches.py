"""Alarm stretches: which alarms were firing at some time of what is shown."""

import json

from ragstone.core.database import Sql

from .raised import RaisedAlarm


def alarms_firing_after(run: Sql, since: float) -> list[RaisedAlarm]:
    """The alarms that were firing at this time or later, the first that fired first."""
    rows = run(
        "SELECT number, rule, slice, kind, state, since, fired_at, resolved_at, facts FROM alarms "
        "WHERE resolved_at IS NULL OR resolved_at >= ? ORDER BY fired_at, number",
        since,
    )
    return [
        RaisedAlarm(number, rule, slice, kind, state, began, fired, resolved, json.loads(facts))
        for number, rule, slice, kind, state, began, fired, resolved, facts in rows
    ]
