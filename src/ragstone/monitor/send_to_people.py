"""Labelling: answers of production that people are to label.

Two sorts of queues, for what their labels tell differs. ``production`` has answers that were drawn
by chance from those that were judged, each with the probability of that: their labels stand for all
traffic, and correct the judge's means. ``production-chosen`` has those that somebody picked: their
labels tell what is wrong there, and nothing of a mean.

People are asked what settles the metrics that are judged, of the claims and statements that the
judge found. Where a queue lacks a question, by metrics that are judged since, the next one of its
sort is begun: ``production-2``.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragstone.analysis.label_sampling.asked_labels import (
    instructions_of,
    labels_settling,
    task_labels,
    with_choices,
)
from ragstone.analysis.label_sampling.make_queue import make_queue, placed
from ragstone.analysis.label_sampling.queue_items import Propositions, data_items
from ragstone.annotation.queue.form import AskedLabel, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import LabelDatabase
from ragstone.annotation.queue.queue import Queue, queues
from ragstone.core.errors import InputError, UnknownName
from ragstone.data.record_labels import EXTRACTED, FIELDS
from ragstone.data.records import own_example
from ragstone.judgements import Grounding, languages
from ragstone.metrics import Metric, parse_metric

from .store.draws import lot
from .store.stored_examples import ListedExample

DRAWN, PICKED = "production", "production-chosen"

# Keeps the lots of this draw apart from the lots that decide which answers are judged.
OF_PEOPLE = "people"

# What the second and later queues of a sort have behind its name.
NUMBER = re.compile(r"-\d+$")


def labels_for(metrics: Sequence[str]) -> tuple[AskedLabel, ...]:
    """Return what people are asked, so that their labels settle these metrics, if any."""
    asks = [label for name in metrics for label in labels_of_metric(name)]
    return with_choices(tuple(dict.fromkeys(asks)))


def labels_of_metric(metric: str) -> list[AskedLabel]:
    """Return what people must say for a metric; nothing where their labels do not settle it."""
    known = known_metric(metric)
    return [] if known is None else labels_settling(known)


def known_metric(name: str) -> Metric | None:
    """Return the metric of a text form; None where it is not loaded."""
    try:
        return parse_metric(name)
    except (InputError, UnknownName):
        return None


def drawn_queues(database: LabelDatabase) -> list[QueueForm]:
    """Return the queues whose answers were drawn by chance, the oldest first."""
    return [form for form in _of_sort(database, DRAWN) if not form.chosen]


def drawn_before(database: LabelDatabase, metrics: Sequence[str]) -> frozenset[str]:
    """Return the answers that are in the queue to which drawn ones are sent."""
    form, is_new = _form(database, DRAWN, labels_for(metrics), "")
    if is_new:
        return frozenset()
    return frozenset(id for id, _ in Queue(database, form.name).places().values())


def send_to_people(
    labels: LabelDatabase,
    examples: Sequence[ListedExample],
    *,
    source: str,
    metrics: Sequence[str],
    judgements: Mapping[str, Any],
    probabilities: Mapping[str, float] | None = None,
    chosen: str = "",
    by: str = "",
) -> str:
    """Put answers of production into a queue, made where it is missing, and return its name.

    Args:
        probabilities: With which each was drawn from all traffic, also of those that are in the
            queue since an earlier draw; None: somebody picked them.

    Raises:
        InputError: There is no answer with a text, nothing that people can say, or the queue
            cannot be made.
    """
    texts = [example for example in examples if example.record.get("answer")]
    if not texts:
        raise InputError(
            "None of these answers came with its text, so nobody can label them. "
            "`ragstone monitor doctor` says how texts are sent."
        )
    if probabilities is None:
        asks = labels_for(metrics) or with_choices(task_labels([Grounding.name]))
        form, is_new = _form(labels, PICKED, asks, source)
        how = chosen or "somebody picked them in the monitor"
        form = replace(form, chosen=form.chosen or how)
    else:
        form, is_new = _form(labels, DRAWN, _drawn_asked(metrics), source)
    items = _items(texts, form.asked, judgements, probabilities)
    if is_new:
        make_queue(labels, form, items)
        return form.name
    queue = Queue(labels, form.name)
    queue.extend(placed(queue.form, items), by)
    queue.drawn_again(probabilities or {})
    return form.name


def by_lot(ids: Iterable[str]) -> list[str]:
    """Return answers in the order in which they are drawn for people."""
    return sorted(ids, key=lambda id: lot(OF_PEOPLE, id))


def can_be_labelled(
    labels: LabelDatabase,
    examples: Sequence[ListedExample],
    metrics: Sequence[str],
    judgements: Mapping[str, Any],
) -> frozenset[str]:
    """Return the answers of which people are asked anything: with a text and parts to label."""
    form, _ = _form(labels, DRAWN, _drawn_asked(metrics), "")
    texts = [example for example in examples if example.record.get("answer")]
    return frozenset(item.id for item in _items(texts, form.asked, judgements, None))


def _drawn_asked(metrics: Sequence[str]) -> tuple[AskedLabel, ...]:
    asks = labels_for(metrics)
    if not asks:
        raise InputError(
            f"People's labels settle none of the metrics that are judged: {', '.join(metrics)}. "
            "Judge one that they do, such as faithfulness, or choose the answers yourself."
        )
    return asks


def _items(
    texts: Sequence[ListedExample],
    asks: Sequence[AskedLabel],
    judgements: Mapping[str, Any],
    probabilities: Mapping[str, float] | None,
) -> list[QueueItem]:
    examples = [own_example(example.record) for example in texts]
    propositions: Propositions = {
        unit: {id: _listed(rows.get(FIELDS[unit], ())) for id, rows in judgements.items()}
        for unit in EXTRACTED
    }
    items = data_items(examples, asks, probabilities, propositions)
    return [item for item in items if item.parts]


def drawn_for_people(
    judged: Mapping[str, float], n: int, present: Collection[str] = ()
) -> dict[str, float]:
    """Return answers drawn by chance from those that were judged.

    Each answer has a number of its own, evenly spread over 0 to 1, for ever: those with the
    smallest are drawn. So who draws again reaches further, and the farthest reach alone says how
    likely an answer was to be among all that were drawn.

    Returns:
        For each within reach, also of those there, the probability that it is drawn, of all
        traffic.

    Source: Ohlsson (1995), "Coordination of samples using permanent random numbers"; the
    probability is that of priority sampling, Duffield, Lund & Thorup (2007).
    """
    numbers = {id: lot(OF_PEOPLE, id) for id in judged}
    left = sorted(number for id, number in numbers.items() if id not in present)
    reach = left[n] if n < len(left) else 1.0
    return {id: judged[id] * reach for id in sorted(judged) if numbers[id] < reach}


def _form(
    labels: LabelDatabase, sort: str, asks: tuple[AskedLabel, ...], source: str
) -> tuple[QueueForm, bool]:
    forms = _of_sort(labels, sort)
    if forms and _questions(asks) <= _questions(forms[-1].asked):
        return forms[-1], False
    name = f"{sort}-{len(forms) + 1}" if forms else sort
    guidelines = {language: instructions_of(asks, language)[0] for language in languages()}
    return QueueForm(name, asks, source, together=True, guidelines=guidelines), True


def _questions(asks: Sequence[AskedLabel]) -> set[tuple[str, str]]:
    return {(ask.label, ask.unit) for ask in asks}


def _of_sort(database: LabelDatabase, sort: str) -> list[QueueForm]:
    return [queue for queue in queues(database) if NUMBER.sub("", queue.name) == sort]


def _listed(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    texts: dict[int, str] = {}
    for row in rows:
        if not row.get("reference"):
            texts.setdefault(row["index"], row["text"])
    return [(str(at + 1), text) for at, text in sorted(texts.items())]
