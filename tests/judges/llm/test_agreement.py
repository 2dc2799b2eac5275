"""What is asked about answer and reference, and what is read from the reply."""

import json
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest

from ragstone.data import Example, to_frame
from ragstone.judgements import (
    CLAIM_VERDICTS,
    STATEMENT_VERDICTS,
    VALUE,
    Agreement,
    Tables,
    same_outcome,
)
from ragstone.judges import RowBuilder
from ragstone.judges.judge import Proposition
from ragstone.judges.llm.claim_tasks import AgreementTask, ClaimAgreement, StatementAgreement
from ragstone.judges.llm.prompts import Prompts
from ragstone.judges.llm.questions import Question
from ragstone.judges.llm.replies import read_items
from ragstone.judges.llm.task import Row, Target, TaskReply
from ragstone.metrics import parse_metric, score

PROMPTS = Prompts({"system": "Judge.", "agreement": "Compare."})
ROOM = 100_000
TASK = AgreementTask()


def matter(claims: Any = (), statements: Any = (), **fields: Any) -> Target:
    """Statements are pairs of their reference and text."""
    given = {"question": "Q?", "answer": "A.", "reference": ("R.",)} | fields
    indexes: dict[int, int] = {}
    listed = []
    for reference, text in statements:
        index = indexes.setdefault(reference, 0)
        listed.append(Proposition("who", reference, index, text))
        indexes[reference] += 1
    made = [Proposition("who", 0, index, text) for index, text in enumerate(claims)]
    return Target(Example("1", "q", "s", **given), {"claim": made, "statement": listed})


def told(lacking: Any = None, **verdicts: str) -> TaskReply:
    items = {}
    for name, verdict in verdicts.items():
        sort = ClaimAgreement if verdict in CLAIM_VERDICTS else StatementAgreement
        said = json.dumps({"reason": name, "verdict": verdict})
        items[name] = [sort.model_validate_json(said)]
    return TaskReply(items, lacking or {})


def verdicts(rows: list[Row]) -> list[tuple[int, int, str | None]]:
    return [(row["reference"], row["index"], row["verdict"]) for row in rows]


def test_claims_and_statements_are_asked_in_one_question() -> None:
    (piece,) = TASK.pieces(matter(["Tin.", "Lead."], [(0, "Copper.")]), PROMPTS, ROOM)
    assert piece.items == {"k01": ClaimAgreement, "k02": ClaimAgreement, "k03": StatementAgreement}
    text = Question((piece,), "S").request().text
    places = [text.index(one) for one in ("Compare.", "Q?", "R.", "A.", "Tin.", "Lead.", "Copper.")]
    assert places == sorted(places)


def test_contexts_are_not_shown() -> None:
    (piece,) = TASK.pieces(matter(["Tin."]), PROMPTS, ROOM)
    assert piece.contexts is None


def test_every_reference_has_a_question_and_ids_go_on_counting() -> None:
    given = matter(["Tin."], [(0, "Copper."), (1, "Zinc."), (1, "Iron.")], reference=("R1.", "R2."))
    first, second = TASK.pieces(given, PROMPTS, ROOM)
    assert (list(first.items), list(second.items)) == (["k01", "k02"], ["k03", "k04", "k05"])
    assert "R2." not in "".join(first.sections)
    assert "Iron." in "".join(second.sections)
    said = told(k01="extra", k03="matches", k02="full", k04="missing", k05="partial")
    assert verdicts(TASK.rows("agreement/claim", given, said)) == [
        (0, 0, "extra"),
        (1, 0, "matches"),
    ]
    assert verdicts(TASK.rows("agreement/statement", given, said)) == [
        (0, 0, "full"),
        (1, 0, "missing"),
        (1, 1, "partial"),
    ]


def test_only_what_is_wanted_is_asked() -> None:
    (piece,) = TASK.pieces(matter([], [(0, "Copper.")]), PROMPTS, ROOM)
    assert list(piece.items) == ["k01"]
    assert not any("CLAIMS" in block for block in piece.sections)
    assert TASK.pieces(matter(), PROMPTS, ROOM) == []


def test_some_may_be_asked_alone_under_their_ids() -> None:
    (piece,) = TASK.pieces(matter(["Tin.", "Lead."], [(0, "Copper.")]), PROMPTS, ROOM)
    alone = piece.only(["k02", "k03"])
    assert list(alone.items) == ["k02", "k03"]
    assert "Tin." not in "".join(alone.sections)


def test_over_twenty_are_asked_in_equal_parts() -> None:
    given = matter([f"Mine {n}." for n in range(15)], [(0, f"Pit {n}.") for n in range(10)])
    pieces = TASK.pieces(given, PROMPTS, ROOM)
    assert [len(piece.items) for piece in pieces] == [12, 13]


def test_equal_texts_are_asked_once_of_each_reference() -> None:
    given = matter(["Tin.", "Tin."], [(0, "Tin.")])
    (piece,) = TASK.pieces(given, PROMPTS, ROOM)
    assert list(piece.items) == ["k01", "k02"]
    rows = TASK.rows("agreement/claim", given, told(k01="matches"))
    assert verdicts(rows) == [(0, 0, "matches"), (0, 1, "matches")]


def test_row_says_whose_proposition_it_is_and_why() -> None:
    (row,) = TASK.rows("agreement/claim", matter(["Tin."]), told(k01="extra"))
    assert row == {
        "origin": "claim",
        "author": "who",
        "reference": 0,
        "index": 0,
        "verdict": "extra",
        "probability": None,
        "reason": "k01",
    }
    assert set(row) < set(Agreement.schema())


def test_lacking_verdict_is_null_and_says_why() -> None:
    (row,) = TASK.rows("agreement/claim", matter(["Tin."]), told({"k01": "cut off"}))
    assert (row["verdict"], row["reason"]) == (None, "cut off")


def test_statement_of_a_reference_that_is_not_there_is_open() -> None:
    given = matter([], [(3, "Copper.")])
    assert TASK.pieces(given, PROMPTS, ROOM) == []
    (row,) = TASK.rows("agreement/statement", given, told())
    assert (row["reference"], row["verdict"]) == (3, None)


def test_equal_matter_is_the_same_question_to_the_byte() -> None:
    asked = [
        Question(tuple(TASK.pieces(matter(["Tin."], [(0, "Lead.")]), PROMPTS, ROOM)), "S").request()
        for _ in range(2)
    ]
    assert asked[0] == asked[1]


def test_rows_rest_on_question_answer_references_and_what_is_asked_about() -> None:
    def facts(given: Target) -> list[object]:
        return list(TASK.facts(given))

    assert facts(matter(["Tin."])) != facts(matter(["Tin."], [(0, "Lead.")]))
    assert facts(matter(["Tin."])) != facts(matter(["Tin."], answer="B."))
    assert facts(matter(["Tin."])) != facts(matter(["Tin."], reference=("S.",)))
    assert facts(matter(["Tin."])) != facts(matter(["Lead."]))


@pytest.mark.parametrize(
    ("sort", "words"), [(ClaimAgreement, CLAIM_VERDICTS), (StatementAgreement, STATEMENT_VERDICTS)]
)
def test_verdicts_are_those_of_the_guideline(sort: Any, words: tuple[str, ...]) -> None:
    assert get_args(sort.model_fields["verdict"].annotation) == words


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("full", "matches"),
        ("partial", "extra"),
        ("missing", "extra"),
        ("Contradicted", "contradicts"),
        ("unclear", None),
    ],
)
def test_a_claim_is_asked_about_in_the_words_for_statements(said: str, claim: str | None) -> None:
    entry = {"id": "k01", "reason": "r", "verdict": said, "details": []}
    read = read_items(json.dumps({"items": [entry]}), {"k01": ClaimAgreement}).items
    assert read == ({"k01": ClaimAgreement(reason="r", verdict=claim)} if claim else {})  # type: ignore[arg-type]
    assert ClaimAgreement.verdicts() == StatementAgreement.verdicts()


def outcome(given: Target, said: TaskReply) -> str:
    """What the metric ``answer_outcome`` says of an answer that was judged so."""
    rows: dict[str, list[Row]] = {
        "response": [{"response_type": "answer"}],
        "statements": [
            {"reference": one.reference, "index": one.index, "text": one.text}
            for one in given.propositions["statement"]
        ],
        "claims": [
            {"index": one.index, "text": one.text, "factual": True}
            for one in given.propositions["claim"]
        ],
        "agreement/claim": TASK.rows("agreement/claim", given, said),
        "agreement/statement": TASK.rows("agreement/statement", given, said),
    }
    tables = {}
    for ask, found in rows.items():
        sheet = RowBuilder(ask, "model")
        for row in found:
            sheet.add("subject", **row)
        tables[ask] = sheet.filled().rows.with_columns(pl.lit(0, pl.UInt32).alias("row"))
    metric = parse_metric("answer_outcome")
    status = {ask: same_outcome(VALUE, None, 1) for ask in tables}
    scored = score(Tables(to_frame([given.example]), tables, status), [metric])
    return str(scored[str(metric)]["label"][0])


def test_outcomes_of_the_seed_vectors_follow_from_the_verdicts_a_reader_would_give(
    shared: Path,
) -> None:
    vectors = json.loads((shared / "golden" / "seed_vectors.json").read_text("utf-8"))["vectors"]
    anchors = [one for one in vectors if one["id"].startswith("anchor.outcome.")]
    assert len(anchors) == 3
    for vector in anchors:
        given = vector["input"]
        about = matter(
            [f"It is {given['answer']}."],
            [(0, f"It is {given['reference']}.")],
            question=given["question"],
            answer=given["answer"],
            reference=(given["reference"],),
        )
        assert len(TASK.pieces(about, PROMPTS, ROOM)) == 1
        right = given["answer"] == given["reference"]
        said = (
            told(k01="matches", k02="full")
            if right
            else told(k01="contradicts", k02="contradicted")
        )
        assert outcome(about, said) == vector["expected"]["outcome"]
