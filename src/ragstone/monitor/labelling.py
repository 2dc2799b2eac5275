"""Labelling: answers of production that people are to label.

Two queues, for what their labels tell differs. ``production`` has answers that were drawn by
chance from those that were judged, each with the probability of that: their labels stand for all
traffic, and correct the judge's means. ``production-chosen`` has those that somebody picked: their
labels tell what is wrong there, and nothing of a mean.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.decisions.sampling.asked_labels import task_labels, with_choices
from ragstone.decisions.sampling.example_items import data_items
from ragstone.decisions.sampling.make_queue import make_queue, placed
from ragstone.errors import InputError
from ragstone.judgements import Grounding
from ragstone.labels.queue.database import LabelDatabase
from ragstone.labels.queue.form import QueueForm
from ragstone.labels.queue.queue import Queue, queues

from .following.kept_example import kept_example
from .store.listed import ListedExample

DRAWN, PICKED = "production", "production-chosen"

TASKS = (Grounding.name,)
"""What people are asked of each answer, where the queue does not say otherwise."""


@dataclass(frozen=True, slots=True)
class SentToPeople:
    """What was sent.

    Attributes:
        queue: Its name.
        added: Answers that it did not have yet.
        of: Answers that were sent.
    """

    queue: str
    added: int
    of: int


def send_to_people(
    labels: LabelDatabase,
    examples: Sequence[ListedExample],
    *,
    source: str,
    probabilities: Mapping[str, float] | None = None,
    chosen: str = "",
    by: str = "",
) -> SentToPeople:
    """Put answers of production into a queue; it is made where it is missing.

    Args:
        labels: The store of labels.
        examples: The answers.
        source: What the store of the monitor is called.
        probabilities: With which each was drawn from all traffic; None: somebody picked them.
        chosen: By what they were picked, in words.
        by: Who sends them.

    Raises:
        InputError: There is no answer with a text, or the queue cannot be made.
    """
    texts = [one for one in examples if one.record.get("answer")]
    if not texts:
        raise InputError(
            "None of these answers came with its text, so nobody can label them. "
            "`ragstone monitor doctor` says how texts are sent."
        )
    name = PICKED if probabilities is None else DRAWN
    there = next((one for one in queues(labels) if one.name == name), None)
    how = "" if probabilities is not None else chosen or "somebody picked them in the monitor"
    form = there or QueueForm(name, with_choices(task_labels(TASKS)), source, chosen=how)
    items = data_items(
        [kept_example(json.dumps(one.record)) for one in texts], form.asked, probabilities
    )
    if there is None:
        queue = make_queue(labels, form, items)
        return SentToPeople(name, len(texts), len(examples))
    queue = Queue(labels, name)
    added = queue.extend(placed(queue.form, items), by)
    return SentToPeople(name, added, len(examples))


def drawn_for_people(
    judged: Mapping[str, float], n: int, rng: np.random.Generator
) -> dict[str, float]:
    """Answers drawn by chance from those that were judged.

    Args:
        judged: The answers, each with the probability with which it was drawn to be judged.
        n: How many are wanted.
        rng: Draws them.

    Returns:
        For each that was drawn the probability that it is among them, of all traffic.
    """
    ids = sorted(judged)
    n = min(n, len(ids))
    taken = rng.choice(len(ids), size=n, replace=False)
    return {ids[at]: judged[ids[at]] * n / len(ids) for at in taken.tolist()}
