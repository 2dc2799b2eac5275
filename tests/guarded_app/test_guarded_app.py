"""The app of examples/guarded_app, run by a real server and asked by real clients."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from examples.guarded_app.app import ANSWERS, ARCHIVE, BUILT, PIER, app
from ragstone.guard.integrations.request_guard import HELD
from tests.availability import Lazily
from tests.serving import served

openai: Any = Lazily("openai")

PATIENCE = 60
"""Seconds; a busy machine is far below it."""
FIRST = "The pier at Penmarrow was built in 1859."


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(lambda _: app) as host:
        yield f"http://{host}/v1"


def asked(question: str, *, stream: bool) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question}], "stream": stream, "model": "m"}


@pytest.fixture
def ask(address: str) -> Any:
    def call(question: str) -> httpx2.Response:
        url = f"{address}/chat/completions"
        return httpx2.post(url, json=asked(question, stream=False), timeout=PATIENCE)

    return call


@pytest.fixture
def stream(address: str) -> Any:
    """The chunks of an answer, as they come."""

    def call(question: str) -> list[Any]:
        found = []
        url, body = f"{address}/chat/completions", asked(question, stream=True)
        with httpx2.stream("POST", url, json=body, timeout=PATIENCE) as reply:
            assert reply.headers["ragstone-guard"].startswith("action=streamed, policy=")
            for line in reply.iter_lines():
                if line.startswith("data: ") and line != "data: [DONE]":
                    found.append(json.loads(line.removeprefix("data: ")))
        return found

    return call


def text_of(chunks: list[Any]) -> str:
    return "".join(one["choices"][0]["delta"].get("content", "") for one in chunks)


def test_a_right_answer_comes_as_it_was_written(ask: Any, stream: Any) -> None:
    reply = ask(PIER)
    assert reply.json()["choices"][0]["message"]["content"] == ANSWERS[PIER]
    assert reply.headers["ragstone-guard"].startswith("ok=?1, decision=pass, action=passed")
    chunks = stream(PIER)
    assert text_of(chunks) == ANSWERS[PIER]
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["ragstone_guard"]["ok"] is True


def test_what_was_made_up_does_not_come(ask: Any, stream: Any) -> None:
    reply = ask(BUILT)
    assert reply.json()["choices"][0]["message"]["content"] == HELD
    assert "East India" not in reply.text
    chunks = stream(BUILT)
    assert text_of(chunks) == f"{FIRST} {HELD}"
    assert "East India" not in json.dumps(chunks)
    assert chunks[-1]["choices"][0]["finish_reason"] == "content_filter"
    assert chunks[-1]["ragstone_guard"]["action"] == "replaced"


def test_what_was_not_judged_in_time_does_not_come(ask: Any, stream: Any) -> None:
    reply = ask(ARCHIVE)
    assert reply.json()["choices"][0]["message"]["content"] == HELD
    note = reply.json()["ragstone_guard"]
    assert note["ok"] is None
    assert "not_judged" in note["checks"].values()
    chunks = stream(ARCHIVE)
    assert text_of(chunks) == HELD
    assert chunks[-1]["ragstone_guard"]["ok"] is None


def test_a_question_without_passages_is_not_answered_from_nothing(ask: Any) -> None:
    assert ask("Who are you?").json()["choices"][0]["message"]["content"] == HELD


def test_the_client_of_openai_reads_it_as_any_other_server(address: str) -> None:
    client = openai.OpenAI(base_url=address, api_key="none", timeout=PATIENCE, max_retries=0)
    messages: Any = [{"role": "user", "content": BUILT}]
    chunks = list(client.chat.completions.create(model="m", messages=messages, stream=True))
    assert "".join(one.choices[0].delta.content or "" for one in chunks) == f"{FIRST} {HELD}"
    assert chunks[-1].choices[0].finish_reason == "content_filter"
    assert (chunks[-1].model_extra or {})["ragstone_guard"]["ok"] is False
    whole = client.chat.completions.create(model="m", messages=messages)
    assert whole.choices[0].message.content == HELD
    client.close()
