"""A function as a model."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

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


def answering(words: object, *, spoken: object = "") -> Callable[[ChatRequest], Awaitable[str]]:
    async def answer(_: ChatRequest, tone: object = spoken, *, mood: object = spoken) -> str:
        return f"{words} {tone} {mood}"

    return answer


async def said_with(_: ChatRequest, words: str = "", loud: bool = False) -> str:
    return words.upper() if loud else words


class Client:
    def __init__(self, model: object) -> None:
        self.model = model

    async def __call__(self, _: ChatRequest) -> str:
        return str(self.model)

    async def ask(self, _: ChatRequest) -> str:
        return str(self.model)


def identity(function: Callable[..., Awaitable[str]], version: str = "") -> str:
    return CallableChat(function, version=version).identity


@pytest.mark.parametrize("version", ["", "1"])
def test_what_a_function_was_made_with_is_part_of_its_identity(version: str) -> None:
    made: list[Callable[[Any], Callable[..., Awaitable[str]]]] = [
        answering,
        lambda given: answering("a", spoken=given),
        lambda given: partial(said_with, words=given),
        lambda given: partial(Client.ask, given),
        lambda given: partial(partial(said_with, loud=True), words=given),
        lambda given: partial(answering(given)),
        Client,
        lambda given: Client(given).ask,
        lambda given: answering(Client(given)),
    ]
    for make in made:
        for one, other in [("a", "b"), (1, True), ([1, 2], [2, 1]), ({"k": 1}, {"k": 2})]:
            assert identity(make(one), version) == identity(make(one), version)
            assert identity(make(one), version) != identity(make(other), version)


def test_the_order_of_names_is_no_part_of_an_identity() -> None:
    one = partial(said_with, words="a", loud=True)
    assert identity(one) == identity(partial(said_with, loud=True, words="a"))
    assert identity(answering({"a", "b", "c"})) == identity(answering({"c", "b", "a"}))


def test_a_function_may_refer_to_itself() -> None:
    client = Client([])
    client.model = [client]
    assert identity(client) == identity(client)


def test_what_cannot_be_written_down_shares_nothing_with_another_process() -> None:
    lock = threading.Lock()
    assert identity(answering(lock)) == identity(answering(lock))
    assert identity(answering(lock)) != identity(answering(threading.Lock()))
    assert identity(answering(lock), "1") == identity(answering(threading.Lock()), "1")
    assert identity(answering(lock), "1") != identity(answering(lock), "2")
    assert identity(answering([lock, "a"]), "1") != identity(answering([lock, "b"]), "1")


ELSEWHERE = """
import threading
from tests_function import made
from ragstone.models.chat import CallableChat
for given in ({"a", "b", "c"}, {"model": "m", "n": [1.5, None]}, threading.Lock()):
    print(CallableChat(made(given)).identity)
"""


def test_another_process_knows_a_function_by_the_same_identity(tmp_path: Path) -> None:
    (tmp_path / "tests_function.py").write_text(
        "def made(given):\n    async def answer(_):\n        return given\n    return answer\n"
    )
    first, second = (
        subprocess.run(
            [sys.executable, "-c", ELSEWHERE],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONHASHSEED": seed},
            text=True,
        ).stdout.splitlines()
        for seed in ("1", "2")
    )
    assert first[:2] == second[:2]
    assert first[2] != second[2]
