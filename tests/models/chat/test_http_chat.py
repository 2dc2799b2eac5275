"""Chat over HTTP, against servers on this machine that speak each of the formats."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.models.chat import (
    ChatFailure,
    ChatModel,
    ChatReply,
    ChatRequest,
    Connections,
    http_transport,
    open_chat,
)

KEY = "sk-test-1234567890abcdef"
OPENAI = {"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}], "model": "m"}
ANTHROPIC = {"content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn", "model": "m"}
GEMINI = {
    "candidates": [{"content": {"parts": [{"text": "{}"}]}, "finishReason": "STOP"}],
    "modelVersion": "m",
}
OK: dict[str, Any] = {"openai": OPENAI, "azure": OPENAI, "anthropic": ANTHROPIC, "gemini": GEMINI}
PATHS = {
    "openai": "/v1/chat/completions",
    "azure": "/openai/v1/chat/completions",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/m:generateContent",
}
HEADERS = {
    "openai": ("Authorization", f"Bearer {KEY}"),
    "azure": ("api-key", KEY),
    "anthropic": ("x-api-key", KEY),
    "gemini": ("x-goog-api-key", KEY),
}

Opened = Callable[..., ChatModel]


@pytest.fixture
def opened(scripted: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Opens a model of the server, in any of the formats, with a key."""
    for kind in ("OPENAI", "AZURE_OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{kind}_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{scripted.url}/v1")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", scripted.url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", scripted.url)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", scripted.url)

    def opening(kind: str = "openai", settings: str = "") -> ChatModel:
        scripted.otherwise = (200, {}, OK[kind])
        return open_chat(f"{kind}:m{settings}")

    return opening


def ask(model: ChatModel, request: ChatRequest) -> ChatReply:
    async def once() -> ChatReply:
        try:
            return await model.reply(request)
        finally:
            await model.close()

    return asyncio.run(once())


def failed(model: ChatModel, request: ChatRequest) -> ChatFailure:
    with pytest.raises(ChatFailure) as raised:
        ask(model, request)
    return raised.value


@pytest.mark.parametrize("kind", OK)
def test_each_format_is_spoken(
    kind: str, opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    assert ask(opened(kind), question) == ChatReply("{}", model="m")
    (asked,) = scripted.asked
    assert asked["path"] == PATHS[kind]
    header, value = HEADERS[kind]
    assert asked["headers"][header] == value
    assert asked["headers"]["Content-Type"] == "application/json"
    assert asked["headers"]["Accept-Encoding"] == "identity"
    assert "Cookie" not in asked["headers"]


def test_a_server_without_a_key_gets_none(
    scripted: SimpleNamespace, question: ChatRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    scripted.otherwise = (200, {}, OPENAI)
    assert ask(open_chat(f"{scripted.url}/v1#m"), question).text == "{}"
    assert "Authorization" not in scripted.asked[0]["headers"]


@pytest.mark.parametrize("kind", OK)
@pytest.mark.parametrize(
    ("status", "trouble"),
    [(401, "not_allowed"), (404, "not_found"), (429, "rate_limit"), (500, "server_error"),
     (402, "no_credit"), (529, "server_error"), (418, "rejected")],
)  # fmt: skip
def test_errors_of_each_format_are_failures(
    kind: str, status: int, trouble: str, opened: Opened, scripted: SimpleNamespace,
    question: ChatRequest,
) -> None:  # fmt: skip
    scripted.replies = [(status, {"Retry-After": "3"}, {"error": {"message": "no"}})]
    failure = failed(opened(kind), question)
    assert (failure.trouble, failure.http, failure.after) == (trouble, status, 3)
    assert str(failure).startswith("127.0.0.1:")
    assert len(scripted.asked) == 1


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "replied 401: no. The key of OPENAI_API_KEY was sent"),
        (404, "replied 404: no. Check the address {url}/v1/chat/completions and the model m"),
        (429, "replied 429: no"),
        (500, "replied 500: no"),
    ],
)
def test_a_failure_says_what_to_check_where_key_or_address_may_be_wrong(
    status: int, told: str, opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    scripted.replies = [(status, {}, {"error": {"message": "no"}})]
    host = scripted.url.removeprefix("http://")
    assert str(failed(opened(), question)) == f"{host} {told.format(url=scripted.url)}"


def test_where_no_key_was_sent_it_is_said(scripted: SimpleNamespace, question: ChatRequest) -> None:
    scripted.replies = [(401, {}, {"error": {"message": "no"}})]
    failure = failed(open_chat(f"{scripted.url}/v1#m"), question)
    assert str(failure).endswith("no. No key was sent")


@pytest.mark.parametrize("kind", OK)
def test_no_failure_shows_a_key(
    kind: str, opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    echo = f"wrong key {KEY} or {KEY[:14]} or sk-t****cdef, header x-key:{KEY}"
    model = opened(kind)
    for status in (200, 302, 400, 401, 429, 500):
        scripted.replies = [(status, {"Retry-After": KEY}, {"error": {"message": echo}})]
        failure = failed(model, question)
        assert KEY[:10] not in f"{failure} {failure.body} {failure!r}"
        assert "cdef" not in f"{failure} {failure.body}"


def test_a_key_that_a_model_repeats_is_taken_out(
    opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    model = opened()
    said = {"choices": [{"message": {"content": f"your key is {KEY}"}, "finish_reason": "stop"}]}
    scripted.replies = [(200, {}, said)]
    assert ask(model, question).text == "your key is …"


def test_a_wrong_key_is_told_by_its_variable(
    opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    scripted.replies = [(401, {}, {})]
    assert "The key of ANTHROPIC_API_KEY was sent" in str(failed(opened("anthropic"), question))


def test_a_key_that_was_not_sent_is_told(scripted: SimpleNamespace, question: ChatRequest) -> None:
    scripted.replies = [(401, {}, {})]
    assert "No key was sent" in str(failed(open_chat(f"{scripted.url}/v1#m"), question))


REFUSALS = {
    "openai": (
        400,
        {"error": {"message": "json_schema is not supported", "param": "response_format"}},
    ),
    "azure": (
        400,
        {"error": {"message": "response_format value as json_schema is enabled only for"}},
    ),
    "anthropic": (
        400,
        {"error": {"message": "output_config.format: Extra inputs are not permitted"}},
    ),
    "gemini": (
        400,
        {"error": {"message": 'Unknown name "responseJsonSchema": Cannot find field.'}},
    ),
}


@pytest.mark.parametrize("kind", OK)
def test_a_schema_that_is_refused_is_printed_for_good(
    kind: str, opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    status, body = REFUSALS[kind]
    model = opened(kind)
    scripted.replies = [(status, {}, body)]
    assert ask(model, question).text == "{}"
    assert ask(model, question).text == "{}"
    first, second, third = (str(asked["body"]) for asked in scripted.asked)
    assert "Reply with one JSON object" not in first
    assert "Reply with one JSON object" in second
    assert second == third
    assert model.notes == ("schema",)


def test_what_is_sent_by_default_and_refused_is_left_out_for_good(
    opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    model = opened("openai", "?max_tokens=50")
    scripted.replies = [
        (400, {}, {"error": {"message": "Only the default (1)", "param": "temperature"}}),
        (400, {}, {"error": {"message": "Unsupported parameter", "param": "max_tokens"}}),
        (400, {}, {"error": {"message": "System role not supported"}}),
    ]
    assert ask(model, question).text == "{}"
    assert len(scripted.asked) == 4
    last = scripted.asked[-1]["body"]
    assert "temperature" not in last
    assert "max_tokens" not in last
    assert last["max_completion_tokens"] == 50
    assert [message["role"] for message in last["messages"]] == ["user"]
    assert model.notes == ("max_tokens", "system", "temperature")


@pytest.mark.parametrize(
    ("settings", "body", "shown"),
    [
        ("?temperature=0", {"message": "no", "param": "temperature"}, "temperature=0"),
        ("?effort=low", {"message": "Unknown parameter: reasoning_effort"}, "effort=low"),
        ("?schema=json", {"message": "bad response_format"}, "schema=json"),
        (
            "?seed=7&top_p=0.5",
            {"message": "seed and top_p are not supported"},
            "top_p=0.5 and seed=7",
        ),
    ],
)
def test_what_the_user_set_and_the_server_refuses_is_a_failure(
    settings: str, body: dict[str, Any], shown: str, opened: Opened, scripted: SimpleNamespace,
    question: ChatRequest,
) -> None:  # fmt: skip
    scripted.replies = [(400, {}, {"error": body})]
    model = opened("openai", settings)
    failure = failed(model, question)
    assert failure.trouble == "parameter"
    assert failure.final
    assert f"does not support {shown}, which {model.name} sets" in str(failure)
    assert len(scripted.asked) == 1
    assert model.notes == ()


def test_a_refusal_that_nothing_can_be_left_out_for_is_a_rejection(
    opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    scripted.replies = [(400, {}, {"error": {"message": "seed is odd"}})]
    failure = failed(opened(), question)
    assert failure.trouble == "rejected"
    assert len(scripted.asked) == 1


def test_a_server_that_refuses_everything_is_asked_a_few_times_only(
    opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    model = opened()
    words = "temperature, json_schema and system role are not supported"
    scripted.otherwise = (400, {}, {"error": {"message": words}})
    assert failed(model, question).trouble == "rejected"
    assert len(scripted.asked) == 4


def test_calls_that_are_refused_together_are_each_asked_again_once(
    opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    model = opened()
    scripted.wait = 0.02
    status, body = REFUSALS["openai"]
    scripted.replies = [(status, {}, body)] * 5

    async def together() -> list[ChatReply]:
        try:
            return await asyncio.gather(*(model.reply(question) for _ in range(5)))
        finally:
            await model.close()

    assert [reply.text for reply in asyncio.run(together())] == ["{}"] * 5
    assert len(scripted.asked) == 10
    assert len(model.notes) == 1


def test_a_redirect_is_not_followed(
    opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    scripted.replies = [(307, {"Location": "/elsewhere"}, "")]
    failure = failed(opened(), question)
    assert failure.trouble == "not_found"
    assert "a redirect, which is not followed" in str(failure)
    assert [asked["path"] for asked in scripted.asked] == ["/v1/chat/completions"]


def test_a_reply_of_too_many_bytes_is_refused(
    opened: Opened,
    scripted: SimpleNamespace,
    question: ChatRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_transport, "MOST_BODY", 1_000)
    scripted.replies = [(200, {}, "x" * 1_001)]
    failure = failed(opened(), question)
    assert (failure.trouble, failure.http) == ("bad_reply", 200)
    assert "sent more than 1,000 bytes" in str(failure)


def test_a_file_of_replies_of_too_many_bytes_is_refused(scripted: SimpleNamespace) -> None:
    connections = http_transport.Connections()

    async def read() -> None:
        try:
            async for _ in connections.pieces("GET", f"{scripted.url}/file", {}, most=5):
                pass
        finally:
            await connections.close()

    with pytest.raises(ChatFailure, match="sent more than 5 bytes"):
        asyncio.run(read())


def test_a_server_that_breaks_off_is_a_connection_failure(
    opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    model = opened()
    scripted.replies = ["reset"]
    failure = failed(model, question)
    assert (failure.trouble, failure.http) == ("connection", None)
    assert failure.passing


def test_a_body_that_is_cut_is_a_connection_failure(question: ChatRequest) -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        await writer.drain()
        writer.close()

    async def asked() -> ChatFailure:
        server = await asyncio.start_server(cut, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        model = open_chat(f"http://127.0.0.1:{port}/v1#m")
        async with server:
            with pytest.raises(ChatFailure) as raised:
                await model.reply(question)
            await model.close()
        return raised.value

    assert asyncio.run(asked()).trouble == "connection"


def test_a_server_that_is_not_there_is_told_apart(question: ChatRequest) -> None:
    failure = failed(open_chat("http://127.0.0.1:1/v1#m"), question)
    assert failure.trouble == "unreachable"
    assert str(failure).startswith("127.0.0.1:1 cannot be reached: ")


def test_a_proxy_is_not_asked_for_a_server_on_this_machine(
    opened: Opened, question: ChatRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert ask(opened(), question).text == "{}"


def test_a_proxy_is_asked_for_others(
    scripted: SimpleNamespace, question: ChatRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", scripted.url)
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("NO_PROXY", "")
    scripted.otherwise = (200, {}, OPENAI)
    assert ask(open_chat("http://judge.invalid/v1#m"), question).text == "{}"
    assert scripted.asked[0]["headers"]["Host"] == "judge.invalid"


def test_cancelling_ends_a_call(
    opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    model = opened()
    scripted.wait = 0.3

    async def impatient() -> None:
        try:
            async with asyncio.timeout(0.05):
                await model.reply(question)
        finally:
            await model.close()

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())


def test_models_share_connections_and_many_are_open_at_once(
    opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    opened()
    scripted.wait = 0.1

    async def many() -> None:
        connections = Connections()
        models = [open_chat(f"openai:m?seed={seed}", connections) for seed in (1, 2)]
        try:
            for _ in range(2):
                await asyncio.gather(*(models[at % 2].reply(question) for at in range(40)))
                await models[0].close()
        finally:
            await connections.close()

    asyncio.run(many())
    assert len(scripted.asked) == 80
    assert scripted.most == 40
    assert len(scripted.clients) == 40


def test_half_a_character_is_replaced(
    opened: Opened, scripted: SimpleNamespace, question: ChatRequest
) -> None:
    odd = ChatRequest("ü", ("\ud800 ok \x00 é",), question.schema, "support")
    assert ask(opened(), odd).text == "{}"
    assert scripted.asked[0]["body"]["messages"][1]["content"] == "\ufffd ok \x00 é"
