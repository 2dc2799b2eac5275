"""A function as a model."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from ragstone.errors import ModelError
from ragstone.models.chat import CallableChat, ChatFailure, ChatReply, ChatRequest, Usage


async def text(request: ChatRequest) -> str:
    return f"{request.system} {request.text}"


async def mapping(request: ChatRequest) -> dict[str, str]:
    return dict.fromkeys(request.schema["required"], "ü")


async def reply(request: ChatRequest) -> ChatReply:
    return ChatReply("", "refusal", Usage(prompt=len(request.parts)))


async def nothing(_: ChatRequest) -> None:
    return None


async def late(_: ChatRequest) -> str:
    raise TimeoutError("too late")


async def offline(_: ChatRequest) -> str:
    raise ConnectionResetError("reset")


async def declared(_: ChatRequest) -> str:
    raise ChatFailure("rate_limit", "slow down", after=2)


async def broken(_: ChatRequest) -> str:
    raise KeyError("mine")


def at_once(_: ChatRequest) -> str:
    return "{}"


class Judge:
    async def __call__(self, request: ChatRequest) -> str:
        return request.name


def ask(function: Callable[..., Awaitable[object]], question: ChatRequest) -> ChatReply:
    return asyncio.run(CallableChat(function).reply(question))  # type: ignore[arg-type]


def test_a_function_gives_a_reply_its_text_or_the_object(question: ChatRequest) -> None:
    assert ask(text, question) == ChatReply("You judge. CONTEXTS\nIs it so?")
    assert ask(mapping, question) == ChatReply('{"p01": "ü"}')
    assert ask(reply, question) == ChatReply("", "refusal", Usage(prompt=2))
    assert ask(Judge(), question) == ChatReply("support")
    assert ask(partial(text), question) == ask(text, question)


@pytest.mark.parametrize(
    ("function", "trouble"),
    [(nothing, "bad_reply"), (late, "timeout"), (offline, "connection"), (declared, "rate_limit")],
)
def test_a_function_that_has_no_reply_says_why(
    function: Callable[..., Awaitable[object]], trouble: str, question: ChatRequest
) -> None:
    with pytest.raises(ChatFailure) as raised:
        ask(function, question)
    assert raised.value.trouble == trouble


def test_a_fault_of_the_function_is_seen(question: ChatRequest) -> None:
    with pytest.raises(KeyError, match="mine"):
        ask(broken, question)


def test_a_function_that_is_not_async_is_refused(question: ChatRequest) -> None:
    with pytest.raises(ModelError, match="async"):
        ask(at_once, question)  # type: ignore[arg-type]


def test_identity_is_the_source_of_the_function() -> None:
    assert CallableChat(text).identity == CallableChat(text).identity
    assert CallableChat(text).identity != CallableChat(mapping).identity
    assert CallableChat(text).identity != CallableChat(text, version="2").identity
    assert "test_callable.text" in CallableChat(text).identity
    assert "Judge" in CallableChat(Judge()).identity


def test_a_function_without_a_source_has_an_identity_too() -> None:
    assert CallableChat(asyncio.sleep, "pause").identity.startswith("callable pause asyncio")  # type: ignore[arg-type]


def test_a_function_has_a_name_a_window_and_no_notes() -> None:
    model = CallableChat(text, "mine", window=9)
    assert (model.name, model.window, model.notes) == ("mine", 9, ())
    assert model.about.startswith("mine, a function: ")
    asyncio.run(model.close())
