"""Annotate pages: the queues of a store, and how far one is, as a terminal shows them."""

from collections.abc import Mapping, Sequence

from ragstone.labels.queue.queue import Queue
from ragstone.report.command import command
from ragstone.report.figures import counted
from ragstone.report.page import (
    Count,
    Facts,
    Heading,
    Note,
    Page,
    Paragraphs,
    Row,
    RowName,
    quiet,
    section,
    strong,
    table,
)

SHOWN_EVENTS = 10


def queues_page(store: str, queues: Sequence[Queue]) -> Page:
    """Every queue of a store, with what it asks and how far it is."""
    columns = [Heading("queue", key=True), Heading("asks"), Heading("source"),
               Heading("labelled"), Heading("of"),
               Heading("people")]  # fmt: skip
    done = {one.name: one.counts() for one in queues}
    rows = [
        Row((
            RowName(one.name),
            ", ".join(label.label for label in one.form.asked),
            one.form.source,
            Count(done[one.name].labelled),
            Count(done[one.name].items),
            Count(len(one.people())),
        ))
        for one in queues
    ]  # fmt: skip
    empty = Paragraphs((quiet("No queue yet: ragstone annotate RUN --tasks grounding makes one."),))
    return Page(
        "annotate",
        store,
        (section(table(columns, rows) if rows else empty),),
        record=lambda: {
            "store": store,
            "queues": [_record(one) | {"people": len(one.people())} for one in queues],
        },
    )


def progress_page(queue: Queue, links: Mapping[str, str] | None = None) -> Page:
    """How far everybody is, and the last changes.

    Args:
        queue: The queue.
        links: New tokens by person, which nobody can read again.
    """
    done, form = queue.counts(), queue.form
    people, said = queue.progress(), queue.events()
    ended = {one.name for one in queue.people() if one.revoked is not None}
    asked = ", ".join(one.label for one in form.asked)
    facts = [
        Note("asks", (asked,)),
        Note("of", (form.source,)),
        Note("labelled", (strong(counted(done.labelled, "item")), quiet(f"  of {done.items:,}"))),
        Note("routing", (_routing(queue),)),
    ]
    columns = [Heading("person", key=True), Heading("labelled"),
               Heading("skipped"), Heading("left"), Heading()]  # fmt: skip
    rows = [
        Row((RowName(one.person), Count(one.saved), Count(one.skipped), Count(one.left),
             quiet("link ended") if one.person in ended else ""))
        for one in people
    ]  # fmt: skip
    log = [Heading("when (UTC)", key=True), Heading("who"), Heading("what"), Heading("about")]
    events = [
        Row((RowName(one.at[:19].replace("T", " ")), one.person or "–", one.what, one.about))
        for one in said[-SHOWN_EVENTS:]
    ]
    nobody = Paragraphs((quiet("Nobody was invited yet."),))
    new = [Note(who, (f"/a/{token}",)) for who, token in (links or {}).items()]
    begins = quiet(f"Links begin with the address that `{command('annotate', form.name)}` prints.")
    given = [section(Facts(tuple(new)), Paragraphs((begins,)), title="New links")] if new else []
    return Page(
        "annotate",
        queue.name,
        (
            section(Facts(tuple(facts))),
            *given,
            section(table(columns, rows) if rows else nobody),
            section(table(log, events), title="Last changes"),
        ),
        record=lambda: _record(queue)
        | {
            "people": [
                {"person": one.person, "labelled": one.saved, "skipped": one.skipped,
                 "left": one.left}
                for one in people
            ],
            "links": dict(links or {}),
            "events": [
                {"at": one.at, "person": one.person, "what": one.what, "about": one.about}
                for one in said
            ],
        },
    )  # fmt: skip


def _routing(queue: Queue) -> str:
    form = queue.form
    most = "all examples" if form.most is None else counted(form.most, "example")
    if form.order == "risk":
        return f"{most}, the worst scores first"
    return f"{most}, {'those in doubt likelier' if form.route == 'doubt' else 'in random order'}"


def _record(queue: Queue) -> dict[str, object]:
    done, form = queue.counts(), queue.form
    return {
        "queue": form.name,
        "source": form.source,
        "asks": [one.label for one in form.asked],
        "labelled": done.labelled,
        "items": done.items,
        "examples": form.most,
        "order": form.order,
        "route": form.route,
        "per_item": form.per_item,
        "overlap": form.overlap,
    }
