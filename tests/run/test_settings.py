"""The default suite asks for what the data and the judges allow."""

from pathlib import Path
from typing import Any

from ragstone import evaluate
from ragstone.data import cornwall


def chosen(records: Any, **given: Any) -> set[str]:
    return set(evaluate(records, **given).manifest["metrics"])


def test_questions_with_references_alone_have_no_retrieval_metrics() -> None:
    names = chosen([{"question": "Who?", "answer": "Smeaton.", "reference": "Smeaton"}])
    assert {"answer_outcome", "exact_match", "abstention"} <= names
    assert not names & {"precision", "faithfulness", "context_recall", "grounding_presence"}


def test_contexts_alone_have_no_answer_metrics() -> None:
    names = chosen([{"question": "Who built it?", "contexts": ["Smeaton built it."]}])
    assert "context_precision" in names
    assert not names & {"faithfulness", "answer_outcome", "abstention"}


def test_empty_contexts_everywhere_are_no_retrieval_to_measure() -> None:
    row = {"question": "Who?", "answer": "Smeaton.", "contexts": [], "reference": "Smeaton"}
    assert not chosen([row]) & {"precision", "faithfulness", "unsupported_claim"}


def test_labels_bring_the_metrics_of_the_taxonomy() -> None:
    labels = {
        "contexts": [{"topically_relevant": 1, "evidence_sufficient": 1, "misleading": 0}],
        "answer": {"helpful": 1, "proper_action": 1},
    }
    row = {"question": "Who?", "answer": "Smeaton.", "contexts": ["Smeaton."], "labels": labels}
    names = chosen([row])
    assert {"sufficiency_hit", "misleading_rate", "helpfulness", "proper_action"} <= names
    assert "unsafe_content" not in names


def test_labels_on_a_few_rows_do_not_bring_metrics_that_most_rows_lack() -> None:
    names = chosen(cornwall())
    assert not names & {"helpfulness", "misleading_rate"}


def test_citation_metrics_come_only_where_an_answer_cites() -> None:
    row = {"question": "Who?", "answer": "Smeaton built it.", "contexts": ["Smeaton built it."]}
    assert "citation_presence" not in chosen([row])
    assert "citation_presence" in chosen([row, {**row, "answer": "Smeaton built it [1]."}])


def test_judged_ids_bring_the_metrics_by_id_and_the_unjudged_share(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("q1 Q0 d1 1 2.0 bm25\nq1 Q0 d9 2 1.0 bm25\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 2\nq1 0 d2 1\n")
    run = evaluate(tmp_path / "run.txt", qrels=tmp_path / "qrels.txt")
    values = {e.metric: e.value for e in run.estimate_list}
    assert values["recall(k=10)"] == 0.5
    assert values["unjudged_rate"] == 0.5
    assert "ndcg(k=10)" in values
    assert "graded_relevance" not in values


def test_what_was_asked_for_by_name_stays_though_nobody_can_judge_it() -> None:
    run = evaluate(cornwall(), metrics=["helpfulness"], suites=["quick"])
    assert "helpfulness" in run.manifest["metrics"]
    assert run.exit_status == 4


def test_what_is_measured_does_not_depend_on_the_order_of_the_rows() -> None:
    bare = [{"id": f"b{i}", "question": "Who?", "answer": "Smeaton."} for i in range(1_100)]
    whole = [
        {"id": f"w{i}", "question": "Who built it?", "answer": "Smeaton built it.",
         "contexts": ["Smeaton built it."], "reference": "Smeaton"}
        for i in range(50)
    ]  # fmt: skip
    names = chosen([*bare, *whole])
    assert names == chosen([*whole, *bare])
    assert {"faithfulness", "answer_outcome"} <= names
