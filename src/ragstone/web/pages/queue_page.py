"""Queue pages: a queue's progress, agreement and personal links, and tags for people's notes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from ragstone.annotation.annotator_agreement import Annotator
from ragstone.annotation.label_names import Ends
from ragstone.annotation.queue.form import Role
from ragstone.annotation.queue.note_tags import QueueTags, TagCount, TaggedNote
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.work_progress import QueueWork, queue_work
from ragstone.annotation.running_agreement import FigureSoFar, LabelSoFar, choice_ends
from ragstone.core.errors import InputError
from ragstone.report import charts
from ragstone.report.number_format import spoken
from ragstone.report.page import IntervalCell, Mark, Scale
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
    NotThere,
    WebPage,
    query,
    queue_path,
    run_path,
)
from ragstone.web.parts.choices_and_tabs import queue_tabs
from ragstone.web.parts.judgement_view import author_of
from ragstone.web.parts.queue_tables import HALF_WIDTH, QueueNumbers, queue_numbers
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import is_alone
from ragstone.web.templating import drawn

from .annotate_page import HERE

OF_WORK = ("skipped", "undone", "decided", "undecided", "taken over")
"""Changes that come with labelling, which are many."""

LOGGED = 50
"""Changes on a page of the log."""

SHARE = Scale(0, 1)
AROUND_CHANCE = Scale(-1, 1, (Mark(0, "chance"),))

FEWEST = 10
"""Labels of which there is a mean: of fewer it would tell who said what."""

YES, NO = "true", "false"
"""What yes and no are called where labels are combined."""

ROLES: Mapping[str, Role] = {"annotator": "annotator", "adjudicator": "adjudicator"}


@dataclass(frozen=True, slots=True)
class ShownAgreement:
    """How far people agree on a label, with what is drawn of it."""

    one: LabelSoFar
    figures: tuple[tuple[FigureSoFar, Markup], ...]
    cautions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownMean:
    """What people say of a label on average, drawn where its ends are known.

    Attributes:
        label: Its name.
        n: Examples, or parts of them, that somebody labelled.
        word: Of whose share this is; empty of a mean.
        figure: The share or the mean.
        strip: What is drawn of it.
        ends: The least and the greatest that can be said, of a mean.
    """

    label: str
    n: int
    word: str
    figure: FigureSoFar
    strip: Markup | str
    ends: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link that was made now, which nobody can read again.

    Attributes:
        person: Whose it is.
        address: To be sent to them.
        alone: Whether only this machine can open it.
        again: Whether they had one before.
    """

    person: str
    address: str
    alone: bool
    again: bool


def progress_page(place: RunsFolder, asked: Asked, link: NewLink | None = None) -> WebPage:
    """How far a queue is; with a link that was made now.

    Raises:
        NotThere: The store has no such queue.
    """
    name = asked.names["queue"]
    with place.labels_to_read() as database:
        if database is None:
            raise NotThere(f"There is no queue called {name!r}.")
        work = queue_work(database, name)
        log = Queue(database, name).events()[::-1]
    numbers = queue_numbers(place, work)
    every = bool(asked.one("every"))
    shown = [one for one in log if every or one.what not in OF_WORK]
    page = asked.list_page(len(shown), LOGGED, "log")
    labels = [_agreement(one) for one in numbers.labels if one.n_shared] if numbers else []
    form = work.form
    means = list(_means(numbers.labels, choice_ends(form))) if numbers else []
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
            "decides": any(one.role == "adjudicator" or one.decided for one in work.people),
            "numbers": numbers,
            "labels": labels,
            "cautions": _cautions([(each.one.label, each.cautions) for each in labels]),
            "means": means,
            "mean_cautions": _cautions(
                [
                    (one.label, (words(one.figure.caution),) if one.figure.caution else ())
                    for one in means
                ]
            ),
            "others": _others(numbers, work) if numbers else [],
            "axis": drawn(charts.axis(AROUND_CHANCE)),
            "share_axis": drawn(charts.axis(SHARE, quarters=True)),
            "half_width": HALF_WIDTH,
            "link": link,
            "log": [(one, EVENTS.get(one.what, one.what)) for one in shown[page.rows]],
            "page": page,
            "left_out": len(log) - len(shown),
            "every": asked.but(every="1", log=None),
            "waits": queue_path(name, "progress"),
            "tabs": queue_tabs(form),
        },
        HERE,
    )


def change_queue(place: RunsFolder, asked: Asked, form: Mapping[str, str]) -> WebPage | Elsewhere:
    """Give somebody a link, take one back, or open who said what.

    Raises:
        NotThere: The store has no such queue.
        InputError: There is no such action or role, or it is no name.
        UnknownName: Nobody of this name is in the queue.
    """
    queue = place.queue(asked.names["queue"])
    person = form.get("person", "").strip()
    match form.get("action"):
        case "invite":
            role = ROLES.get(form.get("role", ""))
            if role is None:
                raise InputError("People are annotators or adjudicators. Choose one.")
            again = any(one.name == person for one in queue.people())
            token = queue.invite(person, role)
            address = f"{asked.server}{SEATS}{token}"
            link = NewLink(person, address, is_alone(asked.server), again)
            return progress_page(place, asked, link)
        case "revoke":
            queue.revoke(person)
        case "open":
            queue.open()
        case action:
            raise InputError(f"There is no action {action!r}.")
    return Elsewhere(queue_path(queue.name, "progress"))


def _agreement(one: LabelSoFar) -> ShownAgreement:
    figures = tuple(
        (figure, _strip(figure, scale))
        for figure, scale in (
            (one.percent, SHARE), (one.kappa, AROUND_CHANCE), (one.alpha, AROUND_CHANCE)
        )
    )  # fmt: skip
    cautions = dict.fromkeys(words(figure.caution) for figure, _ in figures if figure.caution)
    return ShownAgreement(one, figures, tuple(cautions))


def _means(labels: Sequence[LabelSoFar], ends: Mapping[str, Ends]) -> Iterator[ShownMean]:
    """Of yes or no the share of yes, of other words that of each, of numbers the mean."""
    for one in labels:
        for said, figure in one.means.items():
            if figure.n < FEWEST or (said == NO and YES in one.means):
                continue
            span = None if said else ends.get(one.label)
            scale = SHARE if said else None if span is None else Scale(*span)
            strip = "" if scale is None else _strip(figure, scale)
            word = {YES: "yes", NO: "no"}.get(said, said)
            yield ShownMean(one.label, one.n_items, word, figure, strip, span)


def _cautions(labels: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, str]]:
    """Each caution once, with the labels that it is about; none are named if it is all of them."""
    found: dict[str, dict[str, None]] = {}
    for label, cautions in labels:
        for caution in cautions:
            found.setdefault(caution, {})[spoken(label)] = None
    every = len({spoken(label) for label, _ in labels})
    return [
        ("" if len(names) == every else ", ".join(names), caution)
        for caution, names in found.items()
    ]


def _strip(figure: FigureSoFar, scale: Scale) -> Markup:
    low, high = (None, None) if figure.interval is None else (
        figure.interval.low, figure.interval.high
    )  # fmt: skip
    return drawn(charts.strip(IntervalCell(figure.value, low, high, scale)))


def _others(
    numbers: QueueNumbers, work: QueueWork
) -> list[tuple[str, list[tuple[Annotator | None, Markup | str]]]]:
    """For each person and label with the others' how often they say what most others say."""
    labels = [one for one in numbers.labels if one.n_shared]
    found = []
    for person in work.people:
        cells: list[tuple[Annotator | None, Markup | str]] = []
        for label in labels:
            mine = next((one for one in label.annotators if one.name == person.name), None)
            low, high = (None, None) if mine is None or mine.interval is None else (
                mine.interval.low, mine.interval.high
            )  # fmt: skip
            value = None if mine is None else mine.agreement
            strip = drawn(charts.strip(IntervalCell(value, low, high, SHARE))) if mine else ""
            cells.append((mine, strip))
        if any(mine is not None and mine.n for mine, _ in cells):
            found.append((person.name, cells))
    return found


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


def change_tags(place: RunsFolder, asked: Asked, form: Mapping[str, str]) -> WebPage | Elsewhere:
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
