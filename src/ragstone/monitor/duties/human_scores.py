"""People: what people's labels of drawn answers make of the metrics, as scores beside the judge's.

Only labels of queues whose answers were drawn by chance count. A metric's value by people is its
own rule over their judgements; where these do not settle it, there is none. Labels of one queue are
taken, for each has draws of its own: the newest, once it has enough of them.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ragstone.analysis.calibration.people_scores import people_scores
from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.queue.labels_store import FILE, LabelDatabase, StoreAddress
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.queue_results import labels_as_they_are
from ragstone.annotation.queue.work_progress import queue_version
from ragstone.annotation.read_labels import labels_in_queue
from ragstone.core.database import POSTGRES
from ragstone.data.record_labels import PROPOSITIONS
from ragstone.data.records import own_example
from ragstone.monitor.send_to_people import drawn_queues, known_metric
from ragstone.monitor.settings.alarm_rules import GUARD
from ragstone.monitor.store.rows import keep, remembered
from ragstone.monitor.store.scores import NewScore, ScoredExample, scored_metrics, write_scores
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.stored_examples import examples_to_score

TAKEN = "labels_taken"

# With this many labelled answers a queue is used instead of older queues that have more.
ENOUGH = 30


class LabelledAnswers(NamedTuple):
    """The labels of the answers of one queue.

    ``chances`` has the probability with which each answer was drawn, ``units`` by unit how many
    parts of each answer people were asked about.
    """

    table: LabelTable
    chances: dict[str, float]
    units: dict[str, dict[str, int]]


def take_labels(store: MonitorStore, clock: Callable[[], float]) -> int:
    """Score what people labelled, where they said more; gives how many answers that were."""
    on_server = store.place.startswith(POSTGRES)
    labels = StoreAddress(store.place if on_server else str(store.folder / FILE))
    if labels.is_file and not Path(labels.place).is_file():
        return 0
    with store.database.reading() as run:
        metrics = [name for name in scored_metrics(run) if not GUARD.fullmatch(name)]
        before = remembered(run, TAKEN)
    with labels_as_they_are(labels) as database:
        names = [] if database is None else [queue.name for queue in drawn_queues(database)]
        if database is None or not names or not metrics:
            return 0
        with database.reading() as run:
            known = [[list(queue_version(run, name)) for name in names], metrics]
        if known == before:
            return 0
        queues = [labelled_answers(database, name) for name in names]
    ids = sorted({id for queue in queues for id in queue.chances})
    if not ids:
        with store.database.transaction() as run:
            keep(run, TAKEN, known)
        return 0
    # Of the queues, the oldest first, the newest with enough labels counts.
    labelled = max(reversed(queues), key=lambda queue: min(len(queue.chances), ENOUGH))
    chances = labelled.chances
    with store.database.reading() as run:
        records = [record for *_, record in examples_to_score(run, sorted(chances))]
    scores = scores_by_people(records, labelled, metrics)
    with store.database.transaction() as run:
        examples: dict[str, ScoredExample] = {
            id: (at, version, chances.get(id, 1.0))
            for id, at, version, _ in examples_to_score(run, ids)
        }
        new = [score for score in scores if score.example in examples]
        write_scores(run, clock(), "people", new, examples, ("people",))
        keep(run, TAKEN, known)
    return len({score.example for score in new})


def labelled_answers(database: LabelDatabase, name: str) -> LabelledAnswers:
    """Read what people said of the answers of a queue so far."""
    queue, table = Queue(database, name), labels_in_queue(database, name)
    drawn = table.counted.drop_nulls("inclusion_probability")
    chances = dict(drawn.select("example_id", "inclusion_probability").iter_rows())
    units: dict[str, dict[str, int]] = {unit: {} for unit in PROPOSITIONS}
    # A part that several tasks ask about is in several items.
    for id, unit, _ in {
        (id, part.unit, part.name) for id, parts in queue.places().values() for part in parts
    }:
        if unit in units:
            units[unit][id] = units[unit].get(id, 0) + 1
    return LabelledAnswers(table, chances, units)


def scores_by_people(
    records: Sequence[str], labelled: LabelledAnswers, metrics: Sequence[str]
) -> list[NewScore]:
    """Return the scores that people's judgements settle."""
    # Labels that came with an answer were the judge's to read, and are no draw of ours.
    unlabelled = [replace(own_example(json.loads(record)), labels={}) for record in records]
    known = [known_metric(metric) or metric for metric in metrics]
    rows = people_scores(unlabelled, labelled.table, known, labelled.units)
    return [
        NewScore(id, metric, value, "value", "", None, "people")
        for id, metric, value in rows.iter_rows()
        if id in labelled.chances
    ]
