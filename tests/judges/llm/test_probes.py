"""Questions that an answer would answer: what is asked, and what is read."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from ragstone.data import Example
from ragstone.judgements import Topic
from ragstone.judges.llm.answer_tasks import ProbesMade, ProbesTask, probes_item
from ragstone.judges.llm.prompts import Prompts, load_prompts
from ragstone.judges.llm.questions import Question
from ragstone.judges.llm.replies import read_items
from ragstone.judges.llm.task import Target, TaskReply

PROMPTS = Prompts({"system": "Judge.", "probes": "Write questions."})
TASK = ProbesTask()
MADE = {"q1": "Who?", "q2": " Which one? ", "q3": "What name?", "noncommittal": False}


def matter(answer: str | None = "She did.", **fields: Any) -> Target:
    return Target(Example("1", "q", "s", question="Who did it?", answer=answer, **fields))


def made(**changed: Any) -> ProbesMade:
    return ProbesMade.model_validate_json(json.dumps(MADE | changed))


def test_the_answer_is_shown_alone() -> None:
    (piece,) = TASK.pieces(matter(reference=("He did.",)), PROMPTS, 10_000)
    text = Question((piece,), "S").request().text
    assert "She did." in text
    assert "Who did it?" not in text
    assert "He did." not in text


def test_an_empty_answer_has_no_probes() -> None:
    for answer in (None, "", " \n"):
        assert TASK.pieces(matter(answer), PROMPTS, 10_000) == []
        assert TASK.rows("probes", matter(answer), TaskReply({})) == []


def test_a_reply_makes_three_rows() -> None:
    said = TaskReply({"n01": [made(noncommittal=True)]})
    assert TASK.rows("probes", matter(), said) == [
        {"index": 0, "text": "Who?", "noncommittal": True},
        {"index": 1, "text": "Which one?", "noncommittal": True},
        {"index": 2, "text": "What name?", "noncommittal": True},
    ]


@pytest.mark.parametrize(("verdict", "noncommittal"), [("yes", True), ("no", False)])
def test_the_verdict_says_whether_the_answer_is_noncommittal(
    verdict: str, noncommittal: bool
) -> None:
    entry = {"reason": "-", "verdict": verdict, "details": ["Who?", "Which one?", "What name?"]}
    assert read_items(json.dumps({"n01": entry}), {"n01": ProbesMade}).items == {
        "n01": made(noncommittal=noncommittal)
    }


def test_as_many_questions_are_asked_for_as_a_metric_wants() -> None:
    five = matter()
    five = Target(five.example, topics=(Topic("probes", "n", votes=5),))
    (piece,) = TASK.pieces(five, PROMPTS, 10_000)
    assert "write 5 questions instead of three" in Question((piece,), "S").request().text
    entry = {"q4": "By whom?", "q5": "Who was it?"}
    said = probes_item(5).model_validate_json(json.dumps(MADE | entry))
    rows = TASK.rows("probes", five, TaskReply({"n01": [said]}))
    assert [row["text"] for row in rows] == [
        "Who?", "Which one?", "What name?", "By whom?", "Who was it?",
    ]  # fmt: skip
    assert list(TASK.facts(five)) == [*TASK.facts(matter()), 5]
    with pytest.raises(ValidationError):
        probes_item(5).model_validate_json(json.dumps(MADE))


def test_a_reply_that_is_lacking_makes_none() -> None:
    assert TASK.rows("probes", matter(), TaskReply({}, {"n01": "cut off"})) == []


@pytest.mark.parametrize("changed", [{"q2": " "}, {"q2": ""}, {"noncommittal": "no"}])
def test_a_reply_with_a_blank_question_is_none(changed: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        made(**changed)


def test_the_same_answer_to_another_question_is_the_same_subject() -> None:
    other = Target(Example("2", "r", "t", question="Why?", answer="She did."))
    assert list(TASK.facts(matter())) == list(TASK.facts(other))


def test_the_prompt_is_short() -> None:
    assert len(load_prompts().instructions("probes")) <= 1_400
