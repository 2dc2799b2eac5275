"""What a judgement is about: without it, what rests on the judgement is undefined, and why.

The tables below are the contract in words: which parts of an example each column of a view speaks
of, and which judgements are made before it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import polars as pl
import pytest

from ragstone.analysis.comparison.comparability import outputs_of
from ragstone.data import Example, to_frame
from ragstone.judgements import (
    ASKS,
    MISSING,
    UNDEFINED,
    VALUE,
    VIEWS,
    AnswerFacts,
    Answers,
    AnswerSentences,
    Claims,
    ClaimsAgainstReferences,
    Contexts,
    Criteria,
    Entities,
    EntitiesByModel,
    Evidence,
    ExampleTexts,
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
from ragstone.judges import Block
from ragstone.metrics import Part, Undefined, needed_asks, score
from ragstone.metrics.metric import Metric
from ragstone.report.reason_words import words
from ragstone.run.judging.judge_blocks import still_open

LACKING: dict[str, dict[str, Any]] = {
    "no_question": {"question": None},
    "no_retrieval": {"contexts": None},
    "no_answer": {"answer": None},
    "empty_answer": {"answer": " \n"},
    "no_reference": {"reference": ()},
    "no_evidence": {"evidence": ()},
    "no_criteria": {"criteria": ()},
    "no_reference_contexts": {"reference_contexts": None},
}
ANSWER, TEXT, RETRIEVAL = "no_answer", "empty_answer", "no_retrieval"
QUESTION, REFERENCE = "no_question", "no_reference"

OF_SUPPORT = ("support", "probability", "evidence", "quote_found", "evidence_unknown")
OF_CONVERSATION = ("conversation_support", "conversation_probability", "conversation_evidence",
                   "conversation_quote_found", "conversation_evidence_unknown")  # fmt: skip
ABOUT: dict[tuple[type[View], tuple[str, ...]], set[str]] = {
    (Contexts, ("rank", "context", "score", "text", "listed", "known_grade", "relevant",
                "sufficient", "misleading", "grade", "weight", "sentences", "relevant_sentences",
                "probability")): {RETRIEVAL},
    (ExampleTexts, tuple(ExampleTexts.columns)): set(),
    (AnswerFacts, tuple(AnswerFacts.columns)): set(),
    (Contexts, ("used",)): {RETRIEVAL, ANSWER, TEXT},
    (Contexts, ("question_similarity", "question_similarity_windows")): {RETRIEVAL, QUESTION},
    (Contexts, ("reference_similarity", "reference_similarity_windows")): {RETRIEVAL, REFERENCE},
    (KnownContexts, ("context", "grade", "rank")): {RETRIEVAL, "no_reference_contexts"},
    (Claims, ("index", "text", "sentence", "cited", "markers")): {ANSWER, TEXT},
    (Claims, OF_SUPPORT): {ANSWER, TEXT, RETRIEVAL},
    (Claims, OF_CONVERSATION): {ANSWER, TEXT, RETRIEVAL},
    (Sentences, ("sentence",)): {ANSWER, TEXT},
    (Sentences, ("supported",)): {ANSWER, TEXT, RETRIEVAL},
    (ClaimsAgainstReferences,
     ("reference", "index", "agreement", "agreement_probability")): {ANSWER, REFERENCE},
    (ClaimsAgainstReferences,
     ("on_relevant", "on_irrelevant")): {ANSWER, TEXT, REFERENCE, RETRIEVAL},
    (Statements, ("reference", "index", "text", "importance")): {REFERENCE},
    (Statements, OF_SUPPORT): {REFERENCE, RETRIEVAL},
    (Statements, ("agreement", "agreement_probability")): {REFERENCE, ANSWER},
    (Evidence, ("index",)): {"no_evidence"},
    (Evidence, OF_SUPPORT): {"no_evidence", RETRIEVAL},
    (Criteria, ("index",)): {"no_criteria"},
    (Criteria, ("met",)): {"no_criteria", ANSWER},
    (References, ("reference", "text", "answer", "exact_match", "token_f1", "token_f1_set",
                  "rouge_2", "rouge_l", "squad_f1", "bleu", "chrf", "similarity",
                  "cross_encoder", "bertscore_precision", "bertscore_recall",
                  "bertscore_f1")): {ANSWER, REFERENCE},
    (Answers, ("text", "response_type", "phrases_8", "phrases_12", "support_present",
               "unsupported_claim_present", "contradicted_claim_present", "source_cited",
               "fabricated_source", "parts", "parts_answered", "directness", "focus",
               "consistency", "proper_action", "response_on_topic", "helpful", "incomplete",
               "unsafe_content")): {ANSWER},
    (Answers, ("question_similarity",)): {ANSWER, QUESTION},
    (AnswerSentences, ("index", "text")): {ANSWER, TEXT},
    (AnswerSentences, ("similarity", "similarity_windows")): {ANSWER, TEXT, RETRIEVAL},
    (Entities, ("reference", "index", "text", "found")): {REFERENCE, RETRIEVAL},
    (EntitiesByModel, ("reference", "index", "text", "found")): {REFERENCE, RETRIEVAL},
    (Probes, ("index", "text", "noncommittal")): {ANSWER},
    (Probes, ("similarity",)): {ANSWER, QUESTION},
    (Ratings, ("criterion", "score")): {ANSWER},
    (Votes, ("aspect", "index", "verdict")): {ANSWER},
    (Preferences, ("rival", "first", "second")): {ANSWER},
}  # fmt: skip


class Contract(NamedTuple):
    """What is true of an ask.

    Attributes:
        about: What it cannot be put without.
        before: What is judged before it.
        reads: What of the systems' output it, and what is judged before it, may read.
        who: Whom it needs, as a user is told where nobody judged it.
    """

    about: set[str]
    before: list[str]
    reads: set[str]
    who: str


COUNTING, LLM, PEOPLE = "counting", "an LLM judge", "people's labels"
LOCAL, ENCODER, CROSS = "the local judge", "an encoder", "a cross-encoder"
OUR_CLAIMS = ["response", "claims"]
BOTH = {ANSWER, REFERENCE}

CONTRACT: dict[str, Contract] = {
    "response": Contract({ANSWER}, [], {"answer"}, LOCAL),
    "claims": Contract({ANSWER}, ["response"], {"answer", "contexts"}, LOCAL),
    "statements": Contract({REFERENCE}, [], set(), LOCAL),
    "relevance": Contract({RETRIEVAL}, [], {"contexts"}, LOCAL),
    "citations": Contract({ANSWER}, [], {"answer", "contexts"}, COUNTING),
    "lexical": Contract(BOTH, [], {"answer"}, COUNTING),
    "squad_words": Contract(BOTH, [], {"answer"}, COUNTING),
    "ngrams": Contract(BOTH, [], {"answer"}, COUNTING),
    "entities/rule": Contract({REFERENCE, RETRIEVAL}, [], {"contexts"}, COUNTING),
    "entities/model": Contract({REFERENCE, RETRIEVAL}, [], {"contexts"}, LLM),
    "answer_sentences": Contract({ANSWER, TEXT}, [], {"answer"}, COUNTING),
    "phrases": Contract({ANSWER}, [], {"answer"}, COUNTING),
    "support/claim": Contract({ANSWER, TEXT, RETRIEVAL}, OUR_CLAIMS, {"answer", "contexts"}, LOCAL),
    "support/statement": Contract({REFERENCE, RETRIEVAL}, ["statements"], {"contexts"}, LOCAL),
    "support/evidence": Contract({"no_evidence", RETRIEVAL}, [], {"contexts"}, LOCAL),
    "conversation_support": Contract(
        {ANSWER, TEXT, RETRIEVAL}, OUR_CLAIMS, {"answer", "contexts"}, LOCAL
    ),
    "agreement/claim": Contract(BOTH, OUR_CLAIMS, {"answer", "contexts"}, LOCAL),
    "agreement/statement": Contract(BOTH, ["statements"], {"answer"}, LOCAL),
    "importance": Contract({REFERENCE}, ["statements"], set(), PEOPLE),
    "grounding/support": Contract(
        {ANSWER}, [*OUR_CLAIMS, "support/claim"], {"answer", "contexts"}, LOCAL
    ),
    "grounding/citation": Contract({ANSWER}, ["citations"], {"answer", "contexts"}, LOCAL),
    "quality": Contract({ANSWER}, [], {"answer"}, PEOPLE),
    "criteria": Contract({ANSWER, "no_criteria"}, [], {"answer"}, PEOPLE),
    "probes": Contract({ANSWER}, [], {"answer"}, LLM),
    "rating": Contract({ANSWER}, [], {"answer", "contexts"}, LLM),
    "critique": Contract({ANSWER}, [], {"answer"}, LLM),
    "preference": Contract({ANSWER}, [], {"answer", "rivals"}, LLM),
    "similarity/question_context": Contract({QUESTION, RETRIEVAL}, [], {"contexts"}, ENCODER),
    "similarity/reference_context": Contract({REFERENCE, RETRIEVAL}, [], {"contexts"}, ENCODER),
    "similarity/sentence_context": Contract(
        {ANSWER, TEXT, RETRIEVAL}, [], {"answer", "contexts"}, ENCODER
    ),
    "similarity/answer_reference": Contract(BOTH, [], {"answer"}, ENCODER),
    "similarity/question_answer": Contract({QUESTION, ANSWER}, [], {"answer"}, ENCODER),
    "similarity/question_probe": Contract({QUESTION, ANSWER}, ["probes"], {"answer"}, ENCODER),
    "similarity/bertscore_precision": Contract(BOTH, [], {"answer"}, ENCODER),
    "similarity/bertscore_recall": Contract(BOTH, [], {"answer"}, ENCODER),
    "similarity/bertscore_f1": Contract(BOTH, [], {"answer"}, ENCODER),
    "similarity/answer_reference_cross_encoder": Contract(BOTH, [], {"answer"}, CROSS),
}
CONTRACT |= {
    f"{ask}_windows": CONTRACT[ask]
    for ask in (
        "similarity/question_context",
        "similarity/reference_context",
        "similarity/sentence_context",
    )
}

MADE_FROM: dict[tuple[type[View], tuple[str, ...]], set[str]] = {
    (Contexts, ("rank", "context", "score", "text", "listed", "known_grade")): set(),
    (ExampleTexts, tuple(ExampleTexts.columns)): set(),
    (AnswerFacts, tuple(AnswerFacts.columns)): set(),
    (Contexts, ("relevant", "sufficient", "misleading", "grade", "weight", "sentences",
                "relevant_sentences", "probability")): {"relevance"},
    (Contexts, ("used",)): {"claims", "support/claim"},
    (Contexts, ("question_similarity",)): {"similarity/question_context"},
    (Contexts, ("question_similarity_windows",)): {"similarity/question_context_windows"},
    (Contexts, ("reference_similarity",)): {"similarity/reference_context"},
    (Contexts, ("reference_similarity_windows",)): {"similarity/reference_context_windows"},
    (KnownContexts, ("context", "grade", "rank")): set(),
    (Claims, ("index", "text", "sentence")): {"claims"},
    (Claims, OF_SUPPORT): {"claims", "support/claim"},
    (Claims, OF_CONVERSATION): {"claims", "conversation_support"},
    (Claims, ("cited", "markers")): {"claims", "citations"},
    (Sentences, ("sentence",)): {"claims"},
    (Sentences, ("supported",)): {"claims", "support/claim"},
    (ClaimsAgainstReferences, ("reference", "index")): {"claims"},
    (ClaimsAgainstReferences,
     ("agreement", "agreement_probability")): {"claims", "agreement/claim"},
    (ClaimsAgainstReferences,
     ("on_relevant", "on_irrelevant")): {"claims", "support/claim", "relevance"},
    (Statements, ("reference", "index", "text")): {"statements"},
    (Statements, OF_SUPPORT): {"statements", "support/statement"},
    (Statements, ("importance",)): {"statements", "importance"},
    (Statements, ("agreement", "agreement_probability")): {"statements", "agreement/statement"},
    (Evidence, ("index",)): set(),
    (Evidence, OF_SUPPORT): {"support/evidence"},
    (Criteria, ("index",)): set(),
    (Criteria, ("met",)): {"criteria"},
    (References, ("reference", "text", "answer")): set(),
    (References, ("exact_match", "token_f1", "token_f1_set", "rouge_2", "rouge_l")): {"lexical"},
    (References, ("squad_f1",)): {"squad_words"},
    (References, ("bleu", "chrf")): {"ngrams"},
    (References, ("similarity",)): {"similarity/answer_reference"},
    (References, ("cross_encoder",)): {"similarity/answer_reference_cross_encoder"},
    (References, ("bertscore_precision",)): {"similarity/bertscore_precision"},
    (References, ("bertscore_recall",)): {"similarity/bertscore_recall"},
    (References, ("bertscore_f1",)): {"similarity/bertscore_f1"},
    (Answers, ("text",)): set(),
    (Answers, ("response_type",)): {"response"},
    (Answers, ("phrases_8", "phrases_12")): {"phrases"},
    (Answers, ("support_present", "unsupported_claim_present",
               "contradicted_claim_present")): {"grounding/support"},
    (Answers, ("source_cited", "fabricated_source")): {"grounding/citation"},
    (Answers, ("parts", "parts_answered", "directness", "focus", "consistency", "proper_action",
               "response_on_topic", "helpful", "incomplete", "unsafe_content")): {"quality"},
    (Answers, ("question_similarity",)): {"similarity/question_answer"},
    (AnswerSentences, ("index",)): set(),
    (AnswerSentences, ("text",)): {"answer_sentences"},
    (AnswerSentences, ("similarity",)): {"similarity/sentence_context"},
    (AnswerSentences, ("similarity_windows",)): {"similarity/sentence_context_windows"},
    (Entities, ("reference", "index", "text", "found")): {"entities/rule"},
    (EntitiesByModel, ("reference", "index", "text", "found")): {"entities/model"},
    (Probes, ("index", "text", "noncommittal")): {"probes"},
    (Probes, ("similarity",)): {"probes", "similarity/question_probe"},
    (Ratings, ("criterion", "score")): {"rating"},
    (Votes, ("aspect", "index", "verdict")): {"critique"},
    (Preferences, ("rival", "first", "second")): {"preference"},
}  # fmt: skip

WHOLE: dict[str, Any] = {
    "reference": ("R.",), "evidence": ("E.",), "reference_contexts": {"x": 1}, "criteria": ("C.",)
}  # fmt: skip


def counting(view: type[View], column: str | None = None) -> Metric:
    """A metric that counts a view's units, or what is known of a column."""

    class Counting(Metric):
        name = f"counted_{column}"
        family = "own"
        over = view
        empty = Undefined("no_rows")

        def parts(self) -> dict[str, Part]:
            count = pl.len() if column is None else getattr(view, column).count()
            return {"value": Part(view, count > 0, self.empty, settled=(count > 0) | True)}

    return Counting()


def wanting(ask: str) -> Metric:
    """A metric that needs a judgement, whatever else."""

    class Wanting(Metric):
        name = "wanting"
        family = "own"
        asks = frozenset({ask})
        requires = ()
        reads = frozenset[str]()

    return Wanting()


@pytest.fixture(scope="module")
def one_failed_each(retrieved: Callable[..., Example]) -> Tables:
    """For each ask an example of which it alone failed."""
    examples = [retrieved("x", id=ask, **WHOLE) for ask in ASKS]
    schema = {"status": pl.UInt8, "reason": pl.String}
    status = {
        ask: pl.DataFrame(
            {"status": [MISSING if one == ask else VALUE for one in ASKS], "reason": None},
            schema=schema,
        )
        for ask in ASKS
    }
    return Tables(to_frame(examples), {}, status)


def undefined_for(metric: Metric, retrieved: Callable[..., Example]) -> set[str]:
    """What a metric is undefined for the lack of, where every judgement came out."""
    examples = [
        retrieved("x", id=reason, **{**WHOLE, **lacks}) for reason, lacks in LACKING.items()
    ]
    settled = {ask: same_outcome(VALUE, None, len(examples)) for ask in ASKS}
    scores = score(Tables(to_frame(examples), {}, settled), [metric])[str(metric)]
    return {
        reason
        for reason, status, why in zip(LACKING, scores["status"], scores["reason"], strict=True)
        if status == UNDEFINED and why == reason
    }


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
    assert undefined_for(counting(view, column), retrieved) == lacks


def test_every_column_of_every_view_stands_in_the_contract() -> None:
    every = {(view, column) for view in VIEWS.values() for column in view.columns}
    for table in (ABOUT, MADE_FROM):
        assert {(view, column) for (view, columns) in table for column in columns} == every


@pytest.mark.parametrize(
    ("view", "lacks"),
    [
        (Contexts, {RETRIEVAL}),
        (KnownContexts, {RETRIEVAL, "no_reference_contexts"}),
        (Claims, {ANSWER, TEXT}),
        (Sentences, {ANSWER, TEXT}),
        (ClaimsAgainstReferences, {ANSWER, REFERENCE}),
        (Statements, {REFERENCE}),
        (Evidence, {"no_evidence"}),
        (Criteria, {"no_criteria"}),
        (References, {ANSWER, REFERENCE}),
        (Answers, {ANSWER}),
        (AnswerSentences, {ANSWER, TEXT}),
        (Entities, {REFERENCE, RETRIEVAL}),
        (EntitiesByModel, {REFERENCE, RETRIEVAL}),
        (Probes, {ANSWER}),
        (Ratings, {ANSWER}),
        (Votes, {ANSWER}),
        (Preferences, {ANSWER}),
    ],
)
def test_units_cannot_be_counted_exactly_without_what_they_are_of(
    view: type[View], lacks: set[str], retrieved: Callable[..., Example]
) -> None:
    assert undefined_for(counting(view), retrieved) == lacks


@pytest.mark.parametrize("view", [Claims, Sentences, AnswerSentences])
def test_what_is_undefined_without_words_is_told_to_need_an_answer_and_words_in_it(
    view: type[View], retrieved: Callable[..., Example]
) -> None:
    metric = counting(view)
    assert undefined_for(metric, retrieved) == {ANSWER, TEXT}
    assert metric.requires == ("answer", "answer_text")


@pytest.mark.parametrize(
    ("view", "column", "asks"),
    [
        (view, column, asks)
        for (view, columns), asks in MADE_FROM.items()
        for column in columns
    ],
)  # fmt: skip
def test_a_column_is_missing_exactly_where_a_judgement_it_is_made_from_is(
    view: type[View], column: str, asks: set[str], one_failed_each: Tables
) -> None:
    metric = counting(view, column)
    scores = score(one_failed_each, [metric])[str(metric)]
    assert {
        ask for ask, code in zip(ASKS, scores["status"], strict=True) if code == MISSING
    } == asks


def test_the_contract_says_something_of_every_ask() -> None:
    assert set(CONTRACT) == set(ASKS)


@pytest.mark.parametrize("ask", CONTRACT)
def test_an_ask_is_put_exactly_to_examples_that_have_what_it_is_about(
    ask: str, retrieved: Callable[..., Example]
) -> None:
    examples = [retrieved("x", **{**WHOLE, **lacks}) for lacks in LACKING.values()]
    put = set(still_open(ask, Block(examples, to_frame(examples)), judges=[]))
    without = {reason for row, reason in enumerate(LACKING) if row not in put}
    assert without == CONTRACT[ask].about


@pytest.mark.parametrize("text", ["4", " 4\n", "é"])
def test_an_answer_of_one_character_is_not_empty(
    text: str, retrieved: Callable[..., Example]
) -> None:
    examples = [retrieved("x", answer=text, reference=(text,), evidence=(text,))]
    for ask in ("support/claim", "support/statement", "support/evidence"):
        assert still_open(ask, Block(examples, to_frame(examples)), judges=[]) == [0]


@pytest.mark.parametrize("ask", CONTRACT)
def test_what_an_ask_is_about_is_judged_before_it(ask: str) -> None:
    assert needed_asks([wanting(ask)]) == [*CONTRACT[ask].before, ask]


@pytest.mark.parametrize("ask", CONTRACT)
def test_two_systems_have_the_same_inputs_if_what_is_read_of_their_output_is(ask: str) -> None:
    assert set(outputs_of(wanting(ask))) == CONTRACT[ask].reads


@pytest.mark.parametrize("ask", CONTRACT)
def test_what_nobody_was_asked_is_missing_and_says_who_could_judge_it(
    ask: str, retrieved: Callable[..., Example]
) -> None:
    outcome = Tables(to_frame([retrieved("x"), retrieved("y", id="2")])).outcome(ask)
    assert outcome["status"].to_list() == [MISSING, MISSING]
    expected = f"{ask.partition('/')[0]} needs {CONTRACT[ask].who}"
    assert all(f"{words(one)}, ".startswith(f"{expected}, ") for one in outcome["reason"])
