"""Haystack: the component stands in a pipeline of the real library."""

import asyncio
from typing import Any

import pytest

from ragstone.core.errors import InputError
from ragstone.guard.integrations.request_guard import HELD
from tests.availability import Lazily

hay: Any = Lazily("tests.guard.integrations.haystack_pipeline")

QUESTION = "How long is the pier?"
RIGHT, WRONG = "The pier is 90 m long.", "It was built in 1822."
NO_CITATIONS = {"citations": False}


def test_these_tests_tell_nobody_that_they_run() -> None:
    assert hay.telemetry.telemetry is None


def test_a_pipeline_gives_what_its_documents_support_and_nothing_else() -> None:
    told = hay.piped([RIGHT, WRONG], hay.AnswerGuard(NO_CITATIONS)).run(hay.ASKED)["guard"]
    assert told["replies"] == [RIGHT, HELD]
    assert told["held"] == [False, True]
    assert [one["ok"] for one in told["assessments"]] == [True, False]


def test_it_runs_in_a_pipeline_async() -> None:
    pipeline = hay.piped([RIGHT, WRONG], hay.AnswerGuard(NO_CITATIONS))
    told = asyncio.run(pipeline.run_async(hay.ASKED))["guard"]
    assert told["replies"] == [RIGHT, HELD]


def test_a_pipeline_with_it_is_saved_and_loaded() -> None:
    settings: dict[str, Any] = {
        "checks": {"citations": False, "least_retrieval_score": None},
        "deadline": 2.0,
        "abstain_ok": True,
        "on_fail": "Sorry.",
        "if_not_judged": "closed",
    }
    pipeline = hay.piped([WRONG], hay.AnswerGuard(**settings))
    modules = [hay.AnswerGuard.__module__, hay.Says.__module__]
    again = hay.Pipeline.loads(pipeline.dumps(), allowed_modules=modules)
    saved = again.to_dict()["components"]["guard"]["init_parameters"]
    assert saved == {**settings, "judge": None}
    assert again.run(hay.ASKED)["guard"]["replies"] == ["Sorry."]


def judged(reply: Any, **how: Any) -> Any:
    found = hay.AnswerGuard(NO_CITATIONS, **how).run(QUESTION, [reply], hay.PIER)
    return found["replies"][0], found["assessments"][0]


def test_messages_are_replaced_as_messages() -> None:
    message = hay.ChatMessage.from_assistant(
        WRONG, meta={"model": "m", "logprobs": [WRONG]}, reasoning="It may be old.",
    )  # fmt: skip
    given, told = judged(message)
    assert (given.text, given.meta) == (HELD, {"model": "m"})
    assert given.reasoning.reasoning_text == "It may be old."
    assert told["ok"] is False
    right = hay.ChatMessage.from_assistant(RIGHT)
    assert judged(right)[0] is right


@pytest.mark.parametrize("run", ["run", "run_async"])
def test_a_call_of_a_tool_passes_and_is_told_as_not_judged(run: str) -> None:
    call = hay.ChatMessage.from_assistant(tool_calls=[hay.ToolCall("search", {"q": "x"})])
    called = getattr(hay.AnswerGuard(if_not_judged="closed"), run)(QUESTION, [call], hay.PIER)
    told = asyncio.run(called) if run == "run_async" else called
    assert told["replies"] == [call]
    assert told["assessments"][0]["checks"][0]["reason"] == "no_text"


def test_scores_and_ids_of_documents_are_judged_by() -> None:
    poor = [hay.Document(id="p", content="The pier is 90 m long.", score=0.1)]
    found = hay.AnswerGuard().run(QUESTION, ["The pier is 90 m long [p]."], poor)
    assert [one["code"] for one in found["assessments"][0]["issues"]] == ["low_retrieval_score"]


def test_only_the_assessment_tells_where_nothing_is_given_instead() -> None:
    given, told = judged(WRONG, on_fail=None)
    assert given == WRONG
    assert told["ok"] is False


def test_settings_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(InputError, match="deadline"):
        hay.AnswerGuard(deadline=0)
