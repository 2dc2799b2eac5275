"""Batches page: the batches of a run, as ``ragstone batches`` prints it."""

from collections.abc import Iterator

from ragstone.report.calls import cost
from ragstone.report.page import (
    Cell,
    Count,
    Heading,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    quiet,
    section,
    table,
)
from ragstone.report.panels import short_judge
from ragstone.run.batches.batch_follower import ListedBatches
from ragstone.run.batches.batch_journal import BatchState, KeptBatch

STATES: dict[BatchState, str] = {
    "noted": "not sent",
    "creating": "sent or not",
    "sent": "waiting",
    "taken": "taken",
    "refused": "refused",
    "forgotten": "given up",
}


def batches_page(found: ListedBatches) -> Page:
    """A row for each batch, and what to do next."""
    heads = ("questions", "answered", "failed", "expected", "sent")
    columns = (
        Heading("batch", key=True),
        Heading("judge"),
        Heading("state"),
        *(Heading(head) for head in heads),
    )
    rows = [
        Row(tuple(_cells(batch, age))) for batch, age in zip(found.batches, found.ages, strict=True)
    ]
    said = [quiet(line) for line in _lines(found)]
    return Page(
        "batches",
        str(found.run),
        (section(table(columns, rows), Paragraphs(tuple(said))),),
        record=lambda: _record(found),
    )


def next_step(found: ListedBatches) -> str | None:
    """The command that goes on with the run; None if it waits for nothing."""
    if not found.waits:
        return None
    return found.command or "evaluate with the same arguments"


def lasted(seconds: float) -> str:
    """A time span in words.

    >>> lasted(20), lasted(600), lasted(90_000)
    ('20 s', '10 min', '25 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.0f} h"


def _lines(found: ListedBatches) -> Iterator[str]:
    for batch in found.batches:
        if (fault := found.faults.get(batch.tag)) is not None:
            yield f"{batch.id or batch.tag}: as last known, for the provider does not say: {fault}"
        if batch.state == "creating":
            yield (
                f"{batch.id or batch.tag} was being sent when the run was stopped. Its provider's "
                "list is searched when the run goes on, and nothing is sent until then."
            )
    step = next_step(found)
    yield f"Next: {step}" if step else "Nothing is waited for."


def _cells(batch: KeptBatch, age: float) -> Iterator[Cell]:
    yield RowName(batch.id or batch.tag)
    yield short_judge(batch.model)
    state = STATES[batch.state]
    yield Phrase(
        f"{state}: {batch.said}" if batch.said and batch.said != state else state,
        "caution" if batch.waits else "quiet",
    )
    yield Count(batch.requests)
    yield Count(batch.answered)
    yield Count(batch.unanswered)
    yield cost(batch.expected) if batch.expected is not None else "–"
    yield Phrase(f"{lasted(age)} ago", "quiet")


def _record(found: ListedBatches) -> dict[str, object]:
    return {
        "run": str(found.run),
        "waiting": found.waits,
        "next": next_step(found),
        "batches": [
            {
                "id": batch.id,
                "tag": batch.tag,
                "judge": batch.model,
                "state": batch.state,
                "said": batch.said or None,
                "questions": batch.requests,
                "answered": batch.answered,
                "failed": batch.unanswered,
                "expected_usd": batch.expected,
                "seconds_ago": round(age),
                "fault": found.faults.get(batch.tag),
            }
            for batch, age in zip(found.batches, found.ages, strict=True)
        ],
    }
