"""Answer lists: answers of production, conversations, the log, and answers sent to a queue."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from ragstone.core.errors import InputError
from ragstone.monitor.send_to_people import (
    by_lot,
    can_be_labelled,
    drawn_before,
    drawn_for_people,
    send_to_people,
)
from ragstone.monitor.settings import DEFAULTS
from ragstone.monitor.store.incoming import MOST_MALFORMED, last_malformed, versions_listed
from ragstone.monitor.store.rows import last_lines
from ragstone.monitor.store.stored_examples import (
    ListedExample,
    ListedWhere,
    count_listed,
    facet_values,
    judged_probabilities,
    judgements_of,
    listed,
    listed_by_ids,
    listed_ids,
    scores_listed,
    turns_of,
)
from ragstone.report.number_format import number
from ragstone.report.reason_words import words
from ragstone.web.filters import MONITOR_FIELDS, MonitorFilter, monitor_filter
from ragstone.web.page_request import Asked, Elsewhere, NotThere, WebPage, query, queue_path
from ragstone.web.parts.answers import checks_of, monitor_path, seen_answers, value_of
from ragstone.web.parts.choices_and_tabs import HERE, MONITOR_TABS
from ragstone.web.runs_folder import MonitorScreens, RunsFolder
from ragstone.web.templating import GUARD, said_metric

from .alarms_and_drift import answers_of

ANSWERS_A_PAGE = 25
MOST_SLICES, MOST_VERSIONS = 60, 20

PRESETS = (
    ("all", ""),
    ("checks failed", "guard_ok:0..0"),
    ("least trusted", "guard_confidence"),
    ("least faithful", "faithfulness"),
)
"""Usual filters: a name and a condition."""


def examples_page(place: RunsFolder, asked: Asked) -> WebPage:
    """Show the answers, a page of them."""
    watching = place.watching()
    wanted = filter_of(watching, asked)
    with watching.reading() as run:
        matched = count_listed(run, wanted.where)
        page = asked.list_page(matched, ANSWERS_A_PAGE)
        found = listed(run, wanted.where, ANSWERS_A_PAGE, page.rows.start)
        scores = scores_listed(run, [one.id for one in found])
        facets = facet_values(run, MOST_SLICES)
        versions = versions_listed(run, MOST_VERSIONS)
        everything = matched if wanted.where == ListedWhere() else count_listed(run, ListedWhere())
    kept = [(name, value) for name, value in asked.query if name in MONITOR_FIELDS and value]
    condition = asked.one("where")
    return WebPage(
        "monitor_examples.html",
        "Answers",
        {
            "tabs": MONITOR_TABS,
            "tokens": wanted.tokens,
            "words": wanted.words,
            "matched": matched,
            "all": everything,
            "rows": seen_answers(found, scores, first=wanted.where.metric, within=urlencode(kept)),
            "page": page,
            "presets": [
                (name, asked.but(where=where or None, page=None), where == condition)
                for name, where in PRESETS
            ],
            "slices": [(f"{name}:{value}", name, value) for name, value in facets],
            "versions": [version for version, _ in versions],
            "kept": query(kept),
            "hidden": [one for one in kept if one[0] not in ("version",)],
            "sorted": said_metric(wanted.where.metric) if wanted.where.metric else "",
            "version": wanted.where.version,
        },
        here=HERE,
    )


def filter_of(watching: MonitorScreens, asked: Asked) -> MonitorFilter:
    """Return the filter of an address."""
    return monitor_filter(asked, lambda number: answers_of(watching, number))


MOST = 200
LONGEST = 3_000


def session_page(place: RunsFolder, asked: Asked) -> WebPage:
    """Show a conversation."""
    watching = place.watching()
    name = asked.names["session"]
    with watching.reading() as run:
        found = turns_of(run, name, MOST)
        scores = scores_listed(run, [one.id for one in found])
    if not found:
        raise NotThere(f"There is no conversation called {name!r}, or no longer.")
    turns = []
    values: dict[str, list[float]] = {}
    for one in found:
        own = scores[one.id]
        judged = [each for each in own if not each.metric.startswith(GUARD)]
        for each in judged:
            if each.value is not None:
                values.setdefault(each.metric, []).append(each.value)
        answer = one.record.get("answer") or ""
        turns.append(
            {
                "path": monitor_path("examples", one.id),
                "at": one.at,
                "question": (one.record.get("question") or "")[:LONGEST],
                "answer": answer[:LONGEST],
                "cut": len(answer) > LONGEST,
                "scores": [
                    (said_metric(each.metric), each.label or value_of(each)) for each in judged
                ],
                "checks": checks_of(own),
            }
        )
    return WebPage(
        "monitor_session.html",
        f"Conversation {name}",
        {
            "name": name,
            "turns": turns,
            "most": MOST,
            "whole": [
                (said_metric(metric), number(sum(ones) / len(ones)), number(min(ones)), len(ones))
                for metric, ones in sorted(values.items())
            ],
            "person": next((one.facts.get("user") for one in found if one.facts.get("user")), ""),
            "send": f"/monitor/annotate{query([('session', name)])}",
        },
        here=HERE,
    )


MOST_LINES, LINES_A_PAGE = 1_000, 100
A_MALFORMED_PAGE = 25
SHOWN_BYTES = 1_500

LEVELS = {"error": ("wrong", "error"), "warning": ("missing", "warning")}


def log_page(place: RunsFolder, asked: Asked) -> WebPage:
    """Show the log, the newest line first."""
    with place.watching().reading() as run:
        lines = last_lines(run, MOST_LINES)
    grave = bool(asked.one("grave"))
    chosen = [one for one in lines if not grave or one.level in LEVELS]
    page = asked.list_page(len(chosen), LINES_A_PAGE)
    return WebPage(
        "monitor_log.html",
        "Log of the monitor",
        {
            "tabs": MONITOR_TABS,
            "lines": chosen[page.rows],
            "levels": LEVELS,
            "page": page,
            "of": len(lines),
            "grave": grave,
            "most": MOST_LINES,
        },
        here=HERE,
    )


def malformed_page(place: RunsFolder, asked: Asked) -> WebPage:
    """Show what could not be read of what came, the newest first."""
    with place.watching().reading() as run:
        found = last_malformed(run, MOST_MALFORMED)
    page = asked.list_page(len(found), A_MALFORMED_PAGE)
    return WebPage(
        "monitor_malformed.html",
        "What could not be read",
        {
            "rows": [
                {
                    "at": one.at,
                    "why": words(one.why),
                    "body": one.body[:SHOWN_BYTES].decode("utf-8", "backslashreplace"),
                    "cut": len(one.body) > SHOWN_BYTES,
                }
                for one in found[page.rows]
            ],
            "page": page,
            "of": len(found),
            "most": MOST_MALFORMED,
        },
        here=HERE,
    )


MOST_SENT = 2_000
"""Answers that are sent at once."""

MOST_DRAWN = 100_000
"""Answers from which some are drawn, the newest."""

READ = 500
"""Answers that are read at once to see whether people can label them."""

CHOSEN = "example "
"""Begins the name of the box of an answer."""

RANDOM = 50


def send(place: RunsFolder, asked: Asked, form: Mapping[str, str]) -> Elsewhere:
    """Send answers to a queue, and show it.

    ``take`` says which: ``chosen``, those with a box that is ticked; ``random``, so many of those
    that were judged, drawn by chance; else all that the address means.
    """
    watching = place.watching()
    take = form.get("take", "")
    if take == "random":
        return _sent(place, watching, *_drawn(place, watching, asked, form))
    words = ""
    if one := asked.one("example"):
        ids = [one]
    elif take == "chosen":
        ids = [name.removeprefix(CHOSEN) for name in form if name.startswith(CHOSEN)]
        if not ids:
            raise InputError("No answer is chosen: tick the boxes before the answers.")
    else:
        wanted = filter_of(watching, asked)
        words = wanted.words
        with watching.reading() as run:
            ids = listed_ids(run, wanted.where, MOST_SENT)
    with watching.reading() as run:
        found = listed_by_ids(run, ids[:MOST_SENT])
    if not found:
        raise NotThere("There is no such answer, or no longer.")
    return _sent(place, watching, found, None, words)


def _sent(
    place: RunsFolder,
    watching: MonitorScreens,
    found: Sequence[ListedExample],
    probabilities: Mapping[str, float] | None,
    chosen: str = "",
) -> Elsewhere:
    with watching.reading() as run:
        judgements = judgements_of(run, [one.id for one in found])
    sent = send_to_people(
        place.labels(),
        found,
        source=watching.store.database.name,
        metrics=metrics_judged(watching),
        judgements=judgements,
        probabilities=probabilities,
        chosen=chosen,
    )
    return Elsewhere(queue_path(sent.queue, "progress"))


def metrics_judged(watching: MonitorScreens) -> tuple[str, ...]:
    """Return the metrics of the answers that are drawn."""
    return (watching.settings or DEFAULTS).judging.metrics


def _drawn(
    place: RunsFolder, watching: MonitorScreens, asked: Asked, form: Mapping[str, str]
) -> tuple[list[ListedExample], dict[str, float]]:
    text = form.get("n", "")
    n = int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 7 else RANDOM
    wanted = filter_of(watching, asked)
    if wanted.where.metric:
        raise InputError(
            "Answers that are chosen by their scores are not drawn by chance: take the condition "
            "on a metric away, or send them all."
        )
    n, metrics, labels = min(n, MOST_SENT), metrics_judged(watching), place.labels()
    there, found = drawn_before(labels, metrics), list[ListedExample]()
    with watching.reading() as run:
        judged = judged_probabilities(run, listed_ids(run, wanted.where, MOST_DRAWN))
        if not judged:
            raise InputError("None of these answers was judged yet.")
        order = by_lot(judged.keys() - there)
        # What nobody can label is no part of what is drawn from: it would come in each draw again,
        # in the place of one that people can.
        for begin in range(0, len(order), READ):
            ids = order[begin : begin + READ]
            read = listed_by_ids(run, ids)
            can = can_be_labelled(labels, read, metrics, judgements_of(run, ids))
            found += [one for one in read if one.id in can]
            for id in set(ids) - can:
                del judged[id]
            # The first that is not drawn says how far the draw reaches.
            if len(found) > n:
                break
    if not found:
        raise InputError(
            "All judged answers of this time were sent to people before, but for those without a "
            "text: ragstone monitor doctor says whether traces come without texts."
            if order
            else "All judged answers of this time were sent to people before."
        )
    drawn = drawn_for_people(judged, n, there)
    found = [one for one in found if one.id in drawn]
    return found, drawn
