"""Alarm and drift pages: an alarm with its answers, and what moved in traffic or the judge."""

import time
from collections.abc import Sequence

from markupsafe import Markup

from ragstone.monitor.alarms.lifecycle import alarm_sentence, over_sentence
from ragstone.monitor.alarms.slice_rules import facet_of
from ragstone.monitor.series.drift import drift, judge_drift
from ragstone.monitor.series.overview import monitored
from ragstone.monitor.settings import DEFAULTS
from ragstone.monitor.store.stored_alarms import Delivery, RaisedAlarm, deliveries_of, raised_alarm
from ragstone.monitor.store.stored_examples import ListedWhere, count_listed, listed, scores_listed
from ragstone.report.number_format import short_name, spoken
from ragstone.run import Run
from ragstone.web.page_request import Asked, NotThere, WebPage, whole_number
from ragstone.web.parts.answers import seen_answers
from ragstone.web.parts.choices_and_tabs import HERE
from ragstone.web.parts.metric_bands import band_drawn, base_of
from ragstone.web.runs_folder import MonitorScreens, RunsFolder
from ragstone.web.templating import DAY, HOUR, fact_in_words, in_full, length_in_words

WORST = 8
# Seconds that are drawn before an alarm, at least.
AROUND = 6 * HOUR


def alarm_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show an alarm."""
    watching = folder.watching()
    alarm = alarm_of(watching, request.names["number"])
    where = _where(alarm)
    with watching.reading() as run:
        deliveries = deliveries_of(run, [alarm.number])
        about = count_listed(run, where)
        worst = listed(run, where, WORST)
        scores = scores_listed(run, [example.id for example in worst])
    metric = metric_of(alarm)
    return WebPage(
        "monitor_alarm.html",
        f"Alarm {alarm.number}",
        {
            "alarm": alarm,
            "said": alarm_words(alarm),
            "metric": short_name(metric) if metric else "",
            "drawn": _drawn(watching, alarm, metric, time.time()) if metric else "",
            "facts": _facts(alarm),
            "told": deliveries,
            "about": about,
            "answers": f"/monitor/examples?alarm={alarm.number}",
            "send": f"/monitor/annotate?alarm={alarm.number}",
            "rows": seen_answers(worst, scores, first=metric, within=f"alarm={alarm.number}"),
        },
        here=HERE,
    )


def alarm_of(watching: MonitorScreens, text: str) -> RaisedAlarm:
    """Return the alarm of a number."""
    number = whole_number(text, 14)
    with watching.reading() as run:
        alarm = None if number is None else raised_alarm(run, number)
    if alarm is None:
        raise NotThere(f"There is no alarm {text[:20]}.")
    return alarm


def answers_of(watching: MonitorScreens, number: int) -> tuple[ListedWhere, str]:
    """Return which answers an alarm is about, and what it is called."""
    alarm = alarm_of(watching, str(number))
    return _where(alarm), f"alarm {number}: {alarm.rule}"


def metric_of(alarm: RaisedAlarm) -> str:
    """Return the metric of its rule; empty if it is about none."""
    metric = alarm.facts.get("metric")
    return metric if isinstance(metric, str) else ""


def _where(alarm: RaisedAlarm) -> ListedWhere:
    facet = facet_of(alarm.slice)
    return ListedWhere(
        since=alarm.since, until=alarm.resolved_at, metric=metric_of(alarm),
        facets=(facet,) if facet else (), downwards=alarm.facts.get("better") == "-",
    )  # fmt: skip


def alarm_words(alarm: RaisedAlarm) -> tuple[str, str]:
    """Return what is wrong since when, and what else is known of an alarm."""
    text = alarm_sentence(alarm)
    first, mark, rest = text.partition(": ")
    if not mark:
        first, mark, rest = text.partition(". ")
    return first + mark.strip(), f"{rest} {over_sentence(alarm)}".strip()


def _drawn(watching: MonitorScreens, alarm: RaisedAlarm, metric: str, now: float) -> Markup:
    end = now if alarm.firing else min(now, (alarm.resolved_at or now) + HOUR)
    before = max(AROUND, min(DAY, (end - alarm.since) / 2))
    facts = monitored(
        watching.store, watching.settings or DEFAULTS, end, last=end - alarm.since + before,
        slice=facet_of(alarm.slice), metrics=[metric],
    )  # fmt: skip
    if not facts.metrics:
        return Markup()
    state = facts.metrics[0]
    mine = [each for each in facts.alarms if each.number == alarm.number]
    return band_drawn(state.series, mine, facts.deploys, bar=state.bar, base=base_of(state))


def _facts(alarm: RaisedAlarm) -> list[tuple[str, str]]:
    facts = [
        ("rule", alarm.rule),
        ("slice", alarm.slice.replace("=", ": ", 1) or "all traffic"),
        ("since", in_full(alarm.since)),
        ("fired", in_full(alarm.fired_at)),
    ]
    if alarm.resolved_at is not None:
        lasted = length_in_words(alarm.resolved_at - alarm.fired_at)
        facts.append(("resolved", f"{in_full(alarm.resolved_at)}, after {lasted}"))
    known = ("metric", "rule", "slice", "better", "evidence")
    return facts + [
        (spoken(name), fact_in_words(name, value)[:200])
        for name, value in alarm.facts.items()
        if name not in known and value not in (None, "", [])
    ]


def told_words(deliveries: Sequence[Delivery]) -> str:
    """Return which channels were told, in short."""
    return ", ".join(
        dict.fromkeys(delivery.channel for delivery in deliveries if delivery.state == "done")
    )


FEATURE_NAMES = {
    "question_length": "length of the question, characters",
    "question_non_ascii": "letters of the question that are not plain Latin, share",
    "contexts": "passages retrieved",
    "without_contexts": "answers without a passage, share",
    "top_retrieval_score": "best retrieval score",
    "answer_length": "length of the answer, characters",
    "guard_confidence": "confidence of the guard",
}


def drift_page(folder: RunsFolder, request: Asked) -> WebPage:  # noqa: ARG001
    """Show what moved in the last whole day, and in what the judge says of its anchors."""
    watching = folder.watching()
    path = None if watching.settings is None else watching.settings.baseline.run
    baseline = None if path is None else Run.open(path)
    since, _, features = drift(watching.store, time.time(), baseline=baseline)
    return WebPage(
        "monitor_drift.html",
        "Drift in production",
        {
            "since": since,
            "of": None if baseline is None else baseline.path.name,
            "features": features,
            "names": FEATURE_NAMES,
            "judges": judge_drift(watching.store),
        },
        here=HERE,
    )
