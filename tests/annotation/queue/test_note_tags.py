"""Notes are sorted into tags, which are counted and tell examples apart."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import LabelDatabase
from ragstone.annotation.queue.note_tags import QueueTags
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import InputError, UnknownName
from ragstone.stats import cluster_wilson, wilson

FORM = QueueForm("q", (AskedLabel("helpful", "answer", ("yes", "no")),), per_item=2)
YES = {("answer", ""): {"helpful": "yes"}}


def made(
    database: LabelDatabase,
    count: int = 10,
    question: Callable[[int], str] = str,
    chance: Callable[[int], float] = lambda _: 1.0,
) -> tuple[Queue, QueueTags]:
    items = [
        (
            QueueItem(n, f"e{n}", {"question": question(n), "answer": f"a{n}"},
                      (ItemPart("answer"),), chance(n), question=question(n)),
            n,
            2,
        )
        for n in range(count)
    ]  # fmt: skip
    queue = Queue.make(database, FORM, items)
    return queue, QueueTags(database, queue)


def label(queue: Queue, *items: int, note: str = "", person: str = "ann") -> None:
    for item in items:
        queue.fill(person, item, ItemAnswers(YES, note))


def test_notes_are_listed_with_their_tags_and_without_who_wrote_them(
    database: LabelDatabase,
) -> None:
    queue, tags = made(database)
    label(queue, 3, note="dates are wrong", person="zoe")
    label(queue, 1, note="no source", person="ann")
    label(queue, 3, note="1912, not 1921", person="ann")
    label(queue, 2)
    tags.add(3, "wrong date")
    found = tags.notes()
    assert [(one.item, one.id, one.question, one.text, one.tags) for one in found] == [
        (1, "e1", "1", "no source", ()),
        (3, "e3", "3", "1912, not 1921", ("wrong date",)),
        (3, "e3", "3", "dates are wrong", ("wrong date",)),
    ]
    assert not {"zoe", "ann"} & {word for one in found for word in repr(one).split("'")}


def test_several_tags_are_put_on_at_once_and_each_once(database: LabelDatabase) -> None:
    queue, tags = made(database)
    tags.add(1, "wrong  date, No source,", "max")
    tags.add(2, "WRONG DATE", "max")
    tags.add(1, "no source", "max")
    assert tags.names() == ["No source", "wrong date"]
    events = [(one.person, one.what, one.about) for one in queue.events()][1:]
    assert events == [
        ("max", "tagged", "1: wrong date"),
        ("max", "tagged", "1: No source"),
        ("max", "tagged", "2: wrong date"),
    ]


@pytest.mark.parametrize("name", ["", " , ", "x" * 61, "bell\a", "nul\0", "half \ud800"])
def test_what_is_no_name_of_a_tag_is_refused(database: LabelDatabase, name: str) -> None:
    _, tags = made(database)
    with pytest.raises(InputError, match="1 to 60 characters"):
        tags.add(1, name)
    assert tags.names() == []


def test_an_item_that_is_not_there_gets_no_tag(database: LabelDatabase) -> None:
    _, tags = made(database)
    with pytest.raises(UnknownName):
        tags.add(99, "odd")


def test_a_tag_is_renamed_merged_taken_off_and_dropped(database: LabelDatabase) -> None:
    queue, tags = made(database)
    label(queue, *range(10), note="?")
    for item, name in ((1, "date"), (2, "date"), (2, "year"), (3, "year"), (4, "tone")):
        tags.add(item, name)
    tags.rename("date", "Date", "max")
    tags.rename("Date", "wrong date", "max")
    with pytest.raises(InputError, match="merge 'tone' into it"):
        tags.rename("tone", "YEAR")
    tags.merge("year", "wrong date", "max")
    assert {one.item: one.tags for one in tags.notes() if one.tags} == {
        1: ("wrong date",), 2: ("wrong date",), 3: ("wrong date",), 4: ("tone",)
    }  # fmt: skip
    tags.remove(3, "wrong date", "max")
    tags.remove(3, "wrong date", "max")
    tags.drop("tone", "max")
    assert [(one.tag, one.n) for one in tags.counts()] == [("wrong date", 2)]
    assert [(one.what, one.about) for one in queue.events()][-5:] == [
        ("tag renamed", "date → Date"),
        ("tag renamed", "Date → wrong date"),
        ("tags merged", "year → wrong date"),
        ("untagged", "3: wrong date"),
        ("tag dropped", "tone"),
    ]


def test_what_is_done_to_a_tag_that_is_not_there_is_refused(database: LabelDatabase) -> None:
    _, tags = made(database)
    tags.add(1, "date")
    for name, into in (("date", "year"), ("year", "date")):
        with pytest.raises(UnknownName):
            tags.merge(name, into)
    with pytest.raises(UnknownName, match="dat"):
        tags.rename("dat", "x")
    with pytest.raises(UnknownName):
        tags.drop("year")
    with pytest.raises(InputError, match="another tag"):
        tags.merge("date", "date")


def test_the_share_of_a_tag_is_of_what_is_labelled(database: LabelDatabase) -> None:
    queue, tags = made(database)
    label(queue, 0, 1, 2, 3)
    queue.fill("ann", 4, ItemAnswers(discarded="in Welsh"))
    label(queue, 5)
    queue.decide("cleo", 5, ItemAnswers(discarded="in Welsh"), "a")
    for item in (1, 4, 5, 9):
        tags.add(item, "date")
    (one,) = tags.counts()
    assert (one.n, one.labelled, one.share, one.why) == (1, 4, 0.25, "")
    assert one.interval == wilson(1, 4)


def test_answers_to_one_question_are_a_cluster(database: LabelDatabase) -> None:
    queue, tags = made(database, question=lambda n: str(n // 2))
    label(queue, *range(10))
    for item in (0, 1, 5):
        tags.add(item, "date")
    (one,) = tags.counts()
    assert one.interval == cluster_wilson([2, 0, 1, 0, 0], [2, 2, 2, 2, 2])


def test_an_item_that_was_unlikely_to_be_drawn_counts_for_more(database: LabelDatabase) -> None:
    queue, tags = made(database, 4, chance=lambda n: 0.25 if n == 0 else 1.0)
    label(queue, 0, 1, 2, 3)
    tags.add(0, "date")
    (one,) = tags.counts()
    assert one.share == pytest.approx(4 / 7)
    assert one.interval is not None
    assert one.interval.low < 4 / 7 < one.interval.high


def test_a_single_question_and_nothing_labelled_have_no_interval(database: LabelDatabase) -> None:
    queue, tags = made(database, question=lambda _: "Why?")
    tags.add(1, "date")
    (none,) = tags.counts()
    assert (none.share, none.interval, none.why) == (None, None, "nothing_labelled")
    label(queue, 1, 2)
    (alone,) = tags.counts()
    assert (alone.share, alone.interval, alone.why) == (0.5, None, "one_cluster?noun=question")


def test_of_examples_that_were_chosen_the_share_stands_for_no_others(
    database: LabelDatabase,
) -> None:
    parts = (ItemPart("answer"),)
    items = [(QueueItem(n, f"e{n}", {}, parts), n, 1) for n in range(4)]
    queue = Queue.make(database, replace(FORM, chosen="stage=not_grounded"), items)
    label(queue, 0, 1)
    tags = QueueTags(database, queue)
    tags.add(1, "date")
    (one,) = tags.counts()
    assert (one.share, one.interval, one.why) == (0.5, None, "labelled_not_drawn")


def test_examples_are_told_apart_by_their_tags(database: LabelDatabase) -> None:
    queue, tags = made(database)
    label(queue, 0, 1, 2, 3)
    tags.add(1, "date")
    tags.add(2, "date, tone")
    tags.add(9, "date")
    texts = {f"e{n}": {"question": str(n), "answer": f"a{n}"} for n in range(10)}
    texts["e2"]["answer"] = "another run's"
    del texts["e3"]
    found = tags.examples(lambda ids: {id: texts[id] for id in ids if id in texts})
    assert found == ({"e0", "e1"}, {"date": {"e1"}})
