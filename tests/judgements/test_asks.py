"""What a judgement is about: without it, what rests on the judgement is undefined, and why.

The tables below are the contract in words: which parts of an example each column of a view speaks
of, and which judgements are made before it.
"""

from collections.abc import Callable
from typing import Any

import pytest

from ragstone.examples import Example, to_frame
from ragstone.judgements import (
    ASKS,
    UNDEFINED,
    VALUE,
    VIEWS,
    Answers,
    AnswerSentences,
    Claims,
    ClaimsAgainstReferences,
    Contexts,
    Evidence,
    KnownContexts,
    Preferences,
    Probes,
    Ratings,
    References,
    Sentences,
    Statements,
    Tables,
    View,
    Votes,
    same_outcome,
)
from ragstone.metrics import Part, Undefined, needed_asks, score
from ragstone.metrics.core import Metric

LACKING: dict[str, dict[str, Any]] = {
    "no_question": {"question": None},
    "no_retrieval": {"contexts": None},
    "no_answer": {"answer": None},
    "empty_answer": {"answer": " \n"},
    "no_reference": {"reference": ()},
    "no_evidence": {"evidence": ()},
    "no_reference_contexts": {"reference_contexts": None},
}
ANSWER, TEXT, RETRIEVAL = "no_answer", "empty_answer", "no_retrieval"
QUESTION, REFERENCE = "no_question", "no_reference"

ABOUT: dict[tuple[type[View], tuple[str, ...]], set[str]] = {
    (Contexts, ("rank", "context", "score", "listed", "relevant", "sufficient", "misleading",
                "grade", "weight", "sentences", "relevant_sentences")): {RETRIEVAL},
    (Contexts, ("used",)): {RETRIEVAL, ANSWER, TEXT},
    (Contexts, ("question_similarity", "question_similarity_windows")): {RETRIEVAL, QUESTION},
    (Contexts, ("reference_similarity", "reference_similarity_windows")): {RETRIEVAL, REFERENCE},
    (KnownContexts, ("context", "grade", "rank")): {RETRIEVAL, "no_reference_contexts"},
    (Claims, ("index", "text", "sentence", "cited", "markers")): {ANSWER, TEXT},
    (Claims, ("support", "probability", "evidence")): {ANSWER, TEXT, RETRIEVAL},
    (Sentences, ("sentence",)): {ANSWER, TEXT},
    (Sentences, ("supported",)): {ANSWER, TEXT, RETRIEVAL},
    (ClaimsAgainstReferences, ("reference", "index", "agreement")): {ANSWER, REFERENCE},
    (Statements, ("reference", "index", "text")): {REFERENCE},
    (Statements, ("support", "probability")): {REFERENCE, RETRIEVAL},
    (Statements, ("agreement",)): {REFERENCE, ANSWER},
    (Evidence, ("index",)): {"no_evidence"},
    (Evidence, ("support",)): {"no_evidence", RETRIEVAL},
    (References, ("reference", "exact_match", "token_f1", "token_f1_set", "rouge_2", "rouge_l",
                  "similarity", "cross_encoder", "bertscore_precision", "bertscore_recall",
                  "bertscore_f1")): {ANSWER, REFERENCE},
    (Answers, ("response_type", "phrases_8", "phrases_12", "support_present",
               "unsupported_claim_present", "contradicted_claim_present", "source_cited",
               "fabricated_source", "parts", "parts_answered", "directness", "focus",
               "consistency", "proper_action", "response_on_topic", "helpful", "incomplete",
               "unsafe_content")): {ANSWER},
    (Answers, ("question_similarity",)): {ANSWER, QUESTION},
    (AnswerSentences, ("index",)): {ANSWER, TEXT},
    (AnswerSentences, ("similarity", "similarity_windows")): {ANSWER, TEXT, RETRIEVAL},
    (Probes, ("index", "text", "noncommittal")): {ANSWER},
    (Probes, ("similarity",)): {ANSWER, QUESTION},
    (Ratings, ("criterion", "score")): {ANSWER},
    (Votes, ("aspect", "index", "verdict")): {ANSWER},
    (Preferences, ("rival", "first", "second")): {ANSWER},
}  # fmt: skip

BEFORE: dict[str, list[str]] = {
    "claims": ["response"],
    "support/claim": ["response", "claims"],
    "support/statement": ["statements"],
    "support/evidence": [],
    "agreement/claim": ["response", "claims"],
    "agreement/statement": ["statements"],
    "grounding/support": ["response", "claims", "support/claim"],
    "grounding/citation": ["citations"],
    "similarity/question_probe": ["probes"],
    "similarity/question_context": [],
    "relevance": [],
    "quality": [],
}


def counting(view: type[View], column: str) -> Metric:
    """A metric that counts what is known of a column."""

    class Counting(Metric):
        name = f"counted_{column}"
        family = "own"
        over = view
        empty = Undefined("no_rows")

        def parts(self) -> dict[str, Part]:
            rule = getattr(view, column).count() > 0
            return {"value": Part(view, rule, self.empty, settled=rule | True)}

    return Counting()


@pytest.mark.parametrize(
    ("view", "column", "lacks"),
    [
        (view, column, lacks)
        for (view, columns), lacks in ABOUT.items()
        for column in columns
    ],
)  # fmt: skip
def test_a_column_is_undefined_exactly_without_what_it_speaks_of(
    view: type[View], column: str, lacks: set[str], retrieved: Callable[..., Example]
) -> None:
    whole = {"reference": ("R.",), "evidence": ("E.",), "reference_contexts": {"x": 1}}
    examples = [
        retrieved("x", id=reason, **{**whole, **missing}) for reason, missing in LACKING.items()
    ]
    settled = {ask: same_outcome(VALUE, None, len(examples)) for ask in ASKS}
    metric = counting(view, column)
    frame = score(Tables(to_frame(examples), {}, settled), [metric])[str(metric)]
    said = {
        reason
        for reason, status, why in zip(LACKING, frame["status"], frame["reason"], strict=True)
        if status == UNDEFINED and why == reason
    }
    assert said == lacks


def test_every_column_of_every_view_stands_in_the_contract() -> None:
    there = {(view, column) for (view, columns) in ABOUT for column in columns}
    assert there == {(view, column) for view in VIEWS.values() for column in view.columns}


@pytest.mark.parametrize(("ask", "before"), BEFORE.items())
def test_what_a_judgement_is_about_is_judged_before_it(ask: str, before: list[str]) -> None:
    for view in VIEWS.values():
        for column, fact in view.columns.items():
            if fact.needs == (ask,) or (not fact.needs and view.made_by == (ask,)):
                needed = needed_asks([counting(view, column)])
                own = [name for name in needed if name in (*before, ask)]
                assert own == [*before, ask]
                if not view.made_by or view.made_by == (ask,):
                    assert needed == own
