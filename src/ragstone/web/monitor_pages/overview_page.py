"""Overview page: how good the answers in production are now, and since when they are not."""

import time

from ragstone.monitor.duties.worker_status import monitor_status
from ragstone.monitor.series.overview import MonitorPageFacts, monitored
from ragstone.monitor.settings import DEFAULTS, MonitorSettings
from ragstone.monitor.store.rows import Facet, counted
from ragstone.monitor.store.stored_alarms import deliveries_of, raised_alarms
from ragstone.monitor.store.stored_examples import count_window
from ragstone.report.number_format import percent
from ragstone.web.page_request import Asked, WebPage, query
from ragstone.web.parts.choices_and_tabs import HERE
from ragstone.web.parts.conversation_tables import conversation_facts, whole_conversations
from ragstone.web.parts.metric_bands import caption, metric_band, state_of
from ragstone.web.parts.queue_tables import people_corrections
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import DAY, GUARD, HOUR, View, clock

from .alarms_and_drift import alarm_words, told_words

LASTS = {
    "6h": ("6 h", 6 * HOUR),
    "24h": ("24 h", DAY),
    "7d": ("7 d", 7 * DAY),
    "30d": ("30 d", 30 * DAY),
}
USUAL = "24h"
MOST_ALARMS, FIRST_ALARMS = 20, 5
MOST_SLICES, MOST_BANDS = 60, 24
HALF = 0.5
PATIENCE = 0.5
# Seconds for which figures of conversations stand, which take long where there are many.
COUNTED_FOR = 60.0


def monitor_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show the first screen."""
    watching = folder.watching()
    last = request.one("last", USUAL)
    last = last if last in LASTS else USUAL
    slice, metric, now = facet_of(request.one("slice")), request.one("metric"), time.time()
    span = LASTS[last][1]
    with watching.reading() as run:
        status = monitor_status(run, now)
        given, judged = count_window(run, now - span, slice)
        day = counted(run, now - DAY)
        raised = raised_alarms(run, MOST_ALARMS)
        deliveries = deliveries_of(run, [alarm.number for alarm in raised])
    settings = watching.settings or DEFAULTS
    facts = monitored(watching.store, settings, now, last=span, slice=slice)
    if metric:
        bands, checks = [each for each in facts.metrics if each.metric == metric], []
    else:
        together = {f"{GUARD}ok", *(rule.metric for rule in settings.rules)}
        checks = [
            each
            for each in facts.metrics
            if each.metric.startswith(GUARD) and each.metric not in together
        ]
        bands = [each for each in facts.metrics if each not in checks]
    bands.sort(key=lambda band: band.window is None)
    conversations: View = {"conversations": None, "conversations_at": "", "counting": False}
    if metric and bands:
        conversations |= _conversations(folder, facts, metric, span)

    def answers_of(name: str) -> str:
        return f"/monitor/examples{query([('where', name), *_time_and_slice(last, slice)])}"

    return WebPage(
        "monitor.html",
        "Monitor",
        {
            "status": status,
            "given": given,
            "judged": judged,
            "share": percent(judged / given, 0) if given else "0 %",
            "baseline": facts.baseline,
            "drawn": _drawn(settings),
            "HALF": HALF,
            "takes": watching.takes,
            "endpoint": request.server,
            "token": watching.token,
            "last": last,
            "lasts": LASTS,
            "slices": [
                (name, value, f"{name}:{value}")
                for name, values in facts.slices.items()
                for value in values
            ][:MOST_SLICES],
            "slice": request.one("slice"),
            "metrics": [each.metric for each in facts.metrics],
            "metric": metric,
            "bands": [
                metric_band(band, facts.deploys, answers_of(band.metric))
                for band in bands[:MOST_BANDS]
            ],
            "checks": checks,
            "state_of": state_of,
            "people": people_corrections(folder, settings.judging.metrics, bands),
            "people_of": query(_time_and_slice(last, slice)),
            **conversations,
            "hidden_bands": max(0, len(bands) - MOST_BANDS),
            "caption": caption([band.series for band in bands]),
            "alarms": [alarm for alarm in raised if alarm.firing][:FIRST_ALARMS],
            "alarm_words": alarm_words,
            "alarm_rows": [
                (alarm, told_words([each for each in deliveries if each.alarm == alarm.number]))
                for alarm in raised
            ],
            "now": now,
            "day": day,
            "unread": day.get("malformed", 0) + day.get("unreadable", 0),
            "waiting": watching.waiting and watching.waiting(),
        },
        here=HERE,
    )


def _conversations(folder: RunsFolder, facts: MonitorPageFacts, metric: str, span: float) -> View:
    """Return those of the last ``span`` seconds; what is shown begins at a step before that."""
    store = folder.watching().store
    until = facts.now // COUNTED_FOR * COUNTED_FOR + COUNTED_FOR
    figures = folder.later.newest(
        ("conversations", metric, facts.slice, span),
        until,
        lambda: conversation_facts(store, metric, until - COUNTED_FOR - span, until, facts.slice),
        PATIENCE,
    )
    if figures is None:
        return {"counting": True}
    whole, course = figures
    counted_at = whole.end - COUNTED_FOR
    late = counted_at < facts.now - 2 * COUNTED_FOR
    return {
        "conversations": whole_conversations(whole, course, metric, facts.slice, facts.deploys),
        "conversations_at": clock(counted_at) if late else "",
    }


def facet_of(text: str) -> Facet | None:
    """Return the slice that an address names."""
    name, colon, value = text.partition(":")
    return (name, value) if name and colon else None


def _time_and_slice(last: str, slice: Facet | None) -> list[tuple[str, str]]:
    return [("since", last), *([("slice", ":".join(slice))] if slice else [])]


def _drawn(settings: MonitorSettings) -> str:
    by = ["by slice"] if settings.sampling.by else []
    by += ["by the guard's doubt"] if settings.sampling.by_guard_score else []
    return " and ".join(by) or "uniform"
