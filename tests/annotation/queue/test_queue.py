"""A queue gives no item to more people than it wants, and loses nothing that was said."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.annotation.queue.assignment import HELD
from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import LabelDatabase, open_labels, person_of
from ragstone.annotation.queue.queue import Queue, queues
from ragstone.annotation.queue.work_progress import queue_work
from ragstone.core.errors import InputError, StoreAway, UnknownName
from tests.clock import Clock
from tests.programs.postgres import PostgresServer

FORM = QueueForm("grounding", (AskedLabel("helpful", "answer"),), per_item=2)


def item(number: int) -> QueueItem:
    return QueueItem(number, f"e{number}", {"question": f"{number}?"}, (ItemPart("answer"),), 0.5)


def said(helpful: bool, note: str = "") -> ItemAnswers:
    return ItemAnswers({("answer", ""): {"helpful": "yes" if helpful else "no"}}, note)


Make = Callable[..., Queue]


@pytest.fixture
def make(database: LabelDatabase, clock: Clock) -> Make:
    def made(count: int = 3, wanted: int = 2) -> Queue:
        found = Queue.make(
            database, FORM, ((item(n), float(n), wanted) for n in range(count)), clock
        )
        for person in ("ann", "ben", "cem"):
            found.invite(person)
        return found

    return made


def test_an_item_is_given_to_no_more_people_than_it_wants(make: Make) -> None:
    queue = make(count=2, wanted=2)
    given = [queue.next(person) for person in ("ann", "ben", "cem")]
    assert [one and one.item for one in given] == [0, 0, 1]
    assert queue.save("ann", 0, said(True), "1") == item(1)
    assert queue.save("ben", 0, said(True), "1") is None


def test_who_asks_again_has_the_same_item(make: Make) -> None:
    queue = make()
    assert queue.next("ann") == queue.next("ann") == item(0)


def test_a_save_that_is_repeated_counts_once(make: Make, database: LabelDatabase) -> None:
    queue = make()
    queue.next("ann")
    assert queue.save("ann", 0, said(True), "a word") == item(1)
    assert queue.save("ann", 0, said(False), "a word") == item(1)
    assert [one.answers for one in queue.said()] == [said(True)]
    with database.transaction() as run:
        assert run("SELECT count(*) FROM said") == [(1,)]


def test_the_last_word_counts_and_the_first_stays(make: Make, database: LabelDatabase) -> None:
    queue = make()
    queue.next("ann")
    queue.save("ann", 0, said(True), "1")
    queue.save("ann", 0, said(False, "on second thoughts"), "2")
    assert [one.answers for one in queue.said()] == [said(False, "on second thoughts")]
    with database.transaction() as run:
        assert run("SELECT count(*) FROM said") == [(2,)]


def test_nobody_says_anything_of_an_item_that_is_not_theirs(make: Make) -> None:
    queue = make()
    with pytest.raises(InputError, match="was not given to ben"):
        queue.save("ben", 0, said(True), "1")
    assert queue.said() == []


def test_an_item_that_is_held_too_long_is_given_to_others(make: Make, clock: Clock) -> None:
    queue = make(count=1, wanted=1)
    queue.next("ann")
    clock.wait(HELD - 1)
    assert queue.next("ben") is None
    clock.wait(2)
    assert queue.next("ben") == item(0)


def test_who_asks_for_their_item_holds_it_on(make: Make, clock: Clock) -> None:
    queue = make(count=1, wanted=1)
    for _ in range(3):
        assert queue.next("ann") == item(0)
        clock.wait(HELD - 1)
    assert queue.next("ben") is None


def test_who_is_still_at_an_item_holds_it_for_longer(make: Make, clock: Clock) -> None:
    queue = make(count=1, wanted=1)
    queue.next("ann")
    for _ in range(3):
        clock.wait(HELD - 1)
        queue.hold("ann", 0)
    assert queue.next("ben") is None
    clock.wait(HELD + 1)
    assert queue.next("ben") == item(0)
    queue.hold("ann", 0)
    clock.wait(HELD - 1)
    assert queue.next("ben") == item(0), "it is not taken from who has it now"


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_clock_that_is_set_holds_no_item_back_and_loses_no_label(
    jump: float, make: Make, clock: Clock
) -> None:
    queue = make(count=1, wanted=1)
    queue.next("ann")
    clock.wait(jump)
    assert queue.next("ben") == item(0)
    queue.save("ann", 0, said(True), "1")
    assert [one.person for one in queue.said()] == ["ann"]


def test_what_is_said_late_is_kept(make: Make, clock: Clock) -> None:
    queue = make(count=1, wanted=1)
    queue.next("ann")
    clock.wait(HELD + 1)
    queue.next("ben")
    queue.save("ann", 0, said(True), "1")
    queue.save("ben", 0, said(False), "1")
    assert {one.person: one.answers for one in queue.said()} == {
        "ann": said(True),
        "ben": said(False),
    }
    assert queue.next("cem") is None


def test_what_is_skipped_comes_back_after_the_others(make: Make) -> None:
    queue = make(count=2, wanted=1)
    queue.next("ann")
    assert queue.skip("ann", 0) == item(1)
    assert queue.save("ann", 1, said(True), "1") == item(0)
    assert queue.save("ann", 0, said(True), "2") is None
    assert len(queue.said()) == 2


def test_what_is_skipped_can_be_given_to_somebody_else(make: Make) -> None:
    queue = make(count=1, wanted=1)
    queue.next("ann")
    queue.skip("ann", 0)
    # It comes back at once where nothing else is left, and is then hers.
    assert queue.next("ben") is None
    queue.revoke("ann")
    assert queue.next("ben") == item(0)


def test_what_is_undone_is_said_anew_and_does_not_count_until_then(
    make: Make, clock: Clock
) -> None:
    queue = make()
    queue.next("ann")
    queue.save("ann", 0, said(True), "1")
    clock.wait(1)
    assert queue.undo("ann") == (item(0), said(True))
    assert queue.said() == []
    assert queue.next("ann") == item(0)
    assert queue.save("ann", 0, said(False), "2") == item(1)
    assert [one.answers for one in queue.said()] == [said(False)]
    assert queue.undo("ben") is None


def test_a_token_leads_to_its_queue_until_it_is_revoked(
    make: Make, database: LabelDatabase
) -> None:
    queue = make()
    token = queue.invite("dan", "owner")
    found = person_of(database, token)
    assert found is not None
    assert (found[0], found[1].name, found[1].role) == ("grounding", "dan", "owner")
    queue.revoke("dan")
    assert person_of(database, token) is None
    assert person_of(database, "") is None
    other = queue.invite("dan")
    assert person_of(database, token) is None
    assert person_of(database, other) is not None


def test_tokens_are_not_in_the_store(make: Make, database: LabelDatabase) -> None:
    token = make().invite("dan")
    with database.transaction() as run:
        rows = run("SELECT * FROM people")
    assert len(rows) == 4
    assert token not in str(rows)


def test_who_is_revoked_leaves_what_they_said_and_frees_what_they_hold(make: Make) -> None:
    queue = make(count=2, wanted=1)
    queue.next("ann")
    queue.save("ann", 0, said(True), "1")
    queue.revoke("ann")
    assert [one.person for one in queue.said()] == ["ann"]
    assert queue.next("ben") == item(1)
    with pytest.raises(UnknownName, match="zoe"):
        queue.revoke("zoe")


def test_a_queue_grows_without_touching_what_was_said(make: Make) -> None:
    queue = make(count=1, wanted=1)
    queue.next("ann")
    assert queue.save("ann", 0, said(True), "1") is None
    assert queue.extend([(item(1), 1.0, 1)], by="owner") == 1
    assert queue.next("ann") == item(1)
    assert len(queue.said()) == 1


def test_progress_says_how_far_everybody_is(make: Make, database: LabelDatabase) -> None:
    queue = make(count=3, wanted=2)
    queue.next("ann")
    queue.save("ann", 0, said(True), "1")
    queue.skip("ann", 1)
    people = queue_work(database, queue.name).people
    told = {one.name: (one.saved, one.skipped, one.left) for one in people}
    assert told == {"ann": (1, 1, 2), "ben": (0, 0, 3), "cem": (0, 0, 3)}


def test_every_change_is_noted(make: Make) -> None:
    queue = make()
    queue.next("ann")
    queue.skip("ann", 0)
    queue.revoke("ben", by="owner")
    assert [(one.person, one.what, one.about) for one in queue.events()] == [
        ("", "made", "3 items"),
        ("", "invited", "ann as annotator"),
        ("", "invited", "ben as annotator"),
        ("", "invited", "cem as annotator"),
        ("ann", "skipped", "0"),
        ("owner", "revoked", "ben"),
    ]


def test_a_name_is_taken_once_and_an_unknown_one_is_refused(
    make: Make, database: LabelDatabase
) -> None:
    make()
    assert queues(database) == [FORM]
    with pytest.raises(InputError, match="Choose another name"):
        make()
    with pytest.raises(UnknownName, match="nothing"):
        Queue(database, "nothing")


def test_hostile_texts_come_back_as_they_were(make: Make) -> None:
    queue = make()
    odd = "'; DROP TABLE said; -- \x00 \ud800 \u202e <script>"
    queue.next("ann")
    queue.save("ann", 0, said(True, odd), odd)
    assert queue.said()[0].answers.note == odd


@pytest.mark.parametrize("name", ["", "a\nb", "\ud800", "x" * 81])
def test_a_name_that_cannot_be_shown_is_refused(make: Make, name: str) -> None:
    with pytest.raises(InputError, match="1 to 80 characters"):
        make().invite(name)


@pytest.mark.parametrize(
    "name", ["", " ", ".", "..", "a/b", "a#b", "a\nb", "a\u202eb", "x" * 121, "new"]
)
def test_a_queue_whose_page_could_not_be_opened_is_refused(
    database: LabelDatabase, name: str
) -> None:
    with pytest.raises(InputError, match="cannot be the name of a queue"):
        Queue.make(database, replace(FORM, name=name), [])


def test_people_at_once_get_each_item_as_often_as_it_wants(make: Make) -> None:
    queue = make(count=60, wanted=2)
    names = [f"person {n}" for n in range(6)]
    for name in names:
        queue.invite(name)

    def labels(name: str) -> int:
        count, one = 0, queue.next(name)
        while one is not None:
            one = queue.save(name, one.item, said(True), f"{count}")
            count += 1
        return count

    with ThreadPoolExecutor(len(names)) as pool:
        counts = list(pool.map(labels, names))
    assert sum(counts) == 120
    by_item = Counter(one.item for one in queue.said())
    assert set(by_item.values()) == {2}
    assert len(by_item) == 60


@pytest.mark.kill
def test_a_server_that_was_stopped_is_used_again_and_lost_nothing(postgres: PostgresServer) -> None:
    database = open_labels(postgres.database())
    queue = Queue.make(database, FORM, [(item(0), 0.0, 1), (item(1), 1.0, 1)])
    queue.invite("ann")
    queue.next("ann")
    queue.save("ann", 0, said(True), "1")
    postgres.stop("immediate")
    with pytest.raises(StoreAway, match="What was confirmed is kept"):
        queue.save("ann", 1, said(True), "2")
    postgres.start()
    assert queue.save("ann", 1, said(True), "2") is None
    assert len(queue.said()) == 2
    database.close()


KILLED = """
import sys
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.form import ItemAnswers
from ragstone.annotation.queue.queue import Queue

queue = Queue(open_labels(sys.argv[1]), "grounding")
one = queue.next("ann")
while one is not None:
    number = one.item
    one = queue.save("ann", number, ItemAnswers({("answer", ""): {"helpful": "yes"}}), str(number))
    print(number, flush=True)
"""


@pytest.mark.kill
def test_a_process_that_is_killed_loses_nothing_that_it_confirmed(tmp_path: Path) -> None:
    database = open_labels(tmp_path)
    queue = Queue.make(database, FORM, ((item(n), float(n), 1) for n in range(5_000)))
    queue.invite("ann")
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        confirmed = [int(process.stdout.readline()) for _ in range(40)]
        process.kill()
        confirmed += [int(line) for line in process.stdout.read().splitlines(keepends=True)
                      if line.endswith("\n")]  # fmt: skip
    kept = Counter(one.item for one in queue.said())
    assert set(confirmed) <= set(kept)
    assert set(kept.values()) == {1}
    assert len(kept) <= len(confirmed) + 1


@pytest.mark.parametrize(
    "act",
    [
        lambda queue, who: queue.next(who),
        lambda queue, who: queue.save(who, 0, said(True), "late"),
        lambda queue, who: queue.skip(who, 0),
        lambda queue, who: queue.undo(who),
    ],
)
def test_who_is_not_in_a_queue_changes_nothing(
    act: Callable[[Queue, str], object], make: Make, database: LabelDatabase
) -> None:
    queue = make()
    queue.next("ann")
    queue.save("ann", 0, said(True), "1")
    with pytest.raises(UnknownName, match="anna"):
        act(queue, "anna")
    queue.revoke("ann")
    before = (queue.said(), queue_work(database, queue.name), queue.events())
    with pytest.raises(InputError, match="ann is no longer in the queue grounding"):
        act(queue, "ann")
    assert (queue.said(), queue_work(database, queue.name), queue.events()) == before
    queue.invite("ann")
    act(queue, "ann")


def test_a_word_for_a_save_counts_once_for_each_item(make: Make) -> None:
    queue = make()
    queue.next("ann")
    queue.save("ann", 0, said(True), "the same")
    queue.save("ann", 1, said(False), "the same")
    assert [one.item for one in queue.said()] == [0, 1]
