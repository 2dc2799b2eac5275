"""Ranking: cuts, gaps, levels and gains by hand."""

from math import log2
from typing import Any

import polars as pl
import pytest

from ragstone.judgements import Evidence, Statements, View
from ragstone.metrics import Missing, Score, Undefined, parse_metric, score
from ragstone.testing import Given, contexts, rows, score_frame, score_one

Truth = bool | None
T, F, N = True, False, None


def scored(name: str, *relevant: Truth) -> Score:
    return score_one(parse_metric(name), contexts(relevant=relevant))


def weighed(name: str, *weights: int | None) -> Score:
    return score_one(parse_metric(name), contexts(weight=weights))


@pytest.mark.parametrize(
    ("name", "relevant", "expected"),
    [
        ("precision(k=2)", (T, F, T), 1 / 2),
        ("precision(k=5)", (T, F, T), 2 / 5),
        ("precision", (T, F, T), 2 / 3),
        ("precision_over_retrieved(k=5)", (T, F, T), 2 / 3),
        ("precision_over_retrieved(k=2)", (T, F, T), 1 / 2),
        ("mrr", (F, F, T), 1 / 3),
        ("mrr(k=2)", (F, F, T), 0),
        ("context_precision", (T, F, T), (1 + 2 / 3) / 2),
        ("context_precision", (F, F, F), 0),
        ("context_precision(k=2)", (T, F, T), 1),
    ],
)
def test_the_cut_is_k_or_the_length_of_the_list(
    name: str, relevant: tuple[Truth, ...], expected: float
) -> None:
    assert scored(name, *relevant) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "relevant", "expected"),
    [
        ("precision(k=2)", (T, F, N), 1 / 2),
        ("precision(k=2)", (T, N, F), Missing("unlabelled_in_top_k")),
        ("mrr", (T, N, N), 1),
        ("mrr", (F, N, T), Missing("unlabelled_in_top_k")),
        ("mrr(k=1)", (F, N, T), 0),
        ('mrr(gaps="zero")', (F, N, T), 1 / 3),
        ('mrr(gaps="condense")', (F, N, T), 1 / 2),
        ('precision(k=2, gaps="zero")', (N, T, T), 1 / 2),
        ('precision(k=2, gaps="condense")', (N, T, T), 1),
        ('precision(gaps="condense")', (N, T, F), 1 / 2),
        ('precision(gaps="condense")', (N, N), 0),
        ('context_precision(gaps="zero")', (N, T), 1 / 2),
        ('context_precision(gaps="condense")', (N, T), 1),
        ("context_precision", (T, N), 1),
        ("context_precision", (T, F, N), Missing("incomplete_judgement")),
        ("context_precision", (N, T), Missing("incomplete_judgement")),
    ],
)
def test_a_gap_counts_only_where_it_could_change_the_value_or_by_name(
    name: str, relevant: tuple[Truth, ...], expected: Score
) -> None:
    assert scored(name, *relevant) == (
        pytest.approx(expected) if isinstance(expected, float) else expected
    )


@pytest.mark.parametrize(
    ("sufficient", "expected"),
    [((T, N), 1), ((N, T), 1), ((F, N), Missing("unlabelled_in_top_k")), ((F, F), 0)],
)
def test_one_sufficient_context_settles_a_hit(
    sufficient: tuple[Truth, ...], expected: Score
) -> None:
    assert score_one(parse_metric("sufficiency_hit"), contexts(sufficient=sufficient)) == expected


ZERO_FOR_NONE = (
    "precision(k=3)",
    "mrr",
    "list_ndcg(k=3)",
    "sufficiency_hit",
    "misleading_rate",
    "graded_relevance",
    "sentence_relevance",
    "embedding_context_sufficiency",
)


def test_an_empty_list_scores_zero_with_a_flag_except_where_nothing_is_averaged() -> None:
    for name in ZERO_FOR_NONE:
        line = score_frame(parse_metric(name), [[]]).row(0, named=True)
        assert line["value"] == 0, name
        assert "empty_retrieval" in line["reason"].split(","), name
    for name in ("context_precision", "embedding_context_relevance", "reference_similarity_max"):
        assert score_one(parse_metric(name)) == Undefined("no_contexts")
    assert score_one(parse_metric("precision_over_retrieved")) == Undefined("empty_retrieval")


def test_a_list_shorter_than_k_is_flagged() -> None:
    short = [contexts(relevant=[T])]
    assert score_frame(parse_metric("precision(k=3)"), [short])["reason"].to_list() == [
        "short_list"
    ]
    assert score_frame(parse_metric("precision(k=1)"), [short])["reason"].to_list() == [None]


def test_a_higher_level_asks_for_a_higher_grade() -> None:
    given = contexts(grade=[1, 2, 3])
    assert score_one(parse_metric("precision(level=2)"), given) == pytest.approx(2 / 3)
    assert score_one(parse_metric("mrr(level=2)"), given) == 1 / 2
    assert score_one(parse_metric("context_precision(level=3)"), given) == pytest.approx(1 / 3)


def test_ndcg_of_either_gain() -> None:
    exponential = (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    linear = (1 + 2 / log2(3)) / (2 + 1 / log2(3))
    assert weighed("list_ndcg", 1, 2, 0) == pytest.approx(exponential, abs=1e-12)
    assert weighed('list_ndcg(gain="linear")', 1, 2, 0) == pytest.approx(linear, abs=1e-12)


def test_the_ideal_of_ndcg_is_of_the_whole_list_or_of_its_top() -> None:
    assert weighed("list_ndcg(k=1)", 1, 2) == pytest.approx(1 / 3)
    assert weighed('list_ndcg(k=1, ideal="topk")', 1, 2) == 1


@pytest.mark.parametrize(
    "name", ["list_ndcg", 'list_ndcg(gain="linear")', "list_ndcg(k=10)", 'list_ndcg(ideal="topk")']
)
def test_ndcg_of_the_best_order_is_one_to_the_last_digit(name: str) -> None:
    for n in range(1, 40):
        best = [2] * (n // 3) + [1] * (n - n // 3) + [0] * (n % 5)
        assert weighed(name, *best) == 1


def test_ndcg_takes_grades_above_four_too() -> None:
    exponential = (31 + 63 / log2(3)) / (63 + 31 / log2(3))
    assert weighed("list_ndcg", 5, 6) == pytest.approx(exponential, abs=1e-12)
    assert weighed('list_ndcg(gain="linear")', 5, 6) == pytest.approx(
        (5 + 6 / log2(3)) / (6 + 5 / log2(3)), abs=1e-12
    )
    assert weighed("list_ndcg(k=1)", 5, 6) == pytest.approx(31 / 63, abs=1e-12)
    assert weighed('list_ndcg(k=1, ideal="topk")', 5, 6) == 1


def test_ndcg_of_nothing_relevant_is_zero_and_says_so() -> None:
    frame = score_frame(parse_metric("list_ndcg"), [[contexts(weight=[0, 0])]])
    assert frame.select("value", "reason").row(0) == (0, "ideal_dcg_zero")


def test_ndcg_with_an_unknown_grade_in_the_top_k_is_missing() -> None:
    assert weighed("list_ndcg(k=2)", 2, N, 1) == Missing("unlabelled_in_top_k")
    assert weighed("list_ndcg(k=2)", 2, 1, N) == pytest.approx(1)


def test_ndcg_of_a_very_long_list_or_k() -> None:
    assert weighed("list_ndcg", *[1] * 150_000) == pytest.approx(1)
    assert weighed("list_ndcg(k=2000000000)", 1, 2) == pytest.approx(
        (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    )


class OneLongList(Given):
    """One example, whose contexts are so many that they are not written out."""

    def __init__(self, size: int) -> None:
        super().__init__([[]])
        self.size = size

    def view(self, view: type[View], wanted: object) -> pl.DataFrame:
        empty = super().view(view, wanted)
        rank = pl.int_range(1, self.size + 1, dtype=pl.UInt32, eager=True)
        filled = pl.DataFrame({"rank": rank}).with_columns(row=0, weight=1)
        return pl.concat([empty, filled.cast({"row": pl.UInt32, "weight": empty["weight"].dtype})],
                         how="diagonal")  # fmt: skip


def test_ndcg_of_more_contexts_than_it_has_an_ideal_for_is_undefined() -> None:
    metrics = [parse_metric("list_ndcg"), parse_metric("list_ndcg(k=10)")]
    frames = score(OneLongList((1 << 20) + 1), metrics)
    assert frames["list_ndcg"].select("value", "reason").row(0) == (None, "list_too_long")
    assert frames["list_ndcg(k=10)"]["value"].item() == 1


def test_graded_relevance_of_four_grades_or_three_levels() -> None:
    grades = score_one(parse_metric("graded_relevance"), contexts(grade=[3, 1, 0]))
    assert grades == pytest.approx(4 / 9)
    assert weighed("graded_relevance(max_grade=2)", 2, 1, 0) == pytest.approx(1 / 2)
    top = score_one(parse_metric("graded_relevance(k=1)"), contexts(grade=[3, None]))
    assert top == 1
    gap = score_one(parse_metric("graded_relevance(k=2)"), contexts(grade=[3, None]))
    assert gap == Missing("unlabelled_in_top_k")


def test_gaps_in_grades_are_filled_or_left_out_by_name() -> None:
    given = contexts(grade=[None, 3])
    assert score_one(parse_metric('graded_relevance(gaps="zero")'), given) == 1 / 2
    assert score_one(parse_metric('graded_relevance(gaps="condense")'), given) == 1
    assert score_one(parse_metric('graded_relevance(k=1, gaps="condense")'), given) == 1


def test_sentences_are_counted_over_all_contexts_together() -> None:
    given = contexts(sentences=[4, 1], relevant_sentences=[[0], [0]])
    assert score_one(parse_metric("sentence_relevance"), given) == 2 / 5
    none = contexts(sentences=[0], relevant_sentences=[[]])
    assert score_one(parse_metric("sentence_relevance"), none) == Undefined("no_sentences")


def test_utilization_is_the_share_of_relevant_contexts_the_answer_rests_on() -> None:
    metric = parse_metric("context_utilization")
    assert score_one(metric, contexts(relevant=[T, T, F], used=[T, F, T])) == 1 / 2
    assert score_one(metric, contexts(relevant=[F], used=[T])) == Undefined("no_relevant_context")
    assert score_one(metric, contexts(relevant=[T], used=[N])) == Missing("incomplete_judgement")
    assert score_one(metric, contexts(relevant=[T, F], used=[T, N])) == 1
    assert isinstance(score_one(metric, contexts(relevant=[T, N], used=[T, F])), Missing)


def test_recall_of_statements_takes_the_best_reference_and_of_evidence_all_of_it() -> None:
    given = rows(Statements, reference=[0, 0, 1], support=["supported", "absent", "contradicted"])
    assert score_one(parse_metric("context_recall"), given) == 1 / 2
    pieces = rows(Evidence, support=["supported", "absent", "absent"])
    assert score_one(parse_metric("evidence_recall"), pieces) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("reference", "support", "expected"),
    [
        ([0, 0], ["supported", "contradicted"], 1),
        ([0, 0], ["supported", "absent"], 0),
        ([0, 1], ["contradicted", "supported"], 0),
        ([0, 1], ["contradicted", "contradicted"], 1),
        ([0, 0], ["contradicted", None], 1),
        ([0, 0], ["supported", None], Missing("incomplete_judgement")),
        ([], [], Undefined("no_statements")),
    ],
)
def test_a_reference_is_contradicted_if_every_one_has_a_contradicted_statement(
    reference: list[int], support: list[str | None], expected: Any
) -> None:
    given = rows(Statements, reference=reference, support=support)
    assert score_one(parse_metric("reference_contradiction"), given) == expected
