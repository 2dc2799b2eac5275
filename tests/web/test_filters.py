"""Filters of answers: what an address asks for, in words, with scores, fields and tags."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest

from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import FILE, open_labels
from ragstone.annotation.queue.note_tags import QueueTags
from ragstone.annotation.queue.queue import Queue
from ragstone.core.errors import InputError
from ragstone.run import Run
from ragstone.web.filters import ExampleFilter, tags_of
from ragstone.web.runs_folder import RunsFolder

from .conftest import client_of, settled

ROWS = pl.DataFrame({
    "place": [0, 1, 2, 3, 4],
    "id": ["a", "b", "c", "d", "e"],
    "question_id": ["q1", "q1", "q2", "q2", "q3"],
    "system": ["x", "y", "x", "y", "x"],
    # Sums of floats, a little above .3 and below .8.
    "mrr": [0.5, 0.1 + 0.2, None, None, 0.7 + 0.1],
    "status mrr": ["value", "value", "undefined", "missing", "value"],
    "reason mrr": [None, None, "no_context", "judge_failed?said=no", None],
    "answer_outcome": [0.0, 1.0, None, 0.5, 0.0],
    "status answer_outcome": ["value", "value", "undefined", "value", "value"],
    "label answer_outcome": ["wrong", "correct", None, "partial", "wrong"],
    "reason answer_outcome": [None, None, "no_answer", None, None],
})  # fmt: skip
FIELDS = {"topic": ["sea", "sea", "land", "land", "sea"], "lang": ["en", "de", "en", "de", "de"]}
STAGES = ["unsupported", "no_fault", None, "wrong", "no_answer"]
FIVE: Any = SimpleNamespace(
    rows=ROWS,
    metrics=["mrr", "answer_outcome"],
    stages=pl.DataFrame({"id": ROWS["id"], "stage": STAGES}),
    shortfalls=pl.DataFrame({"id": ["e", "d", "a"], "shortfall": [0.5, 0.2, 0.5]}),
    disputed=pl.Series("id", ["d", "b"]),
    field=lambda name: pl.Series(FIELDS[name]),
)
BEFORE: Any = SimpleNamespace(
    rows=pl.DataFrame({
        "question_id": ["q1", "q1", "q2", "q3", "q3", "q4"],
        "system": ["x", "y", "x", "x", "x", "x"],
        "mrr": [0.5, 0.9, 0.1, 0.7, 0.9, 0.0],
    })
)  # fmt: skip


def kept(query: str, pinned: str = "") -> str:
    baseline = (pinned, BEFORE) if pinned else None
    return "".join(ExampleFilter.read(query).chosen(FIVE, lambda: baseline)["id"])


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", "abcde"),
        ("where=mrr:0.3..0.5", "ab"),
        ("where=mrr:..0.3", "b"),
        ("where=mrr:0.8..", "e"),
        ("where=mrr:..", "abe"),
        ("where=mrr:0.4..&where=answer_outcome:0..0", "ae"),
        ("system=x", "ace"),
        ("system=x&system=y", "abcde"),
        ("slice=topic:land", "cd"),
        ("slice=topic:land&slice=topic:sea", "abcde"),
        ("slice=topic:sea&slice=lang:de", "be"),
        ("status=missing", "d"),
        ("status=undefined", "c"),
        ("status=missing&status=undefined", "cd"),
        ("status=answer_outcome:missing", ""),
        ("status=mrr:missing", "d"),
        ("outcome=wrong", "ae"),
        ("outcome=wrong&outcome=partial", "ade"),
        ("stage=bad", "ade"),
        ("stage=no_fault", "b"),
        ("stage=bad&stage=no_fault", "abde"),
        ("stage=wrong&stage=no_answer", "de"),
        ("reason=judge_failed", "d"),
        ("reason=judge_failed&reason=no_answer", "cd"),
        ("labels=differ", "bd"),
        ("labels=differ&system=y&stage=no_fault", "b"),
    ],
)
def test_a_filter_keeps_the_answers_for_which_all_its_conditions_hold(query: str, ids: str) -> None:
    assert kept(query) == ids


@pytest.mark.parametrize(
    ("sort", "ids"),
    [
        ("mrr", "baecd"),
        ("-mrr", "eabcd"),
        ("system", "acebd"),
        ("-system", "bdace"),
        ("worst", "aedbc"),
        ("-worst", "daebc"),
        ("-nonsense", "abcde"),
    ],
)
def test_equals_stay_in_the_order_of_the_data_and_what_has_no_value_is_last(
    sort: str, ids: str
) -> None:
    assert kept(f"sort={sort}") == ids


@pytest.mark.parametrize(
    ("pinned", "ids"),
    [
        ("old", "b"),  # 0.3 after 0.9; of two answers to q3 the mean, 0.8, counts
        ("old/y", "ab"),  # 0.5 and 0.3 after its 0.9
        ("old/x", "b"),  # 0.3 after its 0.5
    ],
)
def test_what_changed_is_against_the_same_system_or_the_pinned_one(pinned: str, ids: str) -> None:
    assert kept("changed=mrr", pinned) == ids


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("changed=mrr", "No other run is pinned"),
        ("changed=answer_outcome", "not a metric of both"),
        ("where=ndcg:0..1", "no metric ndcg"),
        ("status=ndcg:missing", "no metric ndcg"),
        ("where=mrr:a..1", "METRIC:LOW..HIGH"),
        ("where=mrr:0-1", "METRIC:LOW..HIGH"),
    ],
)
def test_a_condition_that_cannot_be_looked_at_is_refused(query: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        kept(query, "old" if "outcome" in query else "")


def test_a_condition_that_is_asked_for_twice_is_one() -> None:
    conditions = ExampleFilter.read("system=x&system=x&page=2&sort=mrr&sort=-mrr").conditions
    assert conditions == (("system", "x"),)
    assert ExampleFilter.read("sort=mrr&sort=-mrr").sort == "-mrr"


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
        HOSTILE: (frozenset({c}), frozenset({a, b, d})),
        "wrong date": (frozenset({a, c}), frozenset({b, d})),
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
    assert found["wrong date"] == (frozenset({a, b, c}), frozenset({d}))


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
