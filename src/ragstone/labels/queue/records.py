"""Records: what people said in queues, as the rows of a label file."""

from collections.abc import Iterator
from typing import Any

from ragstone.core.messages import reason
from ragstone.labels.last_word import adjudicator

from .database import LabelDatabase
from .pairs import preferred
from .queue import Queue, queues


def queue_records(database: LabelDatabase, name: str = "") -> Iterator[dict[str, Any]]:
    """A row for each person and part of an item, as ``read_label_table`` reads them.

    An adjudicator has rows for the parts of which they said something, and is named as one.

    Args:
        database: The store.
        name: Of a queue; empty for all of them.

    Raises:
        UnknownName: The store has no such queue.
    """
    names = [name] if name else [one.name for one in queues(database)]
    for one in names:
        yield from _of_queue(Queue(database, one))


def still_coming(database: LabelDatabase, name: str = "") -> Iterator[str]:
    """What to know of the labels of each queue, or of the one that is named.

    That they are not all there yet, or do not stand for all examples.

    Raises:
        UnknownName: The store has no such queue.
    """
    for one in [name] if name else [form.name for form in queues(database)]:
        queue = Queue(database, one)
        if count := queue.to_come():
            yield reason("labels_still_coming", queue=one, n=count)
        if queue.form.chosen:
            yield reason("labels_of_chosen", queue=one, how=queue.form.chosen)
        elif queue.inclusion() is None:
            yield reason("labels_of_riskiest", queue=one)


def _of_queue(queue: Queue) -> Iterator[dict[str, Any]]:
    asked: dict[str, str | None] = dict.fromkeys(one.label for one in queue.form.asked)
    places, pairs, chances = queue.places(), queue.pairs(), queue.inclusion() or {}
    questions = queue.questions()
    for one in queue.said():
        for unit, name in places[one.item][1]:
            given = one.answers.labels.get((unit, name), {})
            decides = one.role == "adjudicator"
            if decides and not given and not one.answers.discarded:
                continue
            said = {**asked, **given}
            if pair := pairs.get(one.item):
                said = preferred(said, pair)
            yield {
                "id": one.id,
                "question_id": questions.get(one.id),
                "annotator": adjudicator(one.person) if decides else one.person,
                **({} if unit == "answer" else {unit: name}),
                **said,
                "inclusion_probability": chances.get(one.item),
                "note": one.answers.note or None,
                "discard": one.answers.discarded or None,
            }
