"""Queues are made of samples: what is asked, in which order, of how many people."""

from pathlib import Path

import pytest

import ragstone
from ragstone.analysis.label_sampling.asked_labels import labels_asked, with_choices
from ragstone.analysis.label_sampling.draw_sample import draw_sample
from ragstone.analysis.label_sampling.make_queue import make_queue
from ragstone.analysis.label_sampling.queue_items import run_items
from ragstone.analysis.scored_run import Scored
from ragstone.annotation.queue.form import AskedLabel, ItemPart, Order, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import InputError
from ragstone.judgements import KINDS
from ragstone.run import Run


def items(count: int) -> list[QueueItem]:
    return [QueueItem(0, f"e{n}", {}, (ItemPart("answer"),)) for n in range(count)]


def form(per_item: int = 1, overlap: float = 1.0, order: Order = "random") -> QueueForm:
    asked = (AskedLabel("helpful", "answer", ("yes", "no")),)
    return QueueForm("q", asked, per_item=per_item, overlap=overlap, order=order, seed=3)


def given(queue: Queue, person: str) -> list[str]:
    """The examples that one person gets, who skips nothing."""
    from ragstone.annotation.queue.form import ItemAnswers

    queue.invite(person)
    found, one = [], queue.next(person)
    while one is not None:
        found.append(one.id)
        one = queue.save(person, one.item, ItemAnswers(discarded="x"), str(len(found)))
    return found


def test_the_overlap_is_the_share_of_items_that_several_label(tmp_path: Path) -> None:
    queue = make_queue(open_labels(tmp_path), form(per_item=3, overlap=0.2), items(50))
    counts = [len(given(queue, person)) for person in ("ann", "ben", "cem", "dan")]
    assert counts == [50, 10, 10, 0]


def test_a_random_order_is_the_same_for_the_same_seed_and_not_that_of_the_data(
    tmp_path: Path,
) -> None:
    orders = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        orders.append(given(make_queue(open_labels(tmp_path / folder), form(), items(20)), "ann"))
    assert orders[0] == orders[1]
    assert sorted(orders[0]) == sorted(one.id for one in items(20))
    assert orders[0] != [one.id for one in items(20)]


def test_the_riskiest_come_first(tmp_path: Path) -> None:
    risk = {"e3": 0.9, "e1": 0.5, "e0": 0.1}
    queue = make_queue(open_labels(tmp_path), form(order="risk"), items(4), risk=risk)
    assert given(queue, "ann") == ["e3", "e1", "e0", "e2"]


@pytest.mark.parametrize(
    ("asked", "count", "fault"),
    [
        (form(), 0, "no example has what is to be labelled: answer"),
        (form(per_item=0), 1, "1 person or more, got 0"),
        (form(overlap=1.5), 1, "overlap"),
        (form(order="risk"), 1, "the order by risk needs metric="),
    ],
)
def test_what_makes_no_queue_is_refused(
    tmp_path: Path, asked: QueueForm, count: int, fault: str
) -> None:
    with pytest.raises(InputError, match=fault):
        make_queue(open_labels(tmp_path), asked, items(count))


def test_choices_are_those_of_the_kinds_with_their_meaning() -> None:
    asked = labels_asked(
        ["helpful", "grade", "response_type", "support", "rating.tone", "critique.rude", "mood"],
        None,
    )
    found = {one.label: one for one in with_choices(asked)}
    assert found["helpful"].choices == ("yes", "no")
    assert found["helpful"].help == {"yes": KINDS["quality"].columns["helpful"].doc}
    assert found["grade"].choices == ("0", "1", "2", "3")
    assert found["grade"].help["0"] == "it does not help."
    assert found["response_type"].choices == ("answer", "partial", "abstain", "refuse", "clarify")
    assert (found["support"].unit, found["support"].choices) == (
        "claim",
        ("supported", "contradicted", "absent"),
    )
    assert found["rating.tone"].choices == ("1", "2", "3", "4", "5")
    assert found["critique.rude"].choices == ("yes", "no")
    assert found["mood"].choices == ()


def test_agreement_of_claims_has_other_choices_than_that_of_statements() -> None:
    claim, statement = with_choices(
        [AskedLabel("agreement", "claim"), AskedLabel("agreement", "statement")]
    )
    assert claim.choices == ("matches", "contradicts", "extra")
    assert statement.choices == ("full", "partial", "missing", "contradicted")
    assert all(claim.help.values())
    assert all(statement.help.values())


def test_items_of_a_run_name_no_system_and_hold_what_is_read(tmp_path: Path) -> None:
    data = [
        {
            "id": f"q1-{system}",
            "question_id": "q1",
            "system": system,
            "question": "How long is the pier?",
            "answer": "It is 90 m long.",
            "contexts": ["The pier is 90 m long.", "It is white."],
        }
        for system in ("secret-old", "secret-new")
    ]
    ragstone.evaluate(data, metrics=["faithfulness"], out=tmp_path / "run")
    run = Run.open(tmp_path / "run")
    drawn = draw_sample(Scored(run), 2)
    asked = labels_asked(["support_present", "topically_relevant", "support"], None)
    chances = dict(drawn.rows.select("example_id", "inclusion_probability").iter_rows())
    found = run_items(run, asked, chances, chances)
    assert {one.id for one in found} == {"q1-secret-old", "q1-secret-new"}
    one = found[0]
    assert "secret" not in str((one.shown, one.parts))
    assert one.shown["answer"] == "It is 90 m long."
    assert [part["text"] for part in one.shown["contexts"]] == [
        "The pier is 90 m long.",
        "It is white.",
    ]
    assert [(part.unit, part.name, part.text) for part in one.parts] == [
        ("answer", "", ""),
        ("context", "1", "The pier is 90 m long."),
        ("context", "2", "It is white."),
        ("claim", "1", "It is 90 m long."),
    ]
    assert one.probability == 1
