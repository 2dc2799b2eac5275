"""Every name that another tool has for a metric is answered by what it means, never by a guess.

``python benchmarks/peer_names.py FOLDER --write`` lists the names anew.
"""

import pytest

from ragstone.core.errors import InputError, UnknownName
from ragstone.metrics import alias_note, metric_types, parse_metric
from tests.scripts import script

PEER_NAMES = script("peer_names")
BY_TOOL: dict[str, list[str]] = PEER_NAMES.read_names()
NAMES = [name for names in BY_TOOL.values() for name in names]

TOOLS = {"Ragas", "DeepEval", "TruLens", "Phoenix", "MLflow", "promptfoo", "Inspect", "LlamaIndex",
         "Haystack", "LangChain", "Azure", "Opik", "autoevals"}  # fmt: skip


def says(name: str) -> str:
    """What is said of a name that is no metric's."""
    with pytest.raises(UnknownName) as caught:
        parse_metric(name)
    return str(caught.value).removeprefix(f"No metric is called {name!r}. ")


def test_every_name_of_other_tools_is_a_metric_an_alias_or_a_sentence() -> None:
    assert set(BY_TOOL) >= TOOLS
    assert len(NAMES) > 1000
    assert PEER_NAMES.answer("gladness") == "nothing"
    assert [name for name in NAMES if PEER_NAMES.answer(name) in ("guess", "nothing")] == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("faithfullness", "faithfulness"),
        ("contxt_recall", "context_recall"),
        ("ndgc", "ndcg"),
        ("answer_relevence", "answer_relevance"),
        ("halucination", "hallucination"),
        ("toxicty", "toxicity"),
        ("Faithfulnes", "faithfulness"),
        ("precison", "precision"),
    ],
)
def test_a_slip_of_the_hand_is_guessed(typed: str, meant: str) -> None:
    assert says(typed) == f"Did you mean {meant}?"


@pytest.mark.parametrize(
    "typed",
    ["gladness", "mrx", "question_coherence", "context_position", "preciseness", "adherence"],
)
def test_another_word_is_not_guessed_though_its_letters_are_alike(typed: str) -> None:
    assert says(typed).startswith("ragstone metrics lists all metrics")


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        ("ToolCallPrecision", "not the steps of agents"),
        ("voice_warmth", "not pictures or sound"),
        ("GraphicHateEvaluator", "harmfulness"),
        ("session-success", "docs/conversations.md"),
        ("JSONShape", "valid_json"),
        ("gender bias in ads", "critique(aspect="),
    ],
)
def test_a_word_in_a_name_never_heard_says_what_it_is_about(typed: str, part: str) -> None:
    assert part in says(typed)


def test_a_sentence_comes_before_a_shorter_name_that_means_something_else() -> None:
    assert "labels of a classifier" in says("recall_score")
    assert "pictures" in says("relevance_rate")
    assert str(parse_metric("ResponseCompletenessEvaluator")) == "answer_coverage"


def test_an_assertion_turned_round_names_the_plain_one() -> None:
    assert (
        says("not-is-json")
        == "It is the opposite of is-json. Measure is-json: the less, the better."
    )
    assert says("not-toxic").startswith(
        "It is the opposite of toxic. An LLM can judge it: critique("
    )
    assert "the opposite" not in says("not-a-metric")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("AnswerRelevancy", "answer_relevance"),
        ("answer-relevancy", "answer_relevance"),
        ("Answer Relevancy", "answer_relevance"),
        ("ragas.metrics.collections.AnswerRelevancy", "answer_relevance"),
        ("ragas/answer_relevancy", "answer_relevance"),
        ("deepeval.metrics.ContextualRecallMetric", "context_recall"),
        ("DeepEval: Contextual Recall", "context_recall"),
        ("HALLUCINATION_PROMPT", "hallucination"),
        ("HallucinationJudge", "hallucination"),
        ("RAG_GROUNDEDNESS_PROMPT", "groundedness"),
        ("similar:cosine", "semantic_similarity"),
        ("QAEvalChain", 'rating(criterion="answer_correctness")'),
    ],
)
def test_a_name_is_known_in_every_spelling(typed: str, meant: str) -> None:
    assert str(parse_metric(typed)) == meant


def test_a_metric_that_needs_a_text_is_known_by_other_names_and_says_what_it_needs() -> None:
    assert str(parse_metric('Contains(text="a")')) == 'contains(text="a")'
    with pytest.raises(InputError, match=r'contains needs the text.*contains\(text="Paris"\)'):
        parse_metric("contains_metric")
    assert alias_note("contains_metric") is None
    assert "contains" in metric_types()
