"""A criterion, or a question for yes or no, that is one sentence: asked, scored and shown."""

import re
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.core.errors import InputError, UnknownName
from ragstone.judgements import Topic, name_for
from ragstone.judges.llm.rubrics import DEGREES, check_topics, defined_rubrics, load_rubrics
from ragstone.metrics import parse_metric
from ragstone.models.chat import ChatRequest
from ragstone.testing import ScriptedModel, asked, reply_to

FRIENDLY = "Is the tone friendly?"
SOURCE = "Does ANSWER name a source?"
ROWS = [
    {"id": name, "question": "How long is the pier?", "answer": answer}
    for name, answer in (("kind", "Gladly: it is 90 m."), ("curt", "90 m."))
]


def reply(request: ChatRequest) -> dict[str, Any]:
    """Friendly where it is glad; yes to everything else."""
    (item,) = asked(request)
    assert (FRIENDLY in request.text) == item.startswith("rating")
    rated = "5" if "Gladly" in request.text else "2"
    verdict = rated if item.startswith("rating") else "yes"
    return reply_to(request, {item: {"verdict": verdict, "reason": "So it sounds."}})


def test_both_are_asked_in_the_users_words_and_scored(tmp_path: Path) -> None:
    metrics = [f'rating(definition="{FRIENDLY}")', f'critique(definition="{SOURCE}")']
    run = ragstone.evaluate(ROWS, metrics=metrics, judge=ScriptedModel(reply), out=tmp_path / "r")
    found = {
        (one["metric"].partition("(")[0], one["example_id"]): one["value"]
        for one in run.scores().iter_rows(named=True)
    }
    assert found == {
        ("rating", "kind"): 1.0, ("rating", "curt"): 0.25,
        ("critique", "kind"): 1.0, ("critique", "curt"): 1.0,
    }  # fmt: skip
    rows = run.judgements("rating")
    assert set(rows["criterion"]) == {"is_the_tone_friendly"}
    assert set(rows["reason"]) == {"So it sounds."}


def test_without_a_name_it_is_named_by_its_words() -> None:
    assert str(parse_metric(f'rating(definition="{FRIENDLY}")')) == (
        f'rating(criterion="is_the_tone_friendly", definition="{FRIENDLY}")'
    )
    named = parse_metric(f'critique(aspect="sourced", definition="{SOURCE}")')
    assert named.topics == {Topic("critique", "sourced", SOURCE)}
    assert parse_metric("rating").topics == {Topic("rating", "helpfulness")}


@pytest.mark.parametrize(
    ("definition", "name"),
    [
        ("Is it so?", "is_it_so"),
        ("Is it kind to whoever asked the question?", "is_it_kind_to_whoever_asked_th_[0-9a-f]{8}"),
        ("Ist es höflich?", "ist_es_h_flich_[0-9a-f]{8}"),
        ("親切ですか", "own_[0-9a-f]{8}"),
        ("3 sources?", "own_[0-9a-f]{8}"),
    ],
)  # fmt: skip
def test_names_are_short_plain_and_apart(definition: str, name: str) -> None:
    found = name_for(definition)
    assert re.fullmatch(name, found), found
    assert len(found) <= 40
    assert found != name_for(f"{definition} Really?")


def test_a_criterion_of_one_sentence_has_five_degrees() -> None:
    topic = Topic("rating", "tone", f" {FRIENDLY} ")
    (made,) = defined_rubrics([topic, topic, Topic("critique", "x", "y")], {}).values()
    assert (made.about, made.sees, made.points) == (FRIENDLY, ("question", "answer"), DEGREES)
    assert [one.value for one in DEGREES] == [0, 0.25, 0.5, 0.75, 1]
    assert FRIENDLY in made.text
    check_topics([topic], load_rubrics() | {"tone": made})


@pytest.mark.parametrize(
    ("topics", "fault"),
    [
        ([Topic("rating", "helpfulness", "Is it?")], "helpfulness has a rubric"),
        ([Topic("rating", "a", "Is it?"), Topic("rating", "a", "Was it?")], "a is defined twice"),
    ],
)
def test_a_criterion_has_one_meaning(topics: list[Topic], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        defined_rubrics(topics, load_rubrics())


def test_an_unknown_criterion_is_told_of_both_ways() -> None:
    with pytest.raises(UnknownName, match="with a sentence"):
        check_topics([Topic("rating", "tone")], load_rubrics())
