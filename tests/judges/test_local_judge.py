"""The local judge fills all its asks; its rules have their own tests."""

from collections.abc import Callable
from typing import Any

import pytest

from ragstone.data import Context, Example, to_frame
from ragstone.judgements import MISSING, VALUE, Tables, answered_by
from ragstone.judges import Block
from ragstone.judges.local.context_relevance import relevance
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.judges.rules import RulesJudge
from ragstone.metrics import Missing, Score, Undefined
from ragstone.testing import ScriptedEncoder

Judged = Callable[..., Tables]
Scored = Callable[..., Score]

LOCAL = (LocalJudge(), RulesJudge())
ASKED = [
    "response", "claims", "statements", "relevance", "support/claim", "support/statement",
    "support/evidence", "conversation_support", "agreement/claim", "agreement/statement",
]  # fmt: skip
BRIDGE = Context("bridge", "The Royal Albert Bridge crosses the Tamar. It opened in 1859.", 1)
HEATH = Context("heath", "Cornish heath grows on the Lizard peninsula.", 2)


def example(answer: str | None = None, **fields: Any) -> Example:
    given = {
        "question": "When did the Royal Albert Bridge open?",
        "answer": answer or "The Royal Albert Bridge opened in 1859. It was painted pink in 1990.",
        "contexts": (BRIDGE, HEATH),
        "reference": ("The Royal Albert Bridge opened in 1859.",),
        "evidence": ("It opened in 1859.",),
    }
    return Example(fields.pop("id", "1"), "q", fields.pop("system", "s"), **given | fields)


def test_it_fills_all_that_it_can_be_asked(judged: Judged) -> None:
    assert set(ASKED) == LocalJudge().asks == answered_by("local")
    tables = judged(ASKED, [example()], LOCAL)
    for ask in ASKED:
        assert tables.outcome(ask)["status"].to_list() == [VALUE], ask
        assert not tables.of(ask).is_empty(), ask
        assert set(tables.of(ask)["judge"]) == {"local"}, ask


def test_a_claim_of_the_contexts_is_supported_and_a_new_one_is_not(
    judged: Judged, scored: Scored
) -> None:
    rows = judged(ASKED, [example()], LOCAL).of("support/claim").sort("index")
    assert rows["verdict"].to_list() == ["supported", "absent"]
    assert scored("faithfulness", example(), LOCAL) == 1 / 2


def test_what_a_claim_rests_on_is_named_by_context_id(judged: Judged) -> None:
    rows = judged(ASKED, [example()], LOCAL).of("support/claim")
    [first, *_] = rows.sort("index")["evidence"].to_list()
    assert first == ["bridge"]
    named = {id for evidence in rows["evidence"].to_list() for id in evidence}
    assert named <= {"bridge", "heath"}


def test_rows_say_what_they_are_about_and_who_made_it(judged: Judged) -> None:
    two = example(reference=("It opened in 1859.", "It is pink. It was painted in 1990, twice."))
    tables = judged(ASKED, [two], LOCAL)
    for ask, made in (
        ("support/claim", [("claim", "local", 0, 0), ("claim", "local", 0, 1)]),
        ("support/statement", [("statement", "local", 0, 0), ("statement", "local", 1, 0)]),
        ("support/evidence", [("evidence", "data", 0, 0)]),
        ("agreement/statement", [("statement", "local", 0, 0), ("statement", "local", 1, 0)]),
        ("agreement/claim", [("claim", "local", reference, index)
                             for reference in (0, 1) for index in (0, 1)]),
    ):  # fmt: skip
        rows = tables.of(ask).select("origin", "author", "reference", "index")
        assert rows.sort("reference", "index").rows() == made, ask


def test_claims_stand_where_they_were_found(judged: Judged) -> None:
    answer = "Well? It opened in 1859.  It was painted pink."
    rows = judged(["response", "claims"], [example(answer)], LOCAL).of("claims").rows(named=True)
    assert [(row["index"], row["sentence"], row["factual"]) for row in rows] == [
        (0, 1, True), (1, 2, True),
    ]  # fmt: skip
    for row in rows:
        assert answer[row["start"] : row["end"]] == row["text"]
        assert row["citations"] is None


def test_verdicts_come_with_probabilities_and_reasons(judged: Judged) -> None:
    tables = judged(ASKED, [example()], LOCAL)
    for ask in ("support/claim", "support/statement", "support/evidence"):
        rows = tables.of(ask)
        assert rows["probability"].is_between(0, 1).all()
        assert rows["reason"].null_count() == 0
        supported = rows["verdict"] == "supported"
        assert (rows["evidence"].list.len() > 0).to_list() == supported.to_list()


def test_the_context_that_answers_is_relevant(judged: Judged) -> None:
    rows = judged(["relevance"], [example()], LOCAL).of("relevance").sort("rank")
    assert rows["rank"].to_list() == [1, 2]
    assert rows["grade"][0] > rows["grade"][1]
    assert rows["relevant"][0]
    assert rows["sentences"].to_list() == [2, 1]
    assert ((rows["grade"] >= 1) == rows["relevant"]).all()
    assert ((rows["grade"] == 3) == rows["sufficient"]).all()


def test_an_abstention_makes_no_claim(judged: Judged, scored: Scored) -> None:
    silent = example("I don't know.")
    tables = judged(ASKED, [silent], LOCAL)
    assert tables.of("response")["response_type"].to_list() == ["abstain"]
    assert tables.of("claims").is_empty()
    assert tables.outcome("support/claim")["status"].to_list() == [VALUE]
    assert scored("faithfulness", silent, LOCAL) == Undefined("no_claims")
    assert scored("abstention", silent, LOCAL) == 1
    assert scored("grounding_presence", silent, LOCAL) == 0
    assert scored("answer_outcome", silent, LOCAL) == 0


def test_what_a_sentence_tells_besides_is_a_claim(judged: Judged) -> None:
    answer = "I'm sorry, I could not find the date, but the mill is made of stone."
    tables = judged(["response", "claims"], [example(answer)], LOCAL)
    assert tables.of("response")["response_type"].to_list() == ["partial"]
    (claim,) = tables.of("claims").rows(named=True)
    assert claim["text"] == "the mill is made of stone."
    assert answer[claim["start"] : claim["end"]] == claim["text"]


def test_contexts_without_text_are_a_failure_and_not_a_zero(judged: Judged, scored: Scored) -> None:
    ids_only = example(contexts=(Context("bridge", None, 1),))
    tables = judged(ASKED, [ids_only], LOCAL)
    for ask in ("relevance", "support/claim", "support/statement", "support/evidence"):
        assert tables.outcome(ask)["status"].to_list() == [MISSING], ask
        assert tables.outcome(ask)["reason"].to_list() == ["local: no_context_text"], ask
    for name in ("faithfulness", "precision", "context_recall"):
        assert scored(name, ids_only, LOCAL) == Missing("local: no_context_text")


@pytest.mark.parametrize(
    "name", ["faithfulness", "expected_faithfulness", "context_recall", "evidence_recall"]
)
def test_where_nothing_was_retrieved_everything_is_unsupported(scored: Scored, name: str) -> None:
    assert scored(name, example(contexts=()), LOCAL) == 0


def test_a_system_without_retrieval_is_not_judged_on_it(scored: Scored) -> None:
    alone = example(contexts=None)
    for name in ("faithfulness", "context_recall", "precision"):
        assert scored(name, alone, LOCAL) == Undefined("no_retrieval")
    assert scored("answer_coverage", alone, LOCAL) == 1


def test_statements_of_a_question_are_made_once_for_all_systems(judged: Judged) -> None:
    systems = [
        example(id="1", system="local_search"),
        example("It opened in 1859.", id="2", system="basic_search"),
        example("I don't know.", id="3", system="llm", contexts=None),
    ]
    rows = judged(["statements"], systems, LOCAL).of("statements")
    assert rows["row"].to_list() == [0, 1, 2]
    assert rows["subject"].n_unique() == 1


def test_the_same_retrieval_is_judged_once(judged: Judged) -> None:
    systems = [example(id="1"), example("It opened in 1859.", id="2")]
    rows = judged(["relevance"], systems, LOCAL).of("relevance")
    assert sorted(rows["row"].to_list()) == [0, 0, 1, 1]
    assert rows["subject"].n_unique() == 1


def test_each_reference_is_held_against_the_answer(judged: Judged, scored: Scored) -> None:
    two = example(reference=("Cornish heath grows on the Lizard.", "It opened in 1859."))
    rows = judged(ASKED, [two], LOCAL).of("agreement/claim")
    assert set(rows.select("reference", "index").rows()) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert scored("answer_coverage", two, LOCAL) == 1


def test_an_encoder_compares_the_question_with_each_context(judged: Judged) -> None:
    """Vectors of any length: cosines of 0.6, 0 and -0.8."""
    question = "When did the Royal Albert Bridge open?"
    texts = [BRIDGE.text or "", HEATH.text or "", "The bridge opened."]
    vectors = {question: (2, 0), texts[0]: (3, 4), texts[1]: (0, 5), texts[2]: (-4, 3)}
    contexts = (BRIDGE, HEATH, Context("third", texts[2], 3))
    judge = LocalJudge(ScriptedEncoder(vectors=vectors, dimensions=2))
    both = [example(contexts=contexts), example(id="2", contexts=contexts[:2])]
    rows = judged(["relevance"], both, (judge,)).of("relevance").sort("row", "rank")
    expected = [
        *relevance(question, texts, [0.6, 0, -0.8]),
        *relevance(question, texts[:2], [0.6, 0]),
    ]
    assert rows["probability"].to_list() == pytest.approx([one["probability"] for one in expected])
    assert rows["grade"].to_list() == [one["grade"] for one in expected]
    assert rows["reason"].to_list() == [one["reason"] for one in expected]
    apart = judged(["relevance"], both[:1], LOCAL).of("relevance")["probability"].to_list()
    assert rows["probability"].to_list()[:3] != apart


@pytest.mark.parametrize("question", ["皇家阿尔伯特大桥何时通车?", "पुल कब खुला?"])
def test_a_question_in_letters_that_the_encoder_cannot_read_is_judged_by_words(
    judged: Judged, question: str
) -> None:
    asked = [example(question=question)]
    by_both = judged(["relevance"], asked, (LocalJudge(ScriptedEncoder()),)).of("relevance")
    by_words = judged(["relevance"], asked, LOCAL).of("relevance")
    assert by_both["probability"].equals(by_words["probability"])


def test_an_encoder_that_finds_each_word_of_a_claim_makes_it_more_probable(judged: Judged) -> None:
    """What is aligned is said in the reason; the verdict goes by the curve of both."""
    words = ["bridge", "opened", "pink", "1990."]
    near = dict.fromkeys([*words, "Royal", "Albert", "Bridge", "Tamar.", "1859."], (1, 0))
    judge = LocalJudge(ScriptedEncoder(vectors=near, dimensions=2))
    with_it = judged(ASKED, [example()], (judge, RulesJudge())).of("support/claim").sort("index")
    without = judged(ASKED, [example()], LOCAL).of("support/claim").sort("index")
    assert ["aligned" in reason for reason in with_it["reason"]] == [True, True]
    assert ["aligned" in reason for reason in without["reason"]] == [False, False]
    assert with_it["probability"].to_list() != without["probability"].to_list()
    assert with_it["index"].to_list() == without["index"].to_list() == [0, 1]


@pytest.mark.parametrize(
    ("reference", "answer", "left_open"),
    [
        (("Humphry Davy and Trevithick",), "It was Davy.", True),
        (("Humphry Davy",), "It was Humphry Davy.", False),
        (("Humphry Davy",), "It was a mine of tin and lead.", False),
        (("Humphry Davy and Trevithick", "Davy"), "It was Davy.", False),
    ],
)
def test_only_a_statement_that_strings_leave_open_is_matched_by_an_encoder(
    judged: Judged, reference: tuple[str, ...], answer: str, left_open: bool
) -> None:
    """Strings settle the last one: another reference is there in full."""
    asks = ["statements", "agreement/statement"]
    asked = [example(answer, question="Who?", reference=reference)]
    by_strings = judged(asks, asked, LOCAL).of("agreement/statement")
    by_both = judged(asks, asked, (LocalJudge(ScriptedEncoder()),)).of("agreement/statement")
    assert (0.35 < by_strings["probability"][0] < 0.65) is (left_open or len(reference) > 1)
    assert ["aligned" in why for why in by_strings["reason"]] == [False] * len(reference)
    assert ["aligned" in why for why in by_both["reason"]] == [left_open] * len(reference)
    if not left_open:
        assert by_both["probability"].equals(by_strings["probability"])


def test_the_ledger_says_that_it_failed_and_why() -> None:
    ids_only = example(contexts=(Context("bridge", None, 1),))
    unasked = example(question=None)
    for one, reason in ((ids_only, "no_context_text"), (unasked, "no_question")):
        filled = LocalJudge().fill("relevance", Block([one], to_frame([one])), [0])
        (entry,) = filled.ledger.rows(named=True)
        assert entry["status"] == "failed"
        assert entry["reason"] == f"local: {reason}"
        assert filled.rows.is_empty()


def test_an_answer_that_abstains_makes_no_claim_of_what_it_says_beside(judged: Judged) -> None:
    silent = example("I do not know the year. It rained.")
    tables = judged(["response", "claims"], [silent], LOCAL)
    assert tables.of("response")["response_type"].to_list() == ["abstain"]
    assert tables.of("claims").is_empty()


def test_an_answer_that_several_systems_give_is_read_once(judged: Judged) -> None:
    """Its rows stand once for each example, whoever gave it."""
    both = [example(id="1", system="a"), example(id="2", system="b")]
    tables = judged(ASKED, both, LOCAL)
    for ask in ASKED:
        rows = tables.of(ask)
        one, other = (rows.filter(row=row).drop("row") for row in (0, 1))
        assert one.equals(other), ask
        assert rows["subject"].n_unique() == 1, ask
        assert one.is_unique().all(), ask


def test_relevance_without_a_question_is_a_failure(judged: Judged) -> None:
    tables = judged(["relevance"], [example(question=None)], LOCAL)
    assert tables.outcome("relevance").row(0) == (MISSING, "local: no_question")


def test_where_its_encoder_does_not_answer_only_what_needs_it_is_missing(judged: Judged) -> None:
    deaf = LocalJudge(ScriptedEncoder(silent_on=[BRIDGE.text or ""]))
    tables = judged(ASKED, [example()], (deaf, RulesJudge()))
    for ask in ("support/claim", "relevance"):
        outcome = tables.outcome(ask)
        assert outcome["status"].to_list() == [MISSING], ask
        assert outcome["reason"].to_list()[0].startswith("local: "), ask
    assert tables.outcome("claims")["status"].to_list() == [VALUE]
