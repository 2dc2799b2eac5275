"""What is asked about an answer as a whole, and what is read from the reply."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from ragstone.data import Example, Turn, to_frame
from ragstone.judgements import KINDS, VALUE, Quality, Tables, same_outcome
from ragstone.judges import RowBuilder
from ragstone.judges.llm.kind_task import KindItem, KindTask, item_of
from ragstone.judges.llm.prompts import Prompts, load_prompts
from ragstone.judges.llm.questions import Question
from ragstone.judges.llm.replies import read_items
from ragstone.judges.llm.task import Row, Target, TaskReply
from ragstone.metrics import parse_metric, score

PROMPTS = Prompts({"system": "Judge.", "quality": "Look at it."})
ROOM = 100_000
TASK = KindTask(Quality)
ITEM = item_of(Quality)
FINE = {
    "reason": "Fine.",
    "counted": ["answered"],
    "directness": 4,
    "focus": 4,
    "consistency": 4,
    "on_topic": True,
    "helpful": True,
    "proper_action": True,
    "incomplete": False,
    "unsafe_content": False,
}


SAID = [
    "answered: who",
    *("directness: 4", "focus: 3", "consistency = 4"),
    *("on_topic: yes", "proper_action: yes", "incomplete: no", "Unsafe_content: No."),
]


def read(details: list[str], verdict: str = "yes") -> KindItem | str:
    """What is read from a reply, or what is wrong with it."""
    entry = {"id": "q01", "reason": "Fine.", "verdict": verdict, "details": details}
    reading = read_items(json.dumps({"items": [entry]}), {"q01": ITEM})
    found = reading.items.get("q01", reading.lacking.get("q01"))
    assert isinstance(found, KindItem | str)
    return found


def test_details_of_a_reply_say_parts_steps_and_labels() -> None:
    found = read([*SAID, "open: the year: 1859"])
    assert found == ITEM.model_validate(FINE | {"focus": 3, "counted": ["answered", "open"]})
    beside = ["by the way", "mood: calm", "helpful: no"]
    assert read([*SAID, "open: the year: 1859", *beside]) == found


@pytest.mark.parametrize(
    ("details", "fault"),
    [
        (SAID[:-1], "unsafe_content: missing"),
        (SAID[:1] + SAID[2:], "directness: missing"),
        ([*SAID, "focus: 4"], "focus: "),
        ([*SAID[1:], "focus: 5"], "focus: "),
        ([*SAID[2:], "directness: high"], "directness: "),
        ([*SAID[:-1], "unsafe_content: maybe"], "unsafe_content: "),
        ([], "directness: missing"),
    ],
)
def test_a_detail_that_is_lacking_or_said_twice_is_no_reply(details: list[str], fault: str) -> None:
    found = read(details)
    assert isinstance(found, str)
    assert found.startswith(fault)


def matter(**fields: Any) -> Target:
    return Target(Example("1", "q", "s", **({"question": "Who?", "answer": "She."} | fields)))


def parts(asked: int, answered: int) -> list[str]:
    return ["answered" if n < answered else "open" for n in range(asked)]


def told(**changed: Any) -> TaskReply:
    said = json.dumps(FINE | changed)
    return TaskReply({"q01": [ITEM.model_validate_json(said)]})


def row(given: Target, said: TaskReply) -> Row:
    (found,) = TASK.rows("quality", given, said)
    return found


def text(given: Target) -> str:
    (piece,) = TASK.pieces(given, PROMPTS, ROOM)
    return Question((piece,), "S").request().text


def test_turns_question_answer_and_policy_are_shown_behind_the_instructions() -> None:
    given = matter(history=(Turn("user", "Hello!"),), policy="No names.")
    shown = text(given)
    places = [shown.index(one) for one in ("Look at it.", "Hello!", "Who?", "She.", "No names.")]
    assert places == sorted(places)
    assert "POLICY" not in text(matter())


def test_the_same_example_is_asked_about_in_the_same_bytes() -> None:
    given = {"history": (Turn("user", "Hello!"),), "policy": "No names."}
    assert text(matter(**given)) == text(matter(**given))


def test_an_example_without_an_answer_is_not_asked_about() -> None:
    assert TASK.pieces(matter(answer=None), PROMPTS, ROOM) == []
    assert len(TASK.pieces(matter(answer=""), PROMPTS, ROOM)) == 1


def test_a_reply_fills_every_column_of_the_kind() -> None:
    found = row(matter(), told(counted=parts(3, 2), directness=1, focus=3, incomplete=True))
    assert found == {
        "parts": 3,
        "parts_answered": 2,
        "directness": 0.25,
        "focus": 0.75,
        "consistency": 1.0,
        "proper_action": True,
        "response_on_topic": True,
        "helpful": True,
        "incomplete": True,
        "unsafe_content": False,
        "reason": "Fine.",
    }
    assert set(found) == set(KINDS["quality"].columns) - {"judge"}


def test_without_a_question_there_are_no_parts_and_no_topic() -> None:
    found = row(matter(question=None), told(counted=parts(2, 2)))
    assert (found["parts"], found["parts_answered"], found["response_on_topic"]) == (0, 0, None)
    assert "QUESTION" not in text(matter(question=None))


def test_a_reply_that_is_lacking_leaves_a_row_of_nulls_with_its_reason() -> None:
    assert TASK.rows("quality", matter(), TaskReply({}, {"q01": "cut off"})) == [
        {"reason": "cut off"}
    ]


@pytest.mark.parametrize(
    "changed", [{"focus": 5}, {"focus": True}, {"focus": 4.0}, {"focus": "4"}, {"helpful": 1}]
)
def test_no_verdict_is_read_from_another_type_or_beyond_the_scale(changed: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        told(**changed)


def test_whatever_is_shown_is_among_the_facts() -> None:
    base = list(TASK.facts(matter()))
    for change in (
        {"question": "Why?"},
        {"answer": "He."},
        {"policy": "No names."},
        {"history": (Turn("user", "Hello!"),)},
    ):
        assert list(TASK.facts(matter(**change))) != base
    assert list(TASK.facts(matter(reference=("She.",)))) == base


def test_the_prompt_is_short() -> None:
    assert len(load_prompts().instructions("quality")) <= 2_600


def scored(metric: str, given: Target, said: TaskReply) -> float:
    """Through the table, as a run does it."""
    sheet = RowBuilder("quality", "who")
    sheet.add("subject", **row(given, said))
    frame = to_frame([given.example])
    rows = sheet.filled().rows.with_columns(row=pl.lit(0, pl.UInt32))
    tables = Tables(frame, {"quality": rows}, {"quality": same_outcome(VALUE, None, 1)})
    value: float = score(tables, [parse_metric(metric)])[metric]["value"].item()
    return value


AS_IN_THE_PROMPT = {
    "anchor.01": told(counted=parts(1, 1), directness=4, focus=4),
    "anchor.02": told(counted=parts(1, 1), directness=4, focus=3),
    "anchor.03": told(counted=parts(1, 0), directness=1, focus=1),
    "anchor.08": told(counted=parts(6, 1)),
    "anchor.09": told(counted=parts(6, 4)),
    "anchor.10": told(counted=parts(6, 6)),
}
"""The verdicts that the prompt gives for these answers."""


def test_the_verdicts_of_the_prompt_meet_the_anchors(shared: Path) -> None:
    golden = (shared / "golden" / "seed_vectors.json").read_text(encoding="utf-8")
    vectors = json.loads(golden)["vectors"]
    anchors = {one["id"]: one for one in vectors if one["id"] in AS_IN_THE_PROMPT}
    assert set(anchors) == set(AS_IN_THE_PROMPT)
    prompt = load_prompts().instructions("quality")
    names = {"answer_relevance_judged": "answer_relevance_rated"}
    for name, anchor in anchors.items():
        given = matter(question=anchor["input"]["question"], answer=anchor["input"]["answer"])
        metric = names.get(anchor["metric"], anchor["metric"])
        value = scored(metric, given, AS_IN_THE_PROMPT[name])
        assert abs(value - anchor["expected"]["score"]) <= anchor["tolerance"], name
        assert f'"{anchor["input"]["question"]}"' in prompt
        assert f'"{anchor["input"]["answer"]}"' in prompt or name == "anchor.10"


def test_a_blank_question_is_none() -> None:
    blank = row(matter(question=" \n"), told())
    assert blank == row(matter(question=None), told())
    assert (blank["parts"], blank["response_on_topic"]) == (0, None)
    assert text(matter(question=" \n")) == text(matter(question=None))
