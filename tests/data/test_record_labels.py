"""Human labels: their rules, their types and their majority."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data import answer_labels, context_labels, majority, violations
from ragstone.data.record_labels import know_label, label_problems


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


@pytest.mark.parametrize("grade", [4, -1, 1.5, "high", True])
def test_a_grade_of_a_context_is_0_to_3(grade: object) -> None:
    (problem,) = label_problems({"contexts": [{"grade": grade}]}, 1)
    assert problem.field == "labels.contexts[0].grade"
    assert not label_problems({"contexts": [{"grade": 3}, {"grade": None}]}, 2)


def test_a_label_of_the_record_is_known_for_the_answer_with_its_values() -> None:
    with pytest.raises(ValueError, match="The label response_type of a answer is"):
        know_label("answer", "response_type", ("answer", "refuse"))
    know_label("answer", "response_type", ("answer", "partial", "abstain", "refuse", "clarify"))
    with pytest.raises(ValueError, match="The label helpful of a answer is"):
        know_label("answer", "helpful", ("answer", "refuse"))
