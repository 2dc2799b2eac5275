"""Adapters of other libraries, against servers on this machine; skipped where they are missing."""

import asyncio
import json
import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any, get_args

import pytest

from ragstone.core.errors import MissingDependency, ModelError
from ragstone.models.chat import (
    ChatFailure,
    ChatModel,
    ChatReply,
    ChatRequest,
    Settings,
    Usage,
    bedrock,
    library_clients,
    open_chat,
)
from ragstone.models.chat.http_transport import Unsupported, secrets
from ragstone.models.chat.model import Trouble
from ragstone.models.chat.wire_format import printed
from tests.availability import import_or_skip

KEY = "sk-test-1234567890abcdef"
NOTHING: frozenset[str] = frozenset()
OPENAI: dict[str, Any] = {
    "id": "1",
    "object": "chat.completion",
    "created": 1760000000,
    "model": "small-1",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": '{"p01": "yes"}'},
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 120,
        "completion_tokens": 8,
        "total_tokens": 128,
        "prompt_tokens_details": {"cached_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 3},
    },
}
CONVERSE: dict[str, Any] = {
    "output": {"message": {"role": "assistant", "content": [{"text": '{"p01": "yes"}'}]}},
    "stopReason": "end_turn",
    "usage": {
        "inputTokens": 20,
        "outputTokens": 8,
        "totalTokens": 128,
        "cacheReadInputTokens": 100,
        "cacheWriteInputTokens": 0,
    },
    "metrics": {"latencyMs": 5},
}
NO_SCHEMA = {"error": {"message": "response_format is not supported", "type": "x", "code": None}}


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


def test_what_is_named_like_a_key_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE_API_KEY", "abcdefabcdef")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "abcdefabcdefabcdef")
    monkeypatch.setenv("MONKEY_BUSINESS", "bananas-bananas")
    monkeypatch.setenv("SHORT_TOKEN", "yes")
    found = secrets()
    assert found.index("abcdefabcdefabcdef") < found.index("abcdefabcdef")
    assert not {"bananas-bananas", "yes"} & set(found)


@pytest.mark.parametrize(
    ("module", "kind"),
    [("botocore.config", "bedrock"), ("litellm", "litellm"), ("pydantic_ai.direct", "pydantic-ai")],
)
def test_an_adapter_that_is_not_installed_is_named(
    module: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependency) as raised:
        open_chat(f"{kind}:m")
    assert raised.value.extra == kind


def test_a_wrong_setting_is_told_before_an_adapter_is_looked_for() -> None:
    with pytest.raises(ModelError, match="seed"):
        open_chat("bedrock:m?seed=1")
    with pytest.raises(ModelError, match="schema"):
        open_chat("pydantic-ai:openai:m?schema=json")


@pytest.mark.filterwarnings("ignore")
class TestLitellm:
    @pytest.fixture
    def model(self, scripted: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> ChatModel:
        monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        pytest.importorskip("litellm", reason="the litellm adapter needs litellm")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{scripted.url}/v1")
        scripted.otherwise = (200, {}, OPENAI)
        return open_chat("litellm:openai/small?max_tokens=50")

    def test_a_reply_is_read(
        self, model: ChatModel, scripted: SimpleNamespace, question: ChatRequest
    ) -> None:
        reply = ask(model, question)
        assert reply == ChatReply('{"p01": "yes"}', "stop", Usage(120, 8, 100, 3), "small-1")
        (asked,) = scripted.asked
        assert asked["body"]["response_format"]["json_schema"]["schema"] == question.schema
        assert asked["body"]["temperature"] == 0
        assert model.name == "litellm:openai/small?max_tokens=50"

    @pytest.mark.parametrize(
        ("status", "trouble"),
        [(401, "not_allowed"), (404, "not_found"), (429, "rate_limit"), (500, "server_error"),
         (503, "server_error")],
    )  # fmt: skip
    def test_errors_are_told_apart_and_not_asked_again(
        self, status: int, trouble: str, model: ChatModel, scripted: SimpleNamespace,
        question: ChatRequest,
    ) -> None:  # fmt: skip
        said = {"error": {"message": f"no, {KEY}", "type": "x", "code": None}}
        scripted.otherwise = (status, {"Retry-After": "2"}, said)
        failure = failed(model, question)
        assert failure.trouble == trouble
        assert KEY not in f"{failure} {failure.body}"
        assert len(scripted.asked) == 1

    def test_a_window_that_is_too_small_is_told(
        self, model: ChatModel, scripted: SimpleNamespace, question: ChatRequest
    ) -> None:
        said = {"error": {"message": "This model's maximum context length is 8192 tokens."}}
        scripted.otherwise = (400, {}, said)
        assert failed(model, question).trouble == "too_long"

    def test_a_schema_that_is_refused_is_printed(
        self, model: ChatModel, scripted: SimpleNamespace, question: ChatRequest
    ) -> None:
        scripted.replies = [(400, {}, NO_SCHEMA)]
        assert ask(model, question).text == '{"p01": "yes"}'
        assert "response_format" not in scripted.asked[-1]["body"]
        assert len(model.notes) == 1

    def test_a_server_that_is_not_there_is_a_connection_failure(
        self, model: ChatModel, question: ChatRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        failure = failed(model, question)
        assert failure.passing


@pytest.mark.filterwarnings("ignore")
class TestPydanticAI:
    @pytest.fixture
    def model(self, scripted: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> ChatModel:
        pytest.importorskip("pydantic_ai", reason="its adapter needs pydantic-ai-slim")
        import_or_skip("openai", reason="Pydantic AI asks this format with openai")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{scripted.url}/v1")
        scripted.otherwise = (200, {}, OPENAI)
        return open_chat("pydantic-ai:openai-chat:gpt-4o-mini?max_tokens=50")

    def test_a_reply_is_read(
        self, model: ChatModel, scripted: SimpleNamespace, question: ChatRequest
    ) -> None:
        reply = ask(model, question)
        assert reply == ChatReply('{"p01": "yes"}', "stop", Usage(120, 8, 100, 3), "small-1")
        (asked,) = scripted.asked
        assert asked["body"]["response_format"]["type"] == "json_schema"
        assert asked["body"]["temperature"] == 0
        assert asked["body"]["messages"][0]["content"] == "You judge."

    @pytest.mark.parametrize(
        ("status", "trouble"),
        [(401, "not_allowed"), (404, "not_found"), (429, "rate_limit"), (500, "server_error")],
    )
    def test_errors_are_told_apart_and_not_asked_again(
        self, status: int, trouble: str, model: ChatModel, scripted: SimpleNamespace,
        question: ChatRequest,
    ) -> None:  # fmt: skip
        said = {"error": {"message": f"no, {KEY}", "type": "x", "code": None}}
        scripted.otherwise = (status, {"Retry-After": "2"}, said)
        failure = failed(model, question)
        assert (failure.trouble, failure.after) == (trouble, 2)
        assert KEY not in f"{failure} {failure.body}"
        assert len(scripted.asked) == 1

    def test_a_schema_that_is_refused_is_printed(
        self, model: ChatModel, scripted: SimpleNamespace, question: ChatRequest
    ) -> None:
        scripted.replies = [(400, {}, NO_SCHEMA)]
        assert ask(model, question).text == '{"p01": "yes"}'
        assert "response_format" not in scripted.asked[-1]["body"]

    def test_a_model_that_is_not_known_is_refused(self, model: ChatModel) -> None:
        assert model.notes == ()
        with pytest.raises((ModelError, MissingDependency)):
            open_chat("pydantic-ai:nobody:m")


def test_pydantic_ai_is_given_what_was_asked(question: ChatRequest) -> None:
    made = library_clients.pydantic_ai_body(question, Settings(effort="none", seed=1), NOTHING)
    assert made["settings"] == {"temperature": 0, "seed": 1, "thinking": False}
    assert made["schema"] == question.schema
    assert made["text"] == question.text
    less = library_clients.pydantic_ai_body(
        question, Settings(), frozenset({"schema", "temperature"})
    )
    assert (less["schema"], less["settings"]) == (None, {})
    assert less["text"] == question.text + printed(question)


@pytest.mark.filterwarnings("ignore")
class TestBedrock:
    @pytest.fixture
    def model(self, scripted: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> ChatModel:
        import_or_skip("botocore", reason="the bedrock adapter needs botocore")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATEST12345678")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", scripted.url)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        scripted.otherwise = (200, {}, CONVERSE)
        return open_chat("bedrock:anthropic.claude-haiku-4-5-v1:0?max_tokens=50")

    def test_a_reply_is_read(
        self, model: ChatModel, scripted: SimpleNamespace, question: ChatRequest
    ) -> None:
        assert ask(model, question) == ChatReply(
            '{"p01": "yes"}', "stop", Usage(120, 8, 100, written=0)
        )
        (asked,) = scripted.asked
        assert asked["path"].endswith("/converse")
        assert asked["body"]["inferenceConfig"] == {"temperature": 0, "maxTokens": 50}
        assert asked["body"]["system"] == [{"text": "You judge."}]
        assert asked["body"]["outputConfig"]["textFormat"]["type"] == "json_schema"
        assert KEY not in f"{model.about} {model.identity} {model!r}"

    @pytest.mark.parametrize(
        ("status", "code", "words", "trouble"),
        [
            (429, "ThrottlingException", "Too many tokens, please wait", "rate_limit"),
            (408, "ModelTimeoutException", "Model timed out", "server_error"),
            (503, "ServiceUnavailableException", "Unavailable", "server_error"),
            (424, "ModelErrorException", "The model failed", "server_error"),
            (403, "AccessDeniedException", "No access to the model", "not_allowed"),
            (404, "ResourceNotFoundException", "Could not resolve", "not_found"),
            (400, "ValidationException", "Input is too long for requested model.", "too_long"),
            (400, "ValidationException", "The provided model identifier is invalid.", "not_found"),
            (400, "ValidationException", "Malformed", "rejected"),
        ],
    )
    def test_errors_are_told_apart_and_not_asked_again(
        self, status: int, code: str, words: str, trouble: str, model: ChatModel,
        scripted: SimpleNamespace, question: ChatRequest,
    ) -> None:  # fmt: skip
        scripted.otherwise = (status, {"x-amzn-ErrorType": code}, {"message": words})
        failure = failed(model, question)
        assert (failure.trouble, failure.http) == (trouble, status)
        assert words in str(failure)
        assert len(scripted.asked) == 1

    def test_a_schema_that_is_refused_is_printed(
        self, model: ChatModel, scripted: SimpleNamespace, question: ChatRequest
    ) -> None:
        said = {"message": "This model does not support structured output (outputConfig)"}
        scripted.replies = [(400, {"x-amzn-ErrorType": "ValidationException"}, said)]
        assert ask(model, question).text == '{"p01": "yes"}'
        assert "outputConfig" not in scripted.asked[-1]["body"]

    def test_a_server_that_is_not_there_is_a_connection_failure(
        self, model: ChatModel, question: ChatRequest, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert model.notes == ()
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://127.0.0.1:1")
        assert failed(open_chat("bedrock:m"), question).trouble == "connection"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("max_tokens", ChatReply("x", "length")),
        ("model_context_window_exceeded", ChatReply("x", "length")),
        ("guardrail_intervened", ChatReply("", "filter")),
        ("content_filtered", ChatReply("", "filter")),
        ("stop_sequence", ChatReply("x")),
    ],
)
def test_every_end_of_bedrocks_replies_is_told_apart(reason: str, expected: ChatReply) -> None:
    message = {"content": [{"text": "x"}]}
    assert bedrock.read_reply({"output": {"message": message}, "stopReason": reason}) == expected


@pytest.mark.parametrize(
    "reply", [{}, {"output": []}, CONVERSE | {"stopReason": "malformed_model_output"}]
)
def test_what_is_not_of_bedrocks_format_is_a_bad_reply(reply: dict[str, Any]) -> None:
    with pytest.raises(ChatFailure) as raised:
        bedrock.read_reply(reply)
    assert raised.value.trouble == "bad_reply"


@pytest.mark.parametrize(
    ("code", "status", "trouble"),
    [
        ("ThrottlingException", 400, "rate_limit"),
        ("ServiceQuotaExceededException", 400, "rate_limit"),
        ("TooManyRequestsException", 400, "rate_limit"),
        ("ModelTimeoutException", 400, "server_error"),
        ("ModelNotReadyException", 429, "server_error"),
        ("ModelErrorException", 400, "server_error"),
        ("InternalServerException", 400, "server_error"),
        ("ServiceUnavailableException", 400, "server_error"),
        ("AccessDeniedException", 400, "not_allowed"),
        ("UnrecognizedClientException", 400, "not_allowed"),
        ("ExpiredTokenException", 400, "not_allowed"),
        ("InvalidSignatureException", 400, "not_allowed"),
        ("ResourceNotFoundException", 400, "not_found"),
        ("SomethingNew", 503, "server_error"),
        ("SomethingNew", None, "server_error"),
    ],
)
def test_an_error_of_bedrock_goes_by_its_code_where_that_is_known(
    code: str, status: int | None, trouble: str
) -> None:
    error = {"Error": {"Code": code, "Message": "It broke."}}
    failure = bedrock._failure(error | {"ResponseMetadata": {"HTTPStatusCode": status}})
    assert (failure.trouble, failure.http) == (trouble, status or 500)
    assert "It broke." in str(failure)


@pytest.fixture
def botocore(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The errors of botocore by their names, whether or not it is installed."""
    module = ModuleType("botocore.exceptions")
    base = type("BotoCoreError", (Exception,), {})
    module.__dict__["BotoCoreError"] = base
    module.__dict__["ClientError"] = type("ClientError", (Exception,), {"response": {}})
    for name in ("ConnectTimeoutError", "NoCredentialsError", "ParamValidationError",
                 "ReadTimeoutError"):  # fmt: skip
        module.__dict__[name] = type(name, (base,), {})
    monkeypatch.setitem(sys.modules, "botocore", ModuleType("botocore"))
    monkeypatch.setitem(sys.modules, "botocore.exceptions", module)
    return module


def raised_by_bedrock(error: Exception) -> ChatFailure:
    """What becomes of an error of botocore's client."""

    def converse(**_: Any) -> None:
        raise error

    with pytest.raises(ChatFailure) as raised:
        bedrock._converse(SimpleNamespace(converse=converse), {})
    return raised.value


@pytest.mark.parametrize(
    ("name", "trouble"),
    [
        ("ReadTimeoutError", "timeout"),
        ("ConnectTimeoutError", "timeout"),
        ("NoCredentialsError", "not_allowed"),
        ("BotoCoreError", "connection"),
    ],
)
def test_an_error_of_botocore_goes_by_its_class(
    name: str, trouble: str, botocore: ModuleType
) -> None:
    failure = raised_by_bedrock(getattr(botocore, name)("It broke."))
    assert (failure.trouble, str(failure)) == (trouble, "Bedrock: It broke.")


@pytest.mark.parametrize(
    ("words", "features"), [("outputConfig is unknown", ("schema",)), ("x is unknown", ())]
)
def test_what_botocore_does_not_know_may_be_the_schema(
    words: str, features: tuple[str, ...], botocore: ModuleType
) -> None:
    failure = raised_by_bedrock(botocore.ParamValidationError(words))
    assert isinstance(failure, Unsupported)
    assert (failure.features, failure.http) == (features, 400)


def test_an_error_that_aws_sent_goes_by_its_code(botocore: ModuleType) -> None:
    error = botocore.ClientError("x")
    error.response = {"Error": {"Code": "ThrottlingException", "Message": "slow down"}}
    assert raised_by_bedrock(error).trouble == "rate_limit"


def test_a_wait_that_bedrock_asks_for_is_told() -> None:
    told = {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "7"}}
    assert bedrock._failure({"ResponseMetadata": told}).after == 7


def test_what_bedrock_does_not_support_is_found_in_its_words() -> None:
    words = "This model does not support structured output (outputConfig)"
    error = {"Error": {"Code": "ValidationException", "Message": words}}
    failure = bedrock._failure(error | {"ResponseMetadata": {"HTTPStatusCode": 400}})
    assert isinstance(failure, Unsupported)
    assert (failure.features, failure.http) == (("schema",), 400)


def test_bedrock_is_given_what_was_asked(question: ChatRequest) -> None:
    made = bedrock.body(question, "m", Settings(top_p=0.5, max_tokens=50, effort="low"), NOTHING)
    form = made["outputConfig"].pop("textFormat")
    assert json.loads(form["structure"]["jsonSchema"]["schema"]) == question.schema
    assert made == {
        "modelId": "m",
        "messages": [{"role": "user", "content": [{"text": "CONTEXTS\nIs it so?"}]}],
        "system": [{"text": "You judge."}],
        "inferenceConfig": {"temperature": 0, "topP": 0.5, "maxTokens": 50},
        "outputConfig": {"effort": "low"},
    }


def test_bedrock_is_not_given_what_it_does_not_support(question: ChatRequest) -> None:
    asked = replace(question, limit=500)
    lacks = frozenset({"schema", "temperature", "system", "max_tokens"})
    assert bedrock.body(asked, "m", Settings(), lacks).keys() == {"modelId", "messages"}
    for settings, tokens in ((Settings(), 500), (Settings(max_tokens=50), 50)):
        assert bedrock.body(asked, "m", settings, NOTHING)["inferenceConfig"] == {
            "temperature": 0, "maxTokens": tokens,
        }  # fmt: skip
    chosen = bedrock.body(asked, "m", Settings(max_tokens=50), frozenset({"max_tokens"}))
    assert chosen["inferenceConfig"]["maxTokens"] == 50


def test_tokens_of_bedrocks_cache_are_counted_as_sent() -> None:
    usage = {"inputTokens": 20, "outputTokens": 8, "cacheReadInputTokens": 100,
             "cacheWriteInputTokens": 3}  # fmt: skip
    assert bedrock.read_reply(CONVERSE | {"usage": usage}).usage == Usage(
        prompt=123, completion=8, cached=100, written=3
    )
    assert bedrock.read_reply(CONVERSE | {"usage": {}}).usage == Usage()


def test_a_tool_that_bedrock_uses_is_its_reply_where_it_says_nothing() -> None:
    tool = {"toolUse": {"input": {"p01": "ü"}}}
    for content, text in (
        ([{"text": "a"}, tool, {"text": "b"}], "ab"),
        ([{"reasoningContent": {}}, tool], '{"p01": "ü"}'),
        ([], ""),
    ):
        reply = {"output": {"message": {"content": content}}, "stopReason": "tool_use"}
        assert bedrock.read_reply(reply) == ChatReply(text)


def test_litellm_is_given_what_was_asked_and_does_not_ask_again(
    question: ChatRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    async def acompletion(**given: Any) -> SimpleNamespace:
        asked.append(given)
        return SimpleNamespace(model_dump=lambda: OPENAI)

    module = ModuleType("litellm")
    errors = SimpleNamespace(openai=SimpleNamespace(OpenAIError=type("E", (Exception,), {})))
    module.__dict__.update(acompletion=acompletion, exceptions=errors)
    monkeypatch.setitem(sys.modules, "litellm", module)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    model = open_chat("litellm:openai/small?max_tokens=50")
    assert ask(model, question) == ChatReply('{"p01": "yes"}', "stop", Usage(120, 8, 100, 3),
                                             "small-1")  # fmt: skip
    (given,) = asked
    assert (given["num_retries"], given["max_retries"]) == (0, 0), "the run asks again"
    assert (given["model"], given["temperature"]) == ("openai/small", 0)


class RefusedByLitellm(Exception):
    """As litellm raises it, with the status of the server's reply."""

    def __init__(self, status: int, words: str) -> None:
        self.status_code = status
        self.response: Any = None
        super().__init__(words)


def test_words_of_litellm_tell_what_the_server_has_not_and_what_is_too_long() -> None:
    unsupported = library_clients._litellm_failure(
        RefusedByLitellm(400, "response_format is not supported")
    )
    assert isinstance(unsupported, Unsupported)
    assert unsupported.features == ("schema",)
    too_long = library_clients._litellm_failure(
        RefusedByLitellm(400, "the maximum context length is 8192 tokens")
    )
    assert too_long.trouble == "too_long"


@pytest.mark.parametrize(
    ("name", "status", "trouble"),
    [
        ("APIConnectionError", 500, "connection"),
        ("Timeout", 408, "timeout"),
        ("APITimeoutError", 408, "timeout"),
        ("ContextWindowExceededError", 400, "too_long"),
        ("ContentPolicyViolationError", 400, "filtered"),
        ("PaymentRequiredError", 429, "no_credit"),
        ("RateLimitError", 429, "rate_limit"),
        ("AuthenticationError", 401, "not_allowed"),
        ("APIError", None, "server_error"),
    ],
)
def test_an_error_of_litellm_goes_by_its_class_or_its_status(
    name: str, status: int | None, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    kind = type(name, (Exception,), {"status_code": status})
    failure = library_clients._litellm_failure(kind(f"It broke with {KEY}."))
    assert failure.trouble == trouble
    assert "It broke" in str(failure)
    assert KEY not in f"{failure} {failure.body}"


def test_a_wait_that_litellm_tells_is_told() -> None:
    error = RefusedByLitellm(429, "slow down")
    error.response = SimpleNamespace(headers={"retry-after": "7"})
    failure = library_clients._litellm_failure(error)
    assert (failure.trouble, failure.after, failure.http) == ("rate_limit", 7, 429)


class UserError(Exception):
    """As Pydantic AI raises it for a request that its model cannot make."""


@pytest.mark.parametrize(
    ("words", "features"),
    [("Native structured Output is not supported by this model.", ("schema",)), ("No.", ())],
)
def test_what_pydantic_ai_cannot_ask_for_may_be_the_schema(
    words: str, features: tuple[str, ...]
) -> None:
    failure = library_clients._pydantic_ai_failure(UserError(words))
    assert isinstance(failure, Unsupported)
    assert (failure.features, failure.http, str(failure)) == (features, 400, words)


class ModelHTTPError(Exception):
    """As Pydantic AI raises it, with what the server sent."""

    def __init__(self, status: int, words: str, retry_after: float | None = None) -> None:
        self.headers = {"retry-after": "7"}
        self.status_code, self.retry_after = status, retry_after
        self.body = {"error": {"message": words}}
        super().__init__(f"status {status}, {words}")


def test_an_error_that_a_server_sent_pydantic_ai_goes_by_what_it_sent() -> None:
    failure = library_clients._pydantic_ai_failure(ModelHTTPError(429, "slow down"))
    assert (failure.trouble, failure.after, failure.http) == ("rate_limit", 7, 429)
    assert str(failure) == "status 429, slow down"
    assert not isinstance(failure, Unsupported)
    assert library_clients._pydantic_ai_failure(ModelHTTPError(429, "slow down", 20.0)).after == 20
    silent = ModelHTTPError(429, "slow down")
    silent.headers = {}
    assert library_clients._pydantic_ai_failure(silent).after == 0
    less = library_clients._pydantic_ai_failure(
        ModelHTTPError(400, "response_format is not supported")
    )
    assert isinstance(less, Unsupported)
    assert less.features == ("schema",)


@pytest.mark.parametrize(
    ("name", "trouble"),
    [
        ("ModelTimeoutError", "timeout"),
        ("ContentFilterError", "filtered"),
        ("UnexpectedModelBehavior", "bad_reply"),
        ("AgentRunError", "connection"),
    ],
)
def test_an_error_of_pydantic_ai_itself_goes_by_its_class(name: str, trouble: str) -> None:
    failure = library_clients._pydantic_ai_failure(type(name, (Exception,), {})("It broke."))
    assert (failure.trouble, str(failure)) == (trouble, "It broke.")


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), (None, "stop"), ("length", "length"), ("content_filter", "filter")],
)
def test_a_reply_through_pydantic_ai_is_read(reason: str | None, finish: str) -> None:
    usage = SimpleNamespace(
        input_tokens=20, output_tokens=8, cache_read_tokens=5, details={"reasoning_tokens": 3}
    )
    reply = SimpleNamespace(finish_reason=reason, usage=usage, text="x", model_name="m-1")
    text = "" if finish == "filter" else "x"
    expected = ChatReply(text, finish, Usage(20, 8, 5, 3), "m-1")  # type: ignore[arg-type]
    assert library_clients._pydantic_ai_read(reply) == expected
    usage.input_tokens = usage.output_tokens = usage.cache_read_tokens = 0
    assert library_clients._pydantic_ai_read(reply).usage == Usage(), (
        "zeros stand for what was not said"
    )


def test_clients_of_pydantic_ai_do_not_ask_again() -> None:
    client = SimpleNamespace(max_retries=2)
    library_clients._disable_retries(SimpleNamespace(client=client))
    assert client.max_retries == 0
    other = SimpleNamespace(client=SimpleNamespace())
    library_clients._disable_retries(other)
    assert vars(other.client) == {}


PASSING = ("rate_limit", "server_error", "timeout", "unreachable", "connection", "bad_reply")
FINAL = ("parameter", "not_allowed", "not_found", "no_credit")


@pytest.mark.parametrize("trouble", get_args(Trouble))
def test_a_trouble_of_the_line_may_pass_and_one_of_the_account_stops_the_run(
    trouble: Trouble,
) -> None:
    failure = ChatFailure(trouble, "It broke.")
    assert (failure.passing, failure.final) == (trouble in PASSING, trouble in FINAL)
