"""What each task shows to a model, of an example that has everything."""

import re
from dataclasses import FrozenInstanceError, replace
from hashlib import blake2b
from typing import Any

import pytest

from ragstone.data import Context, Example, Turn
from ragstone.judgements import Topic
from ragstone.judges.judge import Proposition
from ragstone.judges.llm.llm_judge import all_tasks
from ragstone.judges.llm.prompts import load_prompts
from ragstone.judges.llm.questions import Question, key
from ragstone.judges.llm.task import Target, Task
from ragstone.models.chat import ChatRequest

TASKS = all_tasks()
PROMPTS = load_prompts()
ORIGINS = ("claim", "statement", "criterion", "evidence")
TARGET = Target(
    Example(
        "1",
        "q",
        "s",
        question="What was mined?",
        answer="Tin.",
        reference=("Lead.",),
        contexts=(Context("c", "Tin was mined.", 1),),
        history=(Turn("user", "Hello."),),
        policy="Be brief.",
    ),
    {origin: [Proposition("who", 0, 0, f"A {origin}.")] for origin in ORIGINS},
    (
        Topic("rating", "factual_consistency"),
        Topic("critique", "coherence"),
        Topic("preference", "rival"),
    ),
    {"rival": "Zinc."},
)
ASKED = ["EARLIER TURNS", "QUESTION"]
TITLES = {
    "claims": [*ASKED, "ANSWER"],
    "statements": [*ASKED, "REFERENCES"],
    "entities": [*ASKED, "REFERENCES"],
    "relevance": ["CONTEXTS", *ASKED],
    "support": ["CONTEXTS", "PROPOSITIONS"],
    "conversation_support": ["CONTEXTS", "PROPOSITIONS"],
    "agreement": ["QUESTION", "REFERENCE", "ANSWER", "CLAIMS", "STATEMENTS"],
    "importance": [*ASKED, "PROPOSITIONS"],
    "quality": [*ASKED, "ANSWER", "POLICY"],
    "criteria": [*ASKED, "ANSWER", "CRITERIA"],
    "probes": ["ANSWER"],
    "rating": [*ASKED, "ANSWER", "REFERENCE"],
    "critique": [*ASKED, "ANSWER"],
    "preference": [*ASKED, "REFERENCE", "ANSWER A", "ANSWER B"],
}


@pytest.mark.parametrize("task", TASKS)
def test_every_text_is_shown_under_its_title(task: str) -> None:
    for piece in TASKS[task].pieces(TARGET, PROMPTS, 10_000):
        text = Question((piece,), PROMPTS.system).request().text
        assert re.findall(r"^([A-Z ]+)\n====", text, re.MULTILINE) == TITLES[task]


@pytest.mark.parametrize(
    "task", ["statements", "support", "conversation_support", "agreement", "preference"]
)
def test_the_instructions_name_every_title_of_what_is_compared(task: str) -> None:
    named = set(re.findall(r"\b[A-Z]{6,}(?: [AB]\b)?", PROMPTS.instructions(task)))
    assert named >= {*TITLES[task]} - {*ASKED}


def test_a_kept_reply_is_found_by_a_hash_of_who_is_asked_how_often_and_what() -> None:
    request = ChatRequest("S", ("P", "Q"), {"b": 1, "a": "ä"}, "n", "E")
    asked = ["m", "2", "n", '{"b":1,"a":"ä"}', "E", "S", "P", "Q"]
    written = "".join(f"{one}\0" for one in asked).encode()
    assert key(request, "m", 2) == blake2b(written, digest_size=16).hexdigest()


@pytest.mark.parametrize("task", TASKS)
def test_an_item_asked_again_alone_keeps_its_text_and_no_other(task: str) -> None:
    example = replace(TARGET.example, reference=("Lead.", "Zinc."))
    for piece in TASKS[task].pieces(replace(TARGET, example=example), PROMPTS, 10_000):
        for name, sort in piece.items.items():
            alone = piece.only([name])
            assert alone.items == {name: sort}
            assert alone.texts == ({name: piece.texts[name]} if piece.texts else {})


HALF = "\ud83d"
"""Half of a character, as broken files have it."""


@pytest.mark.parametrize("task", TASKS)
def test_half_a_character_is_asked_about_like_any_text(task: str) -> None:
    example = replace(
        TARGET.example,
        question=HALF,
        answer=HALF,
        reference=(HALF,),
        contexts=(Context("c", HALF, 1),),
        policy=HALF,
    )
    propositions = {origin: [Proposition("who", 0, 0, HALF)] for origin in ORIGINS}
    target = Target(example, propositions, TARGET.topics, {"rival": f"{HALF}."})
    for piece in TASKS[task].pieces(target, PROMPTS, 10_000):
        request = Question((piece,), PROMPTS.system).request()
        assert HALF not in request.text
        assert r"\ud83d" in request.text
        assert re.fullmatch("[0-9a-f]{32}", key(request, HALF))


CHANGES = {
    "question": "Who mined it?",
    "answer": "Zinc.",
    "reference": ("Iron.",),
    "contexts": (Context("c", "Lead was mined.", 1),),
    "history": (Turn("user", "Good day."),),
    "policy": "Be kind.",
}


def requests_of(task: Task, target: Target) -> list[str]:
    pieces = task.pieces(target, PROMPTS, 10_000)
    return [Question((piece,), PROMPTS.system).request().text for piece in pieces]


def facts_of(task: Task, target: Target) -> list[object]:
    return list(task.facts(target))


@pytest.mark.parametrize("field", CHANGES)
@pytest.mark.parametrize("task", TASKS)
def test_facts_change_with_a_text_where_the_questions_do(task: str, field: str) -> None:
    change: Any = {field: CHANGES[field]}
    other = replace(TARGET, example=replace(TARGET.example, **change))
    requests, facts = (
        [made(TASKS[task], target) for target in (TARGET, other)]
        for made in (requests_of, facts_of)
    )
    looked_up = (task, field) == ("entities", "contexts")
    assert (facts[0] != facts[1]) == (requests[0] != requests[1] or looked_up)


@pytest.mark.parametrize("task", TASKS)
def test_no_task_can_be_changed_for_it_is_shared(task: str) -> None:
    for attribute in ("kind", "item", "anything"):
        with pytest.raises(FrozenInstanceError):
            setattr(TASKS[task], attribute, None)
        with pytest.raises(FrozenInstanceError):
            delattr(TASKS[task], attribute)
