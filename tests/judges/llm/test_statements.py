"""What is asked about the references, and what is read from the reply."""

import json
from typing import Any

import pytest

from ragstone.data import Context, Example, Turn
from ragstone.judges.llm.claim_tasks import ReferenceStatements, StatementsTask
from ragstone.judges.llm.prompts import Prompts
from ragstone.judges.llm.questions import Question
from ragstone.judges.llm.replies import read_items
from ragstone.judges.llm.task import Target, TaskReply

PROMPTS = Prompts({"system": "Judge.", "statements": "List the statements."})
TASK = StatementsTask()


def matter(*references: str, **fields: Any) -> Target:
    given = {"question": "What was mined?", "answer": "Lead.", "reference": references} | fields
    return Target(Example("1", "q", "s", **given))


def said(*statements: str) -> ReferenceStatements:
    return ReferenceStatements.model_validate({"statements": list(statements)})


def test_all_systems_and_retrievals_share_the_question() -> None:
    asked = [
        Question(tuple(TASK.pieces(one, PROMPTS, 9_000)), "S").request()
        for one in (
            matter("Tin and copper."),
            matter("Tin and copper.", answer="Gold.", contexts=(Context("1", "Zinc", 1),)),
        )
    ]
    assert asked[0] == asked[1]
    assert "Tin and copper." in asked[0].text
    assert "Lead" not in asked[0].text
    facts = [list(TASK.facts(one)) for one in (matter("Tin"), matter("Tin", answer="?"))]
    assert facts[0] == facts[1]
    assert facts[0] != list(TASK.facts(matter("Copper")))


def test_each_reference_is_an_item_of_one_question() -> None:
    (piece,) = TASK.pieces(matter("Tin.", "Copper."), PROMPTS, 9_000)
    assert list(piece.items) == ["r01", "r02"]
    alone = piece.only(["r02"])
    assert list(alone.items) == ["r02"]
    assert "Copper." in alone.sections[-1]
    assert "Tin." not in alone.sections[-1]


def test_earlier_turns_are_shown() -> None:
    (piece,) = TASK.pieces(matter("Tin.", history=(Turn("user", "Hello, mine!"),)), PROMPTS, 9_000)
    assert "Hello, mine!" in Question((piece,), "S").request().text


def test_blank_reference_is_not_asked_about() -> None:
    (piece,) = TASK.pieces(matter(" ", "Copper."), PROMPTS, 9_000)
    assert list(piece.items) == ["r02"]
    assert TASK.pieces(matter(" "), PROMPTS, 9_000) == []


def test_more_than_twenty_references_are_asked_in_equal_parts() -> None:
    pieces = TASK.pieces(matter(*(f"Mine {n}" for n in range(41))), PROMPTS, 9_000)
    assert [len(piece.items) for piece in pieces] == [13, 14, 14]
    assert len({name for piece in pieces for name in piece.items}) == 41


def test_statements_are_rows() -> None:
    told = TaskReply({"r01": [said("Tin was mined.", " It was deep. ")], "r02": [said("Copper.")]})
    rows = TASK.rows("statements", matter("Tin, deep.", "Copper."), told)
    assert [tuple(row.values()) for row in rows] == [
        (0, 0, "Tin was mined."),
        (0, 1, "It was deep."),
        (1, 0, "Copper."),
    ]


@pytest.mark.parametrize("details", [[" "], ["Tin was mined.", ""], None])
def test_a_blank_statement_or_no_list_is_no_reply(details: list[str] | None) -> None:
    item = {"id": "r01", "reason": "", "verdict": ""} | (
        {} if details is None else {"details": details}
    )
    assert read_items(json.dumps({"items": [item]}), {"r01": ReferenceStatements}).items == {}


def test_reference_that_is_lacking_has_no_rows() -> None:
    told = TaskReply({"r02": [said("Copper was mined.")]}, {"r01": "cut off"})
    rows = TASK.rows("statements", matter("Tin.", "Copper."), told)
    assert [row["reference"] for row in rows] == [1]
