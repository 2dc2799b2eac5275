"""Anthropic: the format of the Messages API."""

from collections.abc import Mapping

from ragstone.models.server import Server

from .batches.anthropic import ANTHROPIC_BATCHES
from .model import ChatReply, ChatRequest, Finish, Usage, tokens
from .refusal import refused
from .settings import ALL, Settings, Takes
from .wire import (
    Body,
    Wire,
    dumped,
    given,
    inside,
    layout,
    no_reply,
    opened,
    printed,
    temperature,
    together,
    word,
)

VERSION = "2023-06-01"
MAX_TOKENS, FEWER_TOKENS = 8192, 4096
"""The format requires a maximum. Some old models reject the first value and get the second."""

FINISHES: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


def body(request: ChatRequest, model: str, settings: Settings, lacks: frozenset[str]) -> Body:
    """The request. Its cached prefix ends after the first part, or after the system message.

    Args:
        request: The question.
        model: As the server calls it.
        settings: The user's settings.
        lacks: Features that the server is known not to support.
    """
    where = layout(settings, lacks)
    first, rest = "", request.text
    if len(request.parts) > 1:
        first, rest = request.parts[0], "".join(request.parts[1:])
    if not (first.strip() and rest.strip()):
        first, rest = "", request.text
    system = [_block(request.system)] if request.system.strip() else []
    content = [_block(first)] if first else []
    (content or system or [{}])[-1]["cache_control"] = {"type": "ephemeral"}
    content.append(_block(rest + ("" if where == "strict" else printed(request))))
    length = settings.max_tokens or (FEWER_TOKENS if "max_tokens" in lacks else MAX_TOKENS)
    made: Body = {
        "model": model,
        "max_tokens": min(length, request.limit or length),
        "messages": [{"role": "user", "content": content}],
    }
    made |= given(
        system=system or None,
        temperature=temperature(settings, lacks),
        top_p=settings.top_p,
    )
    schema = {"type": "json_schema", "schema": request.schema} if where == "strict" else None
    config = given(format=schema, effort=settings.effort)
    return made | ({"output_config": config} if config else {})


def read(status: int, headers: Mapping[str, str], body: bytes) -> ChatReply:
    """Read a reply.

    Raises:
        ChatFailure: It is an error, or not in this format.
    """
    if not 200 <= status < 300:
        raise refused(status, headers, body)
    reply = opened(body)
    if reply.get("type") == "error":
        raise refused(500, headers, body)
    content = reply.get("content")
    if not isinstance(content, list):
        raise no_reply("sent no content", body)
    finish = FINISHES.get(word(reply.get("stop_reason")), "stop")
    return ChatReply(
        text="" if finish == "refusal" else _text(content),
        finish=finish,
        usage=_usage(reply.get("usage")),
        model=word(reply.get("model")) or None,
    )


def _block(text: str) -> Body:
    return {"type": "text", "text": text}


def _text(content: list[object]) -> str:
    """The text blocks joined; without any, the input of the first tool call."""
    blocks = [block for block in content if isinstance(block, dict)]
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    text = "".join(one for one in texts if isinstance(one, str))
    inputs = [block.get("input") for block in blocks if block.get("type") == "tool_use"]
    return text or (dumped(inputs[0]) if inputs else "")


def _usage(usage: object) -> Usage:
    """The token counts; input_tokens excludes tokens read from and written to the cache."""
    if not isinstance(usage, dict):
        return Usage()
    fresh, cached = usage.get("input_tokens"), usage.get("cache_read_input_tokens")
    written = usage.get("cache_creation_input_tokens")
    return Usage(
        prompt=None if fresh is None else together(fresh, cached, written),
        completion=tokens(usage.get("output_tokens")),
        cached=tokens(cached),
        written=tokens(written),
        reasoning=tokens(inside(usage, "output_tokens_details").get("thinking_tokens")),
    )


def _url(server: Server) -> str:
    return f"{server.url.removesuffix('/v1')}/v1/messages"


def _headers(key: str | None) -> dict[str, str]:
    return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})


ANTHROPIC = Wire(
    "anthropic",
    "ANTHROPIC_API_KEY",
    Takes(
        ALL - {"seed"},
        efforts=("low", "medium", "high", "xhigh", "max"),
        layouts=("strict", "prompt"),
    ),
    _url,
    _headers,
    body,
    read,
    ANTHROPIC_BATCHES,
)
