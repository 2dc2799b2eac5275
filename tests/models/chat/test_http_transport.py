"""Refusals: the error bodies of each provider, as they send them, and what each means."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from ragstone.models.chat.http_transport import Unsupported, refused

QUOTA = "You exceeded your current quota, please check your plan and billing details."
FILTERED = "The response was filtered due to the prompt triggering the content management policy."


def openai(message: str, kind: str = "invalid_request_error", param: object = None,
           code: object = None) -> dict[str, object]:  # fmt: skip
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def anthropic(kind: str, message: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def gemini(code: int, status: str, message: str, *details: object) -> dict[str, object]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def azure(code: str, message: str) -> dict[str, object]:
    return {"error": {"code": code, "message": message}}


BAD_KEY = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}

ERRORS = {
    "openai: key": (
        401,
        openai("Incorrect API key provided", code="invalid_api_key"),
        "not_allowed",
    ),
    "openai: country": (403, openai("Country not supported"), "not_allowed"),
    "openai: model": (
        404,
        openai("The model `x` does not exist", code="model_not_found"),
        "not_found",
    ),
    "openai: rate": (
        429,
        openai("Rate limit reached for gpt", "tokens", code="rate_limit_exceeded"),
        "rate_limit",
    ),
    "openai: quota": (
        429,
        openai(QUOTA, "insufficient_quota", code="insufficient_quota"),
        "no_credit",
    ),
    "openai: never fits": (
        429,
        openai("Request too large for gpt-4o on tokens per min (TPM)", "tokens"),
        "too_long",
    ),
    "openai: too long": (
        400,
        openai(
            "This model's maximum context length is 128000 tokens.",
            param="messages",
            code="context_length_exceeded",
        ),
        "too_long",
    ),
    "openai: policy": (
        400,
        openai("Your request was rejected", code="content_policy_violation"),
        "filtered",
    ),
    "openai: prompt": (400, openai("Invalid prompt: flagged", code="invalid_prompt"), "filtered"),
    "openai: server": (500, openai("The server had an error", "server_error"), "server_error"),
    "openai: overloaded": (503, openai("The engine is currently overloaded"), "server_error"),
    "openai: wrong": (
        400,
        openai("Missing required parameter: 'messages'", param="messages"),
        "rejected",
    ),
    "azure: key": (
        401,
        azure("401", "Access denied due to invalid subscription key"),
        "not_allowed",
    ),
    "azure: deployment": (
        404,
        azure("DeploymentNotFound", "The API deployment does not exist"),
        "not_found",
    ),
    "azure: rate": (429, azure("429", "Requests have exceeded call rate limit"), "rate_limit"),
    "azure: too long": (
        400,
        openai("maximum context length is 16384", code="context_length_exceeded"),
        "too_long",
    ),
    "azure: timeout": (408, azure("Timeout", "The operation was timeout."), "server_error"),
    "anthropic: key": (401, anthropic("authentication_error", "invalid x-api-key"), "not_allowed"),
    "anthropic: permission": (403, anthropic("permission_error", "not allowed"), "not_allowed"),
    "anthropic: model": (404, anthropic("not_found_error", "model: claude-x"), "not_found"),
    "anthropic: too long": (
        400,
        anthropic("invalid_request_error", "prompt is too long: 207791 tokens > 200000 maximum"),
        "too_long",
    ),
    "anthropic: with reply": (
        400,
        anthropic(
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000",
        ),
        "too_long",
    ),
    "anthropic: size": (
        413,
        anthropic("request_too_large", "Request exceeds the maximum size"),
        "too_long",
    ),
    "anthropic: credit": (
        400,
        anthropic(
            "invalid_request_error", "Your credit balance is too low to access the Anthropic API."
        ),
        "no_credit",
    ),
    "anthropic: billing": (403, anthropic("billing_error", "payment"), "no_credit"),
    "anthropic: rate": (
        429,
        anthropic("rate_limit_error", "would exceed your rate limit"),
        "rate_limit",
    ),
    "anthropic: overloaded": (529, anthropic("overloaded_error", "Overloaded"), "server_error"),
    "anthropic: api": (500, anthropic("api_error", "Internal server error"), "server_error"),
    "anthropic: filter": (
        400,
        anthropic("invalid_request_error", "Output blocked by content filtering policy"),
        "filtered",
    ),
    "gemini: key": (
        400,
        gemini(400, "INVALID_ARGUMENT", "API key not valid.", BAD_KEY),
        "not_allowed",
    ),
    "gemini: permission": (403, gemini(403, "PERMISSION_DENIED", "denied"), "not_allowed"),
    "gemini: place": (
        400,
        gemini(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
        "not_allowed",
    ),
    "gemini: model": (
        404,
        gemini(404, "NOT_FOUND", "models/x is not found for v1beta"),
        "not_found",
    ),
    "gemini: too long": (
        400,
        gemini(
            400,
            "INVALID_ARGUMENT",
            "The input token count (3475108) exceeds "
            "the maximum number of tokens allowed (1048576).",
        ),
        "too_long",
    ),
    "gemini: rate": (429, [gemini(429, "RESOURCE_EXHAUSTED", QUOTA)], "rate_limit"),
    "gemini: overloaded": (
        503,
        gemini(503, "UNAVAILABLE", "The model is overloaded."),
        "server_error",
    ),
    "gemini: deadline": (504, gemini(504, "DEADLINE_EXCEEDED", "expired"), "server_error"),
    "vllm: too long": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 8192 "
            "tokens. However, you requested 8204 tokens",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        "too_long",
    ),
    "vllm: no room": (
        400,
        openai(
            "'max_tokens' or 'max_completion_tokens' is too large: 9000. This "
            "model's maximum context length is 8192 tokens",
            "BadRequestError",
            code=400,
        ),
        "too_long",
    ),
    "vllm: model": (
        404,
        openai("The model `x` does not exist.", "NotFoundError", code=404),
        "not_found",
    ),
    "ollama: model": (404, {"error": "model 'x' not found, try pulling it first"}, "not_found"),
    "ollama: server": (500, {"error": "llama runner process has terminated"}, "server_error"),
    "lm studio: too long": (
        400,
        {
            "error": "Trying to keep the first 15857 tokens when context the "
            "overflows. However, the model is loaded with context length of only 4096 "
            "tokens"
        },
        "too_long",
    ),
    "llama.cpp: too long": (
        400,
        {
            "error": {
                "code": 400,
                "type": "exceed_context_size_error",
                "message": "the request exceeds the available context size",
            }
        },
        "too_long",
    ),
    "bedrock: too long": (400, {"message": "Input is too long for requested model."}, "too_long"),
    "bedrock: model": (400, {"message": "The provided model identifier is invalid."}, "not_found"),
    "deepseek: credit": (402, openai("Insufficient Balance"), "no_credit"),
    "xai: key": (
        400,
        {
            "code": "Client specified an invalid argument",
            "error": "Incorrect API key provided: xa***bc",
        },
        "not_allowed",
    ),
    "openrouter: upstream": (
        400,
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {"raw": "maximum context length is 8192"},
            }
        },
        "too_long",
    ),
    "openrouter: moderation": (403, {"error": {"message": "your input was flagged"}}, "filtered"),
    "gateway: page": (502, "<html><h1>Bad gateway</h1></html>", "server_error"),
    "gateway: nothing": (504, "", "server_error"),
    "conflict": (409, {}, "server_error"),
    "too early": (425, {}, "server_error"),
    "no such method": (405, "", "not_found"),
    "elsewhere": (302, "", "not_found"),
    "teapot": (418, "short and stout", "rejected"),
    "odd": (400, {"error": {"message": {"a": [1]}, "details": "x", "innererror": []}}, "rejected"),
}


def encoded(body: object) -> bytes:
    return (body if isinstance(body, str) else json.dumps(body)).encode()


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_told_apart(name: str) -> None:
    status, body, trouble = ERRORS[name]
    failure = refused(status, {}, encoded(body))
    assert failure.trouble == trouble
    assert failure.http == status
    assert not isinstance(failure, Unsupported)
    assert str(failure).startswith(f"replied {status}")


def test_what_the_server_says_is_told() -> None:
    status, body, _ = ERRORS["anthropic: too long"]
    failure = refused(status, {}, encoded(body))
    assert str(failure) == "replied 400: prompt is too long: 207791 tokens > 200000 maximum"
    assert "req_1" in failure.body


def test_a_page_is_not_told() -> None:
    assert str(refused(502, {}, b"<html>Bad gateway</html>")) == "replied 502"


def test_an_error_that_is_no_text_is_an_error_still() -> None:
    failure = refused(500, {}, b'\xff\xfe{"error": 1}\x80')
    assert (failure.trouble, failure.http) == ("server_error", 500)


def test_a_long_error_is_shortened() -> None:
    failure = refused(500, {}, encoded({"error": "x " * 10_000}))
    assert len(str(failure)) < 250
    assert len(failure.body) < 510


def test_azure_tells_which_filter_it_was() -> None:
    inner = {
        "code": "ResponsibleAIPolicyViolation",
        "content_filter_result": {
            "hate": {"filtered": False, "severity": "safe"},
            "violence": {"filtered": True, "severity": "medium"},
        },
    }
    body = {
        "error": {
            "message": FILTERED,
            "type": None,
            "param": "prompt",
            "code": "content_filter",
            "status": 400,
            "innererror": inner,
        }
    }
    failure = refused(400, {}, encoded(body))
    assert failure.trouble == "filtered"
    assert str(failure).endswith("(violence)")


FEATURES = {
    "temperature: of reasoning models": (
        openai(
            "Unsupported value: 'temperature' does not support 0 with this model. Only the "
            "default (1) value is supported.",
            param="temperature",
            code="unsupported_value",
        ),
        ("temperature",),
    ),
    "temperature: of newer Claudes": (
        anthropic("invalid_request_error", "`temperature` is deprecated for this model."),
        ("temperature",),
    ),
    "both": (
        anthropic(
            "invalid_request_error",
            "`temperature` and `top_p` cannot both be specified for this model.",
        ),
        ("temperature", "top_p"),
    ),
    "length": (
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            param="max_tokens",
        ),
        ("max_tokens",),
    ),
    "length of old Claudes": (
        anthropic(
            "invalid_request_error",
            "max_tokens: 8192 > 4096, which is the maximum allowed "
            "number of output tokens for claude-3-opus-20240229",
        ),
        ("max_tokens",),
    ),
    "schema: deepseek": (openai("This response_format type is unavailable now"), ("schema",)),
    "schema: openai": (
        openai(
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with "
            "this model.",
            param="response_format",
        ),
        ("schema",),
    ),
    "schema: anthropic": (
        anthropic("invalid_request_error", "output_config.format: Extra inputs are not permitted"),
        ("schema",),
    ),
    "schema: gemini": (
        gemini(
            400,
            "INVALID_ARGUMENT",
            "Invalid JSON payload received. Unknown name "
            "\"responseJsonSchema\" at 'generation_config': Cannot find field.",
        ),
        ("schema",),
    ),
    "schema: lm studio": (
        {"error": "'response_format.type' must be 'json_schema' or 'text'"},
        ("schema",),
    ),
    "schema: llama.cpp": ({"error": {"message": "failed to parse grammar"}}, ("schema",)),
    "schema: a validating server": (
        {"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs", "input": "seed"}]},
        ("schema",),
    ),
    "effort: anthropic": (
        anthropic("invalid_request_error", "This model does not support the effort parameter."),
        ("effort",),
    ),
    "effort: gemini": (
        gemini(400, "INVALID_ARGUMENT", "Thinking level is not supported for this model."),
        ("effort",),
    ),
    "effort: ollama": ({"error": '"llama3" does not support thinking'}, ("effort",)),
    "system: gemma": (
        gemini(400, "INVALID_ARGUMENT", "Developer instruction is not enabled for models/gemma"),
        ("system",),
    ),
    "system: a chat template": ({"message": "System role not supported"}, ("system",)),
    "seed": (openai("Unrecognized request argument supplied: seed"), ("seed",)),
}


@pytest.mark.parametrize("name", FEATURES)
def test_what_a_server_does_not_take_is_found_in_its_words(name: str) -> None:
    body, features = FEATURES[name]
    failure = refused(400, {}, encoded(body))
    assert isinstance(failure, Unsupported)
    assert failure.features == features


def test_a_parameter_that_is_named_is_the_only_one() -> None:
    body = openai("Bad value for temperature", param="messages")
    assert not isinstance(refused(400, {}, encoded(body)), Unsupported)


def test_words_far_behind_are_taken_for_an_echo() -> None:
    body = {"message": "invalid input: " + "x" * 300 + " temperature"}
    assert not isinstance(refused(400, {}, encoded(body)), Unsupported)


def test_only_what_was_asked_wrongly_is_about_parameters() -> None:
    assert not isinstance(refused(500, {}, b'{"error": "temperature sensor"}'), Unsupported)


def in_an_hour() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"retry-after": "0.5"}, 0.5, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25, 0.25),
        ({"Retry-After": in_an_hour()}, 60, 3600),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0, 0),
        ({"Retry-After": "soon"}, 0, 0),
        ({"Retry-After": "inf"}, 0, 0),
        ({"Retry-After": "-3"}, 0, 0),
        ({}, 0, 0),
    ],
)
def test_how_long_to_wait_is_read(headers: dict[str, str], low: float, high: float) -> None:
    assert low <= refused(429, headers, b"{}").after <= high


def test_how_long_gemini_wants_to_be_left_alone_is_in_the_body() -> None:
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}
    body = gemini(429, "RESOURCE_EXHAUSTED", QUOTA, {"@type": "Help"}, wait)
    assert refused(429, {}, encoded(body)).after == 34.07


@pytest.mark.parametrize(
    ("status", "trouble"),
    [
        (302, "not_found"), (399, "not_found"), (400, "rejected"), (401, "not_allowed"),
        (402, "no_credit"), (403, "not_allowed"), (404, "not_found"), (405, "not_found"),
        (406, "rejected"), (408, "server_error"), (409, "server_error"), (410, "not_found"),
        (411, "rejected"), (413, "too_long"), (414, "rejected"), (422, "rejected"),
        (425, "server_error"), (426, "rejected"), (429, "rate_limit"), (430, "rejected"),
        (499, "rejected"), (500, "server_error"), (501, "rejected"), (502, "server_error"),
        (529, "server_error"),
    ],
)  # fmt: skip
def test_where_a_server_says_nothing_the_status_tells(status: int, trouble: str) -> None:
    for body in (b"", b"{}", b"[]", b"null", b"<p>insufficient_quota</p>"):
        assert refused(status, {}, body).trouble == trouble


@pytest.mark.parametrize("name", ["type", "code", "status", "reason", "error_type", "__type"])
@pytest.mark.parametrize("where", ["reply", "error", "innererror", "details"])
def test_a_code_is_read_by_each_name_that_servers_have_for_it(name: str, where: str) -> None:
    code = {name: "context_length_exceeded"}
    body: object = {
        "reply": {**code, "error": {}},
        "error": {"error": code},
        "innererror": {"error": {"innererror": code}},
        "details": {"error": {"details": ["x", {}, code]}},
    }[where]
    assert refused(400, {}, encoded(body)).trouble == "too_long"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "said"}}, "said"),
        ({"Message": "said"}, "said"),
        ({"detail": "said"}, "said"),
        ({"error": "said"}, "said"),
        ("said", "said"),
        ([{"error": {"message": "said"}}, {"error": {"message": "more"}}], "said"),
        ({"detail": [{"loc": ["body", 3], "msg": "bad"}, {"msg": "worse"}]},
         "body.3: bad; : worse"),
        ({"error": {"message": {"loc": "body", "message": "bad"}}}, ": bad"),
        ({"error": {"message": "said", "metadata": {"raw": "by its host"}}}, "said (by its host)"),
        ({"error": {"message": "said", "metadata": {"raw": 3}}}, "said"),
    ],
)  # fmt: skip
def test_words_are_read_wherever_servers_put_them(body: object, words: str) -> None:
    assert str(refused(400, {}, encoded(body))) == f"replied 400: {words}"


def test_the_longest_wait_that_a_server_asks_for_counts() -> None:
    waits = [{"retryDelay": delay} for delay in ("3s", "12s", "5.5s", "soon", "9 s", 99)]
    body = gemini(429, "RESOURCE_EXHAUSTED", QUOTA, *waits)
    assert refused(429, {}, encoded(body)).after == 12
    assert refused(429, {"retry-after": "30"}, encoded(body)).after == 30
