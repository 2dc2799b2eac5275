"""What people label of drawn answers becomes scores beside the judge's."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from ragstone.decisions.sampling.asked_labels import task_labels, with_choices
from ragstone.decisions.sampling.example_items import data_items
from ragstone.decisions.sampling.make_queue import make_queue
from ragstone.examples import Example, as_record
from ragstone.examples.example import Context
from ragstone.labels.queue.database import LabelDatabase, open_labels
from ragstone.labels.queue.form import ItemAnswers, QueueForm
from ragstone.labels.queue.queue import Queue
from ragstone.monitor.following.people import EVERY, People
from ragstone.monitor.labelling import DRAWN, TASKS, drawn_for_people, send_to_people
from ragstone.monitor.store.listed import listed_by_ids
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.worker import MonitorWorker
from tests.monitor.following.arriving import rows
from tests.monitor.following.clock import Clock
from tests.monitor.numbers.scores import put

METRIC = "unsupported_claim"
SAID = (
    "SELECT example, metric, value, probability, judge, at FROM scores "
    "WHERE source = 'people' ORDER BY example, metric"
)


@contextmanager
def labels_of(store: MonitorStore) -> Iterator[LabelDatabase]:
    """The labels beside a store."""
    database = open_labels(store.place)
    try:
        yield database
    finally:
        database.close()


@pytest.fixture
def judged(store: MonitorStore) -> MonitorStore:
    """Four judged answers of a half that were drawn; two of them are sent to people."""
    ids = put(store, [(60.0 * k, 0.0) for k in range(4)], metric=METRIC, probability=0.5)
    with store.database.transaction() as run:
        for id in ids:
            one = Example(id, id, "rag", "Where?", (Context("c", "In Paris.", 1),), "In Paris.")
            record = json.dumps(as_record(one))
            run("UPDATE examples SET record = ? WHERE example = ?", record, id)
    with labels_of(store) as labels, store.database.reading() as run:
        drawn = drawn_for_people(dict.fromkeys(ids, 0.5), 2, np.random.default_rng(0))
        send_to_people(labels, listed_by_ids(run, list(drawn)), source="here", probabilities=drawn)
    return store


def say(store: MonitorStore, number: int, unsupported: str) -> str:
    """Ann labels an item; the id of its example."""
    with labels_of(store) as labels:
        queue = Queue(labels, DRAWN)
        answers = {
            "support_present": "yes", "unsupported_claim_present": unsupported,
            "contradicted_claim_present": "no", "source_cited": "no", "fabricated_source": "no",
        }  # fmt: skip
        queue.fill("ann", number, ItemAnswers({("answer", ""): answers}))
        return queue.item(number).id


def test_labels_become_scores_with_the_probability_of_all_draws_so_far(
    judged: MonitorStore,
) -> None:
    clock = Clock()
    people = People(judged, clock)
    assert people.step() == 0
    id = say(judged, 1, "yes")
    clock.wait(EVERY)
    assert people.step() == 1
    ((at,),) = rows(judged, f"SELECT at FROM examples WHERE example = '{id}'")
    # Drawn to be judged, sent to people, and labelled before the other one: a half each.
    assert rows(judged, SAID) == [(id, METRIC, 1.0, 0.125, "people", at)]


def test_what_is_said_later_is_taken_when_it_is_time_and_replaces(judged: MonitorStore) -> None:
    clock = Clock()
    people = People(judged, clock)
    first = say(judged, 1, "yes")
    assert people.step() == 1
    second = say(judged, 2, "no")
    assert people.step() == 0, "not yet"
    clock.wait(EVERY)
    assert people.step() == 2
    found = {(row[0], row[2], row[3]) for row in rows(judged, SAID)}
    assert found == {(first, 1.0, 0.25), (second, 0.0, 0.25)}
    clock.wait(EVERY)
    assert people.step() == 0, "nothing was said since"


def test_metrics_that_people_do_not_settle_have_no_score_by_them(judged: MonitorStore) -> None:
    put(judged, [(0.0, 1.0)], metric="faithfulness")
    say(judged, 1, "yes")
    People(judged, Clock()).step()
    assert [row[1] for row in rows(judged, SAID)] == [METRIC]


def test_answers_that_are_gone_have_none(judged: MonitorStore) -> None:
    id = say(judged, 1, "yes")
    with judged.database.transaction() as run:
        run("DELETE FROM examples WHERE example = ?", id)
    assert People(judged, Clock()).step() == 0
    assert rows(judged, SAID) == []


def test_labels_of_answers_that_were_not_drawn_by_chance_do_not_count(store: MonitorStore) -> None:
    put(store, [(0.0, 1.0)], metric=METRIC)
    one = Example("e0", "e0", "rag", "Where?", (Context("c", "In Paris.", 1),), "In Paris.")
    form = QueueForm(DRAWN, with_choices(task_labels(TASKS)), "here", chosen="the worst")
    with labels_of(store) as labels:
        make_queue(labels, form, data_items([one], form.asked, None))
    say(store, 1, "yes")
    assert People(store, Clock()).step() == 0
    assert rows(store, SAID) == []


def test_without_a_queue_of_drawn_answers_there_is_nothing_to_do(store: MonitorStore) -> None:
    assert People(store, Clock()).step() == 0
    put(store, [(0.0, 1.0)], metric=METRIC)
    with labels_of(store):
        pass
    assert People(store, Clock()).step() == 0


def test_the_worker_takes_labels_over(judged: MonitorStore) -> None:
    say(judged, 1, "yes")
    MonitorWorker(judged, now=Clock()).step()
    assert len(rows(judged, SAID)) == 1
