"""What is asked about an answer's claims, and what is read from the reply."""

import json
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest

from ragstone.data import Context, Example, Turn, to_frame
from ragstone.judgements import RESPONSE_TYPES, Claims, Tables
from ragstone.judges import RowBuilder
from ragstone.judges.judge import Block
from ragstone.judges.llm.claim_tasks import AnswerClaims, ClaimsTask
from ragstone.judges.llm.prompts import Prompts
from ragstone.judges.llm.questions import Question, ReplyEntry
from ragstone.judges.llm.replies import read_items
from ragstone.judges.llm.task import Row, Target, TaskReply
from ragstone.judges.rules import RulesJudge

PROMPTS = Prompts({"system": "Judge.", "claims": "List the claims."})
TWO = (Context("tin", "Tin was mined.", 1), Context("copper", "Copper was mined.", 2))
TASK = ClaimsTask()


def example(answer: str | None, **fields: Any) -> Example:
    return Example("1", "q", "s", **{"question": "What was mined?", "answer": answer} | fields)


def claim(text: str, sentence: int = 1) -> str:
    return f"s{sentence}: {text}"


def told(*claims: str, response_type: str = "answer") -> TaskReply:
    entry = ReplyEntry(reason="so", verdict=response_type, details=list(claims))
    return TaskReply({"a01": [AnswerClaims.model_validate(AnswerClaims.of(entry))]})


def rows(answer: str, *claims: str, **fields: Any) -> list[Row]:
    return TASK.rows("claims", Target(example(answer, **fields)), told(*claims))


def test_equal_matter_is_the_same_question_to_the_byte() -> None:
    history = (Turn("user", "Tell me of the mine."), Turn("assistant", "It lies in Cornwall."))
    asked = [
        Question(tuple(TASK.pieces(Target(example("Tin.", history=history)), PROMPTS, 9_000)), "S")
        for _ in range(2)
    ]
    assert asked[0].request() == asked[1].request()
    assert "It lies in Cornwall." in asked[0].request().text
    assert list(asked[0].items) == ["a01"]
    assert asked[0].only(["a01"]).request() == asked[0].request()


def test_sentences_of_the_answer_are_numbered_behind_the_instructions() -> None:
    (piece,) = TASK.pieces(Target(example("Tin. Copper too.")), PROMPTS, 9_000)
    text = Question((piece,), "S").request().text
    assert text.index("List the claims.") < text.index("What was mined?") < text.index("[s1] Tin.")
    assert "[s2] Copper too." in text


def test_contexts_and_references_are_not_shown() -> None:
    given = example("Tin.", contexts=TWO, reference=("Arsenic.",))
    (piece,) = TASK.pieces(Target(given), PROMPTS, 9_000)
    text = Question((piece,), "S").request().text
    assert "Copper" not in text
    assert "Arsenic" not in text


@pytest.mark.parametrize("answer", ["", "  \n", None])
def test_blank_answer_is_not_asked_about_and_abstains(answer: str | None) -> None:
    matter = Target(example(answer))
    assert TASK.pieces(matter, PROMPTS, 9_000) == []
    assert TASK.rows("response", matter, TaskReply({})) == [
        {"response_type": "abstain", "reason": "answer_is_empty"}
    ]
    assert TASK.rows("claims", matter, TaskReply({})) == []


def test_claims_keep_text_place_and_order() -> None:
    found = rows("Tin. Copper.", claim("Tin was mined."), claim(" Copper was mined. ", 2))
    assert [(one["index"], one["text"], one["sentence"]) for one in found] == [
        (0, "Tin was mined.", 0),
        (1, "Copper was mined.", 1),
    ]


@pytest.mark.parametrize("number", [0, 3, 999_999])
def test_sentence_that_is_not_there_is_unknown(number: int) -> None:
    assert rows("Tin. Copper.", claim("Tin was mined.", number))[0]["sentence"] is None


@pytest.mark.parametrize("blank", ["", "s1: ", "s1:", " \n", "[s2]"])
def test_a_reply_with_a_blank_claim_is_none(blank: str) -> None:
    said = {
        "items": [{"id": "a01", "reason": "r", "verdict": "answer", "details": [blank, "Tin."]}]
    }
    assert read_items(json.dumps(said), {"a01": AnswerClaims}).items == {}


def test_a_reply_without_a_list_of_claims_is_none() -> None:
    said = {"items": [{"id": "a01", "reason": "r", "verdict": "answer"}]}
    assert read_items(json.dumps(said), {"a01": AnswerClaims}).lacking == {"a01": "claims: missing"}


@pytest.mark.parametrize(
    ("written", "text", "sentence"),
    [
        ("s2: Tin was mined.", "Tin was mined.", 1),
        ("[s2] Tin was mined.", "Tin was mined.", 1),
        ("S2. Tin was mined.", "Tin was mined.", 1),
        ("Tin was mined.", "Tin was mined.", None),
        ("1998: tin was mined.", "1998: tin was mined.", None),
        ("s2 : tin", "tin", 1),
        ("S2 is a mine.", "S2 is a mine.", None),
    ],
)
def test_a_claim_may_name_its_sentence(written: str, text: str, sentence: int | None) -> None:
    (found,) = rows("Tin. Copper.", written)
    assert (found["text"], found["sentence"]) == (text, sentence)


@pytest.mark.parametrize("silent", ["abstain", "refuse"])
def test_abstention_and_refusal_make_no_claim(silent: str) -> None:
    matter, said = Target(example("No.")), told(claim("Tin."), response_type=silent)
    assert TASK.rows("claims", matter, said) == []
    assert TASK.rows("response", matter, said) == [{"response_type": silent, "reason": "so"}]


@pytest.mark.parametrize("speaking", ["answer", "partial", "clarify"])
def test_other_replies_may_make_claims(speaking: str) -> None:
    said = told(claim("Tin."), response_type=speaking)
    assert len(TASK.rows("claims", Target(example("Tin.")), said)) == 1


def test_reply_that_is_lacking_has_no_type_and_says_why() -> None:
    said = TaskReply({}, {"a01": "cut off"})
    assert TASK.rows("response", Target(example("Tin.")), said) == [
        {"response_type": None, "reason": "cut off"}
    ]
    assert TASK.rows("claims", Target(example("Tin.")), said) == []


@pytest.mark.parametrize(
    ("answer", "markers", "contexts"),
    [
        ("Tin [1].", " [1]", ["tin"]),
        ("Tin [tin].", " [tin]", ["tin"]),
        ("Tin 【2】.", "【2】", ["copper"]),
        ("Tin [1, 2].", " [1, 2]", ["tin", "copper"]),
        ("Tin [1][1].", " [1][1]", ["tin"]),
        ("Tin [1].", "", []),
        ("Tin [9].", " [9]", [None]),
        ("Tin [1][9].", " [1][9]", ["tin", None]),
        ("Tin [1].", " [2]", []),
        ("Tin [1].", " [9]", []),
        ("Tin.", " [1]", None),
        ("Tin.", "", None),
    ],
)
def test_citations_are_those_markers_that_the_answer_has(
    answer: str, markers: str, contexts: list[str | None] | None
) -> None:
    for said in (f"Tin was mined{markers}.", f"Tin was mined.{markers}"):
        (found,) = rows(answer, claim(said), contexts=TWO)
        assert (found["text"], found["citations"]) == ("Tin was mined.", contexts)


def test_brackets_that_are_no_marker_stay_in_a_claim() -> None:
    (found,) = rows("Tin [1].", claim("Tin [a metal] was mined [1]."), contexts=TWO)
    assert found["text"] == "Tin [a metal] was mined."


def test_rows_rest_on_answer_question_turns_and_ids_alone() -> None:
    def facts(**fields: Any) -> list[object]:
        return list(TASK.facts(Target(example(**{"answer": "Tin."} | fields))))

    assert facts() == facts(reference=("Tin.",), meta={"page": 2})
    assert facts() != facts(answer="Copper.")
    assert facts() != facts(history=(Turn("user", "Hello"),))
    assert facts() != facts(contexts=TWO)


def view(answer: str, *claims: str) -> pl.DataFrame:
    """The claims view of an answer, with the citations that counting finds."""
    given = example(answer, contexts=TWO)
    block = Block([given], to_frame([given]))
    sheet = RowBuilder("claims", "model")
    for row in TASK.rows("claims", Target(given), told(*claims)):
        sheet.add("subject", **row)
    counted = RulesJudge().fill("citations", block, [0]).rows
    number = pl.lit(0, pl.UInt32).alias("row")
    tables = Tables(
        block.frame,
        {
            "claims": sheet.filled().rows.with_columns(number),
            "citations": counted.with_columns(number),
        },
    )
    return Claims.frame(tables, ("cited", "markers")).select("cited", "markers")


def test_claim_is_cited_by_its_own_markers_and_not_by_its_sentence() -> None:
    answer = "It has tin [1], copper [2] and lead."
    claims = [claim("It has tin [1]."), claim("It has copper [2]."), claim("It has lead.")]
    assert view(answer, *claims).rows() == [(["tin"], 1), (["copper"], 1), ([], 0)]


def test_fabricated_marker_counts_as_a_marker_that_cites_nothing() -> None:
    found = view("It has tin [1][7].", claim("It has tin [1][7]."))
    assert found.rows() == [(["tin"], 2)]


def test_claims_without_citations_of_their_own_are_cited_by_their_sentence() -> None:
    given = example("Tin [1]. Copper.", contexts=TWO)
    sheet = RowBuilder("claims", "other")
    for index in (0, 1):
        sheet.add("subject", index=index, text="…", sentence=index, factual=True)
    number = pl.lit(0, pl.UInt32).alias("row")
    counted = RulesJudge().fill("citations", Block([given], to_frame([given])), [0]).rows
    tables = Tables(
        to_frame([given]),
        {
            "claims": sheet.filled().rows.with_columns(number),
            "citations": counted.with_columns(number),
        },
    )
    found = Claims.frame(tables, ("cited", "markers"))
    assert found.select("cited", "markers").rows() == [(["tin"], 1), ([], 0)]


def test_types_are_those_of_the_guideline() -> None:
    types = get_args(AnswerClaims.model_fields["response_type"].annotation)
    assert types == RESPONSE_TYPES


def test_abstentions_of_the_seed_vectors_are_rows_as_expected(shared: Path) -> None:
    vectors = json.loads((shared / "golden" / "seed_vectors.json").read_text("utf-8"))["vectors"]
    targets = [one for one in vectors if one["id"].startswith("abstention.")]
    assert len(targets) == 13
    for vector in targets:
        answer = vector["input"]["answer"]
        abstained = vector["expected"]["abstained"]
        said = told(claim(answer), response_type="abstain" if abstained else "answer")
        matter = Target(example(answer))
        assert len(TASK.pieces(matter, PROMPTS, 9_000)) == 1
        (response,) = TASK.rows("response", matter, said)
        assert (response["response_type"] == "abstain") is abstained
        assert (TASK.rows("claims", matter, said) == []) is abstained


def read(
    answer: str, *details: str, verdict: str = "answer", words: str | None = None, **fields: Any
) -> str:
    """What is wrong with a reply; empty if it counts."""
    shown = Prompts(PROMPTS.texts, fields.pop("language", None))
    (piece,) = TASK.pieces(Target(example(answer, **fields)), shown, 9_000)
    begun = " ".join(answer.split()[:5]) if words is None else words
    item = {"id": "a01", "words": begun, "reason": "r", "verdict": verdict, "details": details}
    made = json.dumps({"items": [item]})
    question = Question((piece,), "S")
    return read_items(made, piece.items, question.texts, question.echoes).lacking.get("a01", "")


OWN = AnswerClaims.example[0]
"""The claim of the prompt's own example."""


@pytest.mark.parametrize(
    "answer",
    [
        "Tin was mined in Cornwall. It was smelted there.",
        "Das Haus ist rot und wurde nie verkauft.",
        "Le pont a été fermé en 1860.",
        "Мост был закрыт зимой.",
        "这座桥是红色的。",
        "橋は赤いです。",
        "สะพานเป็นสีแดง",
        "الجسر أحمر اللون.",
        "다리는 빨간색이다.",
        "पुल लाल रंग का है।",
        "We mine tin there [2].",
    ],
)
def test_the_claims_of_the_example_are_none_of_another_answer(answer: str) -> None:
    fields = {"question": "Is it so?"}
    assert read(answer, OWN, **fields) == 'echo: claim "The bridge opened in 1859 [2]."'
    assert read(answer, f"s1: {answer}", **fields) == ""
    assert read(answer, f"s1: {answer}", OWN, **fields).startswith("echo: claim")
    begun = read(answer, OWN, words="The bridge opened in 1859", **fields)
    assert begun.startswith("echo: words: not those of a01")


@pytest.mark.parametrize(
    ("answer", "claim", "question"),
    [
        ("1932.", "The Sydney Harbour Bridge opened in 1932.", "When did it open?"),
        ("Yes.", "Tin was mined in Cornwall.", "Was tin mined in Cornwall?"),
        ("They were miners.", "Miners worked there.", "Who?"),
        ("Helsingissä.", "Se on Helsinki.", "Missä?"),
        ("서울은 한국의 수도이다.", "서울이 수도다.", "수도?"),
        ("她住在北京。", "北京是她的住处。", "她住哪里?"),
        ("東京です。", "首都は東京である。", "首都は?"),
        ("So it is.", "It is so.", "Is it so?"),
    ],
)
def test_a_claim_in_other_words_is_one_of_the_answer(
    answer: str, claim: str, question: str
) -> None:
    assert read(answer, claim, question=question) == ""


def test_a_claim_may_rest_on_an_earlier_turn() -> None:
    history = (Turn("user", "Tell me of the Severn Bridge."),)
    assert read("Sure, 1966.", "Severn was bridged.", question="When?", history=history) == ""


def test_an_answer_without_claims_is_read_where_the_local_judge_finds_none() -> None:
    assert (
        read("Tin was mined there.")
        == 'echo: it lists no claim, though the answer says "Tin was mined there."'
    )
    assert read("Tin was mined there.", verdict="partial") == ""
    assert read("Which mine do you mean?") == ""


def test_claims_of_what_claims_nothing_or_in_another_language_are_not_checked() -> None:
    assert read("I do not know.", OWN, verdict="abstain") == ""
    assert read("Tin was mined there.", "Man förderte Zinn.", language="German") == ""
