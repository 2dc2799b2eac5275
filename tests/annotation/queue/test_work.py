"""How far a queue is, how fast people are, and how long the rest takes."""

from collections.abc import Callable

import pytest

from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import LabelDatabase
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.work_progress import QueueWork, hours_for, pace_of, queue_work
from ragstone.core.errors import UnknownName
from tests.clock import Clock

FORM = QueueForm("q", (AskedLabel("helpful", "answer", ("yes", "no")),))
YES = ItemAnswers({("answer", ""): {"helpful": "yes"}})


Make = Callable[..., Queue]


@pytest.fixture
def make(database: LabelDatabase, clock: Clock) -> Make:
    def made(*wanted: int, people: str = "ann ben") -> Queue:
        items = [
            (QueueItem(n, f"e{n}", {}, (ItemPart("answer"),)), float(n), count)
            for n, count in enumerate(wanted)
        ]
        queue = Queue.make(database, FORM, items, clock)
        for person in people.split():
            clock.wait(1)
            queue.invite(person)
        return queue

    return made


def label(queue: Queue, person: str, count: int, clock: Clock, seconds: float = 60) -> None:
    for _ in range(count):
        one = queue.next(person)
        assert one is not None
        clock.wait(seconds)
        queue.save(person, one.item, YES, str(clock.at))


def test_items_are_counted_by_how_often_people_labelled_them(
    make: Make, database: LabelDatabase, clock: Clock
) -> None:
    queue = make(2, 2, 1)
    label(queue, "ann", 2, clock)
    label(queue, "ben", 1, clock)
    work = queue_work(database, "q")
    assert (work.items, work.labelled, work.finished) == (3, 2, 1)
    assert (work.wanted, work.given, work.lacking) == (5, 3, 0)
    # The third is in Ann's hands, the second in Ben's.
    assert [(one.saved, one.left) for one in work.people] == [(2, 1), (1, 1)]


def test_an_item_in_somebodys_hands_is_left_to_them_alone(
    make: Make, database: LabelDatabase
) -> None:
    make(1).next("ann")
    assert [one.left for one in queue_work(database, "q").people] == [1, 0]


def test_what_was_discarded_skipped_and_decided_is_told_by_person(
    make: Make, database: LabelDatabase
) -> None:
    queue = make(1, 1, 1, 1)
    queue.invite("cem", "adjudicator")
    queue.next("ann")
    queue.save("ann", 0, ItemAnswers(note='"discarded": ""'), "1")
    queue.save("ann", 1, ItemAnswers(discarded="not readable"), "2")
    queue.skip("ann", 2)
    queue.decide("cem", 0, YES, "1")
    queue.decide("cem", 0, YES, "2")
    ann, ben, cem = queue_work(database, "q").people
    assert (ann.saved, ann.discarded, ann.skipped, ann.left) == (2, 1, 1, 2)
    assert (ben.saved, ben.left, ben.last) == (0, 1, "")
    assert (cem.role, cem.decided, cem.left) == ("adjudicator", 1, 0)
    # The last word counts: what was discarded first was labelled then.
    queue.save("ann", 1, YES, "3")
    assert queue_work(database, "q").people[0].discarded == 0


def test_what_is_undone_does_not_count(make: Make, database: LabelDatabase, clock: Clock) -> None:
    queue = make(1)
    label(queue, "ann", 1, clock)
    queue.undo("ann")
    work = queue_work(database, "q")
    assert (work.labelled, work.given, work.people[0].saved) == (0, 0, 0)


def test_who_is_wanted_and_not_there_is_told(
    make: Make, database: LabelDatabase, clock: Clock
) -> None:
    queue = make(3, 3, 1)
    assert queue_work(database, "q").lacking == 2
    label(queue, "ann", 2, clock)
    assert queue_work(database, "q").lacking == 2
    queue.revoke("ben")
    # Ann alone is left: the first two want two others each, the third none.
    assert queue_work(database, "q").lacking == 4
    queue.invite("ben")
    queue.invite("cem")
    assert queue_work(database, "q").lacking == 0


def test_the_rest_takes_as_long_as_those_at_work_need(
    make: Make, database: LabelDatabase, clock: Clock
) -> None:
    queue = make(*[1] * 40)
    label(queue, "ann", 6, clock, seconds=60)
    work = queue_work(database, "q")
    assert work.people[0].pace == pytest.approx(60)
    assert work.hours == pytest.approx(34 / 60)
    label(queue, "ben", 3, clock)
    assert queue_work(database, "q").hours is None, "too little is known of Ben"
    label(queue, "ben", 3, clock, seconds=60)
    assert queue_work(database, "q").hours == pytest.approx(28 / 120)
    queue.revoke("ben")
    assert queue_work(database, "q").hours == pytest.approx(28 / 60)


def test_every_save_and_change_gives_another_version(
    make: Make, database: LabelDatabase, clock: Clock
) -> None:
    queue = make(1, 1)
    seen: list[QueueWork] = [queue_work(database, "q")]
    assert queue_work(database, "q").version == seen[0].version
    for change in (
        lambda: label(queue, "ann", 1, clock),
        lambda: queue.undo("ann"),
        lambda: queue.decide("cem", 1, YES, "1"),
        lambda: queue.invite("dan"),
        queue.open,
    ):
        change()
        seen.append(queue_work(database, "q"))
    assert len({one.version for one in seen}) == len(seen)


def test_a_queue_is_opened_once_and_that_is_noted(make: Make, database: LabelDatabase) -> None:
    queue = make(1)
    assert not queue.form.opened
    queue.open("eve")
    queue.open("eve")
    assert queue_work(database, "q").form.opened
    assert [one.person for one in queue.events() if one.what == "opened"] == ["eve"]


def test_a_queue_that_is_not_there_is_told(make: Make, database: LabelDatabase) -> None:
    make(1)
    with pytest.raises(UnknownName, match="No queue is called 'p'"):
        queue_work(database, "p")


def times(*seconds: float) -> list[str]:
    found = []
    for second in seconds:
        minutes, rest = divmod(second, 60)
        hours, minutes = divmod(minutes, 60)
        found.append(f"2026-11-23T{10 + hours:02.0f}:{minutes:02.0f}:{rest:06.3f}+00:00")
    return found


@pytest.mark.parametrize(
    ("saves", "expected"),
    [
        (times(*range(0, 360, 60)), 60),
        (times(0, 30, 60, 90, 120, 150), 120),
        (times(0, 30, 60, 90, 120, 150, 3000, 3030), 120),
        (times(0, 30, 60, 90, 120), None),
        (times(*(n * 0.001 for n in range(40))), None),
        ([], None),
    ],
    ids=["a minute", "half a minute", "a pause", "too few", "taken over together", "none"],
)
def test_pace_is_that_of_work(saves: list[str], expected: float | None) -> None:
    found = pace_of(saves)
    assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("wanted", "people", "expected"),
    [
        (0, [], 0),
        (30, [(10, 30)], 3),
        (30, [(10, 30), (20, 30)], 1),
        # Ben is done with his 20 after an hour; Ann gave 10 by then and needs another.
        (40, [(10, 20), (20, 20)], 2),
        (41, [(10, 20), (20, 20)], None),
        (1, [], None),
    ],
)
def test_the_rest_is_shared_by_pace(
    wanted: int, people: list[tuple[float, int]], expected: float | None
) -> None:
    found = hours_for(wanted, people)
    assert found == (None if expected is None else pytest.approx(expected))
