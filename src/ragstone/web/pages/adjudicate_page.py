"""Adjudicate: who decides sees what divides people, side by side, and has the last word."""

from collections.abc import Mapping
from dataclasses import replace
from secrets import token_urlsafe
from typing import Any

from starlette.responses import Response

from ragstone.annotation.queue.form import ItemAnswers, QueueItem, outline_of
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.queue_results import (
    DisputedItem,
    decision_faults,
    divided_item,
    divided_items,
)
from ragstone.core.errors import InputError, UnknownName
from ragstone.report.number_format import counted
from ragstone.web.page_request import (
    Asked,
    Elsewhere,
    NotThere,
    WebPage,
    query,
    queue_path,
    whole_number,
)
from ragstone.web.parts import annotation_form
from ragstone.web.parts.annotation_form import label_title
from ragstone.web.parts.choices_and_tabs import choice, queue_tabs
from ragstone.web.parts.judgement_view import author_cookie, author_of
from ragstone.web.parts.queue_tables import sides_of
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View

from . import annotate_page
from .annotate_page import HERE, ITEM, ITEMS, LANGUAGE, MORE

# Items on a page of the list.
A_PAGE = 50

# Items in the list that opens over an item.
MOST_OFFERED = 200

# Characters of a question in the list.
SHORT = 240

# The fields of the address: only items that divide people on this label; the next open one; with
# all labels on the sheet; open ones or decided ones.
LABEL, NEXT, ALL, STATE = "label", "next", "all", "state"


class Bench:
    """The place of who decides at a queue, for one request."""

    def __init__(self, request: Asked, queue: Queue) -> None:
        person = request.person
        if person is not None and (person.role != "adjudicator" or person.queue != queue.name):
            raise NotThere("This page is for those who decide where people differ.")
        self.asked, self.queue = request, queue
        self.is_owner = person is None
        self.name = author_of(request) if person is None else person.name
        self.label = request.one(LABEL)
        self.items = [
            item
            for item in divided_items(queue)
            if not self.label or any(each.label == self.label for each in item.labels)
        ]

    @property
    def open(self) -> list[DisputedItem]:
        """The items that are not decided."""
        return [item for item in self.items if item.is_open]

    def path(self, item: int | None = None, field: str = "") -> str:
        """Return the address of an item, or of the list, that keeps what it was chosen by."""
        fields = [(LABEL, self.label)] if self.label else []
        fields += [(field, "1")] if field else []
        return f"{self.address(*([] if item is None else [item]))}{query(fields)}"

    def address(self, *item: int) -> str:
        """Return the address of an item, or of the list, alone."""
        return queue_path(self.queue.name, "adjudicate", *item)

    def after(self, item: int | None) -> DisputedItem | None:
        """Return the next that is open, behind this one or else from the start."""
        numbers = [item.item for item in self.items]
        at = numbers.index(item) + 1 if item in numbers else 0
        following = [*self.items[at:], *self.items[:at]]
        return next((each for each in following if each.is_open and each.item != item), None)


def list_page(folder: RunsFolder, request: Asked) -> WebPage | Elsewhere:
    """Show the items that divide people, the most divided first; or the next one to decide."""
    with folder.queue_to_read(request.names["queue"]) as (_, queue):
        bench = Bench(request, queue)
        if request.part == ITEMS:
            items = [_row(bench, item) for item in bench.items[:MOST_OFFERED]]
            return WebPage("adjudicate_items.html", queue.name, {"items": items})
        if request.one(NEXT) or request.part == ITEM:
            return _shown(bench, bench.after(None))
        return _listed(bench)


def item_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show an item with what people said of it, and the sheet to decide it."""
    with folder.queue_to_read(request.names["queue"]) as (_, queue):
        bench = Bench(request, queue)
        divided = _divided(bench, request.names["item"])
        if request.part == MORE:
            return annotate_page.rest_of_text(
                request, queue, divided.item, bench.address(divided.item)
            )
        return _shown(bench, divided)


def decide(
    folder: RunsFolder, request: Asked, fields: Mapping[str, str]
) -> WebPage | Elsewhere | Response:
    """Keep a decision, take one back, or go on without; the next item follows.

    The item again, with 422, where it cannot be decided so.
    """
    bench = Bench(request, folder.queue(request.names["queue"]))
    if not bench.is_owner:
        annotate_page.check_person(fields, bench.name)
    action = fields.get("action")
    if action == "hold":
        return Response(media_type="text/plain")
    if action == "undo":
        return _undone(bench)
    divided = _divided(bench, request.names.get("item", fields.get("item", "")))
    if action == "skip":
        return _next(bench, divided.item)
    if action not in ("save", "discard"):
        raise InputError(f"There is no action {action!r}.")
    if bench.is_owner:
        bench.name = " ".join(fields.get("author", "").split()) or bench.name
    return _saved(bench, divided, fields, discards=action == "discard")


def _saved(
    bench: Bench, divided: DisputedItem, fields: Mapping[str, str], *, discards: bool
) -> WebPage | Elsewhere:
    form, item = bench.queue.form, bench.queue.item(divided.item)
    answers = annotation_form.answers_of(fields, form, item)
    decision = answers
    if discards:
        decision = ItemAnswers(note=answers.note, discarded=annotation_form.reason_of(fields))
    problems = []
    if not bench.name:
        problems = ["Say who decides: your name."]
    elif decision.is_empty:
        problems = ["Say why nothing can be said of it." if discards else "Decide something first."]
    faults = decision_faults(form, item, divided, decision)
    warned = not problems and all(fault.severity == "warn" for fault in faults)
    if problems or (faults and not (warned and fields.get("keep"))):
        problems += [annotation_form.fault_words(fault, form, item) for fault in faults]
        tried = {"faults": problems, "warned": warned, "discarding": discards}
        return _shown(bench, divided, answers, status=422, **tried)
    once = fields.get("once") or token_urlsafe(12)
    bench.queue.decide(bench.name, item.item, decision, once)
    return _next(Bench(bench.asked, bench.queue), item.item, bench)


def _undone(bench: Bench) -> WebPage | Elsewhere:
    mine = [
        decision
        for decision in bench.queue.said()
        if decision.role == "adjudicator" and decision.person == bench.name
    ]
    if not mine:
        return _shown(bench, bench.after(None), notice="There is nothing to take back.")
    last = mine[-1]
    bench.queue.decide(bench.name, last.item, ItemAnswers(), token_urlsafe(12))
    if bench.asked.part != ITEM:
        return Elsewhere(bench.path(last.item))
    bench = Bench(bench.asked, bench.queue)
    return _shown(bench, _divided(bench, last.item), last.answers)


def _next(bench: Bench, item: int, before: Bench | None = None) -> WebPage | Elsewhere:
    """Show the next open item; ``before`` is who decided, whose name the browser keeps."""
    cookies = author_cookie(before.name) if before is not None and before.is_owner else {}
    following = bench.after(item)
    if bench.asked.part != ITEM:
        address = bench.path(field=NEXT) if following is None else bench.path(following.item)
        return Elsewhere(address, cookies)
    return replace(_shown(bench, following), cookies=cookies)


def _divided(bench: Bench, number: object) -> DisputedItem:
    at = whole_number(number)
    if at is None:
        raise UnknownName("item", str(number), ())
    known = next((item for item in bench.items if item.item == at), None)
    return known or divided_item(bench.queue, at)


def _shown(
    bench: Bench,
    divided: DisputedItem | None,
    tried: ItemAnswers | None = None,
    *,
    status: int = 200,
    **more: object,
) -> WebPage:
    """Return the page of an item; ``more``: what went wrong when ``tried`` was to be saved."""
    request, form = bench.asked, bench.queue.form
    guideline = annotate_page.guideline_in(
        form, request.one("language", request.cookies.get(LANGUAGE, ""))
    )
    shows: dict[str, Any] = {
        "queue": form.name,
        "person": bench.name,
        "is_owner": bench.is_owner,
        "path": bench.path(field=NEXT),
        "up": bench.path(),
        "progress": {"saved": len(bench.items) - len(bench.open), "all": len(bench.items)},
        "guideline": guideline,
        "guideline_open": bool(request.one("guideline")),
        **annotate_page.NOTHING_WRONG,
        **more,
        "desk": None,
        "closed": True,
    }
    if divided is not None:
        item = bench.queue.item(divided.item)
        mine = divided.decision_of(bench.name)
        whole = bool(request.one(ALL)) or not divided.labels
        sides = sides_of(form, item, divided)
        shows |= {
            "desk": _desk(bench, item, divided, mine if tried is None else tried, whole=whole),
            "sides": sides,
            "votes": sides["votes"],
            "hint": "",
            "seen": 0,
            "state": "given",
            "more": annotate_page.more_of_text(bench.address(item.item)),
            "item_path": bench.path(item.item, ALL if whole else ""),
            "with_all": "" if whole else bench.path(item.item, ALL),
            "once": token_urlsafe(12),
            "discarded": mine.discarded,
            "usual": annotation_form.USUAL,
            "decided": not mine.is_empty,
        }
    template = "adjudicate_item.html" if request.part == ITEM else "adjudicate.html"
    return WebPage(template, f"Adjudicate {form.name}", shows, HERE, status=status)


def _desk(
    bench: Bench, item: QueueItem, divided: DisputedItem, answers: ItemAnswers, *, whole: bool
) -> View:
    open_labels = {(label.part, label.label) for label in divided.labels}
    only = None if whole else open_labels
    desk = annotation_form.desk_of(bench.queue.form, item, answers, bench.asked, only)
    for part in desk["parts"]:
        for label in part["labels"]:
            key = ((part["unit"], part["name"]), label["label"])
            label |= {"required": key in open_labels, "help": ""}
    parts = desk["parts"]
    count = sum(len(part["labels"]) for part in parts)
    return desk | {"title": parts[0]["title"] if len(parts) == 1 else counted(count, "label")}


def _listed(bench: Bench) -> WebPage:
    request, form = bench.asked, bench.queue.form
    left = bench.open
    state = request.one(STATE, "open" if left else "")
    chosen = {"open": left, "decided": [item for item in bench.items if not item.is_open]}.get(
        state, bench.items
    )
    page = request.list_page(len(chosen), A_PAGE)
    following = bench.after(None)
    every = divided_items(bench.queue) if bench.label else bench.items
    labels = {each.label: label_title(each.label) for item in every for each in item.labels}
    counts = (len(left), len(bench.items) - len(left), len(bench.items))
    return WebPage(
        "adjudicate_list.html",
        f"Adjudicate {form.name}",
        {
            "queue": form.name,
            "person": bench.name,
            "is_owner": bench.is_owner,
            "tabs": queue_tabs(form),
            "items": [_row(bench, item) for item in chosen[page.rows]],
            "page": page,
            "first": None if following is None else bench.path(following.item),
            "counts": counts,
            "state": state,
            "ways": choice(
                request, LABEL, "Label", [("", "any label"), *labels.items()], bench.label, "items"
            )
            if len(labels) > 1
            else None,
        },
        HERE,
    )


def _row(bench: Bench, item: DisputedItem) -> View:
    queue_item = bench.queue.item(item.item)
    text = outline_of(queue_item.shown, queue_item.parts) or f"Item {item.item}"
    first = item.labels[:3]
    votes = [
        (
            label_title(each.label),
            tuple(
                (value or "discarded", list(each.said.values()).count(value))
                for value in dict.fromkeys(each.said.values())
            ),
        )
        for each in first
    ]
    who = ", ".join(dict.fromkeys(each.person for each in item.decisions))
    return {
        "item": item.item,
        "path": bench.path(item.item),
        "text": text[:SHORT],
        "labels": votes,
        "more": len(item.labels) - len(first),
        "decided": "" if item.is_open else who,
    }
