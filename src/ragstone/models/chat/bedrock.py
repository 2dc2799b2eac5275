"""Bedrock: models on AWS, through the Converse operation of botocore."""

import asyncio
import json
from typing import Any

from ragstone.core.errors import ModelError, needing
from ragstone.core.python_runtime import in_daemon
from ragstone.models.embedding_api import scrubbed

from .http_chat import AskingChat
from .http_transport import Unsupported, objects_in, refused
from .model import ChatFailure, ChatModel, ChatReply, ChatRequest, Finish, Trouble
from .wire_format import (
    ALL,
    SCHEMA_NAME,
    Body,
    Settings,
    Takes,
    given,
    inside,
    layout,
    longest,
    no_reply,
    parse_settings,
    temperature,
    text_or_call,
    texts_of,
    usage_beside_cache,
    word,
)

WINDOW = 128_000
READ, CONNECT, AT_ONCE = 600, 30, 256
TAKES = Takes(ALL - {"seed"}, layouts=("strict", "prompt"))
CODES: dict[Trouble, str] = {
    "rate_limit": "Throttling TooManyRequests ServiceQuotaExceeded",
    "server_error": "ModelTimeout ModelNotReady ModelError InternalServer ServiceUnavailable",
    "not_allowed": "AccessDenied UnrecognizedClient ExpiredToken InvalidSignature",
    "not_found": "ResourceNotFound",
}
# Error codes of AWS. A ValidationException has many causes, so its message is read instead.
TROUBLES = {f"{code}Exception": trouble for trouble in CODES for code in CODES[trouble].split()}

FINISHES: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "filter",
    "content_filtered": "filter",
}
BROKEN = {"malformed_model_output", "malformed_tool_use"}
USAGE = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


def bedrock_chat(model: str, settings: str) -> ChatModel:
    """Return a model on AWS; region and credentials come from where AWS's own tools find them."""
    read = parse_settings(settings, TAKES, f"bedrock:{model}")
    client = _client(model)

    async def send(request: Body) -> ChatReply:
        reply = in_daemon(lambda: _converse(client, request), "bedrock")
        return read_reply(await asyncio.wrap_future(reply))

    async def finish() -> None:
        client.close()

    return AskingChat(
        name=f"bedrock:{model}",
        about=f"{model} at {client.meta.endpoint_url}",
        identity=f"bedrock {client.meta.endpoint_url} {model}",
        settings=read,
        window=WINDOW,
        body=lambda request, lacks: body(request, model, read, lacks),
        send=send,
        finish=finish,
    )


def body(request: ChatRequest, model: str, settings: Settings, lacks: frozenset[str]) -> Body:
    """Return the arguments of Converse."""
    where = layout(settings, lacks)
    text, system = texts_of(request, settings, lacks)
    unlimited = "max_tokens" in lacks and settings.max_tokens is None
    inference = given(
        temperature=temperature(settings, lacks),
        topP=settings.top_p,
        maxTokens=None if unlimited else longest(settings, request),
    )
    schema = {
        "name": SCHEMA_NAME,
        "schema": json.dumps(request.schema, separators=(",", ":"), ensure_ascii=False),
    }
    form = {"type": "json_schema", "structure": {"jsonSchema": schema}}
    output = given(textFormat=form if where == "strict" else None, effort=settings.effort)
    return given(
        modelId=model,
        messages=[{"role": "user", "content": [{"text": text}]}],
        system=None if system is None else [{"text": system}],
        inferenceConfig=inference or None,
        outputConfig=output or None,
    )


def read_reply(reply: Body) -> ChatReply:
    """Read what Converse returns."""
    sent = json.dumps(reply, default=str).encode()
    content = inside(inside(reply, "output"), "message").get("content")
    reason = word(reply.get("stopReason"))
    if reason in BROKEN:
        raise no_reply(f"Bedrock ended its reply early: {reason}", sent)
    if not isinstance(content, list):
        raise no_reply("Bedrock sent no message", sent)
    texts = [block.get("text") for block in objects_in(content)]
    inputs = (inside(block, "toolUse").get("input") for block in content)
    calls = [value for value in inputs if value is not None]
    finish = FINISHES.get(reason, "stop")
    return ChatReply(
        text="" if finish == "filter" else text_or_call(texts, calls),
        finish=finish,
        usage=usage_beside_cache(*map(inside(reply, "usage").get, USAGE)),
    )


def _client(model: str) -> Any:
    with needing(f"bedrock:{model}", "bedrock"):
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
        from botocore.session import get_session
    config = Config(
        read_timeout=READ,
        connect_timeout=CONNECT,
        max_pool_connections=AT_ONCE,
        retries={"total_max_attempts": 1},
    )
    session = get_session()
    try:
        if session.get_credentials() is None:
            raise ModelError(
                f"bedrock:{model} needs AWS credentials: set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
            )
        return session.create_client("bedrock-runtime", config=config)
    except BotoCoreError as error:
        raise ModelError(f"bedrock:{model} cannot be opened: {error} Set AWS_REGION") from error


def _converse(client: Any, request: Body) -> Body:
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        ConnectTimeoutError,
        NoCredentialsError,
        ParamValidationError,
        ReadTimeoutError,
    )

    try:
        reply: Body = client.converse(**request)
        return reply
    except ClientError as error:
        raise _failure(error.response) from error
    except ParamValidationError as error:
        words = f"botocore does not support part of the request: {error}"
        features = ("schema",) if "outputConfig" in str(error) else ()
        raise Unsupported(features, words, http=400, body="") from error
    except (ReadTimeoutError, ConnectTimeoutError) as error:
        raise ChatFailure("timeout", f"Bedrock: {error}") from error
    except NoCredentialsError as error:
        raise ChatFailure("not_allowed", f"Bedrock: {error}") from error
    except BotoCoreError as error:
        raise ChatFailure("connection", f"Bedrock: {scrubbed(str(error))}") from error


def _failure(response: Body) -> ChatFailure:
    error, metadata = inside(response, "Error"), inside(response, "ResponseMetadata")
    headers = metadata.get("HTTPHeaders")
    code = word(error.get("Code"))
    status = metadata.get("HTTPStatusCode")
    status = status if isinstance(status, int) else 500
    sent = json.dumps({"message": error.get("Message"), "type": code}).encode()
    failure = refused(status, headers if isinstance(headers, dict) else {}, sent)
    known = TROUBLES.get(code)
    words = f"Bedrock {failure}"
    if isinstance(failure, Unsupported) and known is None:
        return Unsupported(failure.features, words, http=status, body=failure.body)
    return failure.saying(words, known)
