"""Queue so far: agreement and means of what people have said in a queue, to be looked at again."""

from collections.abc import Hashable, Mapping

from .queue.database import LabelDatabase
from .queue.form import QueueForm
from .queue.queue import Queue
from .rated import Ends
from .read import labels_in_queue
from .so_far import Coming, LabelSoFar, labels_so_far
from .words import in_words


def queue_so_far(
    database: LabelDatabase,
    queue: Queue,
    *,
    clusters: Mapping[str, Hashable] | None = None,
    level: float = 0.95,
) -> tuple[LabelSoFar, ...]:
    """Agreement and means of each label of a queue, as ``labels_so_far``.

    How its labels come, and the ends of its ratings, are known of the queue.

    Args:
        database: The store.
        queue: A queue of it.
        clusters: Maps an example to its cluster; by default its question.
        level: Of the intervals, in (0, 1).

    Returns:
        A label of which nobody said anything yet is left out.
    """
    return labels_so_far(
        labels_in_queue(database, queue.name),
        coming=_coming(queue),
        ends=choice_ends(queue.form),
        clusters=queue.questions() if clusters is None else clusters,
        level=level,
    )


def _coming(queue: Queue) -> Coming:
    if not queue.to_come():
        return "no_more"
    return "riskiest_first" if queue.form.order == "risk" else "at_random"


def choice_ends(form: QueueForm) -> dict[str, Ends]:
    """The least and the greatest choice of each label whose choices are numbers."""
    found: dict[str, Ends] = {}
    for one in form.asked:
        said = [in_words(choice) for choice in one.choices]
        numbers = [word.number for word in said if word is not None and word.number is not None]
        if numbers and len(numbers) == len(one.choices) and min(numbers) < max(numbers):
            found[one.label.removeprefix("own.")] = min(numbers), max(numbers)
    return found
