"""Gemini: the format of the generateContent API."""

from collections.abc import Mapping
from urllib.parse import quote

from ragstone.models.server import Server

from .batches.gemini import GEMINI_BATCHES
from .model import ChatReply, ChatRequest, Finish, Usage, tokens
from .refusal import refused
from .settings import ALL, Effort, Settings, Takes
from .wire import (
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
    together,
    word,
)

BUDGETS: dict[Effort, int] = {
    "none": 0,
    "minimal": 512,
    "low": 1024,
    "medium": 8192,
    "high": 24576,
}
"""Thinking budgets in tokens, for models before Gemini 3, which have no thinking levels."""

FINISHES: dict[str, Finish] = {
    "MAX_TOKENS": "length",
    "SAFETY": "filter",
    "RECITATION": "filter",
    "LANGUAGE": "filter",
    "BLOCKLIST": "filter",
    "PROHIBITED_CONTENT": "filter",
    "SPII": "filter",
    "MODEL_ARMOR": "filter",
    "ESCALATION": "filter",
}
BROKEN = {
    "OTHER",
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MALFORMED_RESPONSE",
}


def body(request: ChatRequest, model: str, settings: Settings, lacks: frozenset[str]) -> Body:
    """The request.

    Args:
        request: The question.
        model: As the server calls it.
        settings: The user's settings.
        lacks: Features that the server is known not to support.
    """
    where = layout(settings, lacks)
    text, system = texts_of(request, settings, lacks)
    made: Body = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    if system is not None:
        made["systemInstruction"] = {"parts": [{"text": system}]}
    unlimited = "max_tokens" in lacks and settings.max_tokens is None
    made["generationConfig"] = given(
        temperature=temperature(settings, lacks),
        topP=settings.top_p,
        seed=settings.seed,
        maxOutputTokens=None if unlimited else longest(settings, request),
        responseMimeType=None if where == "prompt" else "application/json",
        responseJsonSchema=request.schema if where == "strict" else None,
        thinkingConfig=_thinking(model, settings.effort),
    )
    return made


def read(status: int, headers: Mapping[str, str], body: bytes) -> ChatReply:
    """Read a reply.

    Raises:
        ChatFailure: It is an error, or not in this format, or the question was blocked.
    """
    if not 200 <= status < 300:
        raise refused(status, headers, body)
    reply = opened(body)
    if reply.get("error"):
        code = inside(reply, "error").get("code")
        raise refused(code if isinstance(code, int) and 400 <= code < 600 else 500, headers, body)
    candidates = reply.get("candidates")
    candidate = candidates[0] if isinstance(candidates, list) and candidates else None
    blocked = inside(reply, "promptFeedback").get("blockReason")
    if candidate is None and blocked:
        raise no_reply(f"blocked the question: {word(blocked)}", body, "filtered")
    if not isinstance(candidate, dict):
        raise no_reply("sent no candidate", body)
    reason = word(candidate.get("finishReason"))
    if reason in BROKEN:
        raise no_reply(f"ended its reply early: {reason}", body)
    finish = FINISHES.get(reason, "stop")
    return ChatReply(
        text="" if finish == "filter" else _text(inside(candidate, "content").get("parts")),
        finish=finish,
        usage=_usage(reply.get("usageMetadata")),
        model=word(reply.get("modelVersion")) or None,
    )


def _thinking(model: str, effort: Effort | None) -> Body | None:
    if effort is None:
        return None
    if effort == "none" or model.removeprefix("models/").startswith("gemini-2"):
        return {"thinkingBudget": BUDGETS[effort]}
    return {"thinkingLevel": effort.upper()}


def _text(parts: object) -> str:
    """The text parts joined, without thoughts; without any, the arguments of a function call."""
    found = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    texts = [part.get("text") for part in found if not part.get("thought")]
    text = "".join(one for one in texts if isinstance(one, str))
    calls = [inside(part, "functionCall").get("args") for part in found if "functionCall" in part]
    return text or (dumped(calls[0]) if calls else "")


def _usage(usage: object) -> Usage:
    """The token counts; candidatesTokenCount excludes thoughts."""
    if not isinstance(usage, dict):
        return Usage()
    thoughts = tokens(usage.get("thoughtsTokenCount"))
    return Usage(
        prompt=tokens(usage.get("promptTokenCount")),
        completion=together(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount")),
        cached=tokens(usage.get("cachedContentTokenCount")),
        reasoning=thoughts,
    )


def _url(server: Server) -> str:
    base = server.url if server.url.endswith(("/v1", "/v1beta")) else f"{server.url}/v1beta"
    model = quote(server.model, safe="/")
    return f"{base}/{model if '/' in model else f'models/{model}'}:generateContent"


def _headers(key: str | None) -> dict[str, str]:
    return {"x-goog-api-key": key} if key else {}


GEMINI = Wire(
    "gemini",
    "GEMINI_API_KEY",
    Takes(ALL, efforts=tuple(BUDGETS)),
    _url,
    _headers,
    body,
    read,
    GEMINI_BATCHES,
)
