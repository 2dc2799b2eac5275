"""Somebody sees what they did themselves, and nothing of the others."""

from collections.abc import Callable

import pytest

from ragstone.annotation.queue.assignment import HELD
from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import LabelDatabase
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.work_progress import MyAnswer, MyWork, OwnProgress, queue_work
from ragstone.core.errors import LabelConflict
from tests.clock import Clock

FORM = QueueForm("grounding", (AskedLabel("helpful", "answer", ("yes", "no")),))
YES = ItemAnswers({("answer", ""): {"helpful": "yes"}})
NO = ItemAnswers({("answer", ""): {"helpful": "no"}}, "on second thoughts")


Make = Callable[..., Queue]


@pytest.fixture
def make(database: LabelDatabase, clock: Clock) -> Make:
    def made(count: int = 3, wanted: int = 1) -> Queue:
        items = (
            QueueItem(n, f"e{n}", {"question": f"{n}?"} if n else {}, (ItemPart("answer"),))
            for n in range(count)
        )
        queue = Queue.make(database, FORM, ((one, float(one.item), wanted) for one in items), clock)
        queue.invite("ann")
        queue.invite("ben")
        return queue

    return made


def test_what_somebody_said_of_an_item_is_known_with_its_state(
    make: Make, database: LabelDatabase
) -> None:
    queue = make(wanted=2)
    own = MyWork(database, queue, "ann")
    assert own.word(0) is None
    queue.next("ann")
    assert own.word(0) == MyAnswer("given")
    queue.save("ann", 0, YES, "1")
    first = own.word(0)
    assert first is not None
    assert (first.state, first.answers) == ("said", YES)
    queue.save("ann", 0, NO, "2")
    last = own.word(0)
    assert last is not None
    assert last.answers == NO
    assert last.version > first.version > 0
    queue.undo("ann")
    again = own.word(0)
    assert again is not None
    assert (again.state, again.answers) == ("given", NO)
    assert MyWork(database, queue, "ben").word(0) is None


def test_a_save_of_what_was_seen_is_kept_and_one_of_what_was_not_is_refused(
    make: Make, database: LabelDatabase
) -> None:
    queue = make()
    own = MyWork(database, queue, "ann")
    queue.next("ann")
    queue.save("ann", 0, YES, "1", seen=0)
    word = own.word(0)
    assert word is not None
    with pytest.raises(LabelConflict) as refused:
        queue.save("ann", 0, NO, "2", seen=0)
    assert (refused.value.item, refused.value.version) == (0, word.version)
    assert refused.value.at == word.at
    assert [one.answers for one in queue.said()] == [YES]
    queue.save("ann", 0, NO, "2", seen=word.version)
    assert [one.answers for one in queue.said()] == [NO]


def test_a_save_that_is_repeated_or_says_the_same_is_no_conflict(make: Make) -> None:
    queue = make()
    queue.next("ann")
    queue.save("ann", 0, YES, "1", seen=0)
    queue.save("ann", 0, NO, "1", seen=0)
    queue.save("ann", 0, YES, "2", seen=0)
    assert [one.answers for one in queue.said()] == [YES]


def test_progress_counts_what_is_theirs_and_what_may_come_to_be(
    make: Make, database: LabelDatabase, clock: Clock
) -> None:
    queue = make(count=4, wanted=1)
    ann, ben = (MyWork(database, queue, one) for one in ("ann", "ben"))
    assert ann.progress() == OwnProgress(saved=0, skipped=0, given=0, left=4)
    queue.next("ann")
    assert ann.progress() == OwnProgress(saved=0, skipped=0, given=1, left=3)
    assert ann.progress().all == 4
    assert ben.progress() == OwnProgress(saved=0, skipped=0, given=0, left=3)
    queue.save("ann", 0, YES, "1")
    queue.skip("ann", 1)
    assert ann.progress() == OwnProgress(saved=1, skipped=1, given=1, left=2)
    assert queue.next("ben") == queue.item(1)
    assert ann.progress() == OwnProgress(saved=1, skipped=1, given=1, left=1)
    assert (ann.with_others(), ben.with_others()) == (1, 1)
    assert queue.save("ben", 1, YES, "1") == queue.item(3)
    queue.revoke("ben")
    assert (ann.with_others(), ben.with_others()) == (0, 1)
    clock.wait(HELD + 1)
    queue.invite("cem")
    assert queue.next("cem") == queue.item(2)
    assert ann.progress().given == 0


def test_progress_is_that_of_the_overview(make: Make, database: LabelDatabase) -> None:
    queue = make(count=6, wanted=2)
    for _ in range(2):
        for person in ("ann", "ben"):
            item = queue.next(person)
            assert item is not None
            queue.save(person, item.item, YES, str(item.item))
    queue.skip("ann", 2)
    for one in queue_work(database, queue.name).people:
        own = MyWork(database, queue, one.name).progress()
        assert (own.saved, own.skipped) == (one.saved, one.skipped)
        assert own.left + own.given == one.left


def test_the_list_has_the_items_of_one_person_the_last_first(
    make: Make, database: LabelDatabase, clock: Clock
) -> None:
    queue = make()
    queue.next("ann")
    for number, answers in ((0, NO), (1, ItemAnswers(discarded="in Welsh"))):
        clock.wait(1)
        queue.save("ann", number, answers, str(number))
    found = MyWork(database, queue, "ann").items()
    assert [(one.item, one.state, one.text) for one in found] == [
        (2, "given", "2?"),
        (1, "said", "1?"),
        (0, "said", ""),
    ]
    assert [(one.discarded, one.note) for one in found] == [
        (False, False),
        (True, False),
        (False, True),
    ]
    assert MyWork(database, queue, "ben").items() == []
