"""What workers are told of models holds no key and no code, and has the same settings."""

import asyncio
import pickle
from typing import Any

import pytest

from ragstone.models.chat import CallableChat, ChatRequest
from ragstone.models.chat.chat_names import open_chat
from ragstone.models.embedding_api import openai_server
from ragstone.run.judging.run_models import ChatJudges, Named, chat_judges
from ragstone.run.ray_engine.model_relay import ModelProxy, stand_ins
from ragstone.run.settings import PLAIN

KEY = "sk-of-the-run"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def opened(judge: Any) -> ChatJudges:
    return chat_judges(judge, PLAIN, (), "", offline=False, to_ask=False)


async def own(request: ChatRequest) -> str:
    return request.name


def test_models_given_as_objects_go_without_key_or_code_under_the_same_settings() -> None:
    model = open_chat("openai:m")
    given: list[Named] = ["local", "openai:a,openai:b", [model, CallableChat(own, "own")], own]
    chat = opened(given)
    told = stand_ins(given, chat)
    assert told[:2] == given[:2]
    kept = pickle.dumps(told)
    assert KEY.encode() not in kept
    there = opened(pickle.loads(kept))
    assert there.settings() == chat.settings()
    assert there.names == chat.names


@pytest.mark.parametrize("judge", ["local", ("human", "local"), ()])
def test_judges_that_are_names_stay_so(judge: Any) -> None:
    assert stand_ins(judge, opened(judge)) == ([judge] if isinstance(judge, str) else [*judge])


def test_a_stand_in_is_not_asked() -> None:
    (model,) = opened(own).models
    with pytest.raises(RuntimeError, match="asked about claims by the process of the run"):
        asyncio.run(ModelProxy.of(model).reply(ChatRequest("", ("",), {}, "claims")))


def test_a_key_does_not_leave_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    server = openai_server("openai:embed")
    kept = pickle.dumps(server)
    assert server.key == KEY
    assert KEY.encode() not in kept
    assert pickle.loads(kept) == server
    monkeypatch.delenv("OPENAI_API_KEY")
    assert pickle.loads(kept).key is None
