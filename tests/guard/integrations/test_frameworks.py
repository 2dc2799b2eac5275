"""Frameworks: the recipes in examples work with the real libraries."""

import asyncio
import importlib.util
from functools import cache
from typing import Any

import pytest

from ragstone.guard.integrations.request_guard import HELD
from tests.project import ROOT

RIGHT, WRONG = "The pier is 90 m long.", "Napoleon paid for it."
QUESTION = "How long is the pier?"


@cache
def recipe(name: str) -> Any:
    path = ROOT / "examples" / "guarded_frameworks" / f"in_{name}.py"
    spec: Any = importlib.util.spec_from_file_location(f"in_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["langchain", "llama_index", "haystack"])
def test_a_recipe_prints_the_text_in_place_of_what_no_document_says(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe.cache_clear()
    recipe(name)
    assert capsys.readouterr().out == f"{HELD}\n"


def test_these_tests_tell_nobody_that_they_run() -> None:
    recipe("haystack")
    from haystack.telemetry import _telemetry

    assert _telemetry.telemetry is None


@pytest.mark.parametrize(("answer", "given"), [(RIGHT, RIGHT), (WRONG, HELD)])
def test_a_step_of_a_chain_replaces_what_its_documents_do_not_support(
    answer: str, given: str
) -> None:
    module = recipe("langchain")
    chain = module.retrieve | module.RunnableLambda(module.judge)
    state = {"question": QUESTION, "answer": answer}
    for after in (chain.invoke(state), asyncio.run(chain.ainvoke(state))):
        assert after["answer"] == given
        assert after["question"] == QUESTION


def test_a_response_that_is_held_keeps_its_nodes() -> None:
    right, wrong = map(recipe("llama_index").ask, (QUESTION, "Who paid?"))
    assert (str(right), str(wrong)) == ("It is 90 m long.", HELD)
    assert len(wrong.source_nodes) == len(right.source_nodes) == 1


def test_a_component_replaces_the_replies_that_do_not_pass() -> None:
    module = recipe("haystack")
    replies = {"query": QUESTION, "replies": [RIGHT, WRONG], "documents": module.documents}
    assert module.pipeline.run({"guard": replies})["guard"]["replies"] == [RIGHT, HELD]
