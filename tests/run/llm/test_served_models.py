"""A judge whose server changes the model in the middle of a run is told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.models.chat import ChatReply, ChatRequest
from ragstone.report.reason_words import words
from ragstone.run import Limits
from ragstone.testing import ScriptedModel, asked, reply_to

Rows = list[dict[str, Any]]

GIVEN: dict[str, Any] = {"metrics": ["faithfulness", "mrr"]}


def served(name: Callable[[int], str | None], **more: Any) -> ScriptedModel:
    """The server names itself by the number of its reply, from 1."""
    count = 0

    def reply(request: ChatRequest) -> ChatReply:
        nonlocal count
        count += 1
        made: dict[str, dict[str, Any]] = {
            "a": {"verdict": "answer", "details": ["s1: The pier is 90 m long."]},
            "c": {"verdict": "3", "details": ["s1"]},
            "p": {"verdict": "supported"},
        }
        text = json.dumps(reply_to(request, {one: made[one[0]] for one in asked(request)}))
        return ChatReply(text, model=name(count))

    return ScriptedModel(reply, name="gpt-x", **more)


def told(run: ragstone.Run) -> list[str]:
    return [told for one in run.manifest["remarks"] if "served by" in (told := words(one))]


def test_which_models_served_one_judge_is_told_with_their_replies(pier: Rows) -> None:
    model = served(lambda count: "gpt-x-1" if count < 4 else "gpt-x-2")
    run = ragstone.evaluate(pier, judge=model, **GIVEN)
    replies = len(model.requests)
    assert replies == 4, "claims of two answers, support of what both say, and the contexts"
    assert told(run) == [
        "gpt-x: served by two models: gpt-x-1 (3 replies), gpt-x-2 (1 reply). "
        "The numbers mix two judges; name a model that is pinned to a version, and evaluate into "
        "another folder."
    ]


@pytest.mark.parametrize("name", ["gpt-x-2026-01-01", "gpt-x", None])
def test_a_name_that_stays_is_no_change(pier: Rows, name: str | None) -> None:
    assert told(ragstone.evaluate(pier, judge=served(lambda _: name), **GIVEN)) == []


def test_two_judges_served_by_two_models_are_no_change(pier: Rows) -> None:
    first, second = served(lambda _: "one"), served(lambda _: "two")
    second.name = second.identity = "gpt-y"
    assert told(ragstone.evaluate(pier, judge=[[first, second]], **GIVEN)) == []


def test_a_change_while_the_run_stood_still_is_told_and_outlives_new_metrics(
    pier: Rows, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    one, limits = served(lambda _: "gpt-x-1"), Limits(max_calls=2)
    assert told(ragstone.evaluate(pier, judge=one, out=out, limits=limits, **GIVEN)) == []
    two = served(lambda _: "gpt-x-2")
    (said,) = told(ragstone.evaluate(pier, judge=two, out=out, **GIVEN))
    assert f"gpt-x-1 (2 replies), gpt-x-2 ({len(two.requests)} replies)" in said
    assert told(ragstone.rescore(out, metrics="hallucination")) == [said]


def test_of_a_server_that_names_itself_ever_otherwise_the_first_names_stand_for_all(
    pier: Rows,
) -> None:
    model = served(lambda count: f"{count}\ud800" + "x" * 10_000)
    (said,) = told(ragstone.evaluate(pier, judge=model, **GIVEN))
    assert "and 1 more" in said
    assert "mix 4 judges" in said
    assert len(said) < 600
