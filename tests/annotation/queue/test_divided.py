"""What divides people is found, and decisions are kept beside what people said."""

import pytest

from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import LabelDatabase
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.queue_results import (
    DisputedItem,
    decision_faults,
    divided_item,
    divided_items,
)

YES_NO = ("yes", "no")
ANSWER, FIRST = ("answer", ""), ("context", "1")
FORM = QueueForm(
    "q",
    (
        AskedLabel("source_cited", "answer", YES_NO),
        AskedLabel("fabricated_source", "answer", YES_NO, required=False),
        AskedLabel("grade", "context", ("0", "1", "2"), required=False),
    ),
    per_item=4,
)


def made(database: LabelDatabase, count: int = 3) -> Queue:
    parts = (ItemPart("answer"), ItemPart("context", "1", "A text."))
    items = [(QueueItem(n, f"e{n}", {}, parts), n, 4) for n in range(count)]
    return Queue.make(database, FORM, items)


def say(
    queue: Queue,
    person: str,
    item: int,
    cited: str = "",
    grade: str = "",
    note: str = "",
    discarded: str = "",
) -> None:
    """What an annotator says; nothing of a label without a value."""
    queue.fill(person, item, answers(cited, grade, note, discarded))


def answers(cited: str = "", grade: str = "", note: str = "", discarded: str = "") -> ItemAnswers:
    labels = {}
    if cited:
        labels[ANSWER] = {"source_cited": cited}
    if grade:
        labels[FIRST] = {"grade": grade}
    return ItemAnswers(labels, note, discarded)


def labels_of(one: DisputedItem) -> list[tuple[str, float, bool, str]]:
    return [(each.label, each.spread, each.is_open, each.decided) for each in one.labels]


def test_the_most_divided_item_comes_first(database: LabelDatabase) -> None:
    queue = made(database, 5)
    for person, cited, grade in (("ann", "yes", "0"), ("ben", "yes", "1"), ("cem", "no", "2")):
        say(queue, person, 0, cited)
        say(queue, person, 1, cited, grade)
        say(queue, person, 2, "yes", "1")
    for person, cited in (("ann", "yes"), ("ben", "no")):
        say(queue, person, 3, cited)
    say(queue, "ann", 4, "no")
    found = divided_items(queue)
    assert [(one.item, one.id, len(one.said)) for one in found] == [
        (1, "e1", 3), (3, "e3", 2), (0, "e0", 3)
    ]  # fmt: skip
    assert labels_of(found[0]) == [("source_cited", 2 / 3, True, ""), ("grade", 1.0, True, "")]
    assert found[0].spread == pytest.approx(5 / 3)
    assert found[2].labels[0].said == {"ann": "yes", "ben": "yes", "cem": "no"}


def test_who_discards_an_item_differs_from_who_labels_it(database: LabelDatabase) -> None:
    queue = made(database)
    say(queue, "ann", 0, "yes", "1")
    say(queue, "ben", 0, discarded="in Welsh")
    say(queue, "ann", 1, discarded="in Welsh")
    say(queue, "ben", 1, discarded="odd")
    (one,) = divided_items(queue)
    assert labels_of(one) == [("source_cited", 1.0, True, ""), ("grade", 1.0, True, "")]
    assert one.labels[0].said == {"ann": "yes", "ben": ""}


def test_who_says_nothing_of_a_label_does_not_differ(database: LabelDatabase) -> None:
    queue = made(database)
    say(queue, "ann", 0, "yes", "1")
    say(queue, "ben", 0, "yes")
    assert divided_items(queue) == []
    assert divided_item(queue, 0).agreed == {
        ANSWER: {"source_cited": "yes"}, FIRST: {"grade": "1"}
    }  # fmt: skip


def test_a_decision_closes_what_it_decides_and_leaves_what_was_said(
    database: LabelDatabase,
) -> None:
    queue = made(database)
    say(queue, "ann", 0, "yes", "1", note="see [1]")
    say(queue, "ben", 0, "no", "2")
    before = [one for one in queue.said() if one.role == "annotator"]
    queue.decide("cleo", 0, answers("no", note="it is a footnote"), "a")
    (one,) = divided_items(queue)
    assert labels_of(one) == [("source_cited", 1.0, False, "no"), ("grade", 1.0, True, "")]
    assert one.is_open
    queue.decide("cleo", 0, answers("yes", "2"), "b")
    (one,) = divided_items(queue)
    assert labels_of(one) == [("source_cited", 1.0, False, "yes"), ("grade", 1.0, False, "2")]
    assert (one.is_open, one.decision_of("cleo")) == (False, answers("yes", "2"))
    assert list(one.said) == before
    assert one.decision_of("dora").is_empty


def test_a_decision_that_comes_twice_is_kept_once(database: LabelDatabase) -> None:
    queue = made(database)
    queue.decide("cleo", 0, answers("yes"), "a")
    queue.decide("cleo", 0, answers("no"), "b")
    queue.decide("cleo", 0, answers("yes"), "a")
    assert [one.answers for one in queue.said()] == [answers("no")]
    events = [(one.person, one.what, one.about) for one in queue.events()][1:]
    assert events == [("cleo", "decided", "0"), ("cleo", "decided", "0")]


def test_an_empty_decision_takes_the_one_before_back(database: LabelDatabase) -> None:
    queue = made(database)
    say(queue, "ann", 0, "yes")
    say(queue, "ben", 0, "no")
    queue.decide("cleo", 0, answers("yes"), "a")
    queue.decide("cleo", 0, ItemAnswers(), "b")
    (one,) = divided_items(queue)
    assert (one.is_open, one.decisions) == (True, ())
    assert [one.what for one in queue.events()][-1] == "undecided"


def test_adjudicators_who_differ_leave_a_label_open(database: LabelDatabase) -> None:
    queue = made(database)
    say(queue, "ann", 0, "yes")
    say(queue, "ben", 0, "yes")
    queue.decide("cleo", 0, answers("no"), "a")
    assert divided_items(queue) == []
    queue.decide("dora", 0, answers("yes"), "a")
    (one,) = divided_items(queue)
    assert labels_of(one) == [("source_cited", 0.0, True, "")]


def test_an_item_that_an_adjudicator_discards_is_decided(database: LabelDatabase) -> None:
    queue = made(database)
    say(queue, "ann", 0, "yes")
    say(queue, "ben", 0, "no")
    queue.decide("cleo", 0, answers(discarded="no answer"), "a")
    (one,) = divided_items(queue)
    assert labels_of(one) == [("source_cited", 1.0, False, "")]


def test_who_labelled_can_decide_later_and_both_are_kept(database: LabelDatabase) -> None:
    queue = made(database)
    say(queue, "ann", 0, "yes")
    say(queue, "ben", 0, "no")
    queue.invite("ann", "adjudicator")
    queue.decide("ann", 0, answers("no"), "a")
    assert [(one.person, one.role) for one in queue.said()] == [
        ("ann", "annotator"), ("ben", "annotator"), ("ann", "adjudicator")
    ]  # fmt: skip
    (one,) = divided_items(queue)
    assert one.labels[0].said == {"ann": "yes", "ben": "no"}


def test_a_decision_says_something_of_all_that_divides_people(database: LabelDatabase) -> None:
    queue = made(database)
    say(queue, "ann", 0, "yes", "1")
    say(queue, "ben", 0, "yes", "2")
    one, item = divided_item(queue, 0), queue.item(0)
    assert decision_faults(FORM, item, one, answers(grade="2")) == []
    assert decision_faults(FORM, item, one, answers("no", "2")) == []
    assert decision_faults(FORM, item, one, answers(discarded="odd")) == []
    (lacks,) = decision_faults(FORM, item, one, answers("yes"))
    assert (lacks.part, lacks.label, lacks.why) == (FIRST, "grade", "lacking")
    (wrong,) = decision_faults(FORM, item, one, answers(grade="3"))
    assert wrong.why.startswith("not_a_choice")


def test_a_decision_does_not_contradict_what_people_agree_on(database: LabelDatabase) -> None:
    queue = made(database)
    for person, fabricated in (("ann", "yes"), ("ben", "no")):
        said = {"source_cited": "no", "fabricated_source": fabricated}
        queue.fill(person, 0, ItemAnswers({ANSWER: said}))
    one, item = divided_item(queue, 0), queue.item(0)
    assert [each.label for each in one.labels] == ["fabricated_source"]
    decision = {"fabricated_source": "yes"}
    (broken,) = decision_faults(FORM, item, one, ItemAnswers({ANSWER: decision}))
    assert (broken.why, broken.severity) == ("fabricated_requires_cited", "block")
    decision["source_cited"] = "yes"
    assert decision_faults(FORM, item, one, ItemAnswers({ANSWER: decision})) == []


def test_rules_that_people_broke_together_do_not_hinder_other_decisions(
    database: LabelDatabase,
) -> None:
    queue = made(database)
    queue.fill("ann", 0, ItemAnswers({ANSWER: {"source_cited": "no"}, FIRST: {"grade": "0"}}))
    queue.fill("ben", 0, ItemAnswers({ANSWER: {"fabricated_source": "yes"}, FIRST: {"grade": "1"}}))
    one = divided_item(queue, 0)
    assert decision_faults(FORM, queue.item(0), one, answers(grade="1")) == []
