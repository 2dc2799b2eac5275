"""Human labels: their rules, their types and their majority."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data import answer_labels, context_labels, majority, violations
from ragstone.data.record_labels import implied_labels, know_label, label_problems, verdicts_left


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


SUPPORTED, UNSUPPORTED, CONTRADICTED = (
    "support_present",
    "unsupported_claim_present",
    "contradicted_claim_present",
)


@pytest.mark.parametrize(
    ("answer", "claims", "left"),
    [
        ({}, 2, "supported contradicted absent"),
        ({UNSUPPORTED: 0}, 2, "supported"),
        ({SUPPORTED: 0}, 2, "contradicted absent"),
        ({CONTRADICTED: 0}, 2, "supported absent"),
        ({SUPPORTED: 0, CONTRADICTED: 0}, 2, "absent"),
        ({SUPPORTED: 0, UNSUPPORTED: 0}, 2, ""),
        ({SUPPORTED: 1, UNSUPPORTED: 1, CONTRADICTED: 1}, 2, "supported contradicted absent"),
        ({SUPPORTED: 1}, 1, "supported"),
        ({UNSUPPORTED: 1}, 1, "contradicted absent"),
        ({UNSUPPORTED: 1, CONTRADICTED: None}, 1, "contradicted absent"),
        ({CONTRADICTED: 1}, 1, "contradicted"),
    ],
)
def test_labels_of_an_answer_rule_out_verdicts_on_its_claims(
    answer: dict[str, int | None], claims: int, left: str
) -> None:
    assert " ".join(verdicts_left(answer, claims)) == left


@pytest.mark.parametrize(
    ("answer", "implied"),
    [
        ({CONTRADICTED: 1}, {UNSUPPORTED: True}),
        ({UNSUPPORTED: 0, SUPPORTED: None}, {CONTRADICTED: False}),
        ({"fabricated_source": True}, {"source_cited": True}),
        ({"source_cited": False}, {"fabricated_source": False}),
        ({CONTRADICTED: 0, "source_cited": 1, UNSUPPORTED: None}, {}),
        ({UNSUPPORTED: 1, SUPPORTED: 0}, {}),
        ({CONTRADICTED: 1, UNSUPPORTED: 0}, {}),
    ],
)
def test_labels_of_an_answer_imply_others(
    answer: dict[str, int | None], implied: dict[str, bool]
) -> None:
    assert implied_labels(answer) == implied


@pytest.mark.parametrize(
    ("answer", "verdicts", "broken"),
    [
        ({UNSUPPORTED: 0}, ["supported", "absent"], 1),
        ({UNSUPPORTED: 0}, ["supported", None], 0),
        ({UNSUPPORTED: 1}, ["supported", None], 0),
        ({UNSUPPORTED: 1}, ["supported", "supported"], 1),
        ({SUPPORTED: 1, UNSUPPORTED: 0, CONTRADICTED: 0}, ["contradicted"], 3),
        ({SUPPORTED: 1}, [], 0),
        ({UNSUPPORTED: None}, ["absent"], 0),
    ],
)
def test_labels_of_an_answer_and_of_its_claims_may_contradict_each_other(
    answer: dict[str, int | None], verdicts: list[str | None], broken: int
) -> None:
    labels = {"answer": answer, "claims": [{"support": verdict} for verdict in verdicts]}
    found = violations(labels)
    assert len(found) == broken
    assert {(one.rule, one.severity, one.where) for one in found} <= {
        ("answer_as_its_claims", "block", "answer")
    }


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
