"""Telling: what is to be told to whom, until it is done.

``due`` waits for its time; ``done`` was told; ``failed`` was tried for the last time. Who tells
takes a row first, for a while, so that the two processes do not both tell it. After a kill it is
due again: it is told at least once.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ragstone.core.database import Sql

DUE, DONE, FAILED = "due", "done", "failed"


class Telling(NamedTuple):
    """An event of an alarm that a channel is to be told."""

    alarm: int
    channel: str
    event: str
    tries: int


class ChannelStanding(NamedTuple):
    """How far a channel is: ``error`` is why the last try of what is not done failed."""

    channel: str
    done: int
    waiting: int
    failed: int
    last_told_at: float | None
    error: str


def queue_tellings(run: Sql, now: float, tellings: Iterable[tuple[int, str, str]]) -> None:
    """Let these be told from now on: alarm, channel and event. What is there stays."""
    run.many(
        "INSERT INTO told VALUES (?, ?, ?, ?, 0, 'due', '') ON CONFLICT DO NOTHING",
        [(alarm, channel, event, now) for alarm, channel, event in tellings],
    )


def queued(run: Sql, alarms: Collection[int]) -> set[tuple[int, str, str]]:
    """What of these alarms was told or is to be: alarm, channel and event."""
    if not alarms:
        return set()
    marks = ", ".join("?" * len(alarms))
    rows = run(f"SELECT alarm, channel, event FROM told WHERE alarm IN ({marks})", *alarms)
    return {(int(alarm), channel, event) for alarm, channel, event in rows}


def channels_due(run: Sql, now: float) -> list[str]:
    """The channels that have something to tell now."""
    rows = run("SELECT DISTINCT channel FROM told WHERE state = 'due' AND at <= ?", now)
    return [channel for (channel,) in rows]


def take_telling(run: Sql, channel: str, now: float, until: float) -> Telling | None:
    """Take the next that a channel is to tell; nobody else does until then.

    Of an alarm the earlier event comes first, and the later one waits until it is done or failed.
    """
    rows = run(
        "SELECT t.alarm, t.channel, t.event, t.tries FROM told t "
        "WHERE t.channel = ? AND t.state = 'due' AND t.at <= ? AND (t.event = 'fired' OR "
        "NOT EXISTS (SELECT 1 FROM told f WHERE f.alarm = t.alarm AND f.channel = t.channel "
        "AND f.event = 'fired' AND f.state = 'due')) ORDER BY t.alarm, t.event LIMIT 1",
        channel, now,
    )  # fmt: skip
    if not rows:
        return None
    found = Telling(*rows[0])
    run(
        "UPDATE told SET at = ?, tries = tries + 1 WHERE alarm = ? AND channel = ? AND event = ?",
        until, found.alarm, found.channel, found.event,
    )  # fmt: skip
    return found._replace(tries=found.tries + 1)


def end_telling(run: Sql, one: Telling, state: str, at: float, error: str = "") -> None:
    """Write down how a try ended, and when: of one that is still due, when to try again."""
    run(
        "UPDATE told SET state = ?, at = ?, error = ? WHERE alarm = ? AND channel = ? "
        "AND event = ?",
        state, at, error, one.alarm, one.channel, one.event,
    )  # fmt: skip


def channel_standings(run: Sql) -> list[ChannelStanding]:
    """How far each channel is that was ever to tell something."""
    rows = run(
        "SELECT channel, sum(CASE WHEN state = 'done' THEN 1 ELSE 0 END), "
        "sum(CASE WHEN state = 'due' THEN 1 ELSE 0 END), "
        "sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END), "
        "max(CASE WHEN state = 'done' THEN at END), "
        "max(CASE WHEN state <> 'done' THEN error ELSE '' END) "
        "FROM told GROUP BY channel ORDER BY channel"
    )
    return [
        ChannelStanding(name, int(done), int(waiting), int(failed), at, error)
        for name, done, waiting, failed, at, error in rows
    ]
