"""Haystack: the component stands in a pipeline of the real library."""

import asyncio
from typing import Any

import pytest
from haystack import Document, Pipeline, component
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.telemetry import _telemetry

from ragstone.core.errors import InputError
from ragstone.guard.integrations.haystack import AnswerGuard
from ragstone.guard.integrations.request_guard import HELD

PIER = [Document(id="p", content="The pier is 90 m long.", score=0.9)]
QUESTION = "How long is the pier?"
RIGHT, WRONG = "The pier is 90 m long.", "It was built in 1822."
NO_CITATIONS = {"citations": False}


def test_these_tests_tell_nobody_that_they_run() -> None:
    assert _telemetry.telemetry is None


@component
class Says:
    """A generator that says the same whatever it is asked."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    @component.output_types(replies=list[str])
    def run(self, query: str) -> dict[str, Any]:
        return {"replies": self.texts if query else []}


def piped(texts: list[str], guard: AnswerGuard) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("llm", Says(texts))
    pipeline.add_component("guard", guard)
    pipeline.connect("llm.replies", "guard.replies")
    return pipeline


ASKED = {"llm": {"query": QUESTION}, "guard": {"query": QUESTION, "documents": PIER}}


def test_a_pipeline_gives_what_its_documents_support_and_nothing_else() -> None:
    told = piped([RIGHT, WRONG], AnswerGuard(NO_CITATIONS)).run(ASKED)["guard"]
    assert told["replies"] == [RIGHT, HELD]
    assert told["held"] == [False, True]
    assert [one["ok"] for one in told["assessments"]] == [True, False]


def test_it_runs_in_a_pipeline_async() -> None:
    pipeline = piped([RIGHT, WRONG], AnswerGuard(NO_CITATIONS))
    told = asyncio.run(pipeline.run_async(ASKED))["guard"]
    assert told["replies"] == [RIGHT, HELD]


def test_a_pipeline_with_it_is_saved_and_loaded() -> None:
    settings: dict[str, Any] = {
        "checks": {"citations": False, "least_retrieval_score": None},
        "deadline": 2.0,
        "abstain_ok": True,
        "on_fail": "Sorry.",
        "if_not_judged": "closed",
    }
    pipeline = piped([WRONG], AnswerGuard(**settings))
    modules = [AnswerGuard.__module__, Says.__module__]
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=modules)
    saved = again.to_dict()["components"]["guard"]["init_parameters"]
    assert saved == {**settings, "judge": None}
    assert again.run(ASKED)["guard"]["replies"] == ["Sorry."]


def judged(reply: Any, **how: Any) -> Any:
    found = AnswerGuard(NO_CITATIONS, **how).run(QUESTION, [reply], PIER)
    return found["replies"][0], found["assessments"][0]


def test_messages_are_replaced_as_messages() -> None:
    message = ChatMessage.from_assistant(
        WRONG, meta={"model": "m", "logprobs": [WRONG]}, reasoning="It may be old.",
    )  # fmt: skip
    given, told = judged(message)
    assert (given.text, given.meta) == (HELD, {"model": "m"})
    assert given.reasoning.reasoning_text == "It may be old."
    assert told["ok"] is False
    right = ChatMessage.from_assistant(RIGHT)
    assert judged(right)[0] is right


@pytest.mark.parametrize("run", ["run", "run_async"])
def test_a_call_of_a_tool_passes_and_is_told_as_not_judged(run: str) -> None:
    call = ChatMessage.from_assistant(tool_calls=[ToolCall("search", {"q": "x"})])
    called = getattr(AnswerGuard(if_not_judged="closed"), run)(QUESTION, [call], PIER)
    told = asyncio.run(called) if run == "run_async" else called
    assert told["replies"] == [call]
    assert told["assessments"][0]["checks"][0]["reason"] == "no_text"


def test_scores_and_ids_of_documents_are_judged_by() -> None:
    poor = [Document(id="p", content="The pier is 90 m long.", score=0.1)]
    found = AnswerGuard().run(QUESTION, ["The pier is 90 m long [p]."], poor)
    assert [one["code"] for one in found["assessments"][0]["issues"]] == ["low_retrieval_score"]


def test_only_the_assessment_tells_where_nothing_is_given_instead() -> None:
    given, told = judged(WRONG, on_fail=None)
    assert given == WRONG
    assert told["ok"] is False


def test_settings_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(InputError, match="deadline"):
        AnswerGuard(deadline=0)
    with pytest.raises(InputError, match="give on_fail= what is given instead"):
        AnswerGuard(on_fail=None, if_not_judged="closed")
