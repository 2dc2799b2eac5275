"""What people say in a queue is read as labels, as from the file that they would have filled in."""

from pathlib import Path

import pytest

from ragstone.annotation import agreement, read_label_table, write_labels
from ragstone.annotation.queue.form import (
    AskedLabel,
    ItemAnswers,
    ItemPart,
    Order,
    QueueForm,
    QueueItem,
)
from ragstone.annotation.queue.labels_store import FILE, open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import DataError, InputError, UnknownName
from ragstone.core.messages import Reason

YES_NO = ("yes", "no")


def labelled(folder: Path, name: str = "first") -> Path:
    """Two people on three items of an answer and a context each; one is discarded."""
    form = QueueForm(
        name,
        (
            AskedLabel("helpful", "answer", YES_NO),
            AskedLabel("topically_relevant", "context", YES_NO),
            AskedLabel("rating.tone", "answer", ("1", "2", "3")),
        ),
        per_item=2,
    )
    parts = (ItemPart("answer"), ItemPart("context", "1"))
    items = [(QueueItem(n, f"e{n}", {"question": "?"}, parts, 0.25), n, 2) for n in range(3)]
    queue = Queue.make(open_labels(folder), form, items)
    for person, helpful in (("ann", "yes"), ("ben", "no")):
        queue.invite(person)
        one = queue.next(person)
        while one is not None:
            said = {
                ("answer", ""): {"helpful": helpful, "rating.tone": "2"},
                ("context", "1"): {"topically_relevant": "yes"},
            }
            answers = ItemAnswers(said, note=f"of {one.id}")
            if one.item == 2:
                answers = ItemAnswers(discarded="not in English")
            one = queue.save(person, one.item, answers, str(one.item))
    return folder / FILE


def test_labels_of_a_queue_are_a_table_of_labels(tmp_path: Path) -> None:
    table = read_label_table(labelled(tmp_path))
    assert table.annotators == ("ann", "ben")
    assert table.columns == (
        ("quality", "helpful"), ("rating", "tone"), ("relevance", "relevant")
    )  # fmt: skip
    assert table.discarded == {"not in English": 4}
    first = table.used.row(0, named=True)
    assert (first["example_id"], first["annotator"], first["value"]) == ("e0", "ann", "true")
    assert first["inclusion_probability"] == 0.25
    assert first["note"] == "of e0"
    assert set(table.of("relevance", "relevant")["unit"]) == {"1"}


def test_agreement_takes_the_store(tmp_path: Path) -> None:
    found = {one.column: one for one in agreement(labelled(tmp_path)).columns}
    assert (found["helpful"].n_shared, found["helpful"].n_divided) == (2, 2)
    assert (found["relevant"].n_shared, found["relevant"].n_divided) == (2, 0)


def test_a_written_table_reads_back_the_same(tmp_path: Path) -> None:
    table = read_label_table(labelled(tmp_path))
    write_labels(table, tmp_path / "labels.csv")
    again = read_label_table(tmp_path / "labels.csv")
    assert again.used.sort(again.used.columns).equals(table.used.sort(table.used.columns))


def test_who_adjudicates_is_named_so_and_decides(tmp_path: Path) -> None:
    file = labelled(tmp_path)
    queue = Queue(open_labels(file), "first")
    queue.decide("cleo", 0, ItemAnswers({("answer", ""): {"helpful": "no"}}), "once")
    table = read_label_table(file)
    assert (table.annotators, table.adjudicators) == (("ann", "ben"), ("cleo",))
    assert [(tie.example_id, tie.name) for tie in table.ties()] == [("e1", "helpful")]
    decided = table.adjudicated().filter("adjudicated")
    assert decided.select("example_id", "unit", "value").rows() == [("e0", None, "false")]
    assert not any("without_label" in note for note in table.notes)


def test_nobody_is_invited_under_the_name_of_an_adjudicator(tmp_path: Path) -> None:
    queue = Queue(open_labels(labelled(tmp_path)), "first")
    with pytest.raises(InputError, match="adjudicator:eve"):
        queue.invite("adjudicator:eve")


def test_one_queue_of_several_is_named(tmp_path: Path) -> None:
    (tmp_path / "a#b").mkdir()
    file = labelled(tmp_path / "a#b")
    labelled(tmp_path / "a#b", "second")
    assert read_label_table(file).n_set_aside == 12
    assert len(read_label_table(f"{file}#second").used) == 12
    with pytest.raises(UnknownName, match="third"):
        read_label_table(f"{file}#third")


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a store of labels"):
        read_label_table(tmp_path / FILE)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize(
    ("chosen", "order", "labelled", "code"),
    [
        ("the worst", "random", 1, "labels_of_chosen"),
        ("", "risk", 1, "labels_of_riskiest"),
        ("", "risk", 2, ""),
        ("", "random", 1, ""),
    ],
)
def test_labels_that_do_not_stand_for_all_say_so(
    tmp_path: Path, chosen: str, order: Order, labelled: int, code: str
) -> None:
    form = QueueForm("q", (AskedLabel("helpful", "answer", YES_NO),), order=order, chosen=chosen)
    items = [(QueueItem(n, f"e{n}", {}, (ItemPart("answer"),)), n, 1) for n in range(2)]
    queue = Queue.make(open_labels(tmp_path), form, items)
    queue.invite("ann")
    one = queue.next("ann")
    for _ in range(labelled):
        assert one is not None
        said = ItemAnswers({("answer", ""): {"helpful": "yes"}})
        one = queue.save("ann", one.item, said, str(one.item))
    found = {Reason.read(note).code for note in read_label_table(tmp_path / FILE).notes}
    assert found - {"labels_still_coming"} == ({code} if code else set())
