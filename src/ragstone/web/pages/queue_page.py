"""Queue pages: a queue's progress, agreement and personal links, and tags for people's notes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from ragstone.annotation.annotator_agreement import Annotator
from ragstone.annotation.label_names import Ends
from ragstone.annotation.queue.form import Role
from ragstone.annotation.queue.note_tags import QueueTags, TagCount, TaggedNote
from ragstone.annotation.queue.work_progress import QueueWork, queue_work
from ragstone.annotation.running_agreement import FigureSoFar, LabelSoFar, choice_ends
from ragstone.core.errors import InputError
from ragstone.report.number_format import spoken
from ragstone.report.page import Scale
from ragstone.report.reason_words import words
from ragstone.report.sentences.judge_words import (
    EVENTS,
    asked_in_words,
    item_noun,
    lacking_sentence,
    order_in_words,
    people_in_words,
    queue_sentence,
)
from ragstone.web.auth import SEATS
from ragstone.web.page_request import (
    Asked,
    Elsewhere,
    WebPage,
    query,
    queue_path,
    run_path,
    whole_number,
)
from ragstone.web.parts.choices_and_tabs import queue_tabs
from ragstone.web.parts.judgement_view import author_of
from ragstone.web.parts.queue_tables import HALF_WIDTH, queue_numbers
from ragstone.web.runs_folder import RunsFolder, run_of_queue
from ragstone.web.security import is_alone
from ragstone.web.templating import SHARE, View

from .annotate_page import HERE

# Changes that come with labelling, which are many.
OF_WORK = ("skipped", "undone", "decided", "undecided", "taken over")

# Changes on a page of the log.
LOGGED = 50

# Labels of which there is a mean: of fewer it would tell who said what.
FEWEST = 10

# What yes and no are called where labels are combined.
YES, NO = "true", "false"

ROLES: Mapping[str, Role] = {"annotator": "annotator", "adjudicator": "adjudicator"}


def progress_page(folder: RunsFolder, request: Asked, link: View | None = None) -> WebPage:
    """Show how far a queue is, with a link that was made now."""
    name = request.names["queue"]
    with folder.queue_to_read(name) as (database, queue):
        work = queue_work(database, name)
        log = queue.events()[::-1]
    numbers = queue_numbers(folder, work)
    every = bool(request.one("every"))
    events = [event for event in log if every or event.what not in OF_WORK]
    page = request.list_page(len(events), LOGGED, "log")
    every_label, needed = numbers or ((), ())
    labels = [label for label in every_label if label.n_shared]
    form = work.form
    means = list(_means(every_label, choice_ends(form)))
    return WebPage(
        "queue_progress.html",
        name,
        {
            "queue": name,
            "work": work,
            "noun": item_noun(form),
            "facts": (asked_in_words(form), people_in_words(form), order_in_words(form)),
            "said": queue_sentence(work),
            "lacking": lacking_sentence(work) if work.people else "",
            "decides": any(each.role == "adjudicator" or each.decided for each in work.people),
            "ready": numbers is not None,
            "needed": needed,
            "labels": labels,
            "cautions": _cautions(
                (label.label, figure)
                for label in labels
                for figure in (label.percent, label.kappa, label.alpha)
            ),
            "means": means,
            "mean_cautions": _cautions((mean["label"], mean["figure"]) for mean in means),
            "others": _others(labels, work),
            "half_width": HALF_WIDTH,
            "link": link,
            "log": [(event, EVENTS.get(event.what, event.what)) for event in events[page.rows]],
            "page": page,
            "left_out": len(log) - len(events),
            "every": request.but(every="1", log=None),
            "waits": queue_path(name, "progress"),
            "tabs": queue_tabs(form),
        },
        HERE,
    )


def change_queue(
    folder: RunsFolder, request: Asked, form: Mapping[str, str]
) -> WebPage | Elsewhere:
    """Give somebody a link, take one back, or open who said what."""
    queue = folder.queue(request.names["queue"])
    person = form.get("person", "").strip()
    match form.get("action"):
        case "invite":
            role = ROLES.get(form.get("role", ""))
            if role is None:
                raise InputError("People are annotators or adjudicators. Choose one.")
            again = any(known.name == person for known in queue.people())
            token = queue.invite(person, role)
            address = f"{request.server}{SEATS}{token}"
            alone = is_alone(request.server)
            link = {"person": person, "address": address, "alone": alone, "again": again}
            return progress_page(folder, request, link)
        case "revoke":
            queue.revoke(person)
        case "open":
            queue.open()
        case action:
            raise InputError(f"There is no action {action!r}.")
    return Elsewhere(queue_path(queue.name, "progress"))


def _means(labels: Sequence[LabelSoFar], ends: Mapping[str, Ends]) -> Iterator[View]:
    """Yield of yes or no the share of yes, of other words that of each, of numbers the mean."""
    for label in labels:
        for value, figure in label.means.items():
            if figure.n < FEWEST or (value == NO and YES in label.means):
                continue
            span = None if value else ends.get(label.label)
            yield {
                "label": label.label,
                "n": label.n_items,
                "word": {YES: "yes", NO: "no"}.get(value, value),
                "figure": figure,
                "scale": SHARE if value else None if span is None else Scale(*span),
                "ends": span,
            }


def _cautions(figures: Iterable[tuple[str, FigureSoFar]]) -> list[tuple[str, str]]:
    """Return each caution once with the labels that it is about; none are named if all are."""
    about: dict[str, dict[str, None]] = {}
    every = set()
    for label, figure in figures:
        every.add(spoken(label))
        if figure.caution:
            about.setdefault(words(figure.caution), {})[spoken(label)] = None
    return [
        ("" if len(names) == len(every) else ", ".join(names), caution)
        for caution, names in about.items()
    ]


def _others(
    labels: Sequence[LabelSoFar], work: QueueWork
) -> list[tuple[str, list[Annotator | None]]]:
    rows = []
    for person in work.people:
        mine = [
            next((each for each in label.annotators if each.name == person.name), None)
            for label in labels
        ]
        if any(each is not None and each.n for each in mine):
            rows.append((person.name, mine))
    return rows


# Items with notes on a page.
ITEMS = 50

# The fields of the address that choose notes: those with a tag, those without any.
TAG, OPEN = "tag", "open"

# What other notes are chosen without.
NEW = {OPEN: None, TAG: None, "page": None, "at": None}

# Where the axis of the shares may end.
ENDS = (0.25, 0.5, 1.0)


def tags_page(folder: RunsFolder, request: Asked, trouble: str = "", status: int = 200) -> WebPage:
    """Show the notes of a queue and its tags."""
    name = request.names["queue"]
    with folder.queue_to_read(name) as (database, queue):
        tags = QueueTags(database, queue)
        notes, counts, chances = tags.notes(), tags.counts(), queue.inclusion() or {}
    chosen = _chosen(notes, request)
    page = request.list_page(len(chosen), ITEMS)
    scale = Scale(0, _end(counts))
    run = run_of_queue(folder, queue.form)
    return WebPage(
        "failure_tags.html",
        f"Failure tags of {queue.name}",
        {
            "queue": queue.name,
            "items": chosen[page.rows],
            "page": page,
            "views": _views(notes, request),
            "tag": request.one(TAG),
            "all": len(notes),
            "tags": counts,
            "scale": scale,
            "notes_of": lambda tag: request.but(**NEW | {TAG: tag}),
            "in_run": lambda tag: f"{run_path(run)}{query([(TAG, tag)])}#examples" if run else "",
            "why": next((words(count.why) for count in counts if count.why), ""),
            "labelled": counts[0].labelled if counts else 0,
            "weighted": len({*chances.values()}) > 1,
            "tabs": queue_tabs(queue.form),
            "trouble": trouble,
            "post": request.but(at=None),
            "at": request.one("at"),
        },
        HERE,
        status=status,
    )


def change_tags(folder: RunsFolder, request: Asked, form: Mapping[str, str]) -> WebPage | Elsewhere:
    """Tag an item, or change a tag; the page again, with 422, where that cannot be."""
    queue = folder.queue(request.names["queue"])
    tags, by = QueueTags(folder.labels(), queue), author_of(request)
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
        return tags_page(folder, request, error.text, 422)
    fields = {} if request.one(TAG) in tags.names() else {TAG: None}
    at = f"#item-{item}" if item else ""
    return Elsewhere(f"{request.but(**fields, at=item)}{at}")


def _number(text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise InputError(f"{text!r} is no item.")
    return number


def _chosen(notes: Sequence[TaggedNote], request: Asked) -> list[list[TaggedNote]]:
    tag = request.one(TAG)
    if request.one(OPEN):
        notes = [note for note in notes if not note.tags]
    elif tag:
        notes = [note for note in notes if tag in note.tags]
    return [list(several) for _, several in groupby(notes, lambda note: note.item)]


def _views(notes: Sequence[TaggedNote], request: Asked) -> list[tuple[str, int, str, bool]]:
    left, tag = sum(not note.tags for note in notes), request.one(TAG)
    views = [
        ("all", len(notes), {}, not request.one(OPEN) and not tag),
        ("without a tag", left, {OPEN: "1"}, bool(request.one(OPEN))),
    ]
    return [(name, n, request.but(**(NEW | fields)), on) for name, n, fields, on in views]


def _end(counts: Sequence[TagCount]) -> float:
    most = max((count.interval.high for count in counts if count.interval), default=0.0)
    most = max([most, *(count.share or 0.0 for count in counts)])
    return next(end for end in ENDS if most <= end)
