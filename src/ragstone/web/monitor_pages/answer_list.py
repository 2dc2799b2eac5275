"""Answer lists: answers of production, conversations, the log, and answers sent to a queue."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from ragstone.core.errors import InputError
from ragstone.core.grouping import grouped
from ragstone.monitor.send_to_people import (
    by_lot,
    can_be_labelled,
    drawn_before,
    drawn_for_people,
    send_to_people,
)
from ragstone.monitor.settings import DEFAULTS
from ragstone.monitor.store import stored_examples
from ragstone.monitor.store.incoming import MOST_MALFORMED, last_malformed, versions_listed
from ragstone.monitor.store.rows import last_lines
from ragstone.monitor.store.stored_examples import ListedExample, ListedWhere
from ragstone.report.number_format import number, short_name
from ragstone.web.filters import MONITOR_FIELDS, monitor_filter
from ragstone.web.page_request import (
    Asked,
    Elsewhere,
    NotThere,
    WebPage,
    query,
    queue_path,
    whole_number,
)
from ragstone.web.parts.answers import checks_of, seen_answers
from ragstone.web.parts.choices_and_tabs import HERE
from ragstone.web.runs_folder import MonitorScreens, RunsFolder
from ragstone.web.templating import GUARD

from .alarms_and_drift import answers_of

ANSWERS_A_PAGE = 25
MOST_SLICES, MOST_VERSIONS = 60, 20

# Usual filters: a name and a condition.
PRESETS = (
    ("all", ""),
    ("checks failed", "guard_ok:0..0"),
    ("least trusted", "guard_confidence"),
    ("least faithful", "faithfulness"),
)


def examples_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show the answers, a page of them."""
    watching = folder.watching()
    where, tokens = filter_of(watching, request)
    with watching.reading() as run:
        matched = stored_examples.count_listed(run, where)
        page = request.list_page(matched, ANSWERS_A_PAGE)
        examples = stored_examples.listed(run, where, ANSWERS_A_PAGE, page.rows.start)
        scores = stored_examples.scores_listed(run, [example.id for example in examples])
        facets = stored_examples.facet_values(run, MOST_SLICES)
        versions = versions_listed(run, MOST_VERSIONS)
        everything = (
            matched if where == ListedWhere() else stored_examples.count_listed(run, ListedWhere())
        )
    fields = [(name, value) for name, value in request.query if name in MONITOR_FIELDS and value]
    return WebPage(
        "monitor_examples.html",
        "Answers",
        {
            "tokens": tokens,
            "words": in_words(tokens),
            "matched": matched,
            "all": everything,
            "rows": seen_answers(examples, scores, first=where.metric, within=urlencode(fields)),
            "page": page,
            "presets": PRESETS,
            "slices": facets,
            "versions": [version for version, _ in versions],
            "kept": query(fields),
            "hidden": [field for field in fields if field[0] != "version"],
            "where": where,
        },
        here=HERE,
    )


def filter_of(
    watching: MonitorScreens, request: Asked
) -> tuple[ListedWhere, list[tuple[str, str]]]:
    """Return the filter of an address, as ``monitor_filter`` does."""
    return monitor_filter(request, lambda number: answers_of(watching, number))


def in_words(tokens: Sequence[tuple[str, str]]) -> str:
    """Return all conditions of a filter in words."""
    return " and ".join(words for words, _ in tokens)


MOST = 200
LONGEST = 3_000


def session_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show a conversation."""
    watching = folder.watching()
    name = request.names["session"]
    with watching.reading() as run:
        examples = stored_examples.turns_of(run, name, MOST)
        scores = stored_examples.scores_listed(run, [turn.id for turn in examples])
    if not examples:
        raise NotThere(f"There is no conversation called {name!r}, or no longer.")
    values = grouped(
        (score.metric, score.value)
        for turn in examples
        for score in scores[turn.id]
        if score.value is not None and not score.metric.startswith(GUARD)
    )
    return WebPage(
        "monitor_session.html",
        f"Conversation {name}",
        {
            "name": name,
            "turns": examples,
            "scores": scores,
            "checks_of": checks_of,
            "LONGEST": LONGEST,
            "GUARD": GUARD,
            "most": MOST,
            "whole": [
                (short_name(metric), number(sum(ones) / len(ones)), number(min(ones)), len(ones))
                for metric, ones in sorted(values.items())
            ],
            "person": next(
                (turn.facts.get("user") for turn in examples if turn.facts.get("user")), ""
            ),
            "send": f"/monitor/annotate{query([('session', name)])}",
        },
        here=HERE,
    )


MOST_LINES, LINES_A_PAGE = 1_000, 100
A_MALFORMED_PAGE = 25
SHOWN_BYTES = 1_500

LEVELS = {"error": ("wrong", "error"), "warning": ("missing", "warning")}


def log_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show the log, the newest line first."""
    with folder.watching().reading() as run:
        lines = last_lines(run, MOST_LINES)
    grave = bool(request.one("grave"))
    chosen = [(at, level, text) for at, level, text in lines if not grave or level in LEVELS]
    page = request.list_page(len(chosen), LINES_A_PAGE)
    return WebPage(
        "monitor_log.html",
        "Log of the monitor",
        {
            "lines": chosen[page.rows],
            "levels": LEVELS,
            "page": page,
            "of": len(lines),
            "grave": grave,
            "most": MOST_LINES,
        },
        here=HERE,
    )


def malformed_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show what could not be read of what came, the newest first."""
    with folder.watching().reading() as run:
        bodies = last_malformed(run, MOST_MALFORMED)
    page = request.list_page(len(bodies), A_MALFORMED_PAGE)
    return WebPage(
        "monitor_malformed.html",
        "What could not be read",
        {
            "rows": bodies[page.rows],
            "SHOWN_BYTES": SHOWN_BYTES,
            "page": page,
            "most": MOST_MALFORMED,
        },
        here=HERE,
    )


# Answers that are sent at once.
MOST_SENT = 2_000

# Answers from which some are drawn, the newest.
MOST_DRAWN = 100_000

# Answers that are read at once to see whether people can label them.
READ = 500

# Begins the name of the box of an answer.
CHOSEN = "example "

RANDOM = 50


def send(folder: RunsFolder, request: Asked, form: Mapping[str, str]) -> Elsewhere:
    """Send answers to a queue, and show it.

    ``take`` says which: ``chosen``, those with a box that is ticked; ``random``, so many of those
    that were judged, drawn by chance; else all that the address means.
    """
    watching = folder.watching()
    take = form.get("take", "")
    if take == "random":
        return _sent(folder, watching, *_drawn(folder, watching, request, form))
    words = ""
    if id := request.one("example"):
        ids = [id]
    elif take == "chosen":
        ids = [name.removeprefix(CHOSEN) for name in form if name.startswith(CHOSEN)]
        if not ids:
            raise InputError("No answer is chosen: tick the boxes before the answers.")
    else:
        where, tokens = filter_of(watching, request)
        words = in_words(tokens)
        with watching.reading() as run:
            ids = stored_examples.listed_ids(run, where, MOST_SENT)
    with watching.reading() as run:
        examples = stored_examples.listed_by_ids(run, ids[:MOST_SENT])
    if not examples:
        raise NotThere("There is no such answer, or no longer.")
    return _sent(folder, watching, examples, None, words)


def _sent(
    folder: RunsFolder,
    watching: MonitorScreens,
    examples: Sequence[ListedExample],
    probabilities: Mapping[str, float] | None,
    chosen: str = "",
) -> Elsewhere:
    with watching.reading() as run:
        judgements = stored_examples.judgements_of(run, [example.id for example in examples])
    queue = send_to_people(
        folder.labels(),
        examples,
        source=watching.store.database.name,
        metrics=metrics_judged(watching),
        judgements=judgements,
        probabilities=probabilities,
        chosen=chosen,
    )
    return Elsewhere(queue_path(queue, "progress"))


def metrics_judged(watching: MonitorScreens) -> tuple[str, ...]:
    """Return the metrics of the answers that are drawn."""
    return (watching.settings or DEFAULTS).judging.metrics


def _drawn(
    folder: RunsFolder, watching: MonitorScreens, request: Asked, form: Mapping[str, str]
) -> tuple[list[ListedExample], dict[str, float]]:
    n = whole_number(form.get("n", ""), 6)
    n = RANDOM if n is None else n
    where, _ = filter_of(watching, request)
    if where.metric:
        raise InputError(
            "Answers that are chosen by their scores are not drawn by chance: take the condition "
            "on a metric away, or send them all."
        )
    n, metrics, labels = min(n, MOST_SENT), metrics_judged(watching), folder.labels()
    before, examples = drawn_before(labels, metrics), list[ListedExample]()
    with watching.reading() as run:
        judged = stored_examples.judged_probabilities(
            run, stored_examples.listed_ids(run, where, MOST_DRAWN)
        )
        if not judged:
            raise InputError("None of these answers was judged yet.")
        order = by_lot(judged.keys() - before)
        # What nobody can label is no part of what is drawn from: it would come in each draw again,
        # in the place of one that people can.
        for begin in range(0, len(order), READ):
            ids = order[begin : begin + READ]
            read = stored_examples.listed_by_ids(run, ids)
            can = can_be_labelled(labels, read, metrics, stored_examples.judgements_of(run, ids))
            examples += [example for example in read if example.id in can]
            for id in set(ids) - can:
                del judged[id]
            # The first that is not drawn says how far the draw reaches.
            if len(examples) > n:
                break
    if not examples:
        raise InputError(
            "All judged answers of this time were sent to people before, but for those without a "
            "text: ragstone monitor doctor says whether traces come without texts."
            if order
            else "All judged answers of this time were sent to people before."
        )
    drawn = drawn_for_people(judged, n, before)
    examples = [example for example in examples if example.id in drawn]
    return examples, drawn
