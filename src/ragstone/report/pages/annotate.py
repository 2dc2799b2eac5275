"""Annotate pages: the queues of a store, and how far one is, as a terminal shows them."""

from collections.abc import Mapping, Sequence

from ragstone.annotation.queue.form import QueueForm
from ragstone.annotation.queue.queue import QueueEvent
from ragstone.annotation.queue.work_progress import QueueWork
from ragstone.report.command import command
from ragstone.report.figures import counted
from ragstone.report.page import (
    Count,
    Facts,
    Heading,
    Note,
    Number,
    Page,
    Paragraphs,
    Row,
    RowName,
    quiet,
    section,
    table,
)
from ragstone.report.sentences.queues import (
    EVENTS,
    lacking_sentence,
    queue_sentence,
    queues_sentence,
)

SHOWN_EVENTS = 10


def queues_page(store: str, queues: Sequence[QueueWork]) -> Page:
    """Every queue of a store, with what it asks and how far it is."""
    columns = [Heading("queue", key=True), Heading("asks"), Heading("source"), Heading("labelled"),
               Heading("of"), Heading("people")]  # fmt: skip
    rows = [
        Row((RowName(one.form.name), _asks(one.form), one.form.source, Count(one.labelled),
             Count(one.items), Count(len(one.people))))
        for one in queues
    ]  # fmt: skip
    empty = Paragraphs((quiet("No queue yet: ragstone annotate RUN --tasks grounding makes one."),))
    said = [section(Paragraphs((tuple(queues_sentence(queues)),)))] if rows else []
    return Page(
        "annotate",
        store,
        (*said, section(table(columns, rows) if rows else empty)),
        record=lambda: {
            "store": store,
            "queues": [_record(one) | {"people": len(one.people)} for one in queues],
        },
    )


def progress_page(
    work: QueueWork, events: Sequence[QueueEvent], links: Mapping[str, str] | None = None
) -> Page:
    """How far a queue is, who did what, and the last changes.

    Args:
        work: How far it is.
        events: Its changes, the oldest first.
        links: New tokens by person, which nobody can read again.
    """
    form = work.form
    said = [
        tuple(queue_sentence(work)),
        *([lacking] if (lacking := lacking_sentence(work)) else []),
    ]
    facts = [
        Note("asks", (_asks(form),)),
        Note("of", (form.source,)),
        Note("routing", (_routing(form),)),
    ]
    columns = [Heading("person", key=True), Heading("labelled"), Heading("discarded"),
               Heading("skipped"), Heading("left"), Heading("an hour"), Heading()]  # fmt: skip
    rows = [
        Row((RowName(one.name), Count(one.saved), Count(one.discarded), Count(one.skipped),
             Count(one.left), Number(one.pace, places=0), quiet(_about(one.role, one.revoked))))
        for one in work.people
    ]  # fmt: skip
    log = [Heading("when (UTC)", key=True), Heading("who"), Heading("what"), Heading("about")]
    changes = [
        Row((RowName(one.at[:19].replace("T", " ")), one.person or "–",
             EVENTS.get(one.what, one.what), one.about))
        for one in events[-SHOWN_EVENTS:]
    ]  # fmt: skip
    new = [Note(who, (f"/a/{token}",)) for who, token in (links or {}).items()]
    begins = quiet(f"Links begin with the address that `{command('annotate', form.name)}` prints.")
    given = [section(Facts(tuple(new)), Paragraphs((begins,)), title="New links")] if new else []
    return Page(
        "annotate",
        form.name,
        (
            section(Paragraphs(tuple(said))),
            section(Facts(tuple(facts))),
            *given,
            *([section(table(columns, rows))] if rows else []),
            section(table(log, changes), title="Last changes"),
        ),
        record=lambda: _record(work)
        | {
            "people": [
                {"person": one.name, "role": one.role, "labelled": one.saved,
                 "discarded": one.discarded, "skipped": one.skipped, "left": one.left,
                 "an_hour": one.pace, "revoked": one.revoked}
                for one in work.people
            ],
            "links": dict(links or {}),
            "events": [
                {"at": one.at, "person": one.person, "what": one.what, "about": one.about}
                for one in events
            ],
        },
    )  # fmt: skip


def _asks(form: QueueForm) -> str:
    return ", ".join(one.label for one in form.asked)


def _about(role: str, revoked: str | None) -> str:
    words = [role] if role != "annotator" else []
    return ", ".join([*words, "link ended"] if revoked is not None else words)


def _routing(form: QueueForm) -> str:
    most = "all examples" if form.most is None else counted(form.most, "example")
    if form.order == "risk":
        return f"{most}, the worst scores first"
    return f"{most}, {'those in doubt likelier' if form.route == 'doubt' else 'in random order'}"


def _record(work: QueueWork) -> dict[str, object]:
    form = work.form
    return {
        "queue": form.name,
        "source": form.source,
        "asks": [one.label for one in form.asked],
        "labelled": work.labelled,
        "finished": work.finished,
        "items": work.items,
        "hours_left": work.hours,
        "examples": form.most,
        "order": form.order,
        "route": form.route,
        "per_item": form.per_item,
        "overlap": form.overlap,
        "chosen": form.chosen,
    }
