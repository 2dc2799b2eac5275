"""Exports of Argilla and Label Studio, as these tools write them."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone.annotation import LabelTable, read_label_table, write_labels
from ragstone.annotation.label_export import Layout
from ragstone.core.errors import InputError

LABEL_STUDIO = [
    {
        "id": 11,
        "data": {"id": "q1", "question": "How long?", "answer": "90 m."},
        "annotations": [
            {"completed_by": {"id": 1, "email": "ann@here"}, "was_cancelled": False, "result": [
                {"from_name": "helpful", "to_name": "answer", "type": "choices",
                 "value": {"choices": ["Yes"]}},
                {"from_name": "fluency", "to_name": "answer", "type": "rating",
                 "value": {"rating": 4}},
            ]},
            {"completed_by": 2, "was_cancelled": False, "result": [
                {"from_name": "helpful", "to_name": "answer", "type": "choices",
                 "value": {"choices": ["No"]}},
            ]},
            {"completed_by": 3, "was_cancelled": True, "result": []},
        ],
    },
    {
        "id": 12,
        "data": {"id": "q1", "context": 2, "text": "Gulls."},
        "annotations": [
            {"completed_by": 2, "result": [
                {"from_name": "topically_relevant", "type": "choices",
                 "value": {"choices": ["no"]}},
            ]},
        ],
    },
]  # fmt: skip
"""The JSON export: tasks with their data and annotations."""

ARGILLA = [
    {
        "id": "q1",
        "fields": {"question": "How long?", "answer": "90 m."},
        "metadata": {},
        "responses": {
            "helpful": [
                {"value": "yes", "user_id": "ann", "status": "submitted"},
                {"value": "no", "user_id": "ben", "status": "submitted"},
                {"value": "no", "user_id": "eve", "status": "draft"},
            ]
        },
    },
    {
        "id": "r-2",
        "fields": {"context_text": "Gulls."},
        "metadata": {"example_id": "q1", "context": "2"},
        "responses": {"topically_relevant": [{"value": "no", "user_id": "ben"}]},
    },
]
"""Records of Argilla 2; the second is about a context, as its metadata say."""

OLD_ARGILLA = [
    {"id": "q1", "fields": {"answer": "90 m."}, "responses": [
        {"user_id": "ann", "status": "submitted", "values": {"helpful": {"value": "yes"}}},
        {"user_id": "ben", "status": "discarded", "values": {"helpful": {"value": "no"}}},
    ]},
]  # fmt: skip

COLUMNS = [
    {"id": "q1", "answer": "90 m.", "helpful.responses": ["yes", "no"],
     "helpful.responses.users": ["ann", "ben"],
     "helpful.responses.status": ["submitted", "submitted"]},
]  # fmt: skip
"""An Argilla dataset as rows of Hugging Face datasets."""


def read(tmp_path: Path, records: Any, name: str = "export.json") -> LabelTable:
    file = tmp_path / name
    file.write_text(json.dumps(records))
    return read_label_table(file)


def said(table: LabelTable) -> set[tuple[Any, ...]]:
    return set(table.used.select("example_id", "annotator", "unit", "column", "value").rows())


def test_tasks_of_label_studio_are_a_row_an_annotator(tmp_path: Path) -> None:
    table = read(tmp_path, LABEL_STUDIO)
    assert said(table) == {
        ("q1", "ann@here", None, "helpful", "true"),
        ("q1", "ann@here", None, "fluency", "4"),
        ("q1", "2", None, "helpful", "false"),
        ("q1", "2", "2", "relevant", "false"),
    }
    assert table.frame.filter(pl.col("discarded").is_not_null())["annotator"].to_list() == ["3"]


def test_records_of_argilla_are_a_row_an_annotator(tmp_path: Path) -> None:
    """A draft is nobody's word."""
    assert said(read(tmp_path, ARGILLA)) == {
        ("q1", "ann", None, "helpful", "true"),
        ("q1", "ben", None, "helpful", "false"),
        ("q1", "ben", "2", "relevant", "false"),
    }


def test_older_records_and_datasets_of_argilla_are_read_too(tmp_path: Path) -> None:
    assert said(read(tmp_path, OLD_ARGILLA)) == {("q1", "ann", None, "helpful", "true")}
    assert said(read(tmp_path, COLUMNS)) == {
        ("q1", "ann", None, "helpful", "true"),
        ("q1", "ben", None, "helpful", "false"),
    }


def test_a_file_a_task_is_read_with_the_others(tmp_path: Path) -> None:
    retrieval, generation = tmp_path / "retrieval.csv", tmp_path / "generation.csv"
    retrieval.write_text("id,annotator,context,topically_relevant\nq1,ann,1,1\n")
    generation.write_text("id,annotator,helpful\nq1,ann,yes\nq1,ben,no\n")
    assert said(read_label_table([retrieval, generation])) == {
        ("q1", "ann", "1", "relevant", "true"),
        ("q1", "ann", None, "helpful", "true"),
        ("q1", "ben", None, "helpful", "false"),
    }


@pytest.mark.parametrize("layout", ["label_studio", "argilla"])
def test_labels_are_written_for_a_platform_and_read_back(layout: Layout, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "id,annotator,context,claim,topically_relevant,helpful,support,fluency,note,"
        "inclusion_probability,discard\n"
        "q1,ann,,,,1,,4,a note,0.25,\n"
        "q1,ben,,,,0,,,,0.25,\n"
        "q1,ann,2,,1,,,,,0.25,\n"
        "q1,ben,,1,,,absent,,,0.25,\n"
        "q2,eve,,,,1,,,,,broken\n"
    )
    table = read_label_table(path)
    written = tmp_path / "labels.json"
    write_labels(table, written, layout=layout)
    again = read_label_table(written)
    columns = ["example_id", "annotator", "unit", "kind", "column", "value", "note",
               "inclusion_probability"]  # fmt: skip
    assert set(again.used.select(columns).rows()) == set(table.used.select(columns).rows())
    discarded = again.frame.filter(pl.col("discarded").is_not_null())
    assert discarded.select("example_id", "annotator").rows() == [("q2", "eve")]
    with pytest.raises(InputError, match=r"written to \.json"):
        write_labels(table, tmp_path / "labels.csv", layout=layout)


def test_labels_are_written_a_file_a_task(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,context,misleading,helpful\nq1,ann,1,0,\nq1,ann,,,1\n")
    table = read_label_table(path)
    write_labels(table, tmp_path / "tasks", layout="per_task")
    files = sorted((tmp_path / "tasks").iterdir())
    assert [file.name for file in files] == ["answers.csv", "contexts.csv"]
    assert files[1].read_text().splitlines()[0].startswith("id,annotator,context,misleading,")
    assert said(read_label_table(files)) == said(table)


def test_a_user_of_label_studio_has_a_name_or_a_number(tmp_path: Path) -> None:
    users = [{"id": 7, "username": "", "email": None}, {"id": 8, "username": "cy"}]
    said = [{"from_name": "helpful", "value": {"choices": ["yes"]}}]
    tasks = [{"data": {"id": f"q{at}"}, "annotations": [{"completed_by": user, "result": said}]}
             for at, user in enumerate(users)]  # fmt: skip
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    assert read_label_table(path).annotators == ("7", "cy")


def test_a_dataset_of_argilla_without_statuses_is_all_submitted(tmp_path: Path) -> None:
    row = {"id": "q1", "helpful.responses": ["yes", "no"], "helpful.responses.users": ["a", "b"]}
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row))
    used = read_label_table(path).used
    assert used.select("annotator", "value").rows() == [("a", "true"), ("b", "false")]


def test_a_task_has_every_label_that_any_of_its_rows_has(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,annotator,helpful,incomplete\nq1,ann,1,\nq2,ann,,1\n")
    write_labels(read_label_table(path), tmp_path / "tasks", layout="per_task")
    written = (tmp_path / "tasks" / "answers.csv").read_text().splitlines()
    assert written[0].startswith("id,annotator,helpful,incomplete,")


def test_what_a_discarded_record_of_argilla_said_is_kept(tmp_path: Path) -> None:
    table = read(tmp_path, OLD_ARGILLA)
    kept = table.frame.filter(pl.col("discarded").is_not_null())
    assert kept.select("annotator", "column", "value").rows() == [("ben", "helpful", "false")]
