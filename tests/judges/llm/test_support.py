"""What is asked about propositions, and what is read from the reply."""

import json
from itertools import chain
from typing import Any, get_args

import pytest

from ragstone.data import Context, Example
from ragstone.judgements import SUPPORT_VERDICTS, Support
from ragstone.judges.judge import Proposition
from ragstone.judges.llm.context_tasks import PropositionSupport, RelevanceTask, SupportTask
from ragstone.judges.llm.prompts import Prompts
from ragstone.judges.llm.questions import Question
from ragstone.judges.llm.replies import read_items
from ragstone.judges.llm.task import Row, Target, TaskReply

PROMPTS = Prompts({"system": "Judge.", "support": "Weigh.", "relevance": "Grade."})
ROOM = 100_000
TASK = SupportTask()
CONTEXTS = (Context("tin", "Tin was mined.", 1), Context("cu", "Copper was mined.", 2))


def matter(
    claims: Any = ("Tin.",), statements: Any = (), evidence: Any = (), **fields: Any
) -> Target:
    origins = {"claim": claims, "statement": statements, "evidence": evidence}
    propositions = {
        origin: [Proposition("who", 0, index, text) for index, text in enumerate(texts)]
        for origin, texts in origins.items()
    }
    given = {"question": "Q?", "answer": "A.", "contexts": CONTEXTS} | fields
    return Target(Example("1", "q", "s", **given), propositions)


def said(verdict: str, *evidence: str, quote: str = "", reason: str = "so") -> PropositionSupport:
    item = {"reason": reason, "verdict": verdict, "evidence": evidence, "quote": quote}
    return PropositionSupport.model_validate_json(json.dumps(item))


def one(*items: PropositionSupport, lacking: str | None = None, room: int = ROOM) -> Row:
    """The row of a claim about which this was said."""
    given = matter(contexts=CONTEXTS)
    told = TaskReply({"p01": items} if items else {}, {"p01": lacking} if lacking else {}, room)
    (row,) = TASK.rows("support/claim", given, told)
    return row


def shown(given: Target, room: int = ROOM) -> list[str]:
    pieces = TASK.pieces(given, PROMPTS, room)
    return [Question((piece,), "S").request().text for piece in pieces]


def test_origin_does_not_show() -> None:
    as_claims = shown(matter(["Tin.", "Copper.", "Lead."]))
    mixed = shown(matter(["Lead."], ["Copper."], ["Tin."]))
    assert as_claims == mixed


def test_order_follows_from_the_texts_and_not_from_their_order() -> None:
    texts = [f"Mine {letter} was deep." for letter in "abcdefghijkl"]
    assert shown(matter(texts)) == shown(matter(texts[::-1]))
    (text,) = shown(matter(texts))
    places = [text.index(one) for one in texts]
    assert places not in (sorted(places), sorted(places, reverse=True))


def test_question_answer_and_reference_are_not_shown() -> None:
    (text,) = shown(matter(question="Whence?", answer="Nowhere.", reference=("Somewhere.",)))
    assert not any(word in text for word in ("Whence", "Nowhere", "Somewhere"))


def test_contexts_come_first_and_are_those_of_the_relevance_question() -> None:
    given = matter()
    (piece,) = TASK.pieces(given, PROMPTS, ROOM)
    (sibling,) = RelevanceTask().pieces(given, PROMPTS, ROOM)
    assert piece.contexts == sibling.contexts
    text = Question((piece,), "S").request().text
    assert text.index("Copper was mined.") < text.index("Weigh.") < text.index("Tin.\n")


def test_siblings_share_the_contexts_where_they_are_split_too() -> None:
    given = matter(contexts=(Context("tin", "Tin was mined. " * 20, 1),))
    pieces = TASK.pieces(given, PROMPTS, 200)
    siblings = RelevanceTask().pieces(given, PROMPTS, 200)
    assert len(pieces) > 1
    assert [piece.contexts for piece in pieces] == [piece.contexts for piece in siblings]


def test_equal_texts_are_asked_once_and_the_verdict_serves_all() -> None:
    given = matter(["Tin.", "Tin."], ["Tin."])
    (piece,) = TASK.pieces(given, PROMPTS, ROOM)
    assert list(piece.items) == ["p01"]
    told = TaskReply({"p01": [said("supported", "c01")]})
    claims = TASK.rows("support/claim", given, told)
    statements = TASK.rows("support/statement", given, told)
    assert [(row["origin"], row["index"], row["verdict"]) for row in claims + statements] == [
        ("claim", 0, "supported"),
        ("claim", 1, "supported"),
        ("statement", 0, "supported"),
    ]


def test_more_than_twenty_are_asked_in_equal_parts() -> None:
    pieces = TASK.pieces(matter([f"Mine {n}." for n in range(45)]), PROMPTS, ROOM)
    assert [len(piece.items) for piece in pieces] == [15, 15, 15]
    names = list(chain.from_iterable(piece.items for piece in pieces))
    assert names == [f"p{n:02d}" for n in range(1, 46)]


def test_some_may_be_asked_alone_under_their_ids() -> None:
    (piece,) = TASK.pieces(matter(["Tin.", "Copper.", "Lead."]), PROMPTS, ROOM)
    alone = piece.only(["p02"])
    assert list(alone.items) == ["p02"]
    assert alone.contexts == piece.contexts
    assert sum(word in alone.sections[0] for word in ("Tin.", "Copper.", "Lead.")) == 1


@pytest.mark.parametrize("given", [matter([]), matter(contexts=(Context("1", None, 1),))])
def test_without_propositions_or_texts_nothing_is_asked(given: Target) -> None:
    assert TASK.pieces(given, PROMPTS, ROOM) == []


def test_verdict_is_a_row_with_the_contexts_own_ids() -> None:
    row = one(said("supported", "c02", "c01", "c02", quote="Tin was mined."))
    assert row == {
        "origin": "claim",
        "author": "who",
        "reference": 0,
        "index": 0,
        "verdict": "supported",
        "probability": 1.0,
        "evidence": ["cu", "tin"],
        "evidence_unknown": 0,
        "quote": "Tin was mined.",
        "quote_found": True,
        "reason": "so",
    }
    assert set(row) < set(Support.schema())


@pytest.mark.parametrize(
    ("verdict", "probability"), [("supported", 1), ("contradicted", 0), ("absent", 0)]
)
def test_probability_is_one_or_nought(verdict: str, probability: float) -> None:
    assert one(said(verdict))["probability"] == probability


def test_unknown_evidence_is_dropped_and_counted_and_the_verdict_stays() -> None:
    row = one(said("supported", "c01", "c77", "tin"))
    assert (row["verdict"], row["evidence"], row["evidence_unknown"]) == ("supported", ["tin"], 2)


def test_quote_that_is_not_found_is_flagged_and_the_verdict_stays() -> None:
    row = one(said("contradicted", "c01", quote="Gold was mined."))
    assert (row["verdict"], row["quote"]) == ("contradicted", "Gold was mined.")
    assert row["quote_found"] is False


def test_without_a_quote_there_is_nothing_to_find() -> None:
    row = one(said("supported", "c01", quote="  "))
    assert (row["quote"], row["quote_found"]) == (None, None)


def test_absent_has_neither_evidence_nor_quote() -> None:
    row = one(said("absent", "c01", quote="Tin was mined."))
    assert (row["evidence"], row["quote"], row["quote_found"]) == ([], None, None)


def test_lacking_verdict_is_null_and_says_why() -> None:
    row = one(lacking="refused")
    assert (row["verdict"], row["probability"], row["reason"]) == (None, None, "refused")


@pytest.mark.parametrize(
    ("verdicts", "merged", "evidence"),
    [
        (("absent", "supported"), "supported", ["cu"]),
        (("contradicted", "supported"), "supported", ["cu"]),
        (("supported", "supported"), "supported", ["tin", "cu"]),
        (("contradicted", "absent"), "contradicted", ["tin"]),
        (("absent", "absent"), "absent", []),
    ],
)
def test_parts_of_the_contexts_are_merged(
    verdicts: tuple[str, str], merged: str, evidence: list[str]
) -> None:
    first, second = verdicts
    row = one(said(first, "c01", reason=first), said(second, "c02", reason=second))
    assert (row["verdict"], row["evidence"], row["reason"]) == (merged, evidence, merged)


def test_support_in_one_part_is_enough_though_another_is_lacking() -> None:
    assert one(said("supported", "c01"), lacking="cut off")["verdict"] == "supported"
    for open_still in ("contradicted", "absent"):
        row = one(said(open_still, "c01"), lacking="cut off")
        assert (row["verdict"], row["reason"]) == (None, "cut off")


def test_parts_of_one_context_are_one_piece_of_evidence() -> None:
    given = matter(contexts=(Context("tin", "Tin was mined. " * 10, 1),))
    assert len(TASK.pieces(given, PROMPTS, 100)) == 2
    items = [said("supported", "c01"), said("supported", "c02")]
    (row,) = TASK.rows("support/claim", given, TaskReply({"p01": items}, room=100))
    assert (row["evidence"], row["evidence_unknown"]) == (["tin"], 0)


def test_every_part_of_the_contexts_is_asked_about_every_proposition() -> None:
    given = matter(["Tin.", "Lead."], contexts=(Context("tin", "Tin was mined. " * 10, 1),))
    pieces = TASK.pieces(given, PROMPTS, 100)
    assert [list(piece.items) for piece in pieces] == [["p01", "p02"]] * 2
    assert pieces[0].contexts != pieces[1].contexts


def test_rows_rest_on_contexts_and_the_propositions_asked_about() -> None:
    def facts(given: Target) -> list[object]:
        return list(TASK.facts(given))

    assert facts(matter(["Tin."])) == facts(matter(["Tin."], answer="B."))
    assert facts(matter(["Tin."])) != facts(matter(["Lead."]))
    assert facts(matter()) != facts(matter(contexts=CONTEXTS[:1]))


@pytest.mark.parametrize(
    ("details", "evidence", "quote"),
    [
        (["c01: Tin was mined."], ["c01"], "Tin was mined."),
        (["c01", "c02: Copper: it was mined."], ["c01", "c02"], "Copper: it was mined."),
        (["[c01] Tin was mined."], [], "[c01] Tin was mined."),
        (["[c01]", "Tin was mined."], ["c01"], "Tin was mined."),
        (["c77: x", "tin"], ["c77", "tin"], "x"),
        ([], [], ""),
    ],
)
def test_details_are_passages_with_a_quote(
    details: list[str], evidence: list[str], quote: str
) -> None:
    entry = {"id": "p01", "reason": "so", "verdict": "supported", "details": details}
    reading = read_items(json.dumps({"items": [entry]}), {"p01": PropositionSupport})
    assert reading.items["p01"].model_dump() == {
        "reason": "so",
        "verdict": "supported",
        "evidence": evidence,
        "quote": quote,
    }


def test_verdicts_are_those_of_the_guideline() -> None:
    assert get_args(PropositionSupport.model_fields["verdict"].annotation) == SUPPORT_VERDICTS
