"""Queues: what people label, and how far each queue is."""

from dataclasses import dataclass
from pathlib import Path

from ragstone.annotation.queue.queue import queues
from ragstone.annotation.queue.work_progress import QueueWork, queue_work
from ragstone.report.sentences.judge_words import asked_in_words, item_noun, queues_sentence
from ragstone.web.asked import Asked, queue_path
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.web_page import WebPage

A_PAGE = 20
HERE = "Annotate"


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A queue in the list."""

    work: QueueWork
    path: str
    asks: str
    noun: str
    source: str

    @property
    def pace(self) -> float:
        """Items that everybody at work labels in an hour, together."""
        return sum(one.pace or 0.0 for one in self.work.at_work)


def queues_page(place: RunsFolder, asked: Asked) -> WebPage:
    """Every queue of the store, the newest first."""
    with place.labels_to_read() as database:
        names = [one.name for one in queues(database)][::-1] if database else []
        page = asked.list_page(len(names), A_PAGE)
        rows = [_row(queue_work(database, one)) for one in names[page.rows]] if database else []
    runs = [one.path.name for one in place.runs()[:1]]
    return WebPage(
        "queues.html",
        "Queues",
        {
            "rows": rows,
            "count": len(names),
            "page": page,
            "said": queues_sentence([one.work for one in rows]) if len(rows) == len(names) else [],
            "example": f"{place.folder / runs[0]}" if runs else "DATA.jsonl",
        },
        HERE,
    )


def _row(work: QueueWork) -> QueueRow:
    form = work.form
    path = queue_path(form.name, "progress")
    return QueueRow(work, path, asked_in_words(form), item_noun(form), Path(form.source).name)
