"""The human-labelled sets are read without flags, as their descriptions count them."""

import json
from pathlib import Path

import pytest

from ragstone.data import read, read_trec

ROWS = {
    "answer_correctness_evouna/verdicts": 17_306,
    "answer_correctness_nq301/verdicts": 993,
    "rag_quality_mtrag/answers": 249,
    "faithfulness_begin/pairs": 3_095,
    "faithfulness_wice/claims": 349,
    "faithfulness_wice/unsupported_tokens": 498,
    "abstention_mtrag_un/tasks": 307,
    "abstention_clapnq/questions": 371,
    "pairwise_ragchecker/pairs": 158,
    "answer_utility_alce/answers": 516,
    "judge_calibration_llmjudge/relevance": 9_025,
    "graphrag_bench/questions": 2_673,
}


@pytest.mark.parametrize("name", ROWS)
def test_every_set_is_read_without_flags(shared: Path, name: str) -> None:
    examples = read(shared / "data" / f"{name}.jsonl.gz")
    assert sum(1 for _ in examples) == ROWS[name]
    assert examples.faults == []


def test_three_systems_answer_83_questions_with_history_and_ids(shared: Path) -> None:
    examples = list(read(shared / "data/rag_quality_mtrag/answers.jsonl.gz"))
    assert len({e.question_id for e in examples}) == 83
    assert len({e.system for e in examples}) == 3
    assert sum(bool(e.history) for e in examples) > 100
    ids = [list(e.meta["context_ids"]) for e in examples]
    assert ids == [[c.id for c in e.contexts or ()] for e in examples]


def test_evidence_and_question_type_of_graphrag_bench(shared: Path) -> None:
    examples = list(read(shared / "data/graphrag_bench/questions.jsonl.gz"))
    assert all(e.evidence and e.reference and e.answer is None for e in examples)
    assert sum(e.facet("question_type") == "Fact Retrieval" for e in examples) == 646 + 697


@pytest.mark.parametrize(
    ("folder", "topics", "systems"), [("retrieval_trec/rag24", 18, 1), ("retrieval_wice", 319, 2)]
)
def test_folders_of_runs(shared: Path, folder: str, topics: int, systems: int) -> None:
    examples = list(read(shared / "data" / folder))
    assert len({e.question_id for e in examples}) == topics
    assert len({e.system for e in examples}) == systems
    assert len(examples) == topics * systems


@pytest.mark.parametrize(
    ("run", "qrels", "output"),
    [
        ("results.test", "qrels.test", "out.test.aq"),
        ("results.trunc", "qrels.test", "out.test.aqc"),
    ],
)
def test_relevant_documents_stand_where_trec_eval_sees_them(
    shared: Path, run: str, qrels: str, output: str
) -> None:
    folder = shared / "data/retrieval_trec/adhoc"
    expected: dict[tuple[str, str], str] = {}
    for line in (folder / output).read_text().splitlines():
        measure, topic, figure = line.split()
        expected[measure, topic] = figure
    examples = list(read_trec(folder / run, folder / qrels))
    checked = 0
    for example in examples:
        grades = example.reference_contexts or {}
        relevant = [grades.get(c.id, 0) > 0 for c in example.contexts or ()]
        assert sum(grade > 0 for grade in grades.values()) > 0
        for k in (5, 10, 15, 20, 30, 100, 200, 500):
            precision = expected.get((f"P_{k}", example.question_id))
            if precision is not None:
                assert f"{sum(relevant[:k]) / k:.4f}" == precision
                checked += 1
        if relevant:
            hits = [sum(relevant[: i + 1]) / (i + 1) for i, r in enumerate(relevant) if r]
            total = sum(grade > 0 for grade in grades.values())
            average = expected.get(("map", example.question_id))
            assert average is None or f"{sum(hits) / total:.4f}" == average
    assert len(examples) == 3
    assert checked >= 16


def test_the_order_of_a_run_gives_trec_evals_average_precision(shared: Path) -> None:
    folder = shared / "data/retrieval_trec/rag24"
    expected = json.loads((folder / "expected.json").read_text("utf-8"))["per_topic"]
    for example in read(folder):
        grades = example.reference_contexts or {}
        relevant = [grades.get(c.id, 0) >= 1 for c in example.contexts or ()]
        hits = [sum(relevant[:i]) / i for i in range(1, len(relevant) + 1) if relevant[i - 1]]
        of_topic = expected[example.question_id]
        assert sum(relevant[:10]) / 10 == pytest.approx(of_topic["P_10"], abs=1e-6)
        total = sum(grade >= 1 for grade in grades.values())
        assert sum(hits) / max(total, 1) == pytest.approx(of_topic["map"], abs=1e-6)
