"""An answer may rest on what was said before in the conversation; the evidence says which turn."""

from collections.abc import Callable
from typing import Any

import pytest

from ragstone.data import Context, Example, Turn
from ragstone.judgements import Tables
from ragstone.judges import Judge
from ragstone.judges.judge import HumanJudge, with_turns
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.judges.rules import RulesJudge
from ragstone.metrics import Score, Undefined
from ragstone.report.reason_words import words

Judged = Callable[..., Tables]
Scored = Callable[..., Score]

LOCAL: tuple[Judge, ...] = (LocalJudge(), RulesJudge())
METRIC, ASK = "conversation_faithfulness", "conversation_support"
ASKED = ["response", "claims", ASK]
SAID = (
    Turn("user", "My boat is called Morwenna and lies in Newlyn."),
    Turn("assistant", "The pier of Newlyn is 90 m long."),
)


def example(**fields: Any) -> Example:
    given: dict[str, Any] = {
        "question": "What do you know?",
        "history": SAID,
        "contexts": (Context("opening", "The lighthouse of Newlyn was built in 1915.", 1),),
        "answer": "Your boat is called Morwenna. The lighthouse was built in 1915. "
        "The harbour was painted green.",
    }
    return Example(fields.pop("id", "1"), "q", "s", **given | fields)


def test_a_claim_counts_if_a_context_or_an_earlier_turn_backs_it(scored: Scored) -> None:
    assert scored(METRIC, example(), LOCAL) == pytest.approx(2 / 3)
    assert scored("faithfulness", example(), LOCAL) == pytest.approx(1 / 3)


def test_the_evidence_and_the_reason_say_which_turn(judged: Judged) -> None:
    rows = judged(ASKED, [example()], LOCAL).of(ASK).sort("index").rows(named=True)
    assert [row["verdict"] for row in rows] == ["supported", "supported", "absent"]
    assert [row["evidence"] for row in rows] == [["turn 1"], ["opening"], []]
    assert rows[0]["quote"] == SAID[0].text
    assert words(rows[0]["reason"]).startswith("3 of 3 content words in turn 1")
    assert words(rows[1]["reason"]).startswith("3 of 3 content words in context 1")


def test_what_a_context_and_a_turn_say_in_part_is_read_together() -> None:
    spoken = with_turns(example())
    assert [one.id for one in spoken.contexts or ()] == ["opening", "turn 1", "turn 2"]
    assert [one.rank for one in spoken.contexts or ()] == [1, 2, 3]
    assert with_turns(example(history=())) == example(history=())


@pytest.mark.parametrize("answer", ["Your boat is called Morwenna.", "It was built in 1915."])
def test_without_earlier_turns_it_is_faithfulness(scored: Scored, answer: str) -> None:
    alone = example(history=(), answer=answer)
    assert scored(METRIC, alone, LOCAL) == scored("faithfulness", alone, LOCAL)


def test_a_system_that_does_not_retrieve_may_rest_on_the_conversation(scored: Scored) -> None:
    bare = example(contexts=None, answer="Your boat is called Morwenna.")
    assert scored(METRIC, bare, LOCAL) == 1
    assert scored("faithfulness", bare, LOCAL) == Undefined("no_retrieval")
    assert scored(METRIC, example(contexts=None, history=()), LOCAL) == Undefined("no_retrieval")


def test_where_nothing_was_retrieved_the_turns_are_read_and_without_them_nothing_holds(
    scored: Scored, judged: Judged
) -> None:
    nothing = example(contexts=(), answer="Your boat is called Morwenna.")
    assert scored(METRIC, nothing, LOCAL) == 1
    assert scored(METRIC, example(contexts=(), history=()), LOCAL) == 0
    # The rules know it of an empty ground alone.
    made = ["response", "claims"]
    for history, known in (((), 1), (SAID, 0)):
        given = example(contexts=(), history=history, labels={"claims": [{"text": "So."}]})
        tables = judged([*made, ASK], [given], (HumanJudge(), RulesJudge()))
        assert tables.of(ASK).height == known


def test_contexts_without_text_leave_the_turns_to_read(scored: Scored) -> None:
    ids = example(contexts=(Context("a", None, 1),), answer="Your boat is called Morwenna.")
    assert scored(METRIC, ids, LOCAL) == 1


def test_no_claims_are_undefined(scored: Scored) -> None:
    silent = example(answer="I do not know.")
    assert scored(METRIC, silent, LOCAL) == Undefined("no_claims")


def test_people_say_it_too(scored: Scored) -> None:
    claims = [
        {"text": "It is Morwenna.", "conversation_support": "supported", "support": "absent"},
        {"text": "It is green.", "conversation_support": "contradicted", "support": "absent"},
    ]
    labelled = example(labels={"claims": claims, "response_type": "answer"})
    assert scored(METRIC, labelled, (HumanJudge(),)) == 0.5
    assert scored("faithfulness", labelled, (HumanJudge(),)) == 0
