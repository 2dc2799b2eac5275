"""Annotate pages: a person labels their queue by its guideline; queues, links and all labels."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.responses import Response

from ragstone.annotation.queue.form import ItemAnswers, QueueForm, QueueItem, answer_faults
from ragstone.annotation.queue.queue import Queue, queues
from ragstone.annotation.queue.work_progress import MyWork, queue_work
from ragstone.core.errors import InputError, LabelConflict
from ragstone.core.escape import visible
from ragstone.report.sentences.judge_words import asked_in_words, item_noun, queues_sentence
from ragstone.web.auth import PERSON, SeatedPerson
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
from ragstone.web.parts.choices_and_tabs import queue_tabs
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View

# The parts of the page that a browser replaces: the item, the list of one's own, a text's rest.
ITEM, ITEMS, MORE = "item", "items", "more"

# What the page of an item tells where nothing was to be saved.
NOTHING_WRONG: Mapping[str, object] = {
    "notice": "", "faults": (), "warned": False, "discarding": False,
}  # fmt: skip

LANGUAGE = "ragstone-language"
# Characters of instructions that stand above the labels, too.
HINT = 160


class Seat:
    """A person at a queue, for one request."""

    def __init__(self, folder: RunsFolder, request: Asked, person: SeatedPerson) -> None:
        self.asked = request
        self.person = person.name
        self.queue = folder.queue(person.queue)
        self.own = MyWork(folder.labels(), self.queue, person.name)
        self.path = queue_path(person.queue)


def next_page(folder: RunsFolder, request: Asked) -> WebPage | Elsewhere:
    """Show the item that a person has to label now; an owner sees how far the queue is."""
    seat = _seat(folder, request)
    if isinstance(seat, Elsewhere):
        return seat
    if request.part == ITEMS or request.one(ITEMS):
        return _items(seat)
    return _shown(seat, seat.queue.next(seat.person))


def item_page(folder: RunsFolder, request: Asked) -> WebPage | Elsewhere:
    """Show an item that a person was given, with what they said of it."""
    seat = _seat(folder, request)
    if isinstance(seat, Elsewhere):
        return seat
    item = _given(seat, request.names["item"])
    if request.part == MORE:
        here = queue_path(seat.queue.name, item.item)
        return rest_of_text(request, seat.queue, item.item, here)
    return _shown(seat, item)


def rest_of_text(request: Asked, queue: Queue, item: int, here: str) -> WebPage:
    """Return more of a text of an item, which is at the address ``here``."""
    name, start = request.one("part"), request.number("from", 0)
    pieces = annotation_form.piece_of(queue.item(item), name, start)
    shows = {"pieces": pieces, "name": name, "more": more_of_text(here)}
    return WebPage("annotate_piece.html", queue.name, shows)


def act(
    folder: RunsFolder, request: Asked, fields: Mapping[str, str]
) -> WebPage | Elsewhere | Response:
    """Save, skip or discard an item, or take the last one back; the next one follows.

    The item again, with 409 or 422, where it cannot be saved so. Who is still at an item holds it.
    """
    seat = _seat(folder, request)
    if isinstance(seat, Elsewhere):
        return seat
    check_person(fields, seat.person)
    action = fields.get("action")
    if action == "undo":
        return _undone(seat)
    item = _given(seat, request.names.get("item", fields.get("item", "")))
    if action == "hold":
        seat.queue.hold(seat.person, item.item)
        return Response(media_type="text/plain")
    if action == "skip":
        return _next(seat, seat.queue.skip(seat.person, item.item))
    if action not in ("save", "discard"):
        raise InputError(f"There is no action {action!r}.")
    return _saved(seat, item, fields, discards=action == "discard")


def _saved(
    seat: Seat, item: QueueItem, fields: Mapping[str, str], *, discards: bool
) -> WebPage | Elsewhere:
    form = seat.queue.form
    answers = annotation_form.answers_of(fields, form, item)
    saved = answers
    if discards:
        saved = ItemAnswers(note=answers.note, discarded=annotation_form.reason_of(fields))
        if not saved.discarded:
            why = "Say why nothing can be said of it."
            return _shown(seat, item, answers, faults=[why], discarding=True, status=422)
    faults = answer_faults(form, item, saved)
    warned = all(fault.severity == "warn" for fault in faults)
    if faults and not (warned and fields.get("keep")):
        problems = [annotation_form.fault_words(fault, form, item) for fault in faults]
        return _shown(seat, item, answers, faults=problems, warned=warned, status=422)
    once = fields.get("once") or token_urlsafe(12)
    seen = fields.get("seen", "")
    try:
        following = seat.queue.save(seat.person, item.item, saved, once, whole_number(seen))
    except LabelConflict:
        return _shown(seat, item, answers, notice=_conflict(seat, item, saved), status=409)
    return _next(seat, following)


def _conflict(seat: Seat, item: QueueItem, answers: ItemAnswers) -> str:
    word = seat.own.word(item.item)
    earlier = word.answers if word and word.answers else ItemAnswers()
    if earlier.discarded:
        words = f"discarded it: {earlier.discarded}"
    else:
        differing = [
            f"{label_title(label)} {value}"
            for part, labels in earlier.labels.items()
            for label, value in labels.items()
            if answers.labels.get(part, {}).get(label) != value
        ]
        words = f"said {', '.join(differing)}" if differing else "noted something else"
    return (
        f"You saved this item in another window after you opened it here, and {words}. That is "
        "kept. Save again to say what stands here instead, or go on to the next item."
    )


def _undone(seat: Seat) -> WebPage | Elsewhere:
    undone = seat.queue.undo(seat.person)
    if undone is None:
        notice = "There is nothing to take back."
        return _shown(seat, seat.queue.next(seat.person), notice=notice)
    return _next(seat, undone[0])


def _next(seat: Seat, item: QueueItem | None) -> WebPage | Elsewhere:
    return _shown(seat, item) if seat.asked.part == ITEM else Elsewhere(seat.path)


def _seat(folder: RunsFolder, request: Asked) -> Seat | Elsewhere:
    """Return who asks, or where to send an owner and an adjudicator, who have other pages."""
    person = request.person
    if person is None:
        return Elsewhere(queue_path(request.names["queue"], "progress"))
    if person.role == "adjudicator":
        return Elsewhere(queue_path(person.queue, "adjudicate"))
    return Seat(folder, request, person)


def _given(seat: Seat, number: object) -> QueueItem:
    item = whole_number(number)
    if item is None or seat.own.word(item) is None:
        raise NotThere("This item is not one of yours.")
    return seat.queue.item(item)


def _shown(
    seat: Seat,
    item: QueueItem | None,
    tried: ItemAnswers | None = None,
    *,
    status: int = 200,
    **more: object,
) -> WebPage:
    """Return the page of an item; ``more``: what went wrong when ``tried`` was to be saved."""
    request, form = seat.asked, seat.queue.form
    language = request.one("language", request.cookies.get(LANGUAGE, ""))
    shows: dict[str, Any] = {
        "queue": seat.queue.name,
        "person": seat.person,
        "path": seat.path,
        "progress": seat.own.progress(),
        "guideline": guideline_in(form, language),
        "guideline_open": bool(request.one("guideline")),
        **NOTHING_WRONG,
        **more,
        "closed": False,
        "desk": None,
    }
    if item is None:
        others = seat.own.with_others()
        shows |= {"others": others, "mine": seat.own.items(), "closed": not others}
    else:
        word = seat.own.word(item.item)
        earlier = (word.answers if word else None) or ItemAnswers()
        if earlier.discarded and not shows["notice"]:
            why = earlier.discarded
            shows["notice"] = f"You discarded this item: {why}. Save it to say something."
        shows |= {
            "desk": annotation_form.desk_of(
                form, item, earlier if tried is None else tried, request
            ),
            "more": more_of_text(queue_path(seat.queue.name, item.item)),
            "item_path": queue_path(seat.queue.name, item.item),
            "seen": word.version if word else 0,
            "state": word.state if word else "",
            "once": token_urlsafe(12),
            "discarded": earlier.discarded,
            "usual": annotation_form.USUAL,
            "hint": _hint(form.instructions),
            "votes": {},
        }
    chosen = request.one("language") in form.guidelines
    cookies = {LANGUAGE: (request.one("language"), "/annotate")} if chosen else {}
    template = "annotate_item.html" if request.part == ITEM else "annotate.html"
    return WebPage(template, seat.queue.name, shows, "Annotate", cookies, status=status)


def _hint(instructions: str) -> str:
    line = instructions.strip()
    return line if len(line) <= HINT and line.isprintable() else ""


def _items(seat: Seat) -> WebPage:
    shows = {"items": seat.own.items(), "queue": seat.queue.name, "path": seat.path,
             "person": seat.person}  # fmt: skip
    template = "annotate_items.html" if seat.asked.part == ITEMS else "annotate_list.html"
    return WebPage(template, "My items", shows, "Annotate")


def more_of_text(here: str) -> Callable[[str, int], str]:
    """Return a function that gives the address of the rest of a text of an item."""
    return lambda name, start: f"{here}{query([('part', name), ('from', str(start))])}"


def check_person(fields: Mapping[str, str], person: str) -> None:
    """See that a form is of the person whose link the browser has."""
    other = fields.get("person", person)
    if other != person:
        raise InputError(
            f"This page is {other}'s, but {person}'s link was opened in this browser since. What "
            f"is on the page is not saved: open the link of {other} again, and repeat."
        )


# Headings, lists, emphasis and code; nothing that loads or leads anywhere.
PARSER = MarkdownIt("commonmark", {"html": False}).disable(
    ["autolink", "html_block", "html_inline", "image", "link", "reference"]
)

# What a browser calls the languages that the guidelines come in.
CODES = {"english": "en", "german": "de"}


def guideline_in(form: QueueForm, language: str) -> View:
    """Return the guideline of a queue in a language, or in the first that it comes in."""
    known: Mapping[str, str] = {name.casefold(): name for name in form.guidelines}
    chosen = known.get(language.casefold()) or next(iter(form.guidelines), "")
    instructions, text = rendered(form.instructions), rendered(form.guidelines.get(chosen, ""))
    return {
        "language": chosen,
        "code": CODES.get(chosen.casefold(), ""),
        "languages": list(form.guidelines),
        "instructions": instructions,
        "text": text,
        "is_empty": not (instructions or text),
    }


@lru_cache(maxsize=64)
def rendered(markdown: str) -> Markup:
    """Write Markdown as HTML that loads nothing and leads nowhere; its headings start at ``h3``."""
    tokens = PARSER.parse(visible(markdown))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
    return Markup(PARSER.renderer.render(tokens, PARSER.options, {}))


QUEUES_A_PAGE = 20
HERE = "Annotate"


def queues_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show every queue of the store, the newest first."""
    with folder.labels_to_read() as database:
        names = [queue.name for queue in queues(database)][::-1] if database else []
        page = request.list_page(len(names), QUEUES_A_PAGE)
        works = [queue_work(database, name) for name in names[page.rows]] if database else []
    runs = [run.path.name for run in folder.runs()[:1]]
    return WebPage(
        "queues.html",
        "Queues",
        {
            "works": works,
            "asks": asked_in_words,
            "noun": item_noun,
            "source": lambda form: Path(form.source).name,
            "count": len(names),
            "page": page,
            "said": queues_sentence(works) if len(works) == len(names) else [],
            "example": f"{folder.folder / runs[0]}" if runs else "DATA.jsonl",
        },
        HERE,
    )


def come(folder: RunsFolder, request: Asked) -> WebPage | Elsewhere:
    """Keep a person's token in their browser, and show what they label; say so if nobody has it."""
    token = request.names["token"]
    person = folder.person(token)
    if person is None:
        lines = [
            "It was taken back, replaced by a newer one, or not copied whole.",
            "Ask whoever sent it to you for a new link. What you saved is kept.",
        ]
        return WebPage("refused.html", "This link opens nothing", {"lines": lines}, status=404)
    return Elsewhere(queue_path(person.queue), {PERSON: (token, "/")})


def leave(_place: RunsFolder, _asked: Asked, _form: Mapping[str, str]) -> WebPage:
    """Forget the link that this browser keeps."""
    lines = ["This browser no longer has your link.", "To go on, open the link again."]
    return WebPage("refused.html", "Forgotten", {"lines": lines}, cookies={PERSON: ("", "/")})


ANSWERS_A_PAGE = 50


def said_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show what everybody said, the newest first."""
    name = request.names["queue"]
    with folder.queue_to_read(name) as (_, queue):
        if not queue.form.opened:
            raise InputError(f"Who said what in {name!r} is closed. Open it on its page first.")
        answers = sorted(queue.said(), key=lambda answer: answer.at, reverse=True)
    page = request.list_page(len(answers), ANSWERS_A_PAGE)
    return WebPage(
        "queue_said.html",
        f"Who said what in {name}",
        {
            "queue": name,
            "said": answers[page.rows],
            "count": len(answers),
            "page": page,
            "tabs": queue_tabs(queue.form),
        },
        HERE,
    )
