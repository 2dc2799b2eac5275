"""The bundled demo data holds what its docstring says is planted in it."""

import json
import re
from collections import Counter
from typing import Any

import pytest

from ragstone.data import cornwall

SYSTEMS = ("local_search", "basic_search", "llm_with_context")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    lines = cornwall().read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert len({record["id"] for record in records}) == len(records)
    return {record["id"]: record for record in records}


def texts(row: Row) -> list[str]:
    return [c if isinstance(c, str) else c["text"] for c in row["contexts"] or []]


def numbers(text: str) -> set[str]:
    """Numbers of the text, citation marks left out."""
    return set(re.findall(r"\d+(?:,\d{3})*", re.sub(r"\[\d+\]", "", text)))


def test_eight_questions_are_answered_once_by_each_of_three_systems(rows: dict[str, Row]) -> None:
    pairs = Counter((row["question_id"], row["system"]) for row in rows.values())
    questions = {question for question, _ in pairs}
    assert len(rows) == 24
    assert len(questions) == 8
    assert pairs == Counter((question, system) for question in questions for system in SYSTEMS)


def test_each_question_type_has_two_questions(rows: dict[str, Row]) -> None:
    types = {(row["question_type"], row["question_id"]) for row in rows.values()}
    assert Counter(question_type for question_type, _ in types) == {
        "Fact Retrieval": 2,
        "Complex Reasoning": 2,
        "Contextual Summarize": 2,
        "Creative Generation": 2,
    }


@pytest.mark.parametrize("field", ["question", "question_type", "reference", "evidence"])
def test_rows_of_a_question_share_what_does_not_depend_on_the_system(
    rows: dict[str, Row], field: str
) -> None:
    seen = {(row["question_id"], json.dumps(row[field])) for row in rows.values()}
    assert len(seen) == 8


def test_ranks_count_from_one(rows: dict[str, Row]) -> None:
    for row in rows.values():
        ranks = [c["rank"] for c in row["contexts"] or [] if not isinstance(c, str)]
        assert ranks == list(range(1, len(ranks) + 1))


def test_one_system_does_not_retrieve_but_for_one_row(rows: dict[str, Row]) -> None:
    without = Counter(row["system"] for row in rows.values() if row["contexts"] is None)
    assert without == {"llm_with_context": 7}


def test_one_retrieval_is_empty(rows: dict[str, Row]) -> None:
    assert [name for name, row in rows.items() if row["contexts"] == []] == [
        "mine-engines-basic_search"
    ]


def test_three_answers_abstain(rows: dict[str, Row]) -> None:
    abstain = re.compile("cannot answer|do not say|don’t have enough information")
    assert {name for name, row in rows.items() if abstain.search(row["answer"])} == {
        "mine-engines-basic_search",
        "cornish-heath-basic_search",
        "cornish-saints-llm_with_context",
    }


def test_one_citation_points_to_no_context(rows: dict[str, Row]) -> None:
    dangling = {
        name: marks
        for name, row in rows.items()
        if (marks := [int(m) for m in re.findall(r"\[(\d+)\]", row["answer"])])
        and max(marks) > len(texts(row))
    }
    assert dangling == {"lands-end-local_search": [1, 2, 3, 7]}


def test_numbers_that_no_context_holds_stand_only_in_hallucinations(rows: dict[str, Row]) -> None:
    invented = {
        name: new
        for name, row in rows.items()
        if row["contexts"] and (new := numbers(row["answer"]) - numbers(" ".join(texts(row))))
    }
    assert invented == {
        "saltash-bridge-basic_search": {"1849"},
        "cornish-heath-local_search": {"1420"},
        "tintagel-postcard-basic_search": {"1066"},
        "bodmin-moor-local_search": {"240"},
    }
    assert all("Hallucination" in rows[name]["meta"]["note"] for name in invented)


def test_one_answer_contradicts_its_context(rows: dict[str, Row]) -> None:
    planted = [row for row in rows.values() if note(row).startswith("Contradiction")]
    assert [row["id"] for row in planted] == ["lands-end-basic_search"]
    assert "stands out at sea" in texts(planted[0])[1]
    assert "does not stand out at sea" in planted[0]["answer"]


@pytest.mark.parametrize(
    ("fault", "times"),
    [
        ("Wrong answer", 4),
        ("Partly right", 4),
        ("Hallucination", 4),
        ("Misleading context", 1),
        ("Irrelevant context", 2),
    ],
)
def test_notes_name_the_planted_faults(rows: dict[str, Row], fault: str, times: int) -> None:
    found = [row for row in rows.values() if fault.lower() in note(row).lower().split(":")[0]]
    assert len(found) == times


def test_labels_stand_on_rows_of_one_system_and_cover_their_contexts(rows: dict[str, Row]) -> None:
    labelled = [row for row in rows.values() if "labels" in row]
    assert {row["system"] for row in labelled} == {"local_search"}
    assert len(labelled) == 5
    assert all(len(row["labels"]["contexts"]) == len(row["contexts"]) for row in labelled)


def test_labels_break_a_hard_rule_exactly_once(rows: dict[str, Row]) -> None:
    broken = []
    for row in rows.values():
        labels = row.get("labels", {"contexts": [], "answer": {}})
        for position, label in enumerate(labels["contexts"], start=1):
            if label["evidence_sufficient"] and not label["topically_relevant"]:
                broken.append((row["id"], f"contexts {position}"))
        answer = labels["answer"]
        if answer.get("contradicted_claim_present") and not answer["unsupported_claim_present"]:
            broken.append((row["id"], "contradicted"))
        if answer.get("fabricated_source") and not answer["source_cited"]:
            broken.append((row["id"], "fabricated"))
    assert broken == [("cornish-saints-local_search", "contexts 4")]


def note(row: Row) -> str:
    return str(row.get("meta", {}).get("note", ""))
