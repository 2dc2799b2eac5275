"""OpenAI's format: what is sent, and what is read from what comes back."""

import json
from dataclasses import replace
from typing import Any, Literal

import pytest

from ragstone.models.chat import ChatFailure, ChatReply, ChatRequest, Settings, Usage
from ragstone.models.chat.http_chat import Wire
from ragstone.models.chat.http_formats import COMPATIBLE, OPENAI
from ragstone.models.chat.wire_format import PRINTED

NOTHING: frozenset[str] = frozenset()

REPLY: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1760000000,
    "model": "gpt-5-mini-2025-08-07",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": '{"p01": "yes"}', "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 1200,
        "completion_tokens": 80,
        "total_tokens": 1280,
        "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 64, "audio_tokens": 0},
    },
}


def got(reply: object, status: int = 200) -> ChatReply:
    return OPENAI.read(status, {}, json.dumps(reply).encode())


def choice(finish: object = "stop", **message: object) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": finish}]}


@pytest.mark.parametrize(
    ("said", "prompt", "cached"),
    [
        ({"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 800}}, 1000, 800),
        ({"prompt_tokens": 200, "prompt_tokens_details": {"cached_tokens": 800}}, 1000, 800),
        ({"prompt_tokens": 900, "total_tokens": 1800, "cache_read_input_tokens": 800}, 1700, 800),
        ({"prompt_tokens": 900, "total_tokens": 1000, "cache_read_input_tokens": 800}, 900, 800),
        ({"prompt_tokens": 1000, "prompt_cache_hit_tokens": 800}, 1000, 800),
        ({"prompt_tokens": 1000, "total_tokens": 1100}, 1000, None),
    ],
)
def test_cached_tokens_are_counted_within_the_prompt_or_beside_it(
    said: dict[str, Any], prompt: int, cached: int | None
) -> None:
    usage = got(choice(content="{}") | {"usage": {"completion_tokens": 100, **said}}).usage
    assert (usage.prompt, usage.cached, usage.completion) == (prompt, cached, 100)


def test_a_question_is_system_user_schema_and_temperature(question: ChatRequest) -> None:
    assert OPENAI.body(question, "gpt", Settings(), NOTHING) == {
        "model": "gpt",
        "messages": [
            {"role": "system", "content": "You judge."},
            {"role": "user", "content": "CONTEXTS\nIs it so?"},
        ],
        "temperature": 0,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "judgements", "strict": True, "schema": question.schema},
        },
    }


def test_settings_have_their_fields(question: ChatRequest) -> None:
    settings = Settings(0.5, 0.9, 7, "low", 4096, "json")
    body = OPENAI.body(question, "gpt", settings, NOTHING)
    assert body["temperature"] == 0.5
    assert body["top_p"] == 0.9
    assert body["seed"] == 7
    assert body["reasoning_effort"] == "low"
    assert body["max_completion_tokens"] == 4096
    assert body["response_format"] == {"type": "json_object"}
    assert COMPATIBLE.body(question, "m", settings, NOTHING)["max_tokens"] == 4096


def test_a_printed_schema_comes_with_a_worked_reply_and_one_in_its_field_does_not(
    question: ChatRequest,
) -> None:
    asked = replace(question, example='{"p99": "no"}')
    layouts: tuple[Literal["prompt", "json"], ...] = ("prompt", "json")
    for schema in layouts:
        body = OPENAI.body(asked, "gpt", Settings(schema=schema), NOTHING)
        assert body["messages"][-1]["content"].endswith('\n{"p99": "no"}')
    assert "p99" not in json.dumps(OPENAI.body(asked, "gpt", Settings(), NOTHING))


def test_a_printed_schema_stands_last(question: ChatRequest) -> None:
    body = OPENAI.body(question, "gpt", Settings(schema="prompt"), NOTHING)
    assert "response_format" not in body
    text = body["messages"][1]["content"]
    assert text.startswith("CONTEXTS\nIs it so?\n\n" + PRINTED)
    assert json.loads(text.rpartition("\n")[2]) == question.schema
    assert " " not in text.rpartition("\n")[2]


def test_what_the_server_lacks_is_left_out(question: ChatRequest) -> None:
    lacks = frozenset({"schema", "temperature", "system", "max_completion_tokens"})
    body = OPENAI.body(question, "gpt", Settings(max_tokens=9), lacks)
    assert set(body) == {"model", "messages", "max_tokens"}
    (message,) = body["messages"]
    assert message["content"].startswith("You judge.\n\nCONTEXTS\n")


def test_what_the_user_set_is_never_left_out(question: ChatRequest) -> None:
    settings = Settings(temperature=0.0, top_p=0.5, seed=1, effort="low", schema="strict")
    names = frozenset({"schema", "temperature", "top_p", "seed", "effort"})
    assert OPENAI.body(question, "gpt", settings, names) == OPENAI.body(
        question, "gpt", settings, NOTHING
    )


def test_a_reply_is_its_words_usage_and_model() -> None:
    assert got(REPLY) == ChatReply(
        '{"p01": "yes"}', "stop", Usage(1200, 80, 1024, 64), "gpt-5-mini-2025-08-07"
    )


def test_usage_that_is_absent_is_not_known() -> None:
    assert got(choice(content="x")).usage == Usage()
    assert got(choice(content="x") | {"usage": {"prompt_tokens": 5}}).usage == Usage(prompt=5)
    odd = {"prompt_tokens": "5", "completion_tokens": True, "prompt_tokens_details": None}
    assert got(choice(content="x") | {"usage": odd}).usage == Usage()


@pytest.mark.parametrize(
    ("finish", "message", "expected"),
    [
        ("length", {"content": '{"p0'}, ChatReply('{"p0', "length")),
        ("length", {"content": None}, ChatReply("", "length")),
        ("content_filter", {"content": "half"}, ChatReply("", "filter")),
        ("stop", {"content": None, "refusal": "I can't"}, ChatReply("", "refusal")),
        (None, {"content": "x"}, ChatReply("x")),
        (["odd"], {"content": "x"}, ChatReply("x")),
        ("stop", {"content": "<think>a</think>{}"}, ChatReply("<think>a</think>{}")),
        ("stop", {"content": "{}", "reasoning_content": "hm"}, ChatReply("{}")),
        (
            "stop",
            {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 1]},
            ChatReply("ab"),
        ),
        (
            "tool_calls",
            {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": '{"a":1}'}}]},
            ChatReply('{"a":1}'),
        ),
    ],
)
def test_every_end_of_a_reply_is_told_apart(
    finish: object, message: dict[str, Any], expected: ChatReply
) -> None:
    assert got(choice(finish, **message)) == expected


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>hello</html>", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{}]}', b"\xff{",
     b'{"choices": [{"message": "x"}]}', b'{"choices"', b"[" * 100_000],
)  # fmt: skip
def test_what_is_not_of_the_format_is_a_bad_reply(body: bytes) -> None:
    with pytest.raises(ChatFailure) as raised:
        OPENAI.read(200, {}, body)
    assert raised.value.trouble == "bad_reply"
    assert raised.value.passing
    assert len(raised.value.body) <= 501


@pytest.mark.parametrize(
    ("reply", "trouble"),
    [
        ({"error": {"message": "Rate limit exceeded", "code": 429}}, "rate_limit"),
        ({"error": {"message": "upstream broke"}}, "server_error"),
        ({"choices": [{"error": {"code": 502, "message": "x"}, "message": {}}]}, "server_error"),
    ],
)
def test_an_error_within_a_good_status_is_an_error(reply: object, trouble: str) -> None:
    with pytest.raises(ChatFailure) as raised:
        got(reply)
    assert raised.value.trouble == trouble


def test_the_runs_own_limit_goes_where_the_users_would(question: ChatRequest) -> None:
    limited = replace(question, limit=500)
    assert OPENAI.body(limited, "m", Settings(), NOTHING)["max_completion_tokens"] == 500
    assert COMPATIBLE.body(limited, "m", Settings(), NOTHING)["max_tokens"] == 500
    for asked, sent in ((300, 300), (900, 500)):
        made = OPENAI.body(limited, "m", Settings(max_tokens=asked), NOTHING)
        assert made["max_completion_tokens"] == sent
    lacks = frozenset({"max_tokens", "max_completion_tokens"})
    assert not lacks & set(OPENAI.body(limited, "m", Settings(), lacks))


@pytest.mark.parametrize("error", [{"message": "no"}, "no"])
@pytest.mark.parametrize("within", ["reply", "choice"])
def test_an_error_without_a_status_of_its_own_is_the_servers(error: object, within: str) -> None:
    body = {"error": error} if within == "reply" else {"choices": [{"error": error}]}
    with pytest.raises(ChatFailure) as raised:
        OPENAI.read(200, {}, json.dumps(body).encode())
    assert (raised.value.http, raised.value.trouble) == (500, "server_error")


@pytest.mark.parametrize(
    ("code", "status"), [(400, 400), (599, 599), (399, 500), (600, 500), ("400", 500)]
)
def test_an_error_inside_a_reply_has_its_own_status(code: object, status: int) -> None:
    with pytest.raises(ChatFailure) as raised:
        OPENAI.read(200, {}, json.dumps({"error": {"code": code}}).encode())
    assert raised.value.http == status


@pytest.mark.parametrize("status", [199, 300])
def test_a_status_that_is_no_success_is_an_error(status: int) -> None:
    with pytest.raises(ChatFailure) as raised:
        OPENAI.read(status, {}, json.dumps(REPLY).encode())
    assert raised.value.http == status


@pytest.mark.parametrize("status", [200, 299])
def test_every_status_of_success_is_read(status: int) -> None:
    assert OPENAI.read(status, {}, json.dumps(REPLY).encode()).text == '{"p01": "yes"}'


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [{"text": "a"}, {"image": 1}, "x", {"text": "b"}]}, "ab"),
        ({"content": "", "tool_calls": [{"function": {"arguments": '{"a": 1}'}}, {}]}, '{"a": 1}'),
        ({"content": None, "tool_calls": [], "function_call": {"arguments": {"a": "ü"}}},
         '{"a": "ü"}'),
        ({"tool_calls": [{"arguments": "{}"}]}, "{}"),
        ({"tool_calls": "x"}, ""),
        ({"content": "said", "tool_calls": [{"function": {"arguments": "{}"}}]}, "said"),
        ({}, ""),
    ],
)  # fmt: skip
def test_the_text_is_content_or_else_the_arguments_of_a_call(message: object, text: str) -> None:
    reply = {"choices": [{"message": message}, {"message": {"content": "second"}}]}
    assert OPENAI.read(200, {}, json.dumps(reply).encode()) == ChatReply(text)


@pytest.mark.parametrize(
    ("wire", "first", "second"),
    [
        (OPENAI, "max_completion_tokens", "max_tokens"),
        (COMPATIBLE, "max_tokens", "max_completion_tokens"),
    ],
)
def test_a_limit_goes_into_the_field_that_the_server_takes(
    wire: Wire, first: str, second: str, question: ChatRequest
) -> None:
    fields = ("max_completion_tokens", "max_tokens")
    for lacks, chosen, expected in (
        (set(), 50, {first: 50}),
        ({first}, 50, {second: 50}),
        ({second}, 50, {first: 50}),
        ({first, second}, None, {}),
        (set(), None, {first: 500}),
    ):
        asked = replace(question, limit=500)
        made = wire.body(asked, "m", Settings(max_tokens=chosen), frozenset(lacks))
        assert {name: made[name] for name in fields if name in made} == expected
