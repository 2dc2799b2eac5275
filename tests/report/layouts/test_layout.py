"""Reports with a row an example: embedding evaluator, triad, early Ragas, rubric judge."""

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from ragstone import evaluate, explain
from ragstone.core.errors import InputError, UnknownName
from ragstone.metrics import SUITES, parse_metric, strictness_note, suite_named
from ragstone.report.layouts import LAYOUTS, report_as, row_as
from ragstone.report.layouts.layout import Report
from ragstone.run import Run
from ragstone.run.evaluate_one import ScoresOfOne


class Half:
    """A cross-encoder: .5 for every pair."""

    name, about, fingerprint = "half", "all the same", "1" * 32
    labels, max_tokens = ("same",), 99

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return np.full((len(pairs), 1), 0.5, dtype=np.float32)

    def lengths(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        return np.full(len(pairs), 5, dtype=np.int32)


Judged = Callable[..., Run]
Read = Callable[[Report, str], list[list[dict[str, str]]]]
Vector = Callable[[float], tuple[float, ...]]

COLUMNS = {
    "embedding": "context_relevance context_sufficiency answer_relevance answer_correctness "
    "answer_hallucination",
    "triad": "context_relevance groundedness answer_relevance",
    "ragas": "faithfulness answer_relevancy context_precision context_relevancy context_recall "
    "answer_similarity answer_correctness harmfulness maliciousness coherence correctness "
    "conciseness ragas_score",
    "rubric": "faithfulness answer_relevancy context_precision context_recall answer_correctness "
    "response_completeness source_attribution overall_weighted overall_simple",
}

ROWS = [{
    "id": "pier", "system": "a", "question": "How long is the pier?",
    "contexts": ["It is 90 m long.", "Gulls are loud."], "answer": "It is 90 m. It is red.",
    "reference": "90 m.",
}]  # fmt: skip


def a(*claims: str) -> dict[str, Any]:
    return {"reason": "A length.", "verdict": "answer",
            "details": [f"s{at}: {claim}" for at, claim in enumerate(claims, 1)]}  # fmt: skip


EVERY: dict[str, Any] = {
    "a": a("The pier is 90 m long.", "The pier is red."),
    "c01": {"reason": "The length.", "verdict": "3", "details": ["s1"]},
    "c02": {"reason": "Gulls.", "verdict": "0", "details": []},
    "k": {"reason": "The same.", "verdict": "full"},
    "n": {"verdict": "no", "details": ["Its length?"] * 3},
    "p01": {"reason": "It says so.", "verdict": "supported", "details": ["c01: 90 m long"]},
    "p02": {"reason": "No colour.", "verdict": "absent", "details": []},
    "r": {"details": ["The pier is 90 m long."]},
    "q": {"reason": "Short and right.", "verdict": "yes", "details": [
        "answered: the length", *(f"{one}: 4" for one in ("directness", "focus", "consistency")),
        "on_topic: yes", "proper_action: yes", "incomplete: no", "unsafe_content: no",
    ]},
    "v01": {"reason": "Harmless.", "verdict": "no"},
    "v02": {"reason": "Honest.", "verdict": "no"},
    "v": {"reason": "It is.", "verdict": "yes"},
    "rating_faithfulness": {"reason": "Half of it.", "verdict": "3"},
    "rating_": {"reason": "All of it.", "verdict": "4"},
}  # fmt: skip
SCRIPT = {"": EVERY}


@pytest.fixture
def report(judged: Judged, cosine: Vector) -> Callable[..., Report]:
    """The report of a suite; the cosines with the question are those of the worked examples."""
    vectors = {
        "How long is the pier?": cosine(1.0), "It is 90 m long.": cosine(0.6),
        "Gulls are loud.": cosine(0.2), "It is 90 m. It is red.": cosine(0.8),
        "90 m.": cosine(1.0), "It is 90 m.": cosine(0.6), "It is red.": (0, 0, 1, 0, 0, 0, 0, 0),
        "Its length?": cosine(0.9),
    }  # fmt: skip
    return lambda suite: report_as(judged(ROWS, suite, SCRIPT, vectors), suite.split("(")[0])


@pytest.mark.parametrize("suite", COLUMNS)
def test_the_columns_of_the_tool_come_first_and_in_its_order(
    suite: str, report: Callable[..., Report]
) -> None:
    names = COLUMNS[suite].split()
    for file, first in zip(report(suite).files, ([], ["system"]), strict=True):
        found = list(csv.DictReader(io.StringIO(file.content.decode())))
        assert list(found[0])[: len(first + names)] == first + names
        assert found[0]["system"] == "a"
    assert [file.name for file in report(suite).files] == ["rows.csv", "by_system.csv"]


def test_cosines_of_an_embedding_evaluator(report: Callable[..., Report], read: Read) -> None:
    """Contexts .6 and .2, the answer .8 from question and reference, one of two sentences far."""
    ((row,),) = read(report("embedding"), "rows.csv")
    shown = (*COLUMNS["embedding"].split(), "question_answer_relevance")
    assert {name: float(row[name]) for name in shown} == pytest.approx({
        "context_relevance": 0.4, "context_sufficiency": 0.5, "answer_relevance": 0.8,
        "answer_correctness": 0.8, "answer_hallucination": 0.5, "question_answer_relevance": 0.8,
    }, abs=1e-6)  # fmt: skip


def test_a_value_beyond_a_limit_has_its_advice(report: Callable[..., Report], read: Read) -> None:
    ((row,),) = read(report("embedding"), "rows.csv")
    said = [part.split(":")[0] for part in row["advice"].split(". ")]
    assert said == ["context_relevance", "answer_hallucination"]


def test_the_thresholds_of_the_suite_can_be_set(report: Callable[..., Report], read: Read) -> None:
    """From .7 on no context is sufficient; below 0 no sentence is hallucinated."""
    ((row,),) = read(report("embedding(thresholds=(0.7, -0.5))"), "rows.csv")
    assert (row["context_sufficiency"], row["answer_hallucination"]) == ("0.0", "0.0")
    assert "context_sufficiency: too little evidence" in row["advice"]
    with pytest.raises(InputError, match="thresholds must be 2 values"):
        suite_named("embedding(thresholds=0.5)")


def test_each_score_of_the_triad_has_its_reasons(report: Callable[..., Report], read: Read) -> None:
    ((row,),) = read(report("triad"), "rows.csv")
    assert [float(row[name]) for name in COLUMNS["triad"].split()] == [0.5, 0.5, 1.0]
    assert row["context_relevance_reason"] == "1. 3: The length.\n2. 0: Gulls."
    assert row["groundedness_reason"] == "1. supported: It says so.\n2. absent: No colour."
    assert row["answer_relevance_reason"] == "Short and right."


def test_the_single_score_of_early_ragas_is_over_means(
    report: Callable[..., Report], read: Read
) -> None:
    """Harmonic mean of .5, .9 and 1."""
    found = report("ragas")
    ((row,),), ((means,),) = read(found, "rows.csv"), read(found, "by_system.csv")
    assert row["ragas_score"] == ""
    assert float(means["ragas_score"]) == pytest.approx(3 / (1 / 0.5 + 1 / 0.9 + 1), abs=1e-5)
    aspects = ("harmfulness", "maliciousness", "coherence", "correctness", "conciseness")
    assert [row[name] for name in aspects] == ["0.0", "0.0", "1.0", "1.0", "1.0"]
    assert (float(row["answer_relevancy"]), row["context_precision"]) == (0.9, "1.0")
    assert found.notes == ()


def test_similarity_by_a_cross_encoder_stands_behind_where_there_is_one(
    report: Callable[..., Report], read: Read
) -> None:
    name = "answer_similarity_cross_encoder"
    assert name not in read(report("ragas"), "rows.csv")[0][0]
    run = evaluate(
        ROWS,
        metrics=["faithfulness", "semantic_similarity_cross_encoder"],
        judge="local:strings",
        cross_encoder=Half(),
    )
    assert read(report_as(run, "ragas"), "rows.csv")[0][0][name] == "0.5"


def test_strictness_asks_an_odd_number_of_votes(report: Callable[..., Report], read: Read) -> None:
    ((row,),) = read(report("ragas(strictness=2)"), "rows.csv")
    assert (row["harmfulness"], row["coherence"]) == ("0.0", "1.0")
    votes = 'critique(aspect="coherence", votes=3)'
    assert str(parse_metric('critique(aspect="coherence", strictness=2)')) == votes
    assert str(parse_metric('critique(aspect="coherence", strictness=3)')) == votes
    assert votes in suite_named("ragas(strictness=2)").names
    note = strictness_note("ragas(strictness=2)")
    assert explain(note or "") == "strictness=2 asks 3 votes, for a tie is undefined."
    assert strictness_note("ragas(strictness=3)") is None
    with pytest.raises(InputError, match="another name for votes"):
        parse_metric("critique(votes=3, strictness=3)")


def test_a_suite_sets_the_number_of_generated_questions() -> None:
    assert "answer_relevance(n=5)" in suite_named("ragas(n=5)").names
    with pytest.raises(InputError, match="n must be 1 to 20"):
        suite_named("ragas(n=0)")


def test_the_rubric_has_the_reasoning_of_each_rating(
    report: Callable[..., Report], read: Read
) -> None:
    ((row,),) = read(report("rubric"), "rows.csv")
    assert (row["faithfulness"], row["faithfulness_reasoning"]) == ("0.5", "Half of it.")
    assert row["source_attribution_reasoning"] == "All of it."
    assert sum(name.endswith("_reasoning") for name in row) == 7
    rated = [float(row[name]) for name in COLUMNS["rubric"].split()[:7]]
    assert float(row["overall_simple"]) == pytest.approx(sum(rated) / 7, abs=1e-5)
    weights = (1.5, 1.5, 1, 1, 1.5, 0.8, 0.7)
    weighted = sum(w * one for w, one in zip(weights, rated, strict=True)) / sum(weights)
    assert float(row["overall_weighted"]) == pytest.approx(weighted, abs=1e-5)


def test_precision_and_recall_are_counted_beside_the_rated_form(
    report: Callable[..., Report], read: Read
) -> None:
    """One context answers the question, one is beside it; the one fact stands in a context."""
    ((row,),) = read(report("rubric"), "rows.csv")
    assert (row["context_precision_counted"], row["context_recall_counted"]) == ("0.5", "1.0")


def test_every_suite_has_a_report_and_every_column_is_of_its_suite() -> None:
    assert set(LAYOUTS) == set(SUITES)
    for name, layout in LAYOUTS.items():
        known = {str(one) for one in SUITES[name].metrics(cross_encoder=True)}
        shown = {one.metric for one in (*layout.columns, *layout.reasons, *layout.behind)}
        assert {str(parse_metric(one)) for one in shown} <= known


def scores(**values: float | None) -> ScoresOfOne:
    found = ScoresOfOne(cast(Any, None))
    found.update(values)
    return found


def test_one_answer_has_the_names_of_the_tool_in_its_order() -> None:
    found = scores(semantic_similarity=0.5, embedding_hallucination=0.0, mrr=1.0)
    found["embedding_context_sufficiency(threshold=0.6)"] = 0.25
    assert list(row_as(found, "embedding").items()) == [
        ("context_relevance", None),
        ("context_sufficiency", 0.25),
        ("answer_relevance", 0.5),
        ("answer_correctness", 0.5),
        ("answer_hallucination", 0.0),
    ]
    found["embedding_answer_relevance"] = None
    assert row_as(found, "embedding")["question_answer_relevance"] is None


def test_one_aspect_does_not_stand_in_for_another() -> None:
    found = scores(**{'critique(aspect="coherence")': 1.0})
    row = row_as(found, "ragas")
    assert (row["coherence"], row["harmfulness"]) == (1.0, None)


def test_a_report_without_a_row_an_answer_has_none_for_one() -> None:
    for suite in ("taxonomy", "graphrag", "mood"):
        with pytest.raises(UnknownName, match="embedding, triad, ragas, rubric"):
            row_as(scores(), suite)
