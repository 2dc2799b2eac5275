"""Named reports: the files of the GraphRAG and taxonomy reports."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone import evaluate, explain
from ragstone.core.errors import InputError, UnknownName
from ragstone.metrics import SUITES, parse_metric, suite_named
from ragstone.report.layouts import report_as, write_report
from ragstone.report.layouts.layout import Report, number, shares
from ragstone.run import Run
from ragstone.testing import ScriptedModel, reply_to

Judged = Callable[..., Run]
Read = Callable[[Report, str], list[list[dict[str, str]]]]
Vector = Callable[[float], tuple[float, ...]]

QUESTION = "What is the common name of Erica vagans?"
GOLD = "Cornish heath"


def row(system: str, answer: str, contexts: list[str] | None) -> dict[str, Any]:
    return {
        "id": system, "question_id": "heath", "system": system, "question": QUESTION,
        "question_type": "Fact Retrieval", "contexts": contexts, "answer": answer,
        "reference": GOLD,
    }  # fmt: skip


ROWS = [
    row("local_search", "It is the Cornish heath.", ["Erica vagans is the Cornish heath. LOCAL"]),
    row("basic_search", "It is the Irish heath.", ["Gulls are loud. BASIC"]),
    row("llm_with_context", "Cornish heath it is.", None),
    row("global_search", "I do not know.", ["Gulls are loud. BASIC"]),
]
"""The worked composites of such a report, and an abstention."""


def answered(claim: str) -> dict[str, Any]:
    return {"reason": "It says so.", "verdict": "answer", "details": [f"s1: {claim}"]}


SCRIPT: dict[str, dict[str, Any]] = {
    "It is the Cornish": {
        "a": answered("Erica vagans is the Cornish heath."),
        "k": {"reason": "The same.", "verdict": "full"},
        "n": {"verdict": "no", "details": ["What is it, locally?"] * 3},
    },
    "It is the Irish": {
        "a": answered("Erica vagans is the Irish heath."),
        "k": {"reason": "Another.", "verdict": "contradicted"},
        "n": {"verdict": "no", "details": ["What is it, locally?"] * 3},
    },
    "Cornish heath it is": {
        "a": answered("It is the Cornish heath."),
        "k": {"reason": "The same.", "verdict": "full"},
        "n": {"verdict": "no", "details": ["What is it, from memory?"] * 3},
    },
    "I do not know": {
        "a": {"reason": "It says so.", "verdict": "abstain", "details": []},
        "k": {"reason": "Nothing.", "verdict": "missing"},
        "n": {"verdict": "yes", "details": ["Who knows?"] * 3},
    },
    "LOCAL": {
        "c": None,
        "p": {"reason": "There.", "verdict": "supported", "details": ["c01: Cornish heath"]},
    },
    "BASIC": {
        "c": {"reason": "Gulls.", "verdict": "0", "details": []},
        "p": {"reason": "Not there.", "verdict": "absent", "details": []},
    },
    "REFERENCE": {"r": {"details": ["Erica vagans is the Cornish heath."]}},
}
"""The judge of relevance fails on the first system's context: its precision is not known."""


@pytest.fixture
def vectors(cosine: Vector) -> dict[str, Sequence[float]]:
    return {
        QUESTION: cosine(1.0),
        "What is it, locally?": cosine(0.8327),
        "What is it, from memory?": cosine(0.8229),
        GOLD: cosine(1.0),
        "It is the Irish heath.": cosine(-0.25),
    }


@pytest.fixture
def run(judged: Judged, vectors: dict[str, Sequence[float]]) -> Run:
    return judged(ROWS, "graphrag", SCRIPT, vectors)


def test_the_worked_composites_come_out(run: Run, read: Read) -> None:
    (rows,) = read(report_as(run, "graphrag"), "metrics.csv")
    shown = ("ragas_faithfulness", "ragas_context_precision", "ragas_context_recall",
             "ragas_answer_relevance", "ragas_score", "weight_coverage")  # fmt: skip
    assert {one["method"]: tuple(one[name] for name in shown) for one in rows} == {
        "local_search": ("100.00", "", "100.00", "83.27", "93.73", "0.8"),
        "basic_search": ("0.00", "0.00", "0.00", "83.27", "24.98", "1.0"),
        "llm_with_context": ("N/A", "N/A", "N/A", "82.29", "82.29", "0.3"),
        # No claim is faithful by convention, evasive answers are irrelevant: .3 of 1.
        "global_search": ("100.00", "0.00", "0.00", "0.00", "30.00", "1.0"),
    }


def test_a_row_says_what_is_undefined_and_what_is_missing(run: Run, read: Read) -> None:
    (rows,) = read(report_as(run, "graphrag"), "metrics.csv")
    by_method = {one["method"]: (one["undefined"], one["missing"]) for one in rows}
    contexts = "ragas_faithfulness, ragas_context_precision, ragas_context_recall"
    assert by_method == {
        "local_search": ("", "ragas_context_precision"),
        "basic_search": ("", ""),
        "llm_with_context": (contexts, ""),
        "global_search": ("", ""),
    }


def test_every_answer_is_graded_and_classified(run: Run, read: Read) -> None:
    (rows,) = read(report_as(run, "graphrag"), "metrics.csv")
    shown = ("factual_accuracy_percentage", "factual_accuracy_grade", "classification")
    assert {one["method"]: tuple(one[name] for name in shown) for one in rows} == {
        "local_search": ("100.00", "A", "CORRECT"),
        "basic_search": ("0.00", "E", "WRONG"),
        "llm_with_context": ("100.00", "A", "CORRECT"),
        "global_search": ("0.00", "E", "DON'T KNOW"),
    }
    similar = {one["method"]: one["semantic_similarity_percentage"] for one in rows}
    assert similar["basic_search"] == "0.00", "a cosine of -.25 is 0 there"


def test_the_columns_stand_in_the_order_of_the_report_and_ours_behind(run: Run, read: Read) -> None:
    report = report_as(run, "graphrag")
    heads = {
        "metrics.csv": "question_id question question_type method ragas_faithfulness "
        "ragas_context_precision ragas_context_recall ragas_answer_relevance ragas_score "
        "factual_accuracy_percentage factual_accuracy_grade semantic_similarity_percentage "
        "bert_score_f1 classification",
        "by_method.csv": "method ragas_score_average ragas_score_best ragas_score_worst "
        "ragas_faithfulness_average ragas_context_precision_average ragas_context_recall_average "
        "ragas_answer_relevance_average factual_accuracy_percentage_average "
        "semantic_similarity_percentage_average bert_score_f1_average correct_answers_count "
        "wrong_answers_count dont_know_answers_count n",
        "grades.csv": "grade count percentage",
        "classification.csv": "classification count percentage",
        "by_question_type.csv": "question_type total correct wrong dont_know",
        "wrong_answers.csv": "question_id question ground_truth wrong_answer method",
    }
    assert [file.name for file in report.files] == list(heads)
    for name, expected in heads.items():
        first = list(read(report, name)[0][0])
        assert first[: len(expected.split())] == expected.split()
    assert list(read(report, "grades.csv")[1][0])[:4] == ["method", "grade", "count", "percentage"]
    assert list(read(report, "classification.csv")[1][0])[:4] == [
        "method", "correct", "wrong", "dont_know"
    ]  # fmt: skip


def test_methods_have_averages_counts_and_the_weight_behind_the_composite(
    run: Run, read: Read
) -> None:
    (rows,) = read(report_as(run, "graphrag"), "by_method.csv")
    local, basic, memory, unknown = rows
    assert (local["ragas_score_average"], local["ragas_score_best"]) == ("93.73", "93.73")
    assert (local["ragas_context_precision_average"], local["weight_coverage"]) == ("", "0.8")
    assert (local["ragas_context_precision_n"], local["ragas_context_precision_missing"]) == (
        "0", "1"
    )  # fmt: skip
    assert memory["ragas_faithfulness_average"] == "N/A"
    counts = ("correct_answers_count", "wrong_answers_count", "dont_know_answers_count", "n")
    assert [[one[name] for name in counts] for one in (local, basic, unknown)] == [
        ["1", "0", "0", "1"], ["0", "1", "0", "1"], ["0", "0", "1", "1"],
    ]  # fmt: skip


def test_a_method_has_the_mean_weight_and_the_extremes_of_its_answers(
    judged: Judged, vectors: dict[str, Sequence[float]], read: Read
) -> None:
    """One answer of weight .8 and one of .3, of which the first has no relevance."""
    more = row("local_search", "Cornish heath it is.", None) | {"id": "2", "question_id": "2"}
    found = report_as(judged([ROWS[0], more], "graphrag", SCRIPT, vectors), "graphrag")
    ((local,),) = read(found, "by_method.csv")
    names = ("average", "best", "worst")
    assert [local[f"ragas_score_{one}"] for one in names] == ["88.01", "93.73", "82.29"]
    assert (local["weight_coverage"], local["n"]) == ("0.55", "2")


def test_empty_grades_and_classes_stay(run: Run, read: Read) -> None:
    report = report_as(run, "graphrag")
    over_all, by_method = read(report, "grades.csv")
    assert [(one["grade"], one["count"], one["percentage"]) for one in over_all] == [
        ("A", "2", "50.0"), ("B", "0", "0.0"), ("C", "0", "0.0"), ("D", "0", "0.0"),
        ("E", "2", "50.0"),
    ]  # fmt: skip
    assert [one["method"] for one in by_method] == [
        system for system in (one["system"] for one in ROWS) for _ in "ABCDE"
    ]
    classes, _ = read(report, "classification.csv")
    assert [(one["classification"], one["count"]) for one in classes] == [
        ("CORRECT", "2"), ("WRONG", "1"), ("DON'T KNOW", "1"),
    ]  # fmt: skip


def test_wrong_answers_stand_beside_the_reference(run: Run, read: Read) -> None:
    (rows,) = read(report_as(run, "graphrag"), "wrong_answers.csv")
    assert rows == [{
        "question_id": "heath", "question": QUESTION, "ground_truth": GOLD,
        "wrong_answer": "It is the Irish heath.", "method": "basic_search", "outcome": "wrong",
    }]  # fmt: skip


def test_systems_of_unequal_weight_are_not_ranked_without_a_word(run: Run) -> None:
    notes = [explain(note) for note in report_as(run, "graphrag").notes]
    said = (
        "ragas_score is made of part of its weight: 80 % for local_search, 100 % for "
        "basic_search, 30 % for llm_with_context, 100 % for global_search. Do not rank the "
        "systems by it; compare(run=RUN) uses the components that both have."
    )
    assert said in notes
    assert said in [explain(note) for note in run.form.remarks]


def test_the_worked_distributions_come_out() -> None:
    """24 rows: grades 12, 1, 3, 4, 4, and outcomes 17, 6, 1."""

    def percentages(counts: Sequence[tuple[str, int]]) -> list[str | None]:
        words = pl.Series([word for word, count in counts for _ in range(count)])
        status = pl.Series(["value"] * len(words))
        cluster = pl.Series(range(len(words))).cast(pl.String)
        found = shares(words, status, cluster, [word for word, _ in counts])
        return [percentage for _, percentage, _ in found]

    grades = percentages([("A", 12), ("B", 1), ("C", 3), ("D", 4), ("E", 4)])
    assert grades == ["50.0", "4.2", "12.5", "16.7", "16.7"]
    outcomes = percentages([("correct", 17), ("wrong", 6), ("dont_know", 1)])
    assert outcomes == ["70.8", "25.0", "4.2"]


def test_the_interval_of_a_share_is_wilsons_where_rows_are_independent() -> None:
    """17 of 24, as statsmodels has it: .508323 to .850854."""
    words = pl.Series(["correct"] * 17 + ["wrong"] * 7)
    status, cluster = pl.Series(["value"] * 24), pl.Series([str(one) for one in range(24)])
    _, _, ours = next(shares(words, status, cluster, ["correct"]))
    assert (ours["n"], ours["low"], ours["high"]) == (24, "50.8", "85.1")


def test_a_missing_outcome_is_in_no_class() -> None:
    words = pl.Series(["correct", None, None], dtype=pl.String)
    status = pl.Series(["value", "missing", "undefined"])
    _, share, ours = next(shares(words, status, pl.Series(["1", "2", "3"]), ["correct"]))
    assert (share, ours["n"], ours["undefined"], ours["missing"]) == ("100.0", 1, 1, 1)


def test_types_stand_in_the_order_of_the_report(tmp_path: Path, read: Read) -> None:
    types = ["Zeal", "Creative Generation", None, "Fact Retrieval", "Awe"]
    rows = [
        {"id": str(at), "question": "How long?", "answer": "90 m.", "reference": "90 m.",
         **({"question_type": one} if one else {})}
        for at, one in enumerate(types)
    ]  # fmt: skip
    run = evaluate(rows, suites="graphrag", offline=True, out=tmp_path / "r")
    (found,) = read(report_as(run, "graphrag"), "by_question_type.csv")
    assert [one["question_type"] for one in found] == [
        "Fact Retrieval", "Creative Generation", "Awe", "Zeal", "",
    ]  # fmt: skip
    assert [one["total"] for one in found] == ["1"] * 5


def test_no_value_is_written_as_minus_zero() -> None:
    assert number(-0.00001, percent=True) == "0.00"


def test_a_run_without_its_metrics_says_what_to_do(tmp_path: Path) -> None:
    rows = [{"question": "How long?", "answer": "90 m.", "reference": "90 m."}]
    run = evaluate(rows, metrics=["exact_match"], out=tmp_path / "run")
    with pytest.raises(InputError, match=r'rescore\(run=".*", suites="graphrag"\)'):
        report_as(run, "graphrag")
    with pytest.raises(UnknownName, match="Did you mean graphrag"):
        report_as(run, "graphrak")


def test_a_metric_with_other_parameters_is_not_the_one_of_the_report(
    tmp_path: Path, read: Read
) -> None:
    run = evaluate(ROWS, metrics=["faithfulness", "precision(k=1)", "context_recall"],
                   judge="local:strings", out=tmp_path / "run")  # fmt: skip
    report = report_as(run, "graphrag")
    lacking, *_ = report.notes
    assert lacking.startswith(
        "nothing in the run for ragas_faithfulness, ragas_context_precision, ragas_answer_relevance"
    )
    [rows] = read(report, "metrics.csv")
    assert {one["ragas_faithfulness"] for one in rows} == {""}


def test_a_column_without_a_value_is_told_from_one_that_was_not_asked_for(
    tmp_path: Path, read: Read
) -> None:
    run = evaluate(ROWS, metrics=["answer_outcome"], out=tmp_path / "run",
                   judge=ScriptedModel(lambda request: reply_to(request, {})))  # fmt: skip
    report = report_as(run, "graphrag")
    lacking, empty = report.notes
    assert "classification" not in lacking
    assert empty == "no value of classification: undefined or missing for every answer."
    [rows] = read(report, "metrics.csv")
    assert [one["missing"] for one in rows] == ["classification"] * 4


def test_a_file_is_not_taken_for_a_folder(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "report"
    file.write_text("mine")
    with pytest.raises(InputError, match="that is not a folder"):
        write_report(report_as(run, "graphrag"), file)
    assert file.read_text() == "mine"


def test_a_folder_gets_all_files_and_a_file_the_first(run: Run, tmp_path: Path) -> None:
    report = report_as(run, "graphrag")
    assert write_report(report, tmp_path / "one.csv") == [tmp_path / "one.csv"]
    assert (tmp_path / "one.csv").read_bytes() == report.files[0].content
    several = write_report(report, tmp_path / "all")
    assert sorted(file.name for file in (tmp_path / "all").iterdir()) == sorted(
        file.name for file in several
    )
    with pytest.raises(InputError, match="a folder for all its files"):
        write_report(report, tmp_path / "report.xlsx")


NAMES = [
    *(f"{name}@K" for name in (
        "TopicalPrecision", "SufficiencyHit", "SufficiencyRate", "MisleadingContextRate", "MRR",
        "NDCG",
    )),
    "GroundingPresenceRate", "UnsupportedClaimRate", "ContradictionRate", "CitationPresenceRate",
    "ConditionalFabricationRate", "ProperActionRate", "OnTopicRate", "HelpfulnessRate",
    "IncompletenessRate", "UnsafeContentRate",
]  # fmt: skip

YES = {"topically_relevant": 1, "evidence_sufficient": 1, "misleading": 0}
NO = {"topically_relevant": 0, "evidence_sufficient": 0, "misleading": 1}
ANSWER = {
    "support_present": 1, "unsupported_claim_present": 0, "contradicted_claim_present": 0,
    "source_cited": 1, "fabricated_source": 0, "proper_action": 1, "response_on_topic": 1,
    "helpful": 1, "incomplete": 0, "unsafe_content": 0,
}  # fmt: skip
TAXONOMY_ROWS = [
    {"id": "1", "question": "How long?", "answer": "90 m [1].",
     "chunks": [{"text": "90 m.", **YES}, {"text": "Gulls.", **NO}], **ANSWER},
    {"id": "2", "question": "How wide?", "answer": "4 m [7].",
     "chunks": [{"text": "Gulls.", **NO}, {"text": "4 m.", **YES}],
     **ANSWER, "fabricated_source": 1, "incomplete": 1, "support_present": 0},
]  # fmt: skip
"""The relevant chunk stands first, then second."""


def test_the_labels_and_chunks_are_read_as_they_are(tmp_path: Path, read: Read) -> None:
    run = evaluate(TAXONOMY_ROWS, suites="taxonomy(k=2)", out=tmp_path / "r")
    (rows,) = read(report_as(run, "taxonomy"), "metrics.csv")
    assert [one["metric"] for one in rows] == NAMES
    assert list(rows[0])[:7] == ["family", "metric", "k", "value", "n", "undefined", "missing"]
    values = {one["metric"]: float(one["value"]) for one in rows}
    assert values == {
        "TopicalPrecision@K": 0.5, "SufficiencyHit@K": 1.0, "SufficiencyRate@K": 0.5,
        "MisleadingContextRate@K": 0.5, "MRR@K": 0.75,
        # Gain 3 at rank 2 of what would stand at rank 1: 1 / log2(3).
        "NDCG@K": pytest.approx((1 + 0.63093) / 2, abs=1e-5),
        "GroundingPresenceRate": 0.5, "UnsupportedClaimRate": 0.0, "ContradictionRate": 0.0,
        "CitationPresenceRate": 1.0, "ConditionalFabricationRate": 0.5, "ProperActionRate": 1.0,
        "OnTopicRate": 1.0, "HelpfulnessRate": 1.0, "IncompletenessRate": 0.5,
        "UnsafeContentRate": 0.0,
    }  # fmt: skip
    assert [one["k"] for one in rows] == ["2"] * 6 + [""] * 10
    assert {one["family"] for one in rows[6:11]} == {"grounding"}


def test_every_k_and_system_has_its_row(tmp_path: Path, read: Read) -> None:
    rows = [row | {"id": f"{row['id']}-{system}", "system": system}
            for row in TAXONOMY_ROWS for system in ("a", "b")]  # fmt: skip
    run = evaluate(rows, metrics=["MRR@1", "MRR@2"], out=tmp_path / "r")
    (found,) = read(report_as(run, "taxonomy"), "metrics.csv")
    mrr = [one for one in found if one["metric"] == "MRR@K"]
    assert [(one["k"], one["system"], one["value"]) for one in mrr] == [
        ("1", "a", "0.5"), ("1", "b", "0.5"), ("2", "a", "0.75"), ("2", "b", "0.75"),
    ]  # fmt: skip
    assert [one["value"] for one in found if one["metric"] == "NDCG@K"] == ["", ""]


@pytest.mark.parametrize("name", NAMES)
def test_each_name_of_the_taxonomy_is_a_metric_here(name: str) -> None:
    names = [str(one) for one in SUITES["taxonomy"].metrics()]
    expected = names[NAMES.index(name)].removeprefix("list_")
    assert str(parse_metric(name)) == expected
    if name.endswith("@K"):
        at_5 = parse_metric(name.replace("@K", "@5"))
        assert str(at_5) == f"{expected}(k=5)"


def test_labels_under_labels_are_read_without_their_places(tmp_path: Path) -> None:
    row = {"question": "q", "answer": "a", "chunks": ["c"],
           "labels": {"chunks": [{"topically_relevant": True}], "helpful": True}}  # fmt: skip
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(row))
    run = evaluate(str(file), metrics=["precision", "helpfulness"], out=tmp_path / "r")
    assert [one.value for one in run.estimate_list if not one.group] == [1.0, 1.0]


def test_a_suite_takes_its_own_parameters_alone() -> None:
    assert suite_named("taxonomy(k=5)").names[:2] == ("precision(k=5)", "sufficiency_hit(k=5)")
    assert suite_named("taxonomy(k=5)").names[6:] == SUITES["taxonomy"].names[6:]
    with pytest.raises(InputError, match=r"has no parameter n\. It takes: k"):
        suite_named("taxonomy(n=5)")
    with pytest.raises(InputError, match="k must be a whole number from 1"):
        suite_named("taxonomy(k=0)")
    with pytest.raises(InputError, match=r"is not a suite.*taxonomy\(k=5\)"):
        suite_named("taxonomy(k=x)")
    with pytest.raises(UnknownName, match="Did you mean taxonomy"):
        suite_named("taxonomie(k=5)")
