"""OpenAI: the chat completions format, used by Azure, vLLM, Ollama, LM Studio and many others."""

import os
from collections.abc import Mapping
from functools import partial
from urllib.parse import quote

from ragstone.models.server import Server

from .batches.openai import OPENAI_BATCHES
from .model import ChatReply, ChatRequest, Finish, Usage, tokens
from .refusal import refused
from .settings import ALL, Settings, Takes
from .wire import (
    SCHEMA_NAME,
    Body,
    Wire,
    dumped,
    given,
    inside,
    layout,
    longest,
    no_reply,
    opened,
    temperature,
    texts_of,
    word,
)

FINISHES: dict[str, Finish] = {"length": "length", "content_filter": "filter"}


def body(
    request: ChatRequest,
    model: str,
    settings: Settings,
    lacks: frozenset[str],
    *,
    limits: tuple[str, str] = ("max_completion_tokens", "max_tokens"),
) -> Body:
    """The request.

    Args:
        request: The question.
        model: As the server calls it.
        settings: The user's settings.
        lacks: Features that the server is known not to support.
        limits: The two names of the field that limits the reply's length, the first to try first.
    """
    where = layout(settings, lacks)
    text, system = texts_of(request, settings, lacks)
    messages = [{"role": "user", "content": text}]
    if system is not None:
        messages.insert(0, {"role": "system", "content": system})
    made: Body = {"model": model, "messages": messages}
    made |= given(
        temperature=temperature(settings, lacks),
        top_p=settings.top_p,
        seed=settings.seed,
        reasoning_effort=settings.effort,
    )
    if (length := longest(settings, request)) and (settings.max_tokens or not lacks >= {*limits}):
        made[limits[1] if limits[0] in lacks else limits[0]] = length
    if where == "strict":
        schema = {"name": SCHEMA_NAME, "strict": True, "schema": request.schema}
        made["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif where == "json":
        made["response_format"] = {"type": "json_object"}
    return made


def read(status: int, headers: Mapping[str, str], body: bytes) -> ChatReply:
    """Read a reply.

    Raises:
        ChatFailure: It is an error, or not in this format.
    """
    if not 200 <= status < 300:
        raise refused(status, headers, body)
    return read_reply(opened(body), headers, body)


def read_reply(reply: Body, headers: Mapping[str, str], body: bytes) -> ChatReply:
    """Read a reply whose body is already parsed.

    Raises:
        ChatFailure: It is an error, or not in this format.
    """
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    error = reply.get("error") or inside({"choice": choice}, "choice").get("error")
    if error:
        code = error.get("code") if isinstance(error, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
        raise refused(status, headers, body)
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise no_reply("sent no choices", body)
    message = choice["message"]
    finish = FINISHES.get(word(choice.get("finish_reason")), "stop")
    if message.get("refusal") and finish == "stop":
        finish = "refusal"
    return ChatReply(
        text="" if finish in ("refusal", "filter") else _text(message),
        finish=finish,
        usage=_usage(reply.get("usage")),
        model=word(reply.get("model")) or None,
    )


def _text(message: Body) -> str:
    """The text: a string, the text parts of a list, or the arguments of a tool call."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    if isinstance(content, str) and content:
        return content
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else message.get("function_call")
    function = inside(call, "function") or (call if isinstance(call, dict) else {})
    return dumped(function.get("arguments") or "")


def _usage(usage: object) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        prompt=tokens(usage.get("prompt_tokens")),
        completion=tokens(usage.get("completion_tokens")),
        cached=tokens(inside(usage, "prompt_tokens_details").get("cached_tokens")),
        reasoning=tokens(inside(usage, "completion_tokens_details").get("reasoning_tokens")),
    )


def _url(server: Server) -> str:
    return f"{server.url}/chat/completions"


def _bearer(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _azure_url(server: Server) -> str:
    """The URL of the v1 API, or of the dated API that OPENAI_API_VERSION names."""
    version = azure_version()
    if not version:
        return f"{server.url}/openai/v1/chat/completions"
    deployment = quote(server.model, safe="")
    return (
        f"{server.url}/openai/deployments/{deployment}/chat/completions"
        f"?api-version={quote(version, safe='')}"
    )


def azure_version() -> str:
    """The version of Azure's API if it is a dated one; empty for v1."""
    version = os.environ.get("OPENAI_API_VERSION", "").strip()
    return "" if version in ("v1", "latest", "preview") else version


def _azure_key(key: str | None) -> dict[str, str]:
    return {"api-key": key} if key else {}


OPENAI = Wire("openai", "OPENAI_API_KEY", Takes(ALL), _url, _bearer, body, read, OPENAI_BATCHES)
COMPATIBLE = Wire(
    "openai",
    "OPENAI_API_KEY",
    Takes(ALL),
    _url,
    _bearer,
    partial(body, limits=("max_tokens", "max_completion_tokens")),
    read,
    OPENAI_BATCHES,
)
AZURE = Wire("azure", "AZURE_OPENAI_API_KEY", Takes(ALL), _azure_url, _azure_key, body, read)
