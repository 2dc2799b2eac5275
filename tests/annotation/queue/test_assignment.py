"""Labels stand for all examples, however far people got and however often the routing changed."""

from pathlib import Path

import numpy as np
import pytest

from ragstone.annotation.queue.assignment import (
    Route,
    phase_probabilities,
    random_places,
    route_weight,
)
from ragstone.annotation.queue.form import (
    AskedLabel,
    ItemAnswers,
    ItemPart,
    PlacedItem,
    QueueForm,
    QueueItem,
)
from ragstone.annotation.queue.labels_store import LabelDatabase, open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import InputError

ASKED = (AskedLabel("helpful", "answer", ("yes", "no")),)


def queue_of(
    database: LabelDatabase, doubts: list[float], seed: int, route: Route = "doubt"
) -> Queue:
    weights = [route_weight(route, one) for one in doubts]
    places = random_places(weights, np.random.default_rng(seed))
    form = QueueForm(f"q{seed}", ASKED, route=route, seed=seed)
    return Queue.make(
        database,
        form,
        (
            PlacedItem(QueueItem(n, f"e{n}", {}, (ItemPart("answer"),)), place, 1, weight, doubt)
            for n, (doubt, place, weight) in enumerate(zip(doubts, places, weights, strict=True))
        ),
    )


def label(queue: Queue, count: int) -> list[int]:
    found = []
    one = queue.next("ann")
    for _ in range(count):
        assert one is not None
        found.append(one.item)
        one = queue.save(
            "ann", one.item, ItemAnswers({("answer", ""): {"helpful": "yes"}}), str(one.item)
        )
    return found


def test_the_most_doubtful_weighs_ten_times_the_least() -> None:
    assert [route_weight("doubt", one) for one in (None, 0.0, 0.5, 1.0)] == [1, 1, 10**0.5, 10]
    assert route_weight("random", 1.0) == 1


def test_probabilities_by_hand() -> None:
    places = {"a": 0.1, "b": 0.2, "c": 0.25, "d": 0.5}
    weights = {"a": 1.0, "b": 3.0, "c": 10.0, "d": 2.0, "before": 4.0}
    # Two were labelled; the third smallest place is .25.
    found = phase_probabilities(places, weights, {"a", "b"})
    assert found == pytest.approx({"a": 0.25, "b": 0.75, "c": 1.0, "d": 0.5, "before": 1.0})
    assert phase_probabilities(places, weights, set(places)) == dict.fromkeys(weights, 1.0)


def test_half_of_a_random_queue_was_drawn_with_a_half(database: LabelDatabase) -> None:
    queue = queue_of(database, [0.0] * 20, 1, "random")
    queue.invite("ann")
    label(queue, 10)
    assert set((queue.inclusion() or {}).values()) == {0.5}


def test_after_a_change_of_routing_the_chances_of_both_phases_count(tmp_path: Path) -> None:
    queue = queue_of(open_labels(tmp_path), [1.0, 0.0] * 10, 2, "random")
    queue.invite("ann")
    first = label(queue, 5)
    queue.route("doubt", "me")
    held = queue.next("ann")
    assert held is not None
    assert held.item not in first
    label(queue, 6)
    found = queue.inclusion() or {}
    # 5 of 20 by chance and one that was held; then 5 of 14 with weights 10 and 1.
    assert min(found.values()) > 0.25
    assert {found[n] > found[n + 1] for n in range(0, 20, 2)} == {True}
    assert [one.what for one in queue.events()][-1] == "routed"


def test_a_route_by_doubt_needs_to_know_it(tmp_path: Path) -> None:
    form = QueueForm("q", ASKED)
    items = [PlacedItem(QueueItem(0, "e", {}, (ItemPart("answer"),)), 0.0, 1)]
    with pytest.raises(InputError, match="does not know where the judge is in doubt"):
        Queue.make(open_labels(tmp_path), form, items).route("doubt")


def test_by_risk_labels_stand_for_all_only_when_all_are_labelled(tmp_path: Path) -> None:
    form = QueueForm("q", ASKED, order="risk")
    items = [PlacedItem(QueueItem(n, f"e{n}", {}, (ItemPart("answer"),)), -n, 1) for n in range(2)]
    queue = Queue.make(open_labels(tmp_path), form, items)
    queue.invite("ann")
    with pytest.raises(InputError, match="order of their risk"):
        queue.route("random")
    label(queue, 1)
    assert queue.inclusion() is None
    label(queue, 1)
    assert queue.inclusion() == {0: 1.0, 1: 1.0}


def test_a_limit_gives_out_so_many_examples_and_takes_none_back(database: LabelDatabase) -> None:
    queue = queue_of(database, [0.0] * 6, 3, "random")
    queue.invite("ann")
    queue.limit(2)
    order = label(queue, 2)
    assert queue.next("ann") is None
    queue.limit(1)
    assert {one.item for one in queue.said()} == set(order)
    queue.limit(None)
    assert len(label(queue, 4)) == 4
    assert queue.next("ann") is None


def test_parts_of_one_example_are_routed_together(tmp_path: Path) -> None:
    form = QueueForm("q", (AskedLabel("support", "claim", ("supported",)),))
    items = [
        PlacedItem(QueueItem(2 * n + part, f"e{n}", {}, (ItemPart("claim", str(part)),)), n / 3, 1)
        for n in range(3)
        for part in range(2)
    ]
    queue = Queue.make(open_labels(tmp_path), form, items)
    queue.invite("ann")
    assert label(queue, 2) == [0, 1]
    assert queue.inclusion() == pytest.approx(dict.fromkeys(range(6), 1 / 3))


def test_sums_over_labels_are_right_on_average_with_two_phases(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    doubts = rng.random(40).tolist()
    truth = [one > 0.3 for one in doubts]
    totals = []
    database = open_labels(tmp_path)
    for seed in range(120):
        queue = queue_of(database, doubts, seed, "random")
        queue.invite("ann")
        label(queue, 8)
        queue.route("doubt")
        label(queue, 8)
        chances = queue.inclusion() or {}
        totals.append(sum(truth[one.item] / chances[one.item] for one in queue.said()))
    error = np.std(totals) / len(totals) ** 0.5
    assert abs(np.mean(totals) - sum(truth)) < 3 * error
    assert error < 1


def test_a_new_label_is_asked_from_now_on(tmp_path: Path) -> None:
    queue = queue_of(open_labels(tmp_path), [0.0] * 3, 4, "random")
    queue.invite("ann")
    label(queue, 1)
    before = queue.said()
    queue.ask(AskedLabel("tone", "answer"), "me")
    again = Queue(open_labels(tmp_path), queue.name)
    assert [one.label for one in again.form.asked] == ["helpful", "tone"]
    assert again.said() == before
    with pytest.raises(InputError, match="already"):
        again.ask(AskedLabel("tone", "answer"))
    with pytest.raises(InputError, match="has a claim"):
        again.ask(AskedLabel("support", "claim"))


def test_more_examples_are_numbered_on_and_none_is_there_twice(tmp_path: Path) -> None:
    queue = queue_of(open_labels(tmp_path), [0.0] * 2, 5, "random")
    more = [PlacedItem(QueueItem(0, id, {}, (ItemPart("answer"),)), 0.9, 1) for id in ("e1", "new")]
    assert queue.extend(more) == 1
    assert queue.item(2).id == "new"


def test_what_was_said_elsewhere_is_taken_over_once(database: LabelDatabase) -> None:
    queue = queue_of(database, [0.0] * 2, 6, "random")
    queue.invite("ann")
    answers = ItemAnswers({("answer", ""): {"helpful": "no"}})
    assert queue.fill("ben", 0, answers)
    assert not queue.fill("ben", 0, answers)
    assert [(one.person, one.item, one.answers) for one in queue.said()] == [("ben", 0, answers)]
    one = queue.next("ann")
    assert one is not None
    assert one.item == 1
    queue.save("ann", 1, answers, "1")
    assert queue.next("ann") is None
