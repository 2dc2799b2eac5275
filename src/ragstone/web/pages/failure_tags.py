"""Failure tags: what people noted in a queue, sorted into names that are counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from ragstone.annotation.queue.note_tags import QueueTags, TagCount, TaggedNote
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import InputError
from ragstone.report import charts
from ragstone.report.page import IntervalCell, Scale
from ragstone.report.reason_words import words
from ragstone.web.asked import Asked, query, run_path
from ragstone.web.drawing import drawn
from ragstone.web.parts.corrections import author_of
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.web_page import Elsewhere, NotThere, WebPage

from .queue_tabs import queue_tabs
from .queues import HERE

ITEMS = 50
"""Items with notes on a page."""

TAG, OPEN = "tag", "open"
"""The fields of the address that choose notes: those with a tag, those without any."""

NEW = {OPEN: None, TAG: None, "page": None, "at": None}
"""What other notes are chosen without."""

ENDS = (0.25, 0.5, 1.0)
"""Where the axis of the shares may end."""


@dataclass(frozen=True, slots=True)
class ShownTag:
    """A tag: how common it is, drawn; the addresses of its notes and of its answers in the run."""

    count: TagCount
    figure: Markup
    path: str
    in_run: str


def tags_page(place: RunsFolder, asked: Asked, trouble: str = "", status: int = 200) -> WebPage:
    """The notes of a queue and its tags.

    Raises:
        NotThere: The store has no such queue.
    """
    name = asked.names["queue"]
    with place.labels_to_read() as database:
        if database is None:
            raise NotThere(f"There is no queue called {name!r}.")
        queue = Queue(database, name)
        tags = QueueTags(database, queue)
        notes, counts, chances = tags.notes(), tags.counts(), queue.inclusion() or {}
    chosen = _chosen(notes, asked)
    page = asked.list_page(len(chosen), ITEMS)
    scale = Scale(0, _end(counts))
    run = place.run_of_queue(queue.form)
    return WebPage(
        "failure_tags.html",
        f"Failure tags of {queue.name}",
        {
            "queue": queue.name,
            "items": chosen[page.rows],
            "page": page,
            "views": _views(notes, asked),
            "tag": asked.one(TAG),
            "all": len(notes),
            "tags": [_shown(one, scale, asked, run) for one in counts],
            "why": next((words(one.why) for one in counts if one.why), ""),
            "labelled": counts[0].labelled if counts else 0,
            "weighted": len({*chances.values()}) > 1,
            "tabs": queue_tabs(queue.form),
            "axis": drawn(charts.axis(scale)),
            "trouble": trouble,
            "post": asked.but(at=None),
            "at": asked.one("at"),
        },
        HERE,
        status=status,
    )


def change(place: RunsFolder, asked: Asked, form: Mapping[str, str]) -> WebPage | Elsewhere:
    """Tag an item, or change a tag; the page again, with 422, where that cannot be.

    Raises:
        NotThere: The store has no such queue.
    """
    queue = place.queue(asked.names["queue"])
    tags, by = QueueTags(place.labels(), queue), author_of(asked)
    name, item = form.get("tag", ""), form.get("item", "")
    try:
        match form.get("action"):
            case "add":
                tags.add(_number(item), form.get("names", ""), by)
            case "remove":
                tags.remove(_number(item), name, by)
            case "rename":
                tags.rename(name, form.get("to", ""), by)
            case "merge":
                tags.merge(name, form.get("into", ""), by)
            case "drop":
                tags.drop(name, by)
            case action:
                raise InputError(f"There is no action {action!r}.")
    except InputError as error:
        return tags_page(place, asked, error.text, 422)
    kept = {} if asked.one(TAG) in tags.names() else {TAG: None}
    at = f"#item-{item}" if item else ""
    return Elsewhere(f"{asked.but(**kept, at=item)}{at}")


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError(f"{text!r} is no item.")
    return int(text)


def _chosen(notes: Sequence[TaggedNote], asked: Asked) -> list[list[TaggedNote]]:
    """The notes of each item that is asked for."""
    tag = asked.one(TAG)
    if asked.one(OPEN):
        notes = [one for one in notes if not one.tags]
    elif tag:
        notes = [one for one in notes if tag in one.tags]
    return [list(several) for _, several in groupby(notes, lambda one: one.item)]


def _views(notes: Sequence[TaggedNote], asked: Asked) -> list[tuple[str, int, str, bool]]:
    """The name, how many notes, the address, and whether it is shown."""
    left, tag = sum(not one.tags for one in notes), asked.one(TAG)
    views = [
        ("all", len(notes), {}, not asked.one(OPEN) and not tag),
        ("without a tag", left, {OPEN: "1"}, bool(asked.one(OPEN))),
    ]
    return [(name, n, asked.but(**(NEW | fields)), on) for name, n, fields, on in views]


def _end(counts: Sequence[TagCount]) -> float:
    most = max((one.interval.high for one in counts if one.interval), default=0.0)
    most = max([most, *(one.share or 0.0 for one in counts)])
    return next(end for end in ENDS if most <= end)


def _shown(one: TagCount, scale: Scale, asked: Asked, run: str) -> ShownTag:
    low, high = (one.interval.low, one.interval.high) if one.interval else (None, None)
    return ShownTag(
        one,
        drawn(charts.strip(IntervalCell(one.share, low, high, scale))),
        asked.but(**NEW | {TAG: one.tag}),
        f"{run_path(run)}{query([(TAG, one.tag)])}#examples" if run else "",
    )
