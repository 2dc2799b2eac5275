"""Faithfulness and what else is over claims and sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import InputError
from ragstone.judgements import SUPPORT_VERDICTS, AnswerSentences, Sentences
from ragstone.metrics import Missing, Score, Undefined, parse_metric
from ragstone.testing import claims, rows, score_one


def scored(name: str, *verdicts: str | None) -> Score:
    return score_one(parse_metric(name), claims(support=verdicts))


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["supported"], 1),
        (["supported", "contradicted"], 1 / 2),
        (["supported", "absent", "absent"], 1 / 3),
        (["absent"], 0),
        (["contradicted", "contradicted"], 0),
    ],
)
def test_share_of_supported_claims(verdicts: list[str], expected: float) -> None:
    assert scored("faithfulness", *verdicts) == pytest.approx(expected)
    assert scored("hallucination", *verdicts) == pytest.approx(1 - expected)


@pytest.mark.parametrize(
    ("supported", "of", "expected"),
    [(0, 4, 0), (1, 4, 0), (3, 10, 0.3), (2, 5, 0.3), (1, 2, 0.5), (2, 3, 0.5), (7, 10, 0.7),
     (8, 10, 0.7), (9, 10, 0.9), (19, 20, 0.9), (5, 5, 1)],
)  # fmt: skip
def test_steps_are_reached_not_rounded_to(supported: int, of: int, expected: float) -> None:
    verdicts = ["supported"] * supported + ["absent"] * (of - supported)
    assert scored("stepped_faithfulness", *verdicts) == expected


def test_steps_are_undefined_and_missing_where_faithfulness_is() -> None:
    name = "stepped_faithfulness(steps=(0.5, 1.0))"
    assert scored(name, "supported", "supported", "absent") == 0.5
    assert scored(name) == Undefined("no_claims")
    assert scored(name, "supported", None) == Missing("incomplete_judgement")
    for steps in ("()", "(0.0, 1.0)", "(0.5, 1.5)", "(0.7, 0.3)", "(0.5, 0.5)"):
        with pytest.raises(InputError, match="steps rise"):
            parse_metric(f"stepped_faithfulness(steps={steps})")


def test_answer_without_claims_has_no_score_but_by_convention() -> None:
    assert scored("faithfulness") == Undefined("no_claims")
    assert scored("hallucination") == Undefined("no_claims")
    assert scored("faithfulness(no_claims=1.0)") == 1
    assert scored("hallucination(no_claims=1.0)") == 0
    for name in ("faithfulness", "hallucination", "stepped_faithfulness"):
        for value in ("2", "1.01", "-0.1"):
            with pytest.raises(InputError, match=f"{name}: no_claims is from 0 to 1, not {value}"):
                parse_metric(f"{name}(no_claims={value})")


def test_claim_without_a_verdict_makes_the_score_missing() -> None:
    for name in ("faithfulness", "hallucination", "faithfulness(no_claims=1.0)"):
        assert scored(name, "supported", None) == Missing("incomplete_judgement")


def test_dropping_claims_without_a_verdict_needs_one_with() -> None:
    assert scored('faithfulness(unjudged="drop")', "supported", None, "absent") == 1 / 2
    assert scored('faithfulness(unjudged="drop")', None) == Missing("incomplete_judgement")


@given(st.lists(st.sampled_from(SUPPORT_VERDICTS), max_size=6))
def test_order_of_claims_does_not_matter(verdicts: list[str]) -> None:
    assert scored("faithfulness", *verdicts) == scored("faithfulness", *reversed(verdicts))


def test_expected_faithfulness_is_the_mean_probability() -> None:
    metric = parse_metric("expected_faithfulness")
    assert score_one(metric, claims(probability=[0.9, 0.4, 0.2])) == pytest.approx(0.5)
    assert score_one(metric, claims(probability=[0.9, None])) == Missing("incomplete_judgement")


def test_groundedness_is_the_share_of_wholly_supported_sentences() -> None:
    metric = parse_metric("groundedness")
    assert score_one(metric, rows(Sentences, supported=[True, False, True])) == pytest.approx(2 / 3)
    gap = score_one(metric, rows(Sentences, supported=[True, None]))
    assert gap == Missing("incomplete_judgement")


def test_sentences_that_resemble_no_context_count_below_the_threshold() -> None:
    given = rows(AnswerSentences, similarity=[0.39, 0.4, -0.2, 0.8])
    assert score_one(parse_metric("embedding_hallucination"), given) == 2 / 4
    assert score_one(parse_metric("embedding_hallucination(threshold=0.9)"), given) == 1
    gap = rows(AnswerSentences, similarity=[0.39, None])
    assert score_one(parse_metric("embedding_hallucination"), gap) == Missing(
        "incomplete_judgement"
    )
