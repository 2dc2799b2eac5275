"""ScriptedModel says what it was given to say."""

import asyncio
from typing import Any

import pytest

from ragstone.models.chat import ChatFailure, ChatReply, ChatRequest
from ragstone.testing import ScriptedModel

REQUEST = ChatRequest("system", ("text",), {}, "task")


def said(model: ScriptedModel, times: int = 1) -> list[ChatReply]:
    async def work() -> list[ChatReply]:
        return list(await asyncio.gather(*(model.reply(REQUEST) for _ in range(times))))

    return asyncio.run(work())


def test_it_speaks_in_order_and_keeps_what_it_was_asked() -> None:
    model = ScriptedModel(["one", {"p01": 1}, ChatReply("", "refusal")])
    assert said(model, 3) == [ChatReply("one"), ChatReply('{"p01": 1}'), ChatReply("", "refusal")]
    assert model.requests == [REQUEST] * 3
    with pytest.raises(AssertionError, match="has 3 replies"):
        said(model)


def test_it_may_answer_what_it_is_asked_at_once_or_later() -> None:
    async def later(request: ChatRequest) -> Any:
        await asyncio.sleep(0)
        return request.text

    assert said(ScriptedModel(lambda request: {"text": request.text}))[0].text == '{"text": "text"}'
    model = ScriptedModel(later, delay=0.001)
    assert said(model, 2)[0].text == "text"
    assert model.most == 2


def test_it_fails_where_the_script_does() -> None:
    with pytest.raises(ChatFailure, match="busy"):
        said(ScriptedModel([ChatFailure("rate_limit", "busy")]))


def test_it_has_the_name_that_it_is_given() -> None:
    model = ScriptedModel([], name="openai:x", identity="openai x seed=7", window=4_096)
    assert (model.name, model.identity, model.window) == ("openai:x", "openai x seed=7", 4_096)
    assert ScriptedModel([]).identity == "scripted"
