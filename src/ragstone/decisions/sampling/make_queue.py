"""Make queue: items in an order, each with the number of people that it wants."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.labels.queue.database import LabelDatabase
from ragstone.labels.queue.form import PlacedItem, QueueForm, QueueItem
from ragstone.labels.queue.queue import Queue
from ragstone.labels.queue.routing import random_places, route_weight

NOTHING: Mapping[str, float] = {}


def make_queue(
    database: LabelDatabase,
    form: QueueForm,
    items: Sequence[QueueItem],
    *,
    risk: Mapping[str, float] = NOTHING,
    doubt: Mapping[str, float] = NOTHING,
) -> Queue:
    """Make a queue of items.

    Args:
        database: The store.
        form: What is asked, of how many people, in which order.
        items: Those without a part to label are left out. Unless the form puts them together, each
            part of an example becomes an item of its own.
        risk: By example, for the order of that name: the riskiest come first.
        doubt: By example, how much the judge is in doubt, from 0 to 1, for the route of that name.

    Raises:
        InputError: Nothing can be labelled, a share out of its range, or a name that is taken.
    """
    kept = labelled_items(form, items, risk, doubt)
    return Queue.make(database, form, placed(form, kept, risk, doubt))


def labelled_items(
    form: QueueForm,
    items: Sequence[QueueItem],
    risk: Mapping[str, float] = NOTHING,
    doubt: Mapping[str, float] = NOTHING,
) -> list[QueueItem]:
    """The items with a part to label, if a queue can be made of them.

    Raises:
        InputError: All that is wrong with it.
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
    if form.most is not None and form.most < 1:
        faults.append(f"{argument('n', form.most)} is not 1 or more")
    if form.order == "risk" and not risk:
        faults.append(f"the order by risk needs {argument('metric', 'METRIC')} of a run")
    if form.route == "doubt" and not doubt:
        faults.append(f"routing by doubt needs {argument('metric', 'METRIC')} of a run")
    if form.route == "doubt" and form.order == "risk":
        faults.append("items are given out by risk or by doubt, not by both")
    if faults:
        raise InputError(f"The queue cannot be made: {'; '.join(faults)}.")
    return kept


def placed(
    form: QueueForm,
    items: Sequence[QueueItem],
    risk: Mapping[str, float] = NOTHING,
    doubt: Mapping[str, float] = NOTHING,
) -> Iterator[PlacedItem]:
    """Each item with its place, and how many people it wants; the items of an example together."""
    rng = np.random.default_rng(form.seed)
    ids = list(dict.fromkeys(one.id for one in items))
    weights = {id: route_weight(form.route, doubt.get(id)) for id in ids}
    places = dict(zip(ids, random_places([weights[id] for id in ids], rng), strict=True))
    order = sorted(ids, key=places.__getitem__)
    if form.order == "risk":
        order.sort(key=lambda id: -risk.get(id, 0.0))
        places = {id: float(at) for at, id in enumerate(order)}
    several = set(rng.permutation(len(ids))[: round(form.overlap * len(ids))].tolist())
    of_example: dict[str, list[QueueItem]] = {}
    for one in items:
        of_example.setdefault(one.id, []).append(one)
    number = 0
    for at, id in enumerate(order):
        for one in of_example[id]:
            for item in [one] if form.together else list(_alone(one)):
                number += 1
                yield PlacedItem(
                    replace(item, item=number),
                    places[id],
                    form.per_item if at in several else 1,
                    weights[id],
                    doubt.get(id),
                    form.most is None or at < form.most,
                )


def _alone(item: QueueItem) -> Iterator[QueueItem]:
    """An item for each part; a passage is read beside what is asked of it, and not among all."""
    for part in item.parts:
        left_out = {"contexts"} if part.unit == "context" else set()
        shown = {name: text for name, text in item.shown.items() if name not in left_out}
        yield replace(item, shown=shown, parts=(part,))
