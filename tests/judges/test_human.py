"""What people said in the data, as rows."""

from collections.abc import Callable
from typing import Any

import pytest

from ragstone.data import Context, Example
from ragstone.judgements import MISSING, VALUE, Tables
from ragstone.judges.judge import HumanJudge, IdsJudge
from ragstone.judges.rules import RulesJudge
from ragstone.metrics import Missing, Score, Undefined

Judged = Callable[..., Tables]
Scored = Callable[..., Score]

PEOPLE = (HumanJudge(), RulesJudge())


def labelled(labels: dict[str, Any], **fields: Any) -> Example:
    given = {
        "question": "?",
        "answer": "It rained. It poured.",
        "contexts": (Context("a", "x", 1), Context("b", "y", 2)),
        "reference": ("It rained.",),
    }
    return Example("1", "q", "s", labels=labels, **given | fields)


def test_labels_of_contexts_become_rows_by_rank(judged: Judged) -> None:
    labels = {
        "contexts": [
            {"topically_relevant": 1, "evidence_sufficient": 0, "misleading": 0},
            {"topically_relevant": 0, "evidence_sufficient": None, "misleading": True},
        ]
    }
    rows = judged(["relevance"], [labelled(labels)], PEOPLE).of("relevance")
    assert rows.select("rank", "relevant", "sufficient", "misleading", "judge").rows() == [
        (1, True, False, False, "human"),
        (2, False, None, True, "human"),
    ]


def test_a_grade_says_whether_a_context_is_relevant_and_suffices(
    judged: Judged, scored: Scored
) -> None:
    labels = {"contexts": [{"grade": 3}, {"grade": 1, "topically_relevant": 0}]}
    rows = judged(["relevance"], [labelled(labels)], PEOPLE).of("relevance")
    assert rows.select("rank", "grade", "relevant", "sufficient", "misleading").rows() == [
        (1, 3, True, True, None),
        (2, 1, False, False, None),
    ]
    assert scored("graded_relevance", labelled(labels), PEOPLE) == pytest.approx((1 + 1 / 3) / 2)


def test_a_context_that_nobody_labelled_goes_to_the_next_judge(judged: Judged) -> None:
    labels = {"contexts": [{"topically_relevant": None}, {"topically_relevant": 1}]}
    example = labelled(labels, reference_contexts={"a": 2})
    rows = judged(["relevance"], [example], (HumanJudge(), IdsJudge())).of("relevance")
    said = rows.sort("rank").select("rank", "relevant", "grade", "judge")
    assert said.rows() == [(1, True, 2, "ids"), (2, True, None, "human")]


def test_an_example_without_labels_is_left_to_the_next_judge(judged: Judged) -> None:
    asks = ["response", "claims", "relevance", "quality"]
    tables = judged(asks, [labelled({})], (HumanJudge(),))
    for ask in asks:
        assert tables.of(ask).is_empty()
        assert tables.outcome(ask)["status"].to_list() == [MISSING]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("grounding_presence", "support_present"),
        ("unsupported_claim", "unsupported_claim_present"),
        ("contradiction", "contradicted_claim_present"),
        ("citation_presence", "source_cited"),
        ("proper_action", "proper_action"),
        ("on_topic", "response_on_topic"),
        ("helpfulness", "helpful"),
        ("incompleteness", "incomplete"),
        ("unsafe_content", "unsafe_content"),
    ],
)
def test_labels_of_the_answer_feed_the_rates(scored: Scored, name: str, label: str) -> None:
    for value in (0, 1, True, False):
        assert scored(name, labelled({"answer": {label: value}}), PEOPLE) == value
    unlabelled = scored(name, labelled({"answer": {label: None}}), (HumanJudge(),))
    assert isinstance(unlabelled, Missing)


def test_claims_with_support_give_faithfulness_and_citing(scored: Scored) -> None:
    claims = [
        {"text": "It rained.", "support": "supported", "evidence": ["a"]},
        {"text": "It poured.", "support": "absent"},
    ]
    example = labelled({"claims": claims})
    assert scored("faithfulness", example, PEOPLE) == 1 / 2
    assert scored("expected_faithfulness", example, PEOPLE) == 1 / 2
    assert scored("hallucination", example, PEOPLE) == 1 / 2


def test_a_claim_without_a_verdict_is_a_gap(scored: Scored) -> None:
    claims = [{"text": "It rained.", "support": "supported"}, {"text": "It poured."}]
    example = labelled({"claims": claims})
    assert scored("faithfulness", example, PEOPLE) == Missing("incomplete_judgement")
    assert scored('faithfulness(unjudged="drop")', example, PEOPLE) == 1


def test_no_claims_is_something_people_can_say(scored: Scored) -> None:
    example = labelled({"claims": []})
    assert scored("faithfulness", example, PEOPLE) == Undefined("no_claims")
    assert scored("factual_accuracy", labelled({"claims": [], "statements": []}), PEOPLE) == (
        Undefined("no_claims")
    )


def test_a_supported_claim_that_names_no_evidence_leaves_use_open(scored: Scored) -> None:
    labels: dict[str, list[dict[str, Any]]] = {
        "claims": [{"text": "It rained.", "support": "supported"}],
        "contexts": [{"topically_relevant": 1}, {"topically_relevant": 1}],
    }
    name = "context_utilization"
    assert scored(name, labelled(labels), PEOPLE) == Missing("incomplete_judgement")
    labels["claims"][0]["evidence"] = ["a"]
    assert scored(name, labelled(labels), PEOPLE) == 1 / 2
    labels["claims"] = [{"text": "It rained.", "support": "absent"}]
    assert scored(name, labelled(labels), PEOPLE) == 0


def test_a_claim_without_a_place_in_the_answer_leaves_citing_open(scored: Scored) -> None:
    claim = {"text": "It rained.", "support": "supported", "evidence": ["a"]}
    example = labelled({"claims": [claim]}, answer="It rained [1]. It poured.")
    for name in ("citation_precision", "groundedness"):
        assert scored(name, example, PEOPLE) == Missing("incomplete_judgement")
    placed = labelled({"claims": [claim | {"sentence": 0}]}, answer="It rained [1]. It poured.")
    assert scored("citation_precision", placed, PEOPLE) == 1
    assert scored("groundedness", placed, PEOPLE) == 1


def test_statements_and_claims_give_correctness(scored: Scored) -> None:
    labels = {
        "response_type": "answer",
        "claims": [{"text": "c", "agreement": "matches"}, {"text": "d", "agreement": "extra"}],
        "statements": [
            {"text": "s", "agreement": "full", "support": "supported"},
            {"text": "t", "agreement": "missing", "support": "absent"},
        ],
    }
    example = labelled(labels)
    assert scored("answer_correctness(factual=1)", example, PEOPLE) == 1 / 2
    assert scored("answer_coverage", example, PEOPLE) == 1 / 2
    assert scored("answer_outcome", example, PEOPLE) == 1 / 2
    assert scored("context_recall", example, PEOPLE) == 1 / 2


def test_a_claims_label_without_a_reference_holds_for_all_of_them(scored: Scored) -> None:
    labels = {
        "claims": [{"text": "c", "agreement": "matches"}],
        "statements": [{"text": "s", "agreement": "full"},
                       {"text": "t", "agreement": "missing", "reference": 1}],
    }  # fmt: skip
    example = labelled(labels, reference=("s", "t"))
    assert scored("answer_correctness(factual=1)", example, PEOPLE) == 1


def test_the_kind_of_reply_is_kept(judged: Judged, scored: Scored) -> None:
    for kind in ("answer", "abstain"):
        example = labelled({"response_type": kind})
        tables = judged(["response"], [example], PEOPLE)
        assert tables.outcome("response")["status"].to_list() == [VALUE]
        assert scored("abstention", example, PEOPLE) == (kind == "abstain")
