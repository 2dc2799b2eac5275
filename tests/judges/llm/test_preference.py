"""Two answers compared in both orders: what is asked, and what is read."""

from itertools import permutations
from typing import Any

import pytest

from ragstone.data import Example
from ragstone.judgements import Topic
from ragstone.judges.llm.answer_tasks import PreferenceTask, PreferenceVerdict
from ragstone.judges.llm.prompts import Prompts, load_prompts
from ragstone.judges.llm.questions import Question, VerdictItem, key
from ragstone.judges.llm.task import Target, TaskReply

PROMPTS = Prompts({"system": "Judge.", "preference": "Compare."})
ROOM = 10_000
TASK = PreferenceTask()
ALL = Topic("preference", "")
ANSWERS = {"a": "Tin.", "b": "Copper.", "c": "Lead."}


def matter(system: str = "a", *topics: Topic, answers: Any = None, **fields: Any) -> Target:
    answers = answers or ANSWERS
    rivals = {name: text for name, text in answers.items() if name != system}
    given = {"question": "What?", "answer": answers[system], "reference": ("Tin.",)} | fields
    return Target(Example(system, "q", system, **given), {}, topics or (ALL,), rivals)


def keys(given: Target) -> list[str]:
    """Of all questions, as the journal has them."""
    pieces = TASK.pieces(given, PROMPTS, ROOM)
    return [key(Question((piece,), "S").request(), "model") for piece in pieces]


def said(verdict: str) -> list[VerdictItem]:
    return [PreferenceVerdict.model_validate({"reason": "So.", "verdict": verdict})]


def test_each_rival_is_asked_about_in_both_orders() -> None:
    given = matter("a", Topic("preference", "c"))
    one, other = TASK.pieces(given, PROMPTS, ROOM)
    first, second = (Question((piece,), "S").request().text for piece in (one, other))
    assert first.index("Tin.\n", first.index("ANSWER A")) < first.index("Lead.")
    assert second.index("Lead.") < second.index("Tin.\n", second.index("ANSWER B"))
    assert "Copper." not in first + second


def test_no_system_is_named() -> None:
    given = matter("mine", answers={"mine": "Tin.", "theirs": "Copper."})
    for piece in TASK.pieces(given, PROMPTS, ROOM):
        text = Question((piece,), "S").request().text
        assert "mine" not in text
        assert "theirs" not in text


def test_whichever_system_it_is_put_for_it_is_the_same_question() -> None:
    asked = {system: set(keys(matter(system))) for system in ANSWERS}
    for one, other in permutations(ANSWERS, 2):
        assert len(asked[one]) == 4
        assert len(asked[one] & asked[other]) == 2
    assert len(set().union(*asked.values())) == 6


def test_ids_are_unique_within_an_example() -> None:
    for system in ANSWERS:
        names = [name for piece in TASK.pieces(matter(system), PROMPTS, ROOM)
                 for name in piece.items]  # fmt: skip
        assert len(set(names)) == len(names) == 4


def test_an_id_says_the_places_of_two_answers_among_all_in_alphabetical_order() -> None:
    answers = dict(zip("abcdefgh", ["Z", "E", "X", "A", "D", "Y", "B", "C"], strict=True))
    pieces = TASK.pieces(matter("a", Topic("preference", "b"), answers=answers), PROMPTS, ROOM)
    assert [[*one.items] for one in pieces] == [["preference_8_5"], ["preference_5_8"]]


def test_both_systems_read_the_same_verdict_each_from_its_side() -> None:
    answers = {"a": "Tin.", "b": "Copper."}
    told = TaskReply({"preference_1_2": said("A"), "preference_2_1": said("tie")})
    verdicts = {
        system: [
            (row["rival"], row["order"], row["verdict"])
            for row in TASK.rows("preference", matter(system, answers=answers), told)
        ]
        for system in answers
    }
    # Copper stands first in the order of the texts, so it is A in preference_1_2.
    assert verdicts == {
        "a": [("b", 0, "tie"), ("b", 1, "loss")],
        "b": [("a", 0, "win"), ("a", 1, "tie")],
    }


@pytest.mark.parametrize(
    ("verdict", "first", "second"),
    [("A", "win", "loss"), ("B", "loss", "win"), ("tie", "tie", "tie")],
)
def test_a_judge_who_always_takes_one_place_disagrees_with_itself(
    verdict: str, first: str, second: str
) -> None:
    told = TaskReply({"preference_1_2": said(verdict), "preference_2_1": said(verdict)})
    rows = TASK.rows("preference", matter(answers={"a": "Tin.", "b": "Copper."}), told)
    assert [row["verdict"] for row in rows] == [first, second]


def test_equal_answers_are_asked_about_once_and_come_out_as_a_tie() -> None:
    given = matter(answers={"a": "Tin.", "b": "Tin."})
    (piece,) = TASK.pieces(given, PROMPTS, ROOM)
    (name,) = piece.items
    rows = TASK.rows("preference", given, TaskReply({name: said("A")}))
    assert [row["verdict"] for row in rows] == ["win", "loss"]


def test_an_order_that_is_lacking_has_no_verdict_and_says_why() -> None:
    given = matter(answers={"a": "Tin.", "b": "Copper."})
    told = TaskReply({"preference_2_1": said("A")}, {"preference_1_2": "cut off"})
    assert TASK.rows("preference", given, told) == [
        {"rival": "b", "order": 0, "verdict": "win", "reason": "So."},
        {"rival": "b", "order": 1, "verdict": None, "reason": "cut off"},
    ]


def test_without_a_rival_of_that_name_or_an_answer_nothing_is_asked() -> None:
    for given in (
        matter("a", Topic("preference", "z")),
        matter("a", Topic("critique", "coherence")),
        matter("a", answer=None),
    ):
        assert TASK.pieces(given, PROMPTS, ROOM) == []
        assert TASK.rows("preference", given, TaskReply({})) == []


def test_both_answers_and_the_rivals_name_are_among_the_facts() -> None:
    base = list(TASK.facts(matter()))
    for other in (
        matter("a", Topic("preference", "b")),
        matter(answers=ANSWERS | {"b": "Zinc."}),
        matter(answers={"a": "Tin.", "b": "Copper.", "d": "Lead."}),
        matter(reference=("Lead.",)),
    ):
        assert list(TASK.facts(other)) != base
    assert list(TASK.facts(matter())) == base


def test_the_prompt_is_short() -> None:
    assert len(load_prompts().instructions("preference")) <= 2_200
