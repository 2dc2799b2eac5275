"""Anthropic's format: what is sent, and what is read from what comes back."""

import json
from dataclasses import replace
from typing import Any

import pytest

from ragstone.models.chat import ChatFailure, ChatReply, ChatRequest, Settings, Usage
from ragstone.models.chat.http_formats import ANTHROPIC, anthropic_body
from ragstone.models.chat.wire_format import PRINTED

NOTHING: frozenset[str] = frozenset()
EPHEMERAL = {"type": "ephemeral"}

REPLY: dict[str, Any] = {
    "id": "msg_01",
    "type": "message",
    "role": "assistant",
    "model": "claude-haiku-4-5-20251001",
    "content": [{"type": "text", "text": '{"p01": '}, {"type": "text", "text": '"yes"}'}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 200,
        "cache_creation_input_tokens": 300,
        "cache_read_input_tokens": 1000,
        "output_tokens": 50,
        "output_tokens_details": {"thinking_tokens": 20},
    },
}


def got(reply: object) -> ChatReply:
    return ANTHROPIC.read(200, {}, json.dumps(reply).encode())


def ended(reason: object, *content: object) -> dict[str, Any]:
    return {"type": "message", "content": list(content), "stop_reason": reason}


def test_a_question_caches_system_and_first_part(question: ChatRequest) -> None:
    assert anthropic_body(question, "claude", Settings(), NOTHING) == {
        "model": "claude",
        "max_tokens": 8192,
        "system": [{"type": "text", "text": "You judge."}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "CONTEXTS\n", "cache_control": EPHEMERAL},
                    {"type": "text", "text": "Is it so?"},
                ],
            }
        ],
        "temperature": 0,
        "output_config": {"format": {"type": "json_schema", "schema": question.schema}},
    }


def test_one_part_caches_the_system_alone(question: ChatRequest) -> None:
    one = ChatRequest("You judge.", ("Is it so?",), question.schema, "support")
    made = anthropic_body(one, "claude", Settings(), NOTHING)
    assert made["system"] == [{"type": "text", "text": "You judge.", "cache_control": EPHEMERAL}]
    assert made["messages"][0]["content"] == [{"type": "text", "text": "Is it so?"}]


@pytest.mark.parametrize("parts", [("", "Is it so?"), (" \n", "Is it so?"), ("Is it so?", "")])
def test_no_block_is_empty(question: ChatRequest, parts: tuple[str, ...]) -> None:
    made = anthropic_body(
        ChatRequest("", parts, question.schema, "support"), "claude", Settings(), NOTHING
    )
    assert "system" not in made
    assert made["messages"][0]["content"] == [{"type": "text", "text": "".join(parts)}]


def test_settings_have_their_fields(question: ChatRequest) -> None:
    settings = Settings(temperature=0.5, top_p=0.9, effort="low", max_tokens=100, schema="prompt")
    made = anthropic_body(question, "claude", settings, NOTHING)
    assert made["temperature"] == 0.5
    assert made["top_p"] == 0.9
    assert made["max_tokens"] == 100
    assert made["output_config"] == {"effort": "low"}
    assert PRINTED in made["messages"][0]["content"][-1]["text"]


def test_what_the_server_lacks_is_left_out(question: ChatRequest) -> None:
    made = anthropic_body(
        question, "claude", Settings(), frozenset({"schema", "temperature", "max_tokens"})
    )
    assert set(made) == {"model", "max_tokens", "system", "messages"}
    assert made["max_tokens"] == 4096
    assert PRINTED in made["messages"][0]["content"][-1]["text"]


def test_the_key_goes_in_its_own_header() -> None:
    assert ANTHROPIC.headers("k") == {"anthropic-version": "2023-06-01", "x-api-key": "k"}


def test_what_is_cached_counts_into_the_prompt() -> None:
    assert got(REPLY) == ChatReply(
        '{"p01": "yes"}', "stop", Usage(1500, 50, 1000, 20, 300), "claude-haiku-4-5-20251001"
    )


def test_usage_that_is_absent_is_not_known() -> None:
    text = {"type": "text", "text": "x"}
    assert got(ended("end_turn", text)).usage == Usage()
    usage = {"usage": {"output_tokens": 3, "cache_read_input_tokens": 7}}
    assert got(ended("end_turn", text) | usage).usage == Usage(completion=3, cached=7)


@pytest.mark.parametrize(
    ("reason", "content", "expected"),
    [
        ("max_tokens", [{"type": "text", "text": "{"}], ChatReply("{", "length")),
        ("model_context_window_exceeded", [], ChatReply("", "length")),
        ("refusal", [{"type": "text", "text": "No"}], ChatReply("", "refusal")),
        ("stop_sequence", [{"type": "text", "text": "x"}], ChatReply("x")),
        (
            "end_turn",
            [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "x"}],
            ChatReply("x"),
        ),
        ("tool_use", [{"type": "tool_use", "input": {"a": "ü"}}], ChatReply('{"a": "ü"}')),
        ({}, ["odd", {"type": "text", "text": 1}], ChatReply("")),
    ],
)
def test_every_end_of_a_reply_is_told_apart(
    reason: object, content: list[object], expected: ChatReply
) -> None:
    assert got(ended(reason, *content)) == expected


@pytest.mark.parametrize("reply", [{}, {"content": None}, [], "x", {"content": {"text": "x"}}])
def test_what_is_not_of_the_format_is_a_bad_reply(reply: object) -> None:
    with pytest.raises(ChatFailure) as raised:
        got(reply)
    assert raised.value.trouble == "bad_reply"


def test_the_runs_own_limit_is_sent_where_it_is_the_lower(question: ChatRequest) -> None:
    def sent(limit: int, settings: Settings) -> object:
        return anthropic_body(replace(question, limit=limit), "claude", settings, NOTHING)[
            "max_tokens"
        ]

    assert sent(500, Settings()) == 500
    assert sent(20_000, Settings()) == 8192
    assert sent(500, Settings(max_tokens=100)) == 100
