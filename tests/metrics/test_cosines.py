"""Cosines and overlaps: which one a metric reads, its threshold, and the form it prints it in."""

import pytest

from ragstone.judgements import Answers, AnswerSentences, Probes, References
from ragstone.metrics import Undefined, parse_metric
from ragstone.testing import contexts, rows, score_one

CONTEXTS = contexts(
    question_similarity=[-0.2, 0.49, 0.5],
    question_similarity_windows=[0.5, 0.6, 0.7],
    reference_similarity=[0.1, -0.3, 0.2],
    reference_similarity_windows=[0.4, 0.8, 0.3],
)
SENTENCES = rows(
    AnswerSentences, similarity=[0.39, 0.4, -0.2, 0.8], similarity_windows=[0.4, 0.4, 0.3, 0.8]
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("embedding_context_relevance", (-0.2 + 0.49 + 0.5) / 3),
        ("embedding_context_relevance(windows=True)", 0.6),
        ("embedding_context_sufficiency", 1 / 3),
        ("embedding_context_sufficiency(windows=True)", 1),
        ("embedding_context_sufficiency(threshold=0.49)", 2 / 3),
        ("reference_similarity_max", 0.2),
        ("reference_similarity_max(windows=True)", 0.8),
        ("embedding_hallucination", 2 / 4),
        ("embedding_hallucination(windows=True)", 1 / 4),
        ("embedding_hallucination(threshold=0.41, windows=True)", 3 / 4),
    ],
)
def test_windows_and_another_threshold_count_only_where_they_are_asked_for(
    name: str, expected: float
) -> None:
    assert score_one(parse_metric(name), CONTEXTS, SENTENCES) == pytest.approx(expected)


def test_an_overlap_is_what_a_judge_said_of_it_and_not_of_another() -> None:
    said = {
        "exact_match": 1.0, "token_f1": 0.9, "token_f1_set": 0.8, "rouge_2": 0.7, "rouge_l": 0.6,
        "similarity": 0.5, "cross_encoder": 0.4, "bertscore_precision": 0.3,
        "bertscore_recall": 0.2, "bertscore_f1": 0.1,
    }  # fmt: skip
    given = rows(References, **{column: [value] for column, value in said.items()})
    names = {"similarity": "semantic_similarity",
             "cross_encoder": "semantic_similarity_cross_encoder"}  # fmt: skip
    for column, value in said.items():
        assert score_one(parse_metric(names.get(column, column)), given) == value


@pytest.mark.parametrize(
    ("scale", "of_opposite", "of_alike"),
    [("cosine", -0.4, 0.6), ("clamped", 0, 0.6), ("shifted", 0.3, 0.8)],
)
def test_a_cosine_is_printed_as_it_is_clamped_or_shifted(
    scale: str, of_opposite: float, of_alike: float
) -> None:
    for cosine, expected in ((-0.4, of_opposite), (0.6, of_alike)):
        given = (
            rows(References, similarity=[cosine], reference=[0]),
            rows(Answers, question_similarity=[cosine]),
            rows(Probes, similarity=[cosine], noncommittal=[False]),
        )
        for name in ("semantic_similarity", "embedding_answer_relevance", "answer_relevance"):
            metric = parse_metric(f'{name}(scale="{scale}")')
            assert score_one(metric, *given) == pytest.approx(expected)
            assert scale != "cosine" or metric == parse_metric(name)


def test_relevance_over_fewer_or_more_questions_than_three() -> None:
    """Cosines .9, .6, .3, .0: the first is .9, the mean of four .45; a fifth is not there."""
    four = rows(Probes, similarity=[0.9, 0.6, 0.3, 0.0], index=[0, 1, 2, 3],
                noncommittal=[False] * 4)  # fmt: skip
    assert score_one(parse_metric("answer_relevance(n=1)"), four) == pytest.approx(0.9)
    assert score_one(parse_metric("answer_relevance"), four) == pytest.approx(0.6)
    assert score_one(parse_metric("answer_relevance(n=4)"), four) == pytest.approx(0.45)
    too_few = score_one(parse_metric("answer_relevance(n=5)"), four)
    assert too_few == Undefined("too_few_questions")
