"""Tags that people gave answers in queues tell the answers of a run apart."""

from pathlib import Path
from urllib.parse import quote

import pytest

from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import FILE, open_labels
from ragstone.annotation.queue.note_tags import QueueTags
from ragstone.annotation.queue.queue import Queue
from ragstone.run import Run
from ragstone.web.filters import TagSlice, tags_of
from ragstone.web.runs_folder import RunsFolder

from .conftest import client_of, settled

HOSTILE = "<b onx=alert(1)>'\"&"


@pytest.fixture
def folder(runs: Path, tmp_path: Path) -> Path:
    """The run beside a queue of its first six answers, five of them labelled, three tagged."""
    (tmp_path / "cornwall").symlink_to(runs / "cornwall")
    rows = Run.open(runs / "cornwall").examples(["id", "question", "answer"]).head(6).to_dicts()
    rows[4]["answer"] = "what another run answered"
    form = QueueForm("q", (AskedLabel("helpful", "answer", ("yes", "no")),))
    parts = (ItemPart("answer"),)
    items = [
        (QueueItem(n, row.pop("id"), {k: v for k, v in row.items() if v}, parts), n, 1)
        for n, row in enumerate(rows)
    ]
    database = open_labels(tmp_path)
    queue = Queue.make(database, form, items)
    for item in range(5):
        queue.fill("ann", item, ItemAnswers({("answer", ""): {"helpful": "no"}}))
    tags = QueueTags(database, queue)
    tags.add(0, "wrong date")
    tags.add(2, f"wrong date, {HOSTILE}")
    tags.add(4, "wrong date")
    database.close()
    return tmp_path


def first(folder: Path, count: int) -> list[str]:
    return Run.open(folder / "cornwall").examples(["id"]).head(count)["id"].to_list()


def test_an_answer_has_the_tags_of_the_queues_that_show_it(folder: Path) -> None:
    a, b, c, d = first(folder, 4)
    found = tags_of(RunsFolder(folder), "cornwall", 60)
    assert found == {
        HOSTILE: TagSlice(frozenset({c}), frozenset({a, b, d})),
        "wrong date": TagSlice(frozenset({a, c}), frozenset({b, d})),
    }


def test_two_queues_have_one_tag_that_differs_in_case(folder: Path) -> None:
    a, b, c, d = first(folder, 4)
    database = open_labels(folder)
    form = QueueForm("r", (AskedLabel("helpful", "answer", ("yes", "no")),))
    queue = Queue.make(database, form, [(QueueItem(0, b, {}, (ItemPart("answer"),)), 0, 1)])
    queue.fill("ann", 0, ItemAnswers({("answer", ""): {"helpful": "no"}}))
    QueueTags(database, queue).add(0, "Wrong date")
    found = tags_of(RunsFolder(folder), "cornwall", 60)
    assert found is not None
    assert found["wrong date"] == TagSlice(frozenset({a, b, c}), frozenset({d}))


def test_the_table_is_filtered_by_tags(folder: Path) -> None:
    client = client_of(folder)
    whole = settled(client, "/runs/cornwall")
    assert '<option value="tag=wrong date">' in whole
    shown = settled(client, "/runs/cornwall?tag=wrong%20date")
    assert "tagged “wrong date”" in shown
    ids = first(folder, 6)
    there = [id for id in ids if f"/runs/cornwall/examples/{quote(id)}?" in shown]
    assert there == [ids[0], ids[2]]
    others = settled(client, "/runs/cornwall?untagged=wrong%20date")
    there = [id for id in ids if f"/runs/cornwall/examples/{quote(id)}?" in others]
    assert there == [ids[1], ids[3]]


def test_the_estimates_are_told_apart_by_a_tag(folder: Path) -> None:
    shown = settled(client_of(folder), "/runs/cornwall?by=tag:wrong%20date")
    assert "not tagged" in shown
    assert "Of the answers that people labelled" in shown


def test_a_tag_that_is_not_there_is_told(folder: Path) -> None:
    shown = settled(client_of(folder), "/runs/cornwall?tag=date")
    assert "No answer of this run is tagged" in shown
    assert "wrong date" in shown
    assert "not tagged" not in settled(client_of(folder), "/runs/cornwall?by=tag:date")


def test_the_name_of_a_tag_does_nothing(folder: Path) -> None:
    shown = settled(client_of(folder), f"/runs/cornwall?tag={quote(HOSTILE)}")
    assert "<b onx" not in shown
    assert "&lt;b onx=alert(1)&gt;" in shown


def test_a_store_that_cannot_be_used_leaves_the_run_to_be_seen(folder: Path) -> None:
    (folder / FILE).write_bytes(b"no store of labels " * 100)
    assert "wrong date" not in settled(client_of(folder), "/runs/cornwall")
