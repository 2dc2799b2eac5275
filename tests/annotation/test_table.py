"""A table of labels: what counts in it, and by which id it knows an example."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone.annotation import LabelTable, labels_of, read_label_table
from ragstone.annotation.adjudication import Tie
from ragstone.core.errors import DataError
from ragstone.data import Context, Example

ROWS: list[dict[str, Any]] = [
    {"id": "q1", "annotator": "ann", "helpful": 1, "tone": 4},
    {"id": "q1", "annotator": "ben", "helpful": 0, "tone": 2},
    {"id": "q2", "annotator": "cem", "tone": 3, "discard": "spam"},
    {"id": "q2", "annotator": "ann", "tone": 1, "discard": "spam"},
    {"id": "q3", "annotator": "ben", "tone": 1, "discard": True},
    {"id": "q4", "annotator": "ben", "tone": 1},
    {"id": "q4", "annotator": "ben", "tone": 1},
    {"id": "q5", "annotator": "dan", "discard": "no answer"},
]


def read(folder: Path, *rows: dict[str, Any], name: str = "labels.jsonl") -> LabelTable:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_label_table(path)


@pytest.fixture
def table(tmp_path: Path) -> LabelTable:
    return read(tmp_path, *ROWS)


# ---------------------------------------------------------------- what counts


def test_rows_that_count_are_neither_discarded_nor_said_before(table: LabelTable) -> None:
    assert table.used.select("example_id", "annotator", "column").rows() == [
        ("q1", "ann", "helpful"),
        ("q1", "ann", "tone"),
        ("q1", "ben", "helpful"),
        ("q1", "ben", "tone"),
        ("q4", "ben", "tone"),
    ]
    assert table.frame.height == 10


def test_what_people_discard_and_what_we_set_aside_are_counted_apart(table: LabelTable) -> None:
    assert table.discarded == {"spam": 2, "discarded": 1, "no answer": 1}
    assert table.set_aside == {"same_twice": 1}
    assert (table.n_discarded, table.n_set_aside) == (4, 1)


def test_only_those_who_said_something_that_counts_are_annotators(table: LabelTable) -> None:
    assert table.annotators == ("ann", "ben")
    assert table.columns == (("quality", "helpful"), ("own", "tone"))


def test_a_column_has_its_rows_that_count(table: LabelTable) -> None:
    assert table.of("own", "tone")["number"].to_list() == [4, 2, 1]
    assert table.of("quality", "helpful")["value"].to_list() == ["true", "false"]
    assert table.of("quality", "tone").is_empty()
    assert table.of("own", "helpful").is_empty()


def test_scales_follow_from_what_counts(table: LabelTable) -> None:
    assert dict(table.scales) == {("quality", "helpful"): "nominal", ("own", "tone"): "ordinal"}


def test_a_scale_may_be_given_by_the_name_in_the_file_or_in_the_judgement() -> None:
    rows = [
        {"id": "1", "labels": {"contexts": [{"grade": 3}]}, "contexts": ["c"]},
        {"id": "2", "labels": {"rating.tone": [1, 4], "tone": [1, 2, 6]}},
    ]
    table = labels_of(rows)

    def means(*names: str) -> list[float | None]:
        """Of the rating and of the column of one's own."""
        found = table.adjudicated(dict.fromkeys(names, "interval"))
        return found.filter(pl.col("column") == "tone").sort("kind")["number"].to_list()

    assert means() == means("colour") == [None, None]
    assert means("rating.tone") == [None, 2.5]
    assert means("tone") == [3, 2.5]


def test_a_tie_says_who_said_what(table: LabelTable) -> None:
    assert table.ties() == [
        Tie("q1", "quality", "helpful", None, ("ann", "ben"), (True, False)),
        Tie("q1", "own", "tone", None, ("ann", "ben"), (4, 2)),
    ]
    assert [tie.name for tie in table.ties()] == ["helpful", "own.tone"]
    assert [tie.column for tie in table.ties({"tone": "interval"})] == ["helpful"]


def test_the_chance_of_a_sample_goes_with_what_was_said_together(tmp_path: Path) -> None:
    rows = [
        {"id": "q1", "annotator": "ann", "tone": 1},
        {"id": "q1", "annotator": "ben", "tone": 1, "inclusion_probability": 0.25},
        {"id": "q2", "annotator": "ben", "tone": 2},
    ]
    found = read(tmp_path, *rows).adjudicated()
    assert found["inclusion_probability"].to_list() == [0.25, None]
    assert found["n_votes"].to_list() == [2, 1]


# ---------------------------------------------------------------- by which id


@pytest.mark.parametrize(
    ("id", "system", "name"),
    [
        ("q1", "a", "q1"),
        ("q1", "b", "q1"),
        ("q1/a", "a", "q1"),
        ("q1/b", "b", "q1/b"),
        ("q2", "b", "q2/b"),
        ("q2/b", "b", "q2/b"),
        ("q2", "a", "q2"),
        ("q3", "a", "q3"),
        ("q3/a", "a", "q3/a"),
    ],
)
def test_a_table_knows_an_example_by_its_id_by_its_questions_or_with_the_system(
    tmp_path: Path, id: str, system: str, name: str
) -> None:
    """The file names system a beside q1, and q2 as q2/b."""
    rows = [{"id": "q1", "system": "a", "tone": 1}, {"id": "q2/b", "tone": 2}]
    assert read(tmp_path, *rows).name_of(id, system) == name


def test_a_table_takes_the_ids_that_the_examples_have(tmp_path: Path) -> None:
    rows = [{"id": "q1", "system": "a", "tone": 1}, {"id": "q2/b", "tone": 2}]
    table = read(tmp_path, *rows)
    known = table.known_as([("q1/a", "a"), ("q2", "b"), ("q9", "b")])
    assert known.frame["example_id"].to_list() == ["q1/a", "q2"]
    assert known.systems == {}
    assert known.known_as([("q1/a", "a")]) is known
    assert table.known_as([("q7", "a")]) is table
    assert table.frame["example_id"].to_list() == ["q1", "q2/b"]


# ---------------------------------------------------------------- where it stands


def test_a_fault_of_an_example_names_each_line_about_it_once(tmp_path: Path) -> None:
    rows = [
        {"id": "q1", "annotator": "ann", "tone": 1, "helpful": 1},
        {"id": "q2", "annotator": "ann", "tone": 1},
        {"id": "q1", "annotator": "ben", "tone": 1},
    ]
    table = read(tmp_path, *rows)
    faults = table.faults(["q1", "q9"], "id", "an id")
    assert [(fault.line, fault.field, fault.expected, fault.got) for fault in faults] == [
        (1, "id", "an id", "q1"),
        (3, "id", "an id", "q1"),
    ]
    assert {fault.file for fault in faults} == {str(tmp_path / "labels.jsonl")}


def test_a_table_without_places_names_its_source() -> None:
    table = LabelTable("the sheet", labels_of([{"id": "q1", "labels": {"tone": [1, 2]}}]).frame)
    (fault,) = table.faults(["q1"], "id", "an id")
    assert (fault.file, fault.line, fault.got) == ("the sheet", None, "q1")
    assert table.faults([], "id", "an id") == []


def test_the_line_of_a_label_that_cannot_be_joined_is_that_of_its_unit(tmp_path: Path) -> None:
    rows = [
        {"id": "q1", "context": "d7", "misleading": 1},
        {"id": "q2", "context": "d0", "misleading": 1},
        {"id": "q1", "context": "d0", "misleading": 1},
        {"id": "q1", "context": "d0", "annotator": "ben", "misleading": 1},
    ]
    table = read(tmp_path, *rows)
    example = Example("q1", "q1", "s", contexts=(Context("d7", "t", 1),))
    with pytest.raises(DataError, match="position 1") as caught:
        table.join(example)
    faults = caught.value.faults
    assert [(fault.line, fault.field, fault.got) for fault in faults] == [(3, "context", "'d0'")]


@pytest.mark.parametrize(
    ("labels", "claim", "expected"),
    [
        ({}, 1, ""),
        # That the answer claims nothing is not that nobody listed its claims.
        ({"claims": []}, 1, "no label of a claim, for 'q1' lists none"),
        ({"claims": [{"text": "a"}]}, 1, ""),
        ({"claims": [{"text": "a"}]}, 2, "claim 1, the only one of 'q1'"),
        ({"claims": [{"text": "a"}, {"text": "b"}]}, 3, "one of the 2 claims of 'q1', counted"),
        ({"claims": [{"text": "a"}, {"text": "b"}]}, 2, ""),
        ({"statements": [{"text": "a"}]}, 5, ""),
    ],
)
def test_a_claim_is_one_of_those_that_the_example_lists_if_it_lists_any(
    tmp_path: Path, labels: dict[str, Any], claim: int, expected: str
) -> None:
    table = read(tmp_path, {"id": "q1", "claim": claim, "support": "absent"})
    example = Example("q1", "q1", "s", labels=labels)
    if expected:
        with pytest.raises(DataError, match=expected):
            table.join(example)
    else:
        claims = table.join(example).labels["claims"]
        assert [one.get("support") for one in claims[:claim]] == [None] * (claim - 1) + ["absent"]
