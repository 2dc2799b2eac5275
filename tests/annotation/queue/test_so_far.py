"""What people said in a queue so far: its order, ratings and what is to come are known of it."""

from pathlib import Path

import pytest

from ragstone.annotation import agreement, read_label_table
from ragstone.annotation.queue.form import (
    AskedLabel,
    ItemAnswers,
    ItemPart,
    Order,
    QueueForm,
    QueueItem,
)
from ragstone.annotation.queue.labels_store import FILE, LabelDatabase, open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.running_agreement import queue_so_far
from ragstone.core.messages import Reason
from ragstone.report.reason_words import explain

TONES = ("1", "2", "3", "4", "5")


def made(database: LabelDatabase, items: int = 60, order: Order = "random") -> Queue:
    asked = (AskedLabel("helpful", "answer", ("yes", "no")), AskedLabel("tone", "answer", TONES))
    form = QueueForm("first", asked, per_item=2, order=order)
    return Queue.make(database, form, [
        (QueueItem(n, f"e{n}", {"question": "?"}, (ItemPart("answer"),)), n, 2)
        for n in range(items)
    ])  # fmt: skip


def label(queue: Queue, person: str, items: int) -> None:
    queue.invite(person)
    for _ in range(items):
        one = queue.next(person)
        assert one is not None
        said = {"helpful": "yes" if one.item % 3 else "no", "tone": TONES[one.item % 5]}
        if person == "ben" and one.item % 4 == 0:
            said = {"helpful": "no", "tone": TONES[(one.item + 1) % 5]}
        queue.save(person, one.item, ItemAnswers({("answer", ""): said}), f"{person} {one.item}")


def test_what_is_to_come_is_known_of_a_queue(database: LabelDatabase) -> None:
    queue = made(database, 10)
    assert queue.to_come() == 20
    label(queue, "ann", 10)
    label(queue, "ben", 7)
    assert queue.to_come() == 3
    queue.invite("cleo", "adjudicator")
    queue.undo("ben")
    assert queue.to_come() == 4


def test_labels_of_a_queue_are_looked_at_as_they_come(database: LabelDatabase) -> None:
    queue = made(database)
    assert queue_so_far(database, queue) == ()
    label(queue, "ann", 60)
    label(queue, "ben", 59)
    helpful, tone = queue_so_far(database, queue)
    assert (helpful.label, helpful.n_shared, tone.label) == ("helpful", 59, "tone")
    assert helpful.kappa.interval is not None
    assert helpful.kappa.interval.method == "asymptotic_sequence"
    label(queue, "ben", 1)
    done = queue_so_far(database, queue)[0]
    assert done.kappa.interval is not None
    assert done.kappa.interval.method == "item_bootstrap"
    assert done.kappa.caution is None


def test_skipped_items_widen_what_the_mean_can_be(database: LabelDatabase) -> None:
    queue = made(database, 10)
    queue.invite("ann")
    for _ in range(10):
        one = queue.next("ann")
        assert one is not None
        if one.item in (0, 3):
            queue.skip("ann", one.item)
        else:
            said = {"helpful": "yes" if one.item % 3 else "no", "tone": TONES[one.item % 5]}
            queue.save("ann", one.item, ItemAnswers({("answer", ""): said}), f"ann {one.item}")
    helpful, tone = queue_so_far(database, queue)
    # 6 of 8 are yes; of 10 from 6 to 8. Eight tones are 3.125.
    expected = [(helpful.means["true"], "0.600", "0.800"), (tone.means[""], "2.700", "3.500")]
    for mean, least, most in expected:
        assert Reason.read(mean.caution or "").facts == {
            "n": "2", "asked": "10", "least": least, "most": most,
        }  # fmt: skip
    label(queue, "ben", 10)
    assert "left_open" not in str(queue_so_far(database, queue)[0].means["true"].caution)


def test_ratings_have_the_ends_of_their_choices(database: LabelDatabase) -> None:
    queue = made(database, 70)
    label(queue, "ann", 55)
    tone = queue_so_far(database, queue)[1]
    mean = tone.means[""]
    assert mean.value == 3
    assert mean.interval is not None
    assert 1 < mean.interval.low < 3 < mean.interval.high < 5
    assert mean.interval.low + mean.interval.high == pytest.approx(6)


def test_in_the_order_of_risk_nothing_is_said_of_all_before_the_end(
    database: LabelDatabase,
) -> None:
    queue = made(database, 20, "risk")
    label(queue, "ann", 20)
    label(queue, "ben", 19)
    helpful = queue_so_far(database, queue)[0]
    assert helpful.percent.interval is None
    assert Reason.read(helpful.percent.caution or "").code == "riskiest_first"
    label(queue, "ben", 1)
    assert queue_so_far(database, queue)[0].percent.interval is not None


def test_agreement_of_an_unfinished_queue_says_that_labels_are_still_coming(tmp_path: Path) -> None:
    queue = made(open_labels(tmp_path), 10)
    label(queue, "ann", 10)
    label(queue, "ben", 9)
    (note,) = agreement(tmp_path / FILE).labels.notes
    assert explain(note).startswith("first: people have 1 item still to label.")
    assert "mislead" in explain(note)
    assert read_label_table(f"{tmp_path / FILE}#first").notes == (note,)
    label(queue, "ben", 1)
    assert agreement(tmp_path / FILE).labels.notes == ()


def test_answers_to_one_question_are_known_to_belong_together(tmp_path: Path) -> None:
    asked = (AskedLabel("helpful", "answer", ("yes", "no")), AskedLabel("tone", "answer", TONES))
    database = open_labels(tmp_path)
    queue = Queue.make(database, QueueForm("first", asked, per_item=2), [
        (QueueItem(n, f"e{n}", {}, (ItemPart("answer"),), question=f"q{n // 3}"), n, 2)
        for n in range(12)
    ])  # fmt: skip
    assert list(map(len, (queue.questions(), set(queue.questions().values())))) == [12, 4]
    label(queue, "ann", 12)
    label(queue, "ben", 11)
    assert queue_so_far(database, queue)[0].kappa.n == 4
    assert agreement(tmp_path / FILE).columns[0].n_clusters == 4
    own = {f"e{n}": n // 2 for n in range(12)}
    assert queue_so_far(database, queue, clusters=own)[0].kappa.n == 6
