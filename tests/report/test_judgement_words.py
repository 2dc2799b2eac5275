"""One judgement in the words that its kind declares: every kind, in words a person reads."""

from typing import Any

import pytest

from ragstone.judgements import KINDS, Agreement, Relevance, Response, Support
from ragstone.report.judgement_words import against, in_words, judged, says
from ragstone.report.page import plain
from ragstone.report.run_contents import JudgementRow

SHOWN: dict[str, tuple[dict[str, Any], str]] = {
    "response": ({"response_type": "abstain"}, "response type: abstain"),
    "claims": ({"index": 0, "text": "It is long.", "sentence": 2, "factual": True, "start": 0,
                "end": 11, "citations": ["a", "b"]},
               "claims: index 1 “It is long.”, sentence 3, factual yes, start 0, end 11, "
               "citations a, b"),
    "statements": ({"reference": 0, "index": 1, "text": "Long."},
                   "statements: reference 1, index 2 “Long.”"),
    "relevance": ({"rank": 4, "grade": 2, "probability": 0.75, "relevant": True,
                   "sufficient": False, "misleading": True, "sentences": 3,
                   "relevant_sentences": [0]},
                  "relevant, misleading, grade 2, probability 0.750"),
    "citations": ({"sentence": 0, "marker": "[1]", "context": "d7"}, "cites: [1], context d7"),
    "lexical": ({"reference": 0, "exact_match": 0.0, "token_f1": 0.5},
                "lexical: exact_match 0.000, token_f1 0.500"),
    "squad_words": ({"reference": 0, "squad_f1": 0.5}, "squad_words: squad_f1 0.500"),
    "ngrams": ({"reference": 0, "bleu": 0.25, "chrf": 0.5},
               "ngrams: bleu 0.250, chrf 0.500"),
    "entities": ({"reference": 0, "index": 1, "text": "1859", "found": False},
                 "entities: reference 1, not found “1859”"),
    "answer_sentences": ({"index": 1, "text": "It is long."}, "answer_sentences: “It is long.”"),
    "phrases": ({"phrases_8": False, "phrases_12": True},
                "phrases: none of the eight, one of the twelve"),
    "support": ({"origin": "claim", "author": "m", "reference": 0, "index": 0,
                 "verdict": "supported", "probability": 1.0, "evidence": ["d7", "d9"],
                 "quote": "90 m", "quote_found": False, "evidence_unknown": 1},
                "contexts: supported, probability 1.000, from d7, d9 “90 m”, not found in the "
                "contexts"),
    "conversation_support": ({"origin": "claim", "author": "m", "reference": 0, "index": 0,
                              "verdict": "supported", "probability": 1.0,
                              "evidence": ["turn 2"], "quote": "90 m", "quote_found": True},
                             "contexts or earlier turns: supported, probability 1.000, "
                             "from turn 2 “90 m”"),
    "agreement": ({"origin": "claim", "author": "m", "reference": 0, "index": 0,
                   "verdict": "extra", "probability": None}, "says it: extra"),
    "importance": ({"origin": "statement", "author": "m", "reference": 0, "index": 0,
                    "importance": "okay"}, "okay"),
    "grounding": ({"support_present": True, "unsupported_claim_present": False,
                   "source_cited": True, "fabricated_source": None},
                  "grounding: a claim supported, no claim unsupported, a source cited"),
    "quality": ({"parts": 2, "parts_answered": 1, "directness": 0.75, "proper_action": True,
                 "response_on_topic": False, "helpful": True, "incomplete": True,
                 "unsafe_content": False},
                "quality: rightly answered or declined, off topic, helpful, incomplete, safe, "
                "parts 2, parts_answered 1, directness 0.750"),
    "criteria": ({"origin": "criterion", "author": "data", "reference": 0, "index": 0,
                  "met": False}, "not met"),
    "probes": ({"index": 0, "text": "How long?", "noncommittal": True},
               "probes: noncommittal “How long?”"),
    "rating": ({"criterion": "clarity", "score": 0.5}, "rating: clarity, score 0.500"),
    "critique": ({"aspect": "harmfulness", "index": 2, "verdict": False},
                 "critique: harmfulness, index 3, no"),
    "preference": ({"rival": "b", "order": 1, "verdict": "loss"},
                   "preference: against b, shown second, loss"),
    "similarity": ({"measure": "question_context", "index": 3, "value": 0.5, "cut": True},
                   "similarity: question_context, index 3, 0.500, cut"),
}  # fmt: skip


def row(kind: str, **said: Any) -> JudgementRow:
    return JudgementRow(KINDS[kind], {"judge": "m", "reason": None, **said})


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_shown_in_its_own_words(kind: str) -> None:
    said, words = SHOWN[kind]
    one = row(kind, **said)
    assert plain(judged(one, says(one.kind))) == f"{words}  (m)"


def test_why_goes_before_who_said_so() -> None:
    one = row("response", response_type="answer", reason="it names it")
    assert plain(judged(one, "response type")) == "response type: answer  it names it  (m)"


def test_a_unit_that_was_left_open_is_not_judged() -> None:
    bare = row("support", verdict=None, evidence=[], quote=None)
    assert plain(judged(bare, "contexts")) == "contexts: not judged  (m)"
    assert plain(judged(row("relevance", misleading=False), "")) == "  (m)", "it was judged"


def test_each_ask_says_who_speaks() -> None:
    assert [says(Agreement, ask) for ask in Agreement.asks] == ["says it", "answer"]
    assert {says(Support, ask) for ask in Support.asks} == {"contexts"}
    assert says(Relevance) == "", "it stands beside the context"


def test_in_words_it_is_not_said_how_likely_it_is() -> None:
    assert in_words(row("relevance", grade=0, relevant=False, probability=0.25)) == (
        "not relevant, grade 0"
    )


@pytest.mark.parametrize(
    ("kind", "said", "speaks"),
    [
        ("support", {"verdict": "contradicted"}, ("bad", "contradicted")),
        ("support", {"verdict": "absent"}, ("caution", "absent")),
        ("support", {"verdict": "supported"}, ("", "")),
        ("support", {"verdict": None}, ("", "")),
        ("agreement", {"verdict": "partial"}, ("caution", "partial")),
        ("agreement", {"verdict": "extra"}, ("quiet", "extra")),
        ("relevance", {"relevant": False}, ("caution", "not relevant")),
        ("relevance", {"relevant": True, "sufficient": False, "misleading": True}, ("", "")),
        ("response", {"response_type": "answer"}, ("", "")),
        ("quality", {"helpful": False}, ("", "")),
    ],
)
def test_a_verdict_speaks_against_its_unit_where_the_kind_says_so(
    kind: str, said: dict[str, Any], speaks: tuple[str, str]
) -> None:
    assert against(row(kind, **said)) == speaks


def test_what_counts_as_yes_is_good_and_the_rest_a_caution_unless_said_otherwise() -> None:
    tones = Support.columns["verdict"].tones
    assert {value for value, tone in tones.items() if tone == "good"} == {"supported"}
    assert Response.columns["response_type"].tones == {}, "to abstain is neither good nor bad"
