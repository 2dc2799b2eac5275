"""Votes on aspects of an answer: what is asked, and what is read."""

import re
from typing import Any

import pytest

from ragstone.core.errors import InputError, UnknownName
from ragstone.data import Example
from ragstone.judgements import Topic
from ragstone.judges.llm.answer_tasks import CritiqueTask, CritiqueVerdict, critique_item_id
from ragstone.judges.llm.prompts import Prompts, load_prompts
from ragstone.judges.llm.questions import Question, VerdictItem
from ragstone.judges.llm.rubrics import ASPECTS, aspects, check_aspects
from ragstone.judges.llm.task import Target, TaskReply

PROMPTS = Prompts({"system": "Judge.", "critique": "Say yes or no."})
ROOM = 10_000
TASK = CritiqueTask()
HARM = Topic("critique", "harmfulness")
TONE = Topic("critique", "warm tone!", "ANSWER is friendly.", 3)


def matter(*topics: Topic, **fields: Any) -> Target:
    given = {"question": "Who?", "answer": "She."} | fields
    return Target(Example("1", "q", "s", **given), {}, topics)


def votes(*verdicts: str) -> list[VerdictItem]:
    return [
        CritiqueVerdict.model_validate({"reason": f"reason {n}", "verdict": verdict})
        for n, verdict in enumerate(verdicts)
    ]


def test_each_aspect_is_asked_in_as_many_pieces_as_it_has_votes() -> None:
    pieces = TASK.pieces(matter(TONE, HARM), PROMPTS, ROOM)
    assert [(list(piece.items), piece.vote) for piece in pieces] == [
        (["v01"], 0),
        ([critique_item_id("warm tone!")], 0),
        ([critique_item_id("warm tone!")], 1),
        ([critique_item_id("warm tone!")], 2),
    ]


def test_the_votes_on_an_aspect_are_the_same_question() -> None:
    pieces = TASK.pieces(matter(TONE), PROMPTS, ROOM)
    texts = {Question((piece,), "S").request().text for piece in pieces}
    assert len(texts) == 1
    assert texts == {
        Question((piece,), "S").request().text
        for piece in TASK.pieces(matter(HARM, TONE), PROMPTS, ROOM)
        if "v01" not in piece.items
    }


def test_aspects_share_all_but_the_end_of_a_question() -> None:
    one, other = TASK.pieces(matter(HARM, Topic("critique", "coherence")), PROMPTS, ROOM)
    assert one.instructions == other.instructions
    assert one.sections[:-1] == other.sections[:-1]
    assert ASPECTS["coherence"] in one.sections[-1]
    assert ASPECTS["harmfulness"] in other.sections[-1]


def test_the_most_votes_that_a_metric_wants_are_asked() -> None:
    pieces = TASK.pieces(matter(HARM, Topic("critique", "harmfulness", "", 3)), PROMPTS, ROOM)
    assert [piece.vote for piece in pieces] == [0, 1, 2]


def test_aspects_are_asked_in_alphabetical_order() -> None:
    names = ["maliciousness", "coherence", "harmfulness", "conciseness"]
    asked = aspects(Topic("critique", name) for name in names)
    assert [one.name for one in asked] == sorted(names)


def test_the_known_aspects_have_ids_by_their_places() -> None:
    known = ["harmfulness", "maliciousness", "coherence", "correctness", "conciseness"]
    assert [critique_item_id(name) for name in known] == ["v01", "v02", "v03", "v04", "v05"]


def test_other_topics_and_examples_without_an_answer_are_not_asked_about() -> None:
    assert TASK.pieces(matter(Topic("rating", "helpfulness")), PROMPTS, ROOM) == []
    assert TASK.pieces(matter(HARM, answer=None), PROMPTS, ROOM) == []


def test_a_name_that_is_no_id_gets_a_hash() -> None:
    assert critique_item_id("coherence") == "v03"
    ids = {
        critique_item_id(name)
        for name in ("warm tone", "warm-tone", "Warm Tone", "ton chaleureux é")
    }
    assert len(ids) == 4
    assert all(one.isascii() and one.replace("_", "").isalnum() for one in ids)
    assert critique_item_id("友好").startswith("critique_")
    assert re.fullmatch(r"critique_[0-9a-f]{8}", critique_item_id("\ud83d"))
    assert re.fullmatch(r"critique_(tone_){6}_[0-9a-f]{8}", critique_item_id("Tone " * 20))


def test_every_vote_is_a_row_and_those_lacking_have_no_verdict() -> None:
    said = TaskReply(
        {"v01": votes("no"), critique_item_id("warm tone!"): votes("yes", "no")},
        {critique_item_id("warm tone!"): "cut off"},
    )
    assert TASK.rows("critique", matter(TONE, HARM), said) == [
        {"aspect": "harmfulness", "index": 0, "verdict": False, "reason": "reason 0"},
        {"aspect": "warm tone!", "index": 0, "verdict": True, "reason": "reason 0"},
        {"aspect": "warm tone!", "index": 1, "verdict": False, "reason": "reason 1"},
        {"aspect": "warm tone!", "index": 2, "verdict": None, "reason": "cut off"},
    ]


def test_meaning_and_votes_of_an_aspect_are_among_the_facts() -> None:
    base = list(TASK.facts(matter(TONE)))
    for change in (
        Topic("critique", "warm tone!", "ANSWER is kind.", 3),
        Topic("critique", "warm tone!", "ANSWER is friendly.", 1),
        Topic("critique", "tone", "ANSWER is friendly.", 3),
    ):
        assert list(TASK.facts(matter(change))) != base
    assert list(TASK.facts(matter(TONE, Topic("rating", "helpfulness")))) == base


def test_an_aspect_that_nobody_defines_is_unknown() -> None:
    with pytest.raises(UnknownName, match="coherence"):
        check_aspects([Topic("critique", "coherense")])


@pytest.mark.parametrize(
    "topics",
    [
        [Topic("critique", "coherence", "ANSWER rhymes.")],
        [Topic("critique", "tone", "ANSWER is kind."), Topic("critique", "tone", "ANSWER is.")],
    ],
)
def test_an_aspect_with_two_meanings_is_refused(topics: list[Topic]) -> None:
    with pytest.raises(InputError):
        check_aspects(topics)


def test_aspects_with_one_meaning_pass_with_several_numbers_of_votes() -> None:
    check_aspects([HARM, Topic("critique", "harmfulness", "", 5), TONE])


def test_the_prompt_is_short() -> None:
    assert len(load_prompts().instructions("critique")) <= 1_400


def test_a_blank_question_is_not_shown() -> None:
    blank, none = (
        Question((piece,), "S").request().text
        for question in (" \n", None)
        for piece in TASK.pieces(matter(HARM, question=question), PROMPTS, ROOM)
    )
    assert blank == none
    assert "QUESTION\n" not in blank
