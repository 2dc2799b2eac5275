"""Monitor: how good the answers in production are now, and since when they are not."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragstone.database.database import Sql
from ragstone.monitor.store.counts import counted
from ragstone.monitor.store.kept import remembered
from ragstone.monitor.store.listed import count_examples, last_example_at
from ragstone.monitor.store.raised import RaisedAlarm, ToldOf, raised_alarms, told_of
from ragstone.monitor.worker import HEARTBEAT
from ragstone.report.figures import counted as counted_words
from ragstone.report.page import Phrase, strong
from ragstone.web.asked import Asked
from ragstone.web.parts.moments import DAY, HOUR, length_in_words, shown_moment
from ragstone.web.parts.seen_answers import monitor_path
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.watching import Watching
from ragstone.web.web_page import WebPage

from .monitor_alarm import alarm_state, alarm_words, told_words
from .monitor_tabs import HERE, MONITOR_TABS

LASTS = {
    "6h": ("6 h", 6 * HOUR),
    "24h": ("24 h", DAY),
    "7d": ("7 d", 7 * DAY),
    "30d": ("30 d", 30 * DAY),
}
USUAL = "24h"
MOST_ALARMS, FIRST_ALARMS = 20, 5

SILENT = 60.0
"""Seconds without a sign of life after which the worker is taken for dead."""


@dataclass(frozen=True, slots=True)
class LastChoice:
    """How far back the screen looks."""

    name: str
    path: str
    on: bool


@dataclass(frozen=True, slots=True)
class HealthFact:
    """A fact of the intake; ``bad`` where something has to be done."""

    name: str
    value: str
    about: str = ""
    bad: bool = False


@dataclass(frozen=True, slots=True)
class FiringAlarm:
    """An alarm that is firing, in words, and where it leads."""

    first: str
    rest: str
    path: str
    answers: str


@dataclass(frozen=True, slots=True)
class AlarmRow:
    """An alarm in the table."""

    path: str
    since: str
    rule: str
    slice: str
    state: tuple[str, str]
    after: str
    told: str


@dataclass(frozen=True, slots=True)
class WorkerLife:
    """Whether the worker lives: seconds since its last sign of life; None if it never gave one."""

    silent: float | None

    @property
    def is_dead(self) -> bool:
        """Whether it was silent for too long."""
        return self.silent is None or self.silent > SILENT


def monitor_page(place: RunsFolder, asked: Asked) -> WebPage:
    """The first screen.

    Raises:
        NotThere: Nothing is monitored.
    """
    watching = place.watching()
    last = asked.one("last", USUAL)
    last = last if last in LASTS else USUAL
    now = time.time()
    since = now - LASTS[last][1]
    with watching.reading() as run:
        newest = last_example_at(run)
        answers = count_examples(run, since, now + HOUR)
        day = counted(run, now - DAY)
        hour = counted(run, now - HOUR)
        alarms = raised_alarms(run, MOST_ALARMS)
        told = told_of(run, [one.number for one in alarms])
        life = worker_life(run, now)
    return WebPage(
        "monitor.html",
        "Monitor",
        {
            "tabs": MONITOR_TABS,
            "facts": _first_line(newest, answers, last, now),
            "empty": newest is None and not day.get("received"),
            "takes": watching.takes,
            "endpoint": asked.server,
            "token": watching.token,
            "working": _working(hour, life),
            "stopped": life.is_dead,
            "last": last,
            "lasts": [
                LastChoice(name, asked.but(last=key), key == last)
                for key, (name, _) in LASTS.items()
            ],
            "alarms": [_firing(one) for one in alarms if one.firing][:FIRST_ALARMS],
            "alarm_rows": [_row(one, told, now) for one in alarms],
            "health": _health(day, watching),
            "malformed": bool(day.get("malformed") or day.get("unreadable")),
        },
        here=HERE,
    )


def worker_life(run: Sql, now: float) -> WorkerLife:
    """Whether the worker lives, by its signs of life in the store."""
    beat = remembered(run, HEARTBEAT)
    at = beat.get("at") if isinstance(beat, dict) else None
    return WorkerLife(None if not isinstance(at, (int, float)) else max(0.0, now - at))


def _first_line(newest: float | None, answers: int, last: str, now: float) -> list[list[Phrase]]:
    if newest is None:
        return [[strong("no answer"), Phrase(" yet")]]
    words = "answer" if answers == 1 else "answers"
    return [
        [Phrase("last answer "), strong(length_in_words(now - newest)), Phrase(" ago")],
        [strong(f"{answers:,}"), Phrase(f" {words} in {LASTS[last][0]}")],
    ]


def _working(hour: Mapping[str, int], life: WorkerLife) -> list[list[Phrase]]:
    """The dead-man's line: whether what is to be done is done."""
    done = hour.get("judged", 0)
    found = [[strong(f"{done:,}"), Phrase(" judged in the last hour")]]
    if life.silent is None:
        found.append([strong("the worker has not begun", "bad")])
    elif life.is_dead:
        found.append([strong(f"the worker is silent for {length_in_words(life.silent)}", "bad")])
    else:
        found.append([Phrase("the worker is alive")])
    return found


def _firing(alarm: RaisedAlarm) -> FiringAlarm:
    said = alarm_words(alarm)
    return FiringAlarm(
        said.first,
        said.rest,
        monitor_path("alarms", alarm.number),
        f"/monitor/examples?alarm={alarm.number}",
    )


def _row(alarm: RaisedAlarm, told: Sequence[ToldOf], now: float) -> AlarmRow:
    since = shown_moment(alarm.since, now).words
    if alarm.resolved_at is not None:
        since = f"{since} – {shown_moment(alarm.resolved_at, now).words}"
    answers = alarm.facts.get("answers")
    after = [length_in_words(alarm.fired_at - alarm.since)]
    after += [counted_words(answers, "answer")] if isinstance(answers, int) else []
    return AlarmRow(
        monitor_path("alarms", alarm.number),
        since,
        alarm.rule,
        alarm.slice.replace("=", ": ", 1),
        alarm_state(alarm),
        ", ".join(after),
        told_words([one for one in told if one.alarm == alarm.number]),
    )


def _health(day: Mapping[str, int], watching: Watching) -> list[HealthFact]:
    """How much came in a day, and what became of it."""
    sorts = [
        counted_words(day[what], noun)
        for what, noun in (("spans", "span"), ("logs", "log record"), ("examples", "example"))
        if day.get(what)
    ]
    refused = day.get("refused", 0)
    unread = day.get("malformed", 0) + day.get("unreadable", 0)
    found = [
        HealthFact("received", f"{day.get('received', 0):,}", ", ".join(sorts)),
        HealthFact("acknowledged and kept", f"{day.get('kept', 0):,}", "none of it lost"),
        HealthFact(
            "malformed, kept aside",
            f"{unread:,}",
            "the rest of their requests was taken" if unread else "",
            unread > 0,
        ),
        HealthFact(
            "requests refused",
            f"{refused:,}",
            "too large, too many at once, or without the token; senders try again"
            if refused
            else "",
            refused > 0,
        ),
    ]
    if watching.waiting is not None:
        found.append(HealthFact("waiting to be written", f"{watching.waiting():,}", "requests"))
    return found
