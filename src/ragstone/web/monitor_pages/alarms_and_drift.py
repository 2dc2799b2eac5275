"""Alarm and drift pages: an alarm with its answers, and what moved in traffic or the judge."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ragstone.monitor.alarms.lifecycle import alarm_sentence, over_sentence
from ragstone.monitor.series.drift import Drift, FeatureDrift, JudgeDrift, drift, judge_drift
from ragstone.monitor.series.metric_over_time import Facet
from ragstone.monitor.series.overview import monitored
from ragstone.monitor.settings import DEFAULTS
from ragstone.monitor.store.stored_alarms import Delivery, RaisedAlarm, deliveries_of, raised_alarm
from ragstone.monitor.store.stored_examples import ListedWhere, count_listed, listed, scores_listed
from ragstone.report.number_format import counted, number, p_word, signed, spoken
from ragstone.run import Run
from ragstone.web.page_request import Asked, NotThere, WebPage
from ragstone.web.parts.answers import seen_answers
from ragstone.web.parts.choices_and_tabs import HERE, MONITOR_TABS
from ragstone.web.parts.metric_bands import (
    DAY,
    HOUR,
    band_drawn,
    base_of,
    fact_in_words,
    length_in_words,
    said_metric,
    shown_moment,
)
from ragstone.web.runs_folder import MonitorScreens, RunsFolder

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
        told = deliveries_of(run, [alarm.number])
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


def alarm_of(watching: MonitorScreens, number: str) -> RaisedAlarm:
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


def answers_of(watching: MonitorScreens, number: int) -> tuple[ListedWhere, str]:
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


def _drawn(watching: MonitorScreens, alarm: RaisedAlarm, metric: str, now: float) -> Markup:
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
            (spoken(name), fact_in_words(name, value)[:200])
            for name, value in alarm.facts.items()
            if name not in known and value not in (None, "", [])
        ),
    ]


def _channel(one: Delivery) -> str:
    return one.channel


def _told_words(one: Delivery) -> str:
    tries = counted(one.tries, "try").replace("trys", "tries")
    return f"{one.event}: {one.state}" + (f" after {tries}: {one.error[:200]}" if one.error else "")


def told_words(told: Sequence[Delivery]) -> str:
    """Which channels were told, in short."""
    return ", ".join(dict.fromkeys(one.channel for one in told if one.state == "done"))


FEATURE_NAMES = {
    "question_length": "length of the question, characters",
    "question_non_ascii": "letters of the question that are not plain Latin, share",
    "contexts": "passages retrieved",
    "without_contexts": "answers without a passage, share",
    "top_retrieval_score": "best retrieval score",
    "answer_length": "length of the answer, characters",
    "guard_confidence": "confidence of the guard",
}
MOVED, STILL, OPEN = ("partial", "moved"), ("cannot_tell", "no sign"), ("cannot_tell", "open")


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """A feature then and now."""

    name: str
    before: str
    now: str
    distance: str
    p: str
    n: str
    state: tuple[str, str]


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """What the judge says of the anchors, first and last."""

    metric: str
    first: str
    last: str
    change: str
    interval: str
    n: str
    state: tuple[str, str]


def drift_page(place: RunsFolder, asked: Asked) -> WebPage:  # noqa: ARG001
    """What moved in the last whole day, and in what the judge says of its anchors.

    Raises:
        NotThere: Nothing is monitored.
        InputError: The baseline run cannot be read.
    """
    watching = place.watching()
    found = drift(watching.store, time.time(), baseline=_baseline(watching))
    judges = judge_drift(watching.store)
    return WebPage(
        "monitor_drift.html",
        "Drift in production",
        {
            "tabs": MONITOR_TABS,
            "said": _said(found, judges),
            "day": shown_moment(found.since),
            "of": found.of,
            "features": [_feature(one) for one in found.features],
            "judges": [_judge(one) for one in judges],
        },
        here=HERE,
    )


def _baseline(watching: MonitorScreens) -> Run | None:
    path = None if watching.settings is None else watching.settings.baseline.run
    return None if path is None else Run.open(path)


def _said(found: Drift, judges: tuple[JudgeDrift, ...]) -> str:
    """The answer before the tables."""
    moved = [FEATURE_NAMES[one.feature].split(",")[0] for one in found.features if one.moved]
    about = [said_metric(one.metric) for one in judges if one.moved]
    told = []
    if moved:
        told.append(f"What comes has changed: {', '.join(moved)}.")
    elif found.features:
        told.append("What comes shows no sign of change.")
    else:
        told.append("Of the last whole day too little is known to say whether what comes changed.")
    if about:
        told.append(f"The judge has changed: {', '.join(about)}.")
    elif judges:
        told.append("The judge says of the same answers what it said at first.")
    return " ".join(told)


def _feature(one: FeatureDrift) -> FeatureRow:
    return FeatureRow(
        FEATURE_NAMES[one.feature],
        number(one.before),
        number(one.now),
        number(one.distance),
        p_word(one.p_adjusted),
        f"{one.n_before:,} / {one.n_now:,}",
        MOVED if one.moved else STILL,
    )


def _judge(one: JudgeDrift) -> JudgeRow:
    known = one.low is not None and one.high is not None
    return JudgeRow(
        said_metric(one.metric),
        number(one.first),
        number(one.last),
        signed(one.change),
        f"{signed(one.low)} … {signed(one.high)}" if known else "",
        f"{one.n:,}",
        (MOVED if one.moved else STILL) if known else OPEN,
    )
