"""Human labels: their rules, their majority, and files of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.errors import DataError
from ragstone.examples import (
    Context,
    Example,
    answer_labels,
    context_labels,
    majority,
    read_labels,
    violations,
    with_labels,
)

PAIR = Example("q1", "q1", "s", contexts=(Context("d7", "t", 1), Context("d9", "u", 2)))


def vector(shared: Path, id: str) -> Any:
    vectors = json.loads((shared / "golden/seed_vectors.json").read_text("utf-8"))["vectors"]
    return next(one for one in vectors if one["id"] == id)


def test_the_rules_of_the_taxonomy(shared: Path) -> None:
    case = vector(shared, "labels.constraints")
    found = []
    severity = {}
    for row in case["input"]["rows"]:
        place = {"contexts": [row]} if row["task"] == "retrieval" else {"answer": row}
        broken = violations(place)
        found.append([one.rule for one in broken])
        severity.update({one.rule: one.severity for one in broken})
    assert found == case["expected"]["violations"]
    assert severity == case["expected"]["severity"]


def test_the_majority_speaks_and_ties_are_open(shared: Path) -> None:
    case = vector(shared, "labels.majority")
    assert [majority(votes) for votes in case["input"]["votes"]] == case["expected"]["labels"]
    assert majority([None, None]) is None
    assert majority([None, 1]) == 1


def test_an_open_label_breaks_no_rule() -> None:
    assert violations({"contexts": [{"evidence_sufficient": 1}, None]}) == []
    assert violations({"answer": {"fabricated_source": 1, "source_cited": None}}) == []


def test_labels_as_truth_values() -> None:
    marks = {"contexts": [{"misleading": 0}, None], "answer": {"helpful": True}}
    assert context_labels(marks)[0]["misleading"] is False
    assert context_labels(marks)[1]["misleading"] is None
    assert answer_labels(marks)["helpful"] is True
    assert answer_labels(marks)["incomplete"] is None
    assert context_labels({}) == []


def test_a_csv_of_labels_is_merged_by_majority(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(
        "id,annotator,context,topically_relevant,misleading,helpful\n"
        "q1,ann,1,1,1,\n"
        "q1,ben,1,1,0,\n"
        "q1,cem,1,0,,\n"
        "q1,ann,d9,0,,\n"
        "q1,ann,,,,true\n"
    )
    labels = read_labels(path)
    assert len(labels.rows) == 5
    assert [(t.id, t.context, t.label) for t in labels.ties] == [("q1", "1", "misleading")]
    example = with_labels(PAIR, labels)
    assert example.labels == {
        "answer": {"helpful": True},
        "contexts": [
            {"topically_relevant": True, "misleading": None},
            {"topically_relevant": False},
        ],
    }


def test_a_jsonl_of_labels_goes_before_the_labels_of_the_record(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": "x", "annotator": "ann", "helpful": 1, "response_type": "abstain"}\n')
    example = Example("x", "x", "s", labels={"answer": {"helpful": 0, "incomplete": 1}, "mine": 2})
    assert with_labels(example, read_labels(path)).labels == {
        "answer": {"helpful": True, "incomplete": 1},
        "mine": 2,
        "response_type": "abstain",
    }
    assert with_labels(PAIR, read_labels(path)) is PAIR


@pytest.mark.parametrize(
    ("row", "got"),
    [
        ('{"annotator": "a", "helpful": 1}', "null"),
        ('{"id": "x", "helpful": "yes"}', "the text 'yes'"),
        ('{"id": "x", "misleading": 1}', "none"),
        ('{"id": "x", "context": 1, "helpful": 1}', "1"),
        ('{"id": "x", "annotator": "a"}', "the columns id, annotator"),
        ('{"id": "x", "response_type": "shrug"}', "the text 'shrug'"),
        ("[]", "a list of 0"),
        ("{", "the end of the text"),
    ],
)
def test_a_wrong_row_of_labels_is_a_fault(tmp_path: Path, row: str, got: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(row + "\n")
    with pytest.raises(DataError) as caught:
        read_labels(path)
    assert caught.value.faults[0].line == 1
    assert got in caught.value.faults[0].got


def test_one_annotator_speaks_once(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": "x", "annotator": "a", "helpful": 1}\n' * 2)
    with pytest.raises(DataError, match="a as in line 1"):
        read_labels(path)


def test_a_label_of_a_context_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": "q1", "annotator": "a", "context": 3, "misleading": 1}\n')
    with pytest.raises(DataError, match="a position from 1 to 2"):
        with_labels(PAIR, read_labels(path))


def test_a_missing_or_empty_file_of_labels_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none of this name"):
        read_labels(tmp_path / "no.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(DataError, match="at least one row"):
        read_labels(tmp_path / "empty.csv")
