"""Several judges, one word for each unit."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from ragstone.data import Example, read
from ragstone.judgements import MISSING, UNDEFINED, VALUE
from ragstone.judges import Block, Filled, RowBuilder
from ragstone.judges.judge import HumanJudge
from ragstone.judges.judge_names import JUDGES
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.judges.rules import RulesJudge
from ragstone.metrics import needed_asks, parse_metric, score
from ragstone.run.judging.judge_blocks import judge_block


def examples(*records: dict[str, Any]) -> list[Example]:
    return list(read({"id": f"e{number}", **record} for number, record in enumerate(records)))


BASE = {
    "question": "Who built the Eddystone lighthouse?",
    "contexts": ["Smeaton built the Eddystone lighthouse.", "Pasties are baked."],
    "answer": "Smeaton built the Eddystone lighthouse.",
}


def test_people_speak_for_the_contexts_they_labelled_and_the_next_judge_for_the_others() -> None:
    block = examples({**BASE, "labels": {"contexts": [{}, {"topically_relevant": 1}]}})
    judged = judge_block(block, JUDGES, ["relevance"])
    rows = judged.tables.of("relevance").sort("rank").select("rank", "judge", "relevant").rows()
    assert rows == [(1, "local", True), (2, "human", True)]


def test_a_label_left_open_in_a_labelled_context_stays_a_gap() -> None:
    block = examples({**BASE, "labels": {"contexts": [{"topically_relevant": 1}] * 2}})
    judged = judge_block(block, JUDGES, ["relevance"])
    assert judged.tables.of("relevance")["sufficient"].to_list() == [None, None]
    ndcg = score(judged.tables, [parse_metric("list_ndcg")])["list_ndcg"]
    assert ndcg.select("status", "reason").row(0) == (MISSING, "unlabelled_in_top_k")


def test_the_first_judge_named_speaks_first() -> None:
    block = examples({**BASE, "labels": {"contexts": [{"topically_relevant": 0}] * 2}})
    local_first = judge_block(block, [LocalJudge(), HumanJudge()], ["relevance"])
    assert set(local_first.tables.of("relevance")["judge"]) == {"local"}


def test_support_joins_only_the_claims_of_the_judge_that_made_them() -> None:
    labelled = {"claims": [{"text": "Smeaton built it.", "support": "supported"}]}
    block = examples({**BASE, "labels": labelled}, BASE)
    asks = ["response", "claims", "support/claim"]
    judged = judge_block(block, JUDGES, asks)
    support = judged.tables.of("support/claim").sort("row").select("row", "author", "judge")
    assert support.rows() == [(0, "human", "human"), (1, "local", "local")]


def test_claims_of_people_without_verdicts_are_judged_by_the_next_judge() -> None:
    block = examples({**BASE, "labels": {"claims": [{"text": "Smeaton built the lighthouse."}]}})
    judged = judge_block(block, JUDGES, ["response", "claims", "support/claim"])
    rows = judged.tables.of("support/claim").select("author", "judge", "verdict").rows()
    assert rows == [("human", "local", "supported")]


def test_grounding_follows_from_claims_where_people_said_nothing() -> None:
    labelled = {"answer": {"unsupported_claim_present": 1, "support_present": 0,
                           "contradicted_claim_present": 0}}  # fmt: skip
    block = examples({**BASE, "labels": labelled}, BASE, {**BASE, "contexts": None})
    asks = ["response", "claims", "support/claim", "grounding/support"]
    judged = judge_block(block, JUDGES, asks)
    table = judged.tables.of("grounding/support").sort("row")
    assert table.select("row", "judge", "support_present").rows() == [
        (0, "human", False),
        (1, "rules", True),
    ]
    outcome = judged.tables.outcome("grounding/support")
    assert outcome["status"].to_list() == [VALUE, VALUE, UNDEFINED]
    assert outcome["reason"][2] == "no_retrieval"


def test_shared_statements_and_contexts_are_judged_once_for_all_systems() -> None:
    block = examples(*({**BASE, "reference": "Smeaton", "system": name} for name in "abc"))
    judged = judge_block(block, JUDGES, ["statements", "relevance"])
    assert judged.rows["statements"].height == 1
    assert judged.rows["relevance"].height == 2
    assert judged.tables.of("statements")["row"].to_list() == [0, 1, 2]


def test_an_ask_nobody_can_answer_is_missing_and_says_who_could() -> None:
    judged = judge_block(examples(BASE), [RulesJudge()], ["response", "quality"])
    for ask in ("response", "quality"):
        outcome = judged.tables.outcome(ask)
        assert outcome["status"].to_list() == [MISSING]
        assert outcome["reason"][0].startswith(f"not_judged?kind={ask}&by=")


def test_a_context_without_text_is_a_failure_and_not_a_zero() -> None:
    block = examples({**BASE, "contexts": [{"id": "d1"}, {"id": "d2"}]})
    judged = judge_block(block, JUDGES, ["response", "claims", "support/claim", "relevance"])
    scores = score(judged.tables, [parse_metric("faithfulness"), parse_metric("precision")])
    for frame in scores.values():
        assert frame.select("value", "status", "reason").row(0) == (
            None, MISSING, "local: no_context_text",
        )  # fmt: skip
    assert judged.ledger.filter(pl.col("status") == "failed").height == 2


def test_an_empty_list_is_judged_whoever_judges() -> None:
    block = examples({**BASE, "contexts": []})
    judged = judge_block(block, [HumanJudge(), RulesJudge()], ["relevance"])
    names = ["precision", "context_precision"]
    scores = score(judged.tables, [parse_metric(name) for name in names])
    assert scores["precision"].select("value", "reason").row(0) == (0, "empty_retrieval")
    assert scores["context_precision"].select("status", "reason").row(0) == (
        UNDEFINED, "no_contexts",
    )  # fmt: skip


def test_an_empty_answer_is_an_abstention_with_an_outcome() -> None:
    block = examples({**BASE, "answer": " ", "reference": "Smeaton"})
    metrics = [parse_metric(name) for name in ("abstention", "answer_outcome", "faithfulness")]
    judged = judge_block(block, JUDGES, needed_asks(metrics))
    scores = score(judged.tables, metrics)
    assert scores["abstention"]["value"].to_list() == [1]
    assert scores["answer_outcome"]["label"].to_list() == ["dont_know"]
    assert scores["faithfulness"].select("status", "reason").row(0) == (UNDEFINED, "empty_answer")


def test_a_reply_that_people_call_an_abstention_needs_no_reading_of_its_claims() -> None:
    block = examples({**BASE, "reference": "Smeaton", "labels": {"response_type": "abstain"}})
    metric = parse_metric("answer_outcome")
    judged = judge_block(block, [HumanJudge(), RulesJudge()], needed_asks([metric]))
    assert score(judged.tables, [metric])["answer_outcome"]["label"].to_list() == ["dont_know"]


class Scripted:
    """Says of each example's contexts whether they are relevant, or how it went."""

    about = "a script"

    def __init__(
        self, name: str, said: dict[str, list[bool | None] | str], ask: str = "relevance"
    ) -> None:
        self.name = name
        self.said = said
        self.asks = frozenset({ask})
        self.asked: list[str] = []

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(ask, self.name)
        for row in rows:
            example = block.examples[row]
            self.asked.append(example.id)
            said = self.said.get(example.id)
            if isinstance(said, str):
                status: Any = said
                sheet.done(row, example.id, status, f"{self.name}: {said}")
            elif said is not None:
                sheet.done(row, example.id)
                for rank, relevant in enumerate(said, 1):
                    sheet.add(example.id, rank=rank, relevant=relevant)
        return sheet.filled()


def relevance(block: list[Example], *judges: Scripted) -> list[tuple[int, int, str, bool | None]]:
    judged = judge_block(block, judges, ["relevance"])
    return judged.tables.of("relevance").select("row", "rank", "judge", "relevant").rows()


def test_the_next_judge_is_asked_about_what_is_still_open_and_nothing_else() -> None:
    """A context that is left open, or an example that failed or that nobody spoke of."""
    block = examples(*[BASE] * 4)
    first = Scripted("first", {"e0": [True, False], "e1": "failed", "e2": [True, None]})
    second = Scripted("second", {f"e{at}": [False, False] for at in range(4)})
    third = Scripted("third", {})
    judge_block(block, [first, second, third], ["relevance"])
    assert first.asked == ["e0", "e1", "e2", "e3"]
    assert second.asked == ["e1", "e2", "e3"]
    assert third.asked == []


def test_what_a_judge_calls_undefined_is_settled() -> None:
    block = examples(*[BASE] * 3)
    first = Scripted("first", {"e0": "undefined", "e1": "failed", "e2": "ok"}, "response")
    second = Scripted("second", {}, "response")
    judge_block(block, [first, second], ["response"])
    assert second.asked == ["e1"]


def test_the_best_that_any_judge_did_is_how_an_ask_came_out() -> None:
    block = examples(*[BASE] * 4)
    first = Scripted("first", {"e0": "failed", "e1": "failed", "e2": "failed"})
    second = Scripted("second", {"e0": [True, True], "e1": "undefined", "e2": "failed"})
    judged = judge_block(block, [first, second], ["relevance"])
    outcome = judged.tables.outcome("relevance")
    assert outcome["status"].to_list() == [VALUE, UNDEFINED, MISSING, MISSING]
    assert outcome["reason"].to_list()[:3] == [None, "second: undefined", "first: failed"]
    assert outcome["reason"][3].startswith("not_judged?kind=relevance")


def test_a_context_is_the_words_of_the_first_judge_that_did_not_leave_it_open() -> None:
    block = examples(BASE, BASE)
    first = Scripted("first", {"e0": [None, True], "e1": [None, None]})
    second = Scripted("second", {"e0": [False, False], "e1": [True, None]})
    assert relevance(block, first, second) == [
        (0, 2, "first", True), (0, 1, "second", False),
        (1, 1, "second", True), (1, 2, "first", None),
    ]  # fmt: skip


def test_judgements_stand_in_the_order_of_the_examples() -> None:
    """Also where an earlier example has a context that every judge left open."""
    block = examples(BASE, BASE, BASE)
    one = Scripted("one", {"e0": [None, None], "e1": [True, False], "e2": [None, True]})
    assert [row for row, *_ in relevance(block, one)] == [0, 0, 1, 1, 2, 2]


def test_an_ask_is_put_only_about_examples_that_have_what_it_needs() -> None:
    """Relevance needs a question and retrieval: no retrieval at all is not an empty one."""
    block = examples(
        BASE, {**BASE, "contexts": None}, {**BASE, "contexts": []}, {**BASE, "answer": None}
    )
    judge = Scripted("one", {})
    judge_block(block, [judge], ["relevance"])
    assert judge.asked == ["e0", "e2", "e3"]
