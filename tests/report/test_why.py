"""What is held against an example, in one line each."""

import re
from typing import Any

from ragstone.report.worst_examples import why

from .conftest import dossier_of as found


def judged(verdict: str | None, reason: str | None = None) -> dict[str, Any]:
    return {"verdict": verdict, "reason": reason}


def claim(text: str, support: Any = None, *agreement: Any) -> dict[str, Any]:
    return {"text": text, "support": support, "agreement": list(agreement)}


def test_claims_that_are_not_supported_are_told_the_contradicted_first() -> None:
    claims = [
        claim("It is 90 m.", judged("supported")),
        claim("It is old.", judged("absent", "nothing says so")),
        claim("It is red.", judged("contradicted")),
        claim("It is wet.", judged(None)),
        claim("It is long."),
    ]
    assert why(found(claims=claims), "faithfulness") == [
        "claim 1 contradicted: It is red.",
        "claim 1 absent: It is old. (nothing says so)",
    ]


def test_only_what_the_metric_rests_on_is_told() -> None:
    claims = [claim("It is red.", judged("absent"), judged("contradicts"))]
    assert why(found(claims=claims), "faithfulness") == ["claim 1 absent: It is red."]
    assert why(found(claims=claims), "precision") == []
    assert why(found(claims=claims), "unsupported_claim") == ["claim 1 absent: It is red."]


def test_statements_are_held_against_the_answer_and_against_the_contexts() -> None:
    statement = {"text": "90 m.", "agreement": judged("missing"), "support": judged("absent")}
    known = found(statements=[statement])
    assert why(known, "answer_coverage") == ["statement missing: 90 m."]
    assert why(known, "context_recall") == ["statement absent: 90 m."]


def test_evidence_that_was_not_retrieved_is_told() -> None:
    evidence = [{"text": "90 m.", "support": judged("absent")}, {"text": "x", "support": None}]
    assert why(found(gold_evidence=evidence), "evidence_recall") == ["evidence 1 absent: 90 m."]


def test_contexts_that_are_not_relevant_are_told_by_rank() -> None:
    contexts = [
        {"rank": 1, "relevance": {"relevant": True, "reason": None}},
        {"rank": 2, "relevance": {"relevant": False, "reason": "of gulls"}},
        {"rank": 3, "relevance": None},
    ]
    assert why(found(contexts=contexts), "precision") == ["context 2 not relevant (of gulls)"]
    assert why(found(), "precision") == [], "it does not retrieve"


def test_other_judgements_are_told_with_their_reason_where_they_have_one() -> None:
    rows = [
        {"response_type": "abstain", "reason": "it says so", "judge": "m", "probability": 0.5},
        {"response_type": "answer", "reason": None, "judge": "m", "probability": 0.5},
    ]
    assert why(found(judgements={"response": rows}), "abstention") == [
        "response type: abstain (it says so)"
    ]


def test_that_a_reply_is_an_answer_is_no_reason_for_a_low_score() -> None:
    rows = [{"response_type": "answer", "reason": "no sign of inability", "judge": "m"}]
    assert why(found(judgements={"response": rows}), "answer_outcome") == []


def test_what_follows_from_claims_is_not_told_again() -> None:
    rows = [{"unsupported_claim_present": True, "reason": "support/claim", "judge": "rules"}]
    known = found(claims=[claim("It is red.", judged("absent"))], judgements={"grounding": rows})
    assert why(known, "unsupported_claim") == ["claim 1 absent: It is red."]


def test_the_first_few_are_told_and_the_rest_counted() -> None:
    claims = [claim(f"Claim {at}.", judged("absent")) for at in range(5)]
    assert why(found(claims=claims), "faithfulness", most=2) == [
        "claim 1 absent: Claim 0.", "claim 1 absent: Claim 1.", "and 3 more",
    ]  # fmt: skip
    assert len(why(found(claims=claims[:2]), "faithfulness", most=2)) == 2
    assert why(found(claims=claims), "faithfulness")[2:] == [
        "claim 1 absent: Claim 2.",
        "and 2 more",
    ]


def test_long_texts_are_cut_and_equal_lines_told_once() -> None:
    claims = [claim("word " * 100, judged("absent"))] * 2
    (line,) = why(found(claims=claims), "faithfulness")
    assert line.endswith("…")
    assert len(line) == len("claim 1 absent: ") + 160
    (long,) = why(found(claims=[claim("x" * 400, judged("absent"))]), "faithfulness")
    assert long == f"claim 1 absent: {'x' * 159}…"
    reasons = [claim("y", judged("absent", "z" * 400))]
    assert len(why(found(claims=reasons), "faithfulness")[0]) == 320


def test_of_a_metric_that_is_not_loaded_everything_is_told() -> None:
    claims = [claim("It is red.", judged("absent"), judged("contradicts"))]
    assert why(found(claims=claims), "somebodys_own") == ["claim 1 contradicts, absent: It is red."]


def test_of_several_metrics_a_unit_is_told_once_with_every_verdict_and_reason() -> None:
    claims = [claim("It is red.", judged("absent", "no red"), judged("extra", "not said"))]
    known = found(claims=claims)
    (line,) = why(known, "faithfulness", "factual_accuracy")
    assert set(re.findall(r"absent|extra|no red|not said", line)) == {
        "absent", "extra", "no red", "not said",
    }  # fmt: skip
    assert line.count("It is red.") == 1
