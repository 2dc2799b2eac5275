"""Gemini's format: what is sent, and what is read from what comes back."""

import json
from dataclasses import replace
from typing import Any

import pytest

from ragstone.models.chat import ChatFailure, ChatReply, ChatRequest, Settings, Usage
from ragstone.models.chat.http_formats import GEMINI, gemini_body
from ragstone.models.chat.wire_format import PRINTED, Effort
from ragstone.models.embedding_api import Server

NOTHING: frozenset[str] = frozenset()

REPLY: dict[str, Any] = {
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [{"text": "hm", "thought": True}, {"text": '{"p01": "yes"}'}],
            },
            "finishReason": "STOP",
            "index": 0,
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 1200,
        "cachedContentTokenCount": 1024,
        "candidatesTokenCount": 30,
        "thoughtsTokenCount": 70,
        "totalTokenCount": 1300,
    },
    "modelVersion": "gemini-3-flash-001",
    "responseId": "abc",
}


def got(reply: object) -> ChatReply:
    return GEMINI.read(200, {}, json.dumps(reply).encode())


def ended(reason: object, *parts: object) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, "finishReason": reason}]}


def test_a_question_is_instruction_contents_and_schema(question: ChatRequest) -> None:
    assert gemini_body(question, "gemini-3-flash", Settings(), NOTHING) == {
        "systemInstruction": {"parts": [{"text": "You judge."}]},
        "contents": [{"role": "user", "parts": [{"text": "CONTEXTS\nIs it so?"}]}],
        "generationConfig": {
            "temperature": 0,
            "responseMimeType": "application/json",
            "responseJsonSchema": question.schema,
        },
    }


def test_settings_have_their_fields(question: ChatRequest) -> None:
    settings = Settings(0.5, 0.9, 7, "low", 4096, "json")
    made = gemini_body(question, "gemini-3-flash", settings, NOTHING)
    assert made["generationConfig"] == {
        "temperature": 0.5,
        "topP": 0.9,
        "seed": 7,
        "maxOutputTokens": 4096,
        "responseMimeType": "application/json",
        "thinkingConfig": {"thinkingLevel": "LOW"},
    }
    assert PRINTED in made["contents"][0]["parts"][0]["text"]


@pytest.mark.parametrize(
    ("model", "effort", "expected"),
    [
        ("gemini-2.5-flash", "minimal", {"thinkingBudget": 512}),
        ("models/gemini-2.5-flash", "low", {"thinkingBudget": 1024}),
        ("gemini-2.5-flash", "medium", {"thinkingBudget": 8192}),
        ("gemini-2.5-flash", "high", {"thinkingBudget": 24576}),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-3-pro", "high", {"thinkingLevel": "HIGH"}),
        ("gemini-3-flash", "none", {"thinkingBudget": 0}),
    ],
)
def test_older_models_have_budgets_for_thought(
    question: ChatRequest, model: str, effort: Effort, expected: dict[str, Any]
) -> None:
    made = gemini_body(question, model, Settings(effort=effort), NOTHING)
    assert made["generationConfig"]["thinkingConfig"] == expected


def test_what_the_server_lacks_is_left_out(question: ChatRequest) -> None:
    lacks = frozenset({"schema", "temperature", "system"})
    made = gemini_body(question, "gemma-3-27b-it", Settings(), lacks)
    assert made["generationConfig"] == {}
    assert "systemInstruction" not in made
    assert made["contents"][0]["parts"][0]["text"].startswith("You judge.\n\nCONTEXTS")


@pytest.mark.parametrize(
    ("base", "model", "url"),
    [
        ("https://g.example", "gemini-3", "https://g.example/v1beta/models/gemini-3"),
        ("https://g.example/v1", "gemini-3", "https://g.example/v1/models/gemini-3"),
        ("https://g.example", "tunedModels/x", "https://g.example/v1beta/tunedModels/x"),
        ("https://g.example", "a b?c", "https://g.example/v1beta/models/a%20b%3Fc"),
    ],
)
def test_the_model_is_in_the_address(base: str, model: str, url: str) -> None:
    assert GEMINI.url(Server(base, model, "k")) == f"{url}:generateContent"


def test_thoughts_count_into_the_reply_and_are_not_read() -> None:
    assert got(REPLY) == ChatReply(
        '{"p01": "yes"}', "stop", Usage(1200, 100, 1024, 70), "gemini-3-flash-001"
    )


def test_usage_that_is_absent_is_not_known() -> None:
    assert got(ended("STOP", {"text": "x"})).usage == Usage()
    counted = ended("STOP", {"text": "x"}) | {"usageMetadata": {"promptTokenCount": 4}}
    assert got(counted).usage == Usage(prompt=4)


@pytest.mark.parametrize("thoughts", [-1, 2**64 - 5, "many"])
def test_a_reply_whose_thoughts_have_no_believable_length_has_no_known_length(
    thoughts: object,
) -> None:
    usage = {"candidatesTokenCount": 30, "thoughtsTokenCount": thoughts}
    assert got(ended("STOP", {"text": "x"}) | {"usageMetadata": usage}).usage == Usage()


def test_an_error_inside_a_reply_has_a_status_that_there_is() -> None:
    with pytest.raises(ChatFailure) as failure:
        got({"error": {"code": 2**70, "message": "no"}})
    assert failure.value.http == 500


@pytest.mark.parametrize(
    "reason",
    [
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "MODEL_ARMOR",
        "ESCALATION",
    ],
)
def test_a_filtered_reply_is_empty(reason: str) -> None:
    assert got(ended(reason, {"text": "half"})) == ChatReply("", "filter")


def test_a_reply_at_the_limit_is_cut() -> None:
    assert got(ended("MAX_TOKENS", {"text": '{"p'})) == ChatReply('{"p', "length")
    empty = {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}
    assert got(empty) == ChatReply("", "length")


def test_a_function_call_is_read() -> None:
    call = {"functionCall": {"name": "f", "args": {"a": 1}}}
    assert got(ended("STOP", call)) == ChatReply('{"a": 1}')


def test_a_blocked_question_is_filtered() -> None:
    with pytest.raises(ChatFailure, match="PROHIBITED_CONTENT") as raised:
        got({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {}})
    assert raised.value.trouble == "filtered"
    assert not raised.value.passing


@pytest.mark.parametrize(
    "reply",
    [
        {},
        [],
        {"candidates": []},
        {"candidates": ["x"]},
        ended("MALFORMED_RESPONSE", {"text": "half"}),
        ended("MALFORMED_FUNCTION_CALL", {"text": "half"}),
        ended("UNEXPECTED_TOOL_CALL", {"text": "half"}),
        ended("TOO_MANY_TOOL_CALLS", {"text": "half"}),
        ended("OTHER", {"text": "half"}),
    ],
)
def test_what_is_not_of_the_format_is_a_bad_reply(reply: object) -> None:
    with pytest.raises(ChatFailure) as raised:
        got(reply)
    assert raised.value.trouble == "bad_reply"


@pytest.mark.parametrize("lacks", [NOTHING, frozenset({"max_tokens"})])
@pytest.mark.parametrize("limit", [None, 500])
@pytest.mark.parametrize("chosen", [None, 4096])
def test_the_runs_own_limit_is_sent_where_the_server_takes_one(
    question: ChatRequest, chosen: int | None, limit: int | None, lacks: frozenset[str]
) -> None:
    asked = replace(question, limit=limit)
    made = gemini_body(asked, "gemini-3-flash", Settings(max_tokens=chosen), lacks)
    sent = [one for one in (chosen, limit) if one and (chosen or not lacks)]
    assert made["generationConfig"].get("maxOutputTokens") == min(sent, default=None)


@pytest.mark.parametrize(("code", "status"), [(400, 400), (429, 429), (599, 599), (600, 500),
                                              (200, 500), ("UNKNOWN", 500)])  # fmt: skip
def test_an_error_inside_a_reply_has_its_own_status(code: object, status: int) -> None:
    with pytest.raises(ChatFailure) as raised:
        got({"error": {"code": code, "message": "no"}})
    assert raised.value.http == status


@pytest.mark.parametrize("status", [199, 300, 404])
def test_a_status_that_is_no_success_is_an_error(status: int) -> None:
    with pytest.raises(ChatFailure) as raised:
        GEMINI.read(status, {}, json.dumps(REPLY).encode())
    assert raised.value.http == status


@pytest.mark.parametrize("status", [200, 201, 299])
def test_every_status_of_success_is_read(status: int) -> None:
    assert GEMINI.read(status, {}, json.dumps(REPLY).encode()).text == '{"p01": "yes"}'
