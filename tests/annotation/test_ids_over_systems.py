"""Labels of data whose ids repeat over systems name an example as ID/SYSTEM, or with its system."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone import evaluate
from ragstone.analysis.calibration.labelled_run import LabelledRun
from ragstone.annotation import clusters_of, read_label_table
from ragstone.core.errors import DataError
from ragstone.data import Example
from ragstone.run import Run

SYSTEMS = ("a", "b")
RELEVANT = {("q1", "a"): 1, ("q1", "b"): 0, ("q2", "a"): 0, ("q2", "b"): 1}

NAMED = {
    "system": "id,system,annotator,context,topically_relevant\n"
    + "".join(f"{q},{s},ann,1,{v}\n" for (q, s), v in RELEVANT.items()),
    "method": "id,method,annotator,context,topically_relevant\n"
    + "".join(f"{q},{s},ann,1,{v}\n" for (q, s), v in RELEVANT.items()),
    "joined": "id,annotator,context,topically_relevant\n"
    + "".join(f"{q}/{s},ann,1,{v}\n" for (q, s), v in RELEVANT.items()),
}


def written(folder: Path, text: str, name: str = "labels.csv") -> Path:
    (folder / name).write_text(text)
    return folder / name


def example(id: str, system: str) -> Example:
    return Example(id, "q", system, answer="Ann", contexts=())


def run_of(folder: Path, **options: Any) -> Run:
    rows = [
        {"id": q, "method": s, "question": f"{q}?", "answer": "Ann", "contexts": ["Ann."]}
        for s in SYSTEMS
        for q in ("q1", "q2")
    ]
    path = folder / "data.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return evaluate(path, metrics=["precision(k=1)"], out=folder / "run", **options)


def scores(run: Run) -> dict[str, float]:
    return dict(run.scores().select("example_id", "value").iter_rows())


@pytest.mark.parametrize("how", NAMED)
def test_a_label_file_may_name_an_example_either_way(how: str, tmp_path: Path) -> None:
    labels = written(tmp_path, NAMED[how])
    run = run_of(tmp_path, judge=f"human:{labels}")
    assert scores(run) == {f"{q}/{s}": float(v) for (q, s), v in RELEVANT.items()}


def test_a_file_about_one_system_names_it_beside_the_question(tmp_path: Path) -> None:
    text = "id,system,context,topically_relevant\nq1,b,1,0\nq2,b,1,1\n"
    run = run_of(tmp_path, judge=f"human:{written(tmp_path, text)}")
    known = {id: value for id, value in scores(run).items() if value is not None}
    assert known == {"q1/b": 0.0, "q2/b": 1.0}


def test_a_question_alone_does_not_say_whose_answer_was_labelled(tmp_path: Path) -> None:
    text = "id,context,topically_relevant\nq1,1,0\nq2,1,1\n"
    with pytest.raises(DataError, match="the id of an example, such as q2/b, got q1"):
        run_of(tmp_path, judge=f"human:{written(tmp_path, text)}")


def test_calibration_finds_the_examples_either_way(tmp_path: Path) -> None:
    run = run_of(tmp_path, judge="local")
    for how, text in NAMED.items():
        table = read_label_table(written(tmp_path, text, f"{how}.csv"))
        labelled = LabelledRun(run, table)
        assert {one.id for one in labelled.examples} == {f"{q}/{s}" for q, s in RELEVANT}
        assert labelled.labels.n_set_aside == 0


def test_labels_of_two_systems_are_not_two_labels_of_one(tmp_path: Path) -> None:
    table = read_label_table(written(tmp_path, NAMED["system"]))
    assert table.n_set_aside == 0
    assert table.notes == ("labels_by_system",)
    assert sorted(table.frame["example_id"]) == ["q1/a", "q1/b", "q2/a", "q2/b"]


def test_a_system_beside_ids_of_their_own_changes_no_id(tmp_path: Path) -> None:
    text = "id,system,helpful\nx1,a,1\nx2,b,0\n"
    table = read_label_table(written(tmp_path, text))
    assert table.notes == ()
    assert table.join(example("x1", "other")).labels == {"answer": {"helpful": True}}
    assert table.join(example("x2/b", "b")).labels == {"answer": {"helpful": False}}
    assert table.join(example("x2/a", "a")).labels == {}


def test_a_table_on_its_examples_knows_them_by_their_ids(tmp_path: Path) -> None:
    text = "id,system,helpful\nq1,a,1\nq2,b,0\n"
    table = read_label_table(written(tmp_path, text))
    placed = table.on([example("q1/a", "a"), example("q2/b", "b")])
    assert placed.frame["example_id"].to_list() == ["q1/a", "q2/b"]
    assert placed.n_set_aside == 0


@pytest.mark.parametrize(
    ("cell", "system"),
    [("bm25", {"q1": "bm25"}), (2, {"q1": "2"}), (True, {}), (1.5, {}), ("", {}), (None, {})],
)
def test_a_system_is_named_by_text_or_a_whole_number(
    tmp_path: Path, cell: object, system: dict[str, str]
) -> None:
    row = {"id": "q1", "system": cell, "helpful": 1}
    table = read_label_table(written(tmp_path, json.dumps(row), "labels.jsonl"))
    assert table.systems == system


@pytest.mark.parametrize("place", ["top", "slices", "meta", "labels"])
def test_a_record_names_its_system_at_the_top_or_in_a_place(tmp_path: Path, place: str) -> None:
    record: dict[str, Any] = {"id": "q1", "labels": {"fluency": 3}}
    (record if place == "top" else record.setdefault(place, {}))["method"] = "b"
    table = read_label_table(written(tmp_path, json.dumps([record]), "data.json"))
    assert table.systems == {"q1": "b"}


def test_labels_in_a_dataset_folder_are_of_the_system_that_it_names(tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    written(folder, json.dumps({"_data_files": [{"filename": "data.arrow"}]}), "state.json")
    pl.DataFrame(
        {
            "id": ["q1", "q1"],
            "system": ["a", "b"],
            "answer": ["Ann", "Ben"],
            "labels": [{"fluency": 4}, {"fluency": 2}],
        }
    ).write_ipc_stream(folder / "data.arrow", compat_level=pl.CompatLevel.oldest())
    table = read_label_table(folder)
    assert table.used.select("example_id", "annotator", "number").rows() == [
        ("q1/a", "human", 4),
        ("q1/b", "human", 2),
    ]
    assert table.places is not None
    assert table.places["line"].to_list() == [1, 2]
    assert clusters_of([folder])["q1/a"] == clusters_of([folder])["q1/b"]


def test_a_data_sets_own_labels_are_of_the_system_that_it_names(tmp_path: Path) -> None:
    records = [
        {"id": "q1", "meta": {"method": s}, "answer": "A", "labels": {"fluency": {"ann": n}}}
        for n, s in enumerate(SYSTEMS)
    ]
    path = written(tmp_path, json.dumps(records), "data.json")
    table = read_label_table(path)
    assert list(table.frame.select("example_id", "number").iter_rows()) == [
        ("q1/a", 0),
        ("q1/b", 1),
    ]
    assert clusters_of([path])["q1/a"] == clusters_of([path])["q1/b"]
