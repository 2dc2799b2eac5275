"""A function as a model."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from ragstone.core.errors import InputError, ModelError
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


def answering(words: str) -> Callable[[ChatRequest], Awaitable[str]]:
    async def answer(_: ChatRequest) -> str:
        return words

    return answer


def ask(function: Callable[..., Awaitable[object]], question: ChatRequest) -> ChatReply:
    model = CallableChat(function, identity="a test's")  # type: ignore[arg-type]
    return asyncio.run(model.reply(question))


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


def identity(function: object) -> str:
    return CallableChat(function).identity  # type: ignore[arg-type]


def test_identity_is_the_name_and_the_source_of_the_function() -> None:
    assert identity(text) == identity(text) != identity(mapping)
    assert identity(text) != CallableChat(text, "another").identity
    assert "test_library_clients.text" in identity(text)


def test_an_identity_that_is_given_takes_the_place_of_the_source() -> None:
    def known(function: object, identity: str) -> str:
        return CallableChat(function, "mine", identity=identity).identity  # type: ignore[arg-type]

    assert known(text, "1") == known(mapping, "1") == known(Judge(), "1")
    assert known(text, "1") != known(text, "2")


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (answering("gpt"), "it uses words of the enclosing function"),
        (partial(text), "it is a partial, which may hold anything"),
        (Judge(), "it is a Judge, which may hold anything"),
        (Judge().__call__, "it is a method, which may hold anything"),
    ],
)
def test_a_function_whose_source_does_not_show_all_of_it_needs_an_identity(
    function: object, fault: str
) -> None:
    with pytest.raises(InputError, match=fault) as caught:
        identity(function)
    assert str(caught.value).endswith(': CallableChat(function, "callable", identity="1")')


def test_a_function_has_a_name_a_window_and_no_notes() -> None:
    model = CallableChat(text, "mine", window=9)
    assert (model.name, model.window, model.notes) == ("mine", 9, ())
    assert model.about.startswith("mine, a function: ")
    asyncio.run(model.close())


ELSEWHERE = """
from tests_function import answer
from ragstone.models.chat import CallableChat
print(CallableChat(answer).identity)
"""


def test_another_process_knows_a_function_by_the_same_identity(tmp_path: Path) -> None:
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))

    def known() -> str:
        return subprocess.run(
            [sys.executable, "-B", "-c", ELSEWHERE],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONPATH": path},
            text=True,
        ).stdout

    file = tmp_path / "tests_function.py"
    file.write_text("async def answer(_, loud=False):\n    return 'a'\n")
    first = known()
    assert first == known()
    file.write_text("async def answer(_, loud=False):\n    return 'b'\n")
    assert known() != first
