"""Monitor examples: the answers of production that a filter finds."""

from urllib.parse import urlencode

from ragstone.monitor.store.stored_examples import (
    ListedWhere,
    count_listed,
    facet_values,
    listed,
    scores_listed,
    versions_listed,
)
from ragstone.web.asked import Asked, query
from ragstone.web.monitor_filter import FIELDS, MonitorFilter, monitor_filter
from ragstone.web.parts.metric_names import said_metric
from ragstone.web.parts.seen_answers import seen_answers
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.watching import Watching
from ragstone.web.web_page import WebPage

from .monitor_alarm import answers_of
from .monitor_tabs import HERE, MONITOR_TABS

A_PAGE = 25
MOST_SLICES, MOST_VERSIONS = 60, 20

PRESETS = (
    ("all", ""),
    ("checks failed", "guard_ok:0..0"),
    ("least trusted", "guard_confidence"),
    ("least faithful", "faithfulness"),
)
"""Usual filters: a name and a condition."""


def examples_page(place: RunsFolder, asked: Asked) -> WebPage:
    """The answers, a page of them.

    Raises:
        NotThere: Nothing is monitored.
        InputError: A condition cannot be read.
    """
    watching = place.watching()
    wanted = filter_of(watching, asked)
    with watching.reading() as run:
        matched = count_listed(run, wanted.where)
        page = asked.list_page(matched, A_PAGE)
        found = listed(run, wanted.where, A_PAGE, page.rows.start)
        scores = scores_listed(run, [one.id for one in found])
        facets = facet_values(run, MOST_SLICES)
        versions = versions_listed(run, MOST_VERSIONS)
        everything = matched if wanted.where == ListedWhere() else count_listed(run, ListedWhere())
    kept = [(name, value) for name, value in asked.query if name in FIELDS and value]
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


def filter_of(watching: Watching, asked: Asked) -> MonitorFilter:
    """The filter of an address.

    Raises:
        InputError: A condition cannot be read.
    """
    return monitor_filter(asked, lambda number: answers_of(watching, number))
