"""Monitor alarm: one alarm in words, when it was, and the answers it is about."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ragstone.monitor.alarms.lifecycle import alarm_sentence, over_sentence
from ragstone.monitor.series.metric_over_time import Facet
from ragstone.monitor.series.overview import monitored
from ragstone.monitor.settings import DEFAULTS
from ragstone.monitor.store.stored_alarms import RaisedAlarm, ToldOf, raised_alarm, told_of
from ragstone.monitor.store.stored_examples import ListedWhere, count_listed, listed, scores_listed
from ragstone.report.number_format import counted, number, spoken
from ragstone.web.asked import Asked
from ragstone.web.parts.metric_bands import band_drawn, base_of
from ragstone.web.parts.metric_names import said_metric
from ragstone.web.parts.moments import DAY, HOUR, length_in_words, shown_moment
from ragstone.web.parts.seen_answers import seen_answers
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.watching import Watching
from ragstone.web.web_page import NotThere, WebPage

from .monitor_tabs import HERE

WORST = 8
AROUND = 6 * HOUR
"""Seconds that are drawn before an alarm, at least."""


@dataclass(frozen=True, slots=True)
class AlarmWords:
    """An alarm in words: what it is about, and what else is known."""

    first: str
    rest: str


def alarm_page(place: RunsFolder, asked: Asked) -> WebPage:
    """An alarm.

    Raises:
        NotThere: There is none of this number.
    """
    watching = place.watching()
    alarm = alarm_of(watching, asked.names["number"])
    where = _where(alarm)
    with watching.reading() as run:
        told = told_of(run, [alarm.number])
        about = count_listed(run, where)
        worst = listed(run, where, WORST)
        scores = scores_listed(run, [one.id for one in worst])
    said = alarm_words(alarm)
    metric = metric_of(alarm)
    return WebPage(
        "monitor_alarm.html",
        f"Alarm {alarm.number}",
        {
            "alarm": alarm,
            "said": said,
            "state": alarm_state(alarm),
            "metric": said_metric(metric) if metric else "",
            "drawn": _drawn(watching, alarm, metric, time.time()) if metric else "",
            "facts": _facts(alarm),
            "told": [(_channel(one), shown_moment(one.at), _told_words(one)) for one in told],
            "about": about,
            "answers": f"/monitor/examples?alarm={alarm.number}",
            "send": f"/monitor/annotate?alarm={alarm.number}",
            "rows": seen_answers(worst, scores, first=metric, within=f"alarm={alarm.number}"),
        },
        here=HERE,
    )


def alarm_of(watching: Watching, number: str) -> RaisedAlarm:
    """The alarm of a number.

    Raises:
        NotThere: There is none.
    """
    known = number.isascii() and number.isdigit() and len(number) < 15
    with watching.reading() as run:
        found = raised_alarm(run, int(number)) if known else None
    if found is None:
        raise NotThere(f"There is no alarm {number[:20]}.")
    return found


def answers_of(watching: Watching, number: int) -> tuple[ListedWhere, str]:
    """Which answers an alarm is about, and what it is called.

    Raises:
        NotThere: There is no such alarm.
    """
    alarm = alarm_of(watching, str(number))
    return _where(alarm), f"alarm {number}: {alarm.rule}"


def metric_of(alarm: RaisedAlarm) -> str:
    """The metric of its rule; empty if it is about none."""
    found = alarm.facts.get("metric")
    return found if isinstance(found, str) else ""


def _where(alarm: RaisedAlarm) -> ListedWhere:
    name, equals, value = alarm.slice.partition("=")
    facets = ((name, value),) if equals else ()
    return ListedWhere(
        since=alarm.since,
        until=alarm.resolved_at,
        metric=metric_of(alarm),
        facets=facets,
        downwards=alarm.facts.get("better") == "-",
    )


def alarm_state(alarm: RaisedAlarm) -> tuple[str, str]:
    """Shape and word."""
    if alarm.firing:
        return "worse", "firing"
    return "equivalent", "resolved"


def alarm_words(alarm: RaisedAlarm) -> AlarmWords:
    """An alarm in words: what is wrong since when, and what else is known."""
    said = alarm_sentence(alarm)
    first, found, rest = said.partition(": ")
    if not found:
        first, found, rest = said.partition(". ")
    return AlarmWords(first + found.strip(), f"{rest} {over_sentence(alarm)}".strip())


def _drawn(watching: Watching, alarm: RaisedAlarm, metric: str, now: float) -> Markup:
    """The metric around the alarm; empty where nothing of it was judged."""
    name, equals, value = alarm.slice.partition("=")
    end = now if alarm.firing else min(now, (alarm.resolved_at or now) + HOUR)
    before = max(AROUND, min(DAY, (end - alarm.since) / 2))
    facts = monitored(
        watching.store,
        watching.settings or DEFAULTS,
        end,
        last=end - alarm.since + before,
        slice=Facet(name, value) if equals else None,
        metrics=[metric],
    )
    for one in facts.metrics:
        mine = [each for each in facts.alarms if each.number == alarm.number]
        return band_drawn(one.series, mine, facts.deploys, bar=one.bar, base=base_of(one))
    return Markup()


def _facts(alarm: RaisedAlarm) -> list[tuple[str, str]]:
    found = [
        ("rule", alarm.rule),
        ("slice", alarm.slice.replace("=", ": ", 1) or "all traffic"),
        ("since", shown_moment(alarm.since).full),
        ("fired", shown_moment(alarm.fired_at).full),
    ]
    if alarm.resolved_at is not None:
        lasted = length_in_words(alarm.resolved_at - alarm.fired_at)
        found.append(("resolved", f"{shown_moment(alarm.resolved_at).full}, after {lasted}"))
    known = ("metric", "rule", "slice", "better", "evidence")
    return [
        *found,
        *(
            (spoken(name), _plain(name, value))
            for name, value in alarm.facts.items()
            if name not in known and value not in (None, "")
        ),
    ]


def _plain(name: str, value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and name.endswith("_at"):
        return shown_moment(float(value)).full
    if is_number and name.endswith("gap"):
        return length_in_words(float(value))
    return number(value) if isinstance(value, float) else str(value)[:200]


def _channel(one: ToldOf) -> str:
    return one.channel


def _told_words(one: ToldOf) -> str:
    tries = counted(one.tries, "try").replace("trys", "tries")
    return f"{one.event}: {one.state}" + (f" after {tries}: {one.error[:200]}" if one.error else "")


def told_words(told: Sequence[ToldOf]) -> str:
    """Which channels were told, in short."""
    return ", ".join(dict.fromkeys(one.channel for one in told if one.state == "done"))
