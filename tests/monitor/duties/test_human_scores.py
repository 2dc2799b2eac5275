"""What people label of drawn answers becomes scores beside the judge's."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest

from ragstone.analysis.label_sampling.make_queue import make_queue
from ragstone.analysis.label_sampling.queue_items import data_items
from ragstone.annotation.queue.form import ItemAnswers, QueueForm
from ragstone.annotation.queue.labels_store import LabelDatabase, open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.core.database import Sql
from ragstone.core.errors import InputError
from ragstone.data import Example, as_record
from ragstone.data.example import Context
from ragstone.monitor.duties.human_scores import LabelledAnswers, labelled_answers, take_labels
from ragstone.monitor.send_to_people import DRAWN, drawn_queues, labels_for, send_to_people
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.stored_examples import listed_by_ids
from ragstone.monitor.worker import MonitorWorker
from tests.clock import Clock
from tests.monitor.duties.arriving import rows
from tests.monitor.series.scores import put

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
        send(labels, run, ids[:2], dict.fromkeys(ids[:2], 0.25))
    return store


def send(
    labels: LabelDatabase,
    run: Sql,
    ids: Sequence[str],
    probabilities: Mapping[str, float] | None,
    metrics: Sequence[str] = (METRIC,),
) -> str:
    """The queue to which these are sent."""
    return send_to_people(
        *(labels, listed_by_ids(run, ids)),
        source="here",
        metrics=metrics,
        judgements={},
        probabilities=probabilities,
    )


def say(store: MonitorStore, number: int, unsupported: str) -> str:
    """Ann labels an item; the id of its example."""
    with labels_of(store) as labels:
        queue = Queue(labels, DRAWN)
        answers = {"unsupported_claim_present": unsupported}
        queue.fill("ann", number, ItemAnswers({("answer", ""): answers}))
        return queue.item(number).id


def test_labels_become_scores_with_the_probability_of_all_draws_so_far(
    judged: MonitorStore,
) -> None:
    clock = Clock()
    assert take_labels(judged, clock) == 0
    id = say(judged, 1, "yes")
    assert take_labels(judged, clock) == 1
    ((at,),) = rows(judged, f"SELECT at FROM examples WHERE example = '{id}'")
    # Drawn to be judged, sent to people, and labelled before the other one: a half each.
    assert rows(judged, SAID) == [(id, METRIC, 1.0, 0.125, "people", at)]


def test_what_is_said_later_is_taken_when_it_is_time_and_replaces(judged: MonitorStore) -> None:
    clock = Clock()
    first = say(judged, 1, "yes")
    assert take_labels(judged, clock) == 1
    second = say(judged, 2, "no")
    assert take_labels(judged, clock) == 2
    found = {(row[0], row[2], row[3]) for row in rows(judged, SAID)}
    assert found == {(first, 1.0, 0.25), (second, 0.0, 0.25)}
    assert take_labels(judged, clock) == 0, "nothing was said since"


def test_queues_in_which_nobody_said_anything_are_read_once(
    judged: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()

    def reading(database: LabelDatabase, name: str) -> LabelledAnswers:
        read.append(name)
        return labelled_answers(database, name)

    monkeypatch.setattr("ragstone.monitor.duties.human_scores.labelled_answers", reading)
    clock = Clock()
    for _ in range(3):
        assert take_labels(judged, clock) == 0
        assert read == [DRAWN]
    say(judged, 1, "yes")
    assert take_labels(judged, clock) == 1


def test_metrics_that_people_do_not_settle_have_no_score_by_them(judged: MonitorStore) -> None:
    put(judged, [(0.0, 1.0)], metric="faithfulness")
    say(judged, 1, "yes")
    take_labels(judged, Clock())
    assert [row[1] for row in rows(judged, SAID)] == [METRIC]


def test_answers_that_are_gone_have_none(judged: MonitorStore) -> None:
    id = say(judged, 1, "yes")
    with judged.database.transaction() as run:
        run("DELETE FROM examples WHERE example = ?", id)
    assert take_labels(judged, Clock()) == 0
    assert rows(judged, SAID) == []


def test_labels_of_answers_that_were_not_drawn_by_chance_do_not_count(store: MonitorStore) -> None:
    put(store, [(0.0, 1.0)], metric=METRIC)
    one = Example("e0", "e0", "rag", "Where?", (Context("c", "In Paris.", 1),), "In Paris.")
    form = QueueForm(DRAWN, labels_for([METRIC]), "here", chosen="the worst")
    with labels_of(store) as labels:
        make_queue(labels, form, data_items([one], form.asked, None))
    say(store, 1, "yes")
    assert take_labels(store, Clock()) == 0
    assert rows(store, SAID) == []


def test_without_a_queue_of_drawn_answers_there_is_nothing_to_do(store: MonitorStore) -> None:
    assert take_labels(store, Clock()) == 0
    put(store, [(0.0, 1.0)], metric=METRIC)
    with labels_of(store):
        pass
    assert take_labels(store, Clock()) == 0


def test_what_is_asked_follows_from_the_metrics_that_are_judged() -> None:
    def asked(*metrics: str) -> set[tuple[str, str]]:
        return {(one.label, one.unit) for one in labels_for(metrics)}

    assert asked(METRIC) == {("unsupported_claim_present", "answer")}
    assert asked("faithfulness", "context_precision", "mrr", "abstention") == {
        ("support", "claim"),
        ("topically_relevant", "context"),
        ("response_type", "answer"),
    }
    assert asked("bleu", "no_metric_of_ours") == set()


def test_a_queue_that_lacks_a_question_is_followed_by_another(judged: MonitorStore) -> None:
    with labels_of(judged) as labels, judged.database.reading() as run:
        drawn = {"e3": 0.25}
        assert send(labels, run, ["e3"], drawn) == DRAWN
        assert send(labels, run, ["e3"], drawn, ["abstention"]) == f"{DRAWN}-2"
        assert send(labels, run, ["e3"], drawn, [METRIC, "abstention"]) == f"{DRAWN}-3"
        assert send(labels, run, ["e2"], drawn, ["abstention"]) == f"{DRAWN}-3"
        assert send(labels, run, ["e3"], None, [METRIC]) == "production-chosen"
        assert [one.name for one in drawn_queues(labels)] == [*(DRAWN, f"{DRAWN}-2", f"{DRAWN}-3")]


def test_a_newer_queue_counts_once_it_has_as_many_labels(judged: MonitorStore) -> None:
    put(judged, [(60.0 * k, 0.0) for k in range(4)], metric="abstention")
    clock = Clock()
    say(judged, 1, "yes")
    take_labels(judged, clock)
    assert {row[1] for row in rows(judged, SAID)} == {METRIC}
    with labels_of(judged) as labels, judged.database.reading() as run:
        send(labels, run, ["e2", "e3"], {"e2": 0.3, "e3": 0.3}, ["abstention"])
        Queue(labels, f"{DRAWN}-2").fill(
            "ann", 1, ItemAnswers({("answer", ""): {"response_type": "abstain"}})
        )
    assert take_labels(judged, clock) == 1
    assert [row[1:4] for row in rows(judged, SAID)] == [("abstention", 1.0, 0.15)]


def test_drawn_answers_are_refused_where_labels_settle_nothing(judged: MonitorStore) -> None:
    with labels_of(judged) as labels, judged.database.reading() as run:
        with pytest.raises(InputError, match="settle none of the metrics that are judged: bleu"):
            send(labels, run, ["e3"], {"e3": 0.5}, ["bleu"])
        assert send(labels, run, ["e3"], None, ["bleu"]) == "production-chosen"
        asked = [one.label for one in Queue(labels, "production-chosen").form.asked]
        assert "unsupported_claim_present" in asked


def test_the_worker_takes_labels_over(judged: MonitorStore) -> None:
    say(judged, 1, "yes")
    MonitorWorker(judged, now=Clock()).step()
    assert len(rows(judged, SAID)) == 1
