"""What people said in the data, as rows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ragstone.data import Context, Example
from ragstone.judgements import MISSING, VALUE, Tables
from ragstone.judges import Judge
from ragstone.judges.judge import HumanJudge, IdsJudge
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.judges.rules import RulesJudge, decided_parts
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


WEATHER = "It rained all day. Snow fell in Kent. It was dark by noon."


def weather(**labels: Any) -> Example:
    """Of three claims the judge by strings calls the first supported and the others absent."""
    contexts = (Context("a", "It rained all day.", 1), Context("b", "Hail fell.", 2))
    return labelled(labels, answer=WEATHER, contexts=contexts)


def support(judged: Judged, example: Example, judges: tuple[Judge, ...]) -> list[tuple[Any, ...]]:
    tables = judged(["response", "claims", "support/claim"], [example], judges)
    rows = tables.of("support/claim").sort("index")
    return rows.select("verdict", "probability", "evidence", "judge").rows()


BY_STRINGS = (HumanJudge(), LocalJudge(name="local:strings"), RulesJudge())


def test_an_answer_in_which_a_person_finds_nothing_unsupported_has_supported_claims_alone(
    judged: Judged, scored: Scored
) -> None:
    example = weather(answer={"unsupported_claim_present": 0})
    assert [row[0] for row in support(judged, weather(), BY_STRINGS)] == [
        "supported", "absent", "absent",
    ]  # fmt: skip
    # On which context the others rest, nobody said.
    assert support(judged, example, BY_STRINGS) == [
        ("supported", 1.0, ["a"], "human"),
        ("supported", 1.0, None, "human"),
        ("supported", 1.0, None, "human"),
    ]
    assert scored("faithfulness", example, BY_STRINGS) == 1


@pytest.mark.parametrize(
    ("answer", "verdicts"),
    [
        ({"support_present": 0}, "absent absent absent"),
        ({"support_present": 1, "unsupported_claim_present": 1}, "supported absent absent"),
        ({"unsupported_claim_present": None}, "supported absent absent"),
    ],
)
def test_what_a_label_of_the_whole_leaves_open_stays_with_the_judge(
    judged: Judged, answer: dict[str, int | None], verdicts: str
) -> None:
    rows = support(judged, weather(answer=answer), BY_STRINGS)
    assert " ".join(row[0] for row in rows) == verdicts
    assert {row[3] for row in rows} == {"human" if 0 in answer.values() else "local:strings"}


@pytest.mark.parametrize(
    ("verdict", "answer"),
    [
        (None, {"contradicted_claim_present": 0}),  # Nobody judged it, and two verdicts are left.
        ("supported", {"support_present": 0, "unsupported_claim_present": 0}),  # None is left.
    ],
)
def test_labels_of_the_whole_that_leave_no_single_verdict_change_nothing(
    verdict: str | None, answer: dict[str, int]
) -> None:
    claims = [{"index": 0, "verdict": verdict, "judge": "local", "probability": 0.6}]
    assert decided_parts(answer, claims, "human") == claims


@pytest.mark.parametrize(
    ("before", "answer", "after"),
    [
        ("contradicted supported", {"contradicted_claim_present": 0}, "absent supported"),
        ("absent supported", {"contradicted_claim_present": 0}, "absent supported"),
        ("contradicted supported", {"support_present": 0}, "contradicted absent"),
        ("supported", {"contradicted_claim_present": 1}, "contradicted"),
        ("contradicted", {"unsupported_claim_present": 1}, "contradicted"),
    ],
)
def test_a_verdict_that_is_ruled_out_becomes_the_only_one_left_or_absent(
    before: str, answer: dict[str, int], after: str
) -> None:
    claims = [
        {"index": index, "verdict": verdict, "judge": "local", "probability": 0.6, "reason": ""}
        for index, verdict in enumerate(before.split())
    ]
    decided = decided_parts(answer, claims, "human")
    assert " ".join(row["verdict"] for row in decided) == after
    for was, row in zip(claims, decided, strict=True):
        assert row is was or row["probability"] == float(row["verdict"] == "supported")


def test_a_label_of_the_whole_settles_claims_that_nobody_judged(judged: Judged) -> None:
    claims = [{"text": "It rained."}, {"text": "It poured.", "support": "absent"}]
    example = labelled({"answer": {"unsupported_claim_present": 0}, "claims": claims})
    # The label of the claim itself speaks first.
    assert support(judged, example, PEOPLE) == [
        ("supported", 1.0, None, "human"),
        ("absent", 0.0, [], "human"),
    ]
    example = labelled({"answer": {"unsupported_claim_present": 0}, "claims": claims[:1]})
    assert support(judged, example, PEOPLE) == [("supported", 1.0, None, "human")]


def test_a_label_of_the_whole_does_not_outvote_a_judge_named_before_people(judged: Judged) -> None:
    example = weather(answer={"unsupported_claim_present": 0})
    judges = (LocalJudge(name="local:strings"), HumanJudge())
    assert [row[0] for row in support(judged, example, judges)] == ["supported", "absent", "absent"]


def test_an_answer_with_neither_a_supported_nor_an_unsupported_claim_makes_none(
    scored: Scored,
) -> None:
    example = weather(answer={"support_present": 0, "unsupported_claim_present": 0})
    assert scored("faithfulness", example, BY_STRINGS) == Undefined("no_claims")


@pytest.mark.parametrize(
    ("answer", "text", "supported", "unsupported", "contradicted"),
    [
        ({"contradicted_claim_present": 0}, WEATHER, 1, 1, 0),
        ({"contradicted_claim_present": 1}, "It rained all day. Hail fell.", 1, 1, 1),
        ({"contradicted_claim_present": 1}, "Snow fell.", 0, 1, 1),
        ({"support_present": 1}, "Snow fell.", 1, 0, 0),
        ({"support_present": 0}, WEATHER, 0, 1, 0),
        ({"unsupported_claim_present": 0}, WEATHER, 1, 0, 0),
        ({"contradicted_claim_present": 0, "unsupported_claim_present": 1}, "Hail fell.", 0, 1, 0),
        ({"source_cited": 1}, WEATHER, 1, 1, 0),
    ],
)
def test_labels_of_an_answer_that_a_person_left_open_follow_from_the_rest(
    scored: Scored,
    answer: dict[str, int],
    text: str,
    supported: int,
    unsupported: int,
    contradicted: int,
) -> None:
    example = replace(weather(answer=answer), answer=text)
    names = ("grounding_presence", "unsupported_claim", "contradiction")
    scores = [scored(name, example, BY_STRINGS) for name in names]
    assert scores == [supported, unsupported, contradicted]


@pytest.mark.parametrize(
    ("answer", "cited", "fabricated"),
    [
        ({"source_cited": 1}, 1, 0),
        ({"source_cited": 0}, 0, Undefined("no_answer_cites_a_source")),
        ({"fabricated_source": 1}, 1, 1),
    ],
)
def test_labels_of_citations_that_a_person_left_open_follow_from_the_rest(
    scored: Scored, answer: dict[str, int], cited: int, fabricated: Score
) -> None:
    example = weather(answer=answer)
    assert scored("citation_presence", example, PEOPLE) == cited
    assert scored("citation_fabrication", example, PEOPLE) == fabricated


def test_labels_that_nothing_settles_stay_open(scored: Scored) -> None:
    example = weather(answer={"contradicted_claim_present": 0})
    assert scored("unsupported_claim", example, PEOPLE) == Missing("no_labels")
    example = weather(answer={"contradicted_claim_present": 1})
    assert scored("unsupported_claim", example, PEOPLE) == 1
