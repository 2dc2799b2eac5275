"""Make queue: items in an order, each with the number of people that it wants."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ragstone.argument import argument
from ragstone.errors import InputError
from ragstone.labels.queue.database import LabelDatabase
from ragstone.labels.queue.form import QueueForm, QueueItem
from ragstone.labels.queue.queue import Queue


def make_queue(
    database: LabelDatabase,
    form: QueueForm,
    items: Sequence[QueueItem],
    *,
    risk: Mapping[str, float] | None = None,
) -> Queue:
    """Make a queue of items.

    Args:
        database: The store.
        form: What is asked, of how many people, in which order.
        items: Those without a part to label are left out.
        risk: By example, for the order of that name: the riskiest come first.

    Raises:
        InputError: Nothing can be labelled, a share out of its range, or a name that is taken.
    """
    faults = []
    kept = [one for one in items if one.parts]
    if not kept:
        units = ", ".join(dict.fromkeys(one.unit for one in form.asked))
        faults.append(f"no example has what is to be labelled: {units}")
    if form.per_item < 1:
        faults.append(f"an item needs 1 person or more, got {form.per_item}")
    if not 0 <= form.overlap <= 1:
        faults.append(f"{argument('overlap', form.overlap)} is not from 0 to 1")
    if form.order == "risk" and risk is None:
        faults.append("the order by risk needs the scores of a run")
    if faults:
        raise InputError(f"The queue cannot be made: {'; '.join(faults)}.")
    return Queue.make(database, form, _placed(form, kept, risk or {}))


def _placed(
    form: QueueForm, items: Sequence[QueueItem], risk: Mapping[str, float]
) -> Iterator[tuple[QueueItem, float, int]]:
    """Each item with its place, and how many people it wants."""
    rng = np.random.default_rng(form.seed)
    order = [items[at] for at in rng.permutation(len(items))]
    if form.order == "risk":
        order.sort(key=lambda one: -risk.get(one.id, 0.0))
    several = set(rng.permutation(len(items))[: round(form.overlap * len(items))].tolist())
    for place, one in enumerate(order):
        wanted = form.per_item if place in several else 1
        yield replace(one, item=place + 1), float(place), wanted
