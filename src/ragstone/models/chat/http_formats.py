"""HTTP formats: requests to and replies of chat servers of OpenAI, Azure, Anthropic and Gemini.

The formats are chat completions (also of vLLM, Ollama, LM Studio and many others), Messages and
generateContent.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import quote

from ragstone.models.embedding_api import Server

from .http_chat import Wire
from .http_transport import objects_in, refused
from .model import ChatReply, ChatRequest, Finish, Usage, tokens
from .provider_batches import AnthropicBatches, GeminiBatches, OpenAiBatches
from .wire_format import (
    ALL,
    SCHEMA_NAME,
    Body,
    Effort,
    Settings,
    Takes,
    dumped,
    given,
    inside,
    layout,
    longest,
    no_reply,
    printed,
    temperature,
    text_or_call,
    texts_of,
    together,
    usage_beside_cache,
    word,
)

# Where DeepSeek, and gateways to Anthropic, say how many tokens were cached.
CACHED = ("prompt_cache_hit_tokens", "cache_read_input_tokens")

OPENAI_FINISHES: dict[str, Finish] = {"length": "length", "content_filter": "filter"}


def openai_body(
    request: ChatRequest,
    model: str,
    settings: Settings,
    lacks: frozenset[str],
    *,
    limits: tuple[str, str] = ("max_completion_tokens", "max_tokens"),
) -> Body:
    """Return the request."""
    where = layout(settings, lacks)
    text, system = texts_of(request, settings, lacks)
    messages = [{"role": "user", "content": text}]
    if system is not None:
        messages.insert(0, {"role": "system", "content": system})
    body: Body = {"model": model, "messages": messages}
    body |= given(
        temperature=temperature(settings, lacks),
        top_p=settings.top_p,
        seed=settings.seed,
        reasoning_effort=settings.effort,
    )
    if (length := longest(settings, request)) and (settings.max_tokens or not lacks >= {*limits}):
        body[limits[1] if limits[0] in lacks else limits[0]] = length
    if where == "strict":
        schema = {"name": SCHEMA_NAME, "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif where == "json":
        body["response_format"] = {"type": "json_object"}
    return body


def openai_reply(reply: Body, headers: Mapping[str, str], body: bytes) -> ChatReply:
    """Read a reply."""
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
    finish = OPENAI_FINISHES.get(word(choice.get("finish_reason")), "stop")
    if message.get("refusal") and finish == "stop":
        finish = "refusal"
    return ChatReply(
        text="" if finish in ("refusal", "filter") else _openai_text(message),
        finish=finish,
        usage=_openai_usage(inside(reply, "usage")),
        model=word(reply.get("model")) or None,
    )


def _openai_text(message: Body) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in objects_in(content)]
        content = "".join(part for part in parts if isinstance(part, str))
    if isinstance(content, str) and content:
        return content
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else message.get("function_call")
    function = inside(call, "function") or (call if isinstance(call, dict) else {})
    return dumped(function.get("arguments") or "")


def _openai_usage(usage: Body) -> Usage:
    """The token counts; a total that only the sum of all three makes up shows that cached ones
    are counted beside the prompt."""
    prompt, completion = (tokens(usage.get(f"{part}_tokens")) for part in ("prompt", "completion"))
    counts = (inside(usage, "prompt_tokens_details").get("cached_tokens"), *map(usage.get, CACHED))
    cached = next((count for count in map(tokens, counts) if count is not None), None)
    if cached and tokens(usage.get("total_tokens")) == together(prompt, completion, cached):
        prompt = together(prompt, cached)
    return Usage(
        prompt=prompt,
        completion=completion,
        cached=cached,
        reasoning=tokens(inside(usage, "completion_tokens_details").get("reasoning_tokens")),
    )


def _azure_url(server: Server) -> str:
    version = os.environ.get("OPENAI_API_VERSION", "").strip()
    if version in ("", "v1", "latest", "preview"):
        return f"{server.url}/openai/v1/chat/completions"
    deployment = quote(server.model, safe="")
    return (
        f"{server.url}/openai/deployments/{deployment}/chat/completions"
        f"?api-version={quote(version, safe='')}"
    )


OPENAI = Wire(
    "openai",
    "OPENAI_API_KEY",
    Takes(ALL),
    lambda server: f"{server.url}/chat/completions",
    lambda key: {"Authorization": f"Bearer {key}"} if key else {},
    openai_body,
    openai_reply,
    OpenAiBatches,
)
COMPATIBLE = replace(
    OPENAI, body=partial(openai_body, limits=("max_tokens", "max_completion_tokens"))
)
AZURE = Wire(
    "azure",
    "AZURE_OPENAI_API_KEY",
    Takes(ALL),
    _azure_url,
    lambda key: {"api-key": key} if key else {},
    openai_body,
    openai_reply,
)


ANTHROPIC_VERSION = "2023-06-01"
# The format requires a maximum. Some old models reject the first value and get the second.
MAX_TOKENS, FEWER_TOKENS = 8192, 4096

ANTHROPIC_FINISHES: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


def anthropic_body(
    request: ChatRequest, model: str, settings: Settings, lacks: frozenset[str]
) -> Body:
    """Return the request; its cached prefix ends after the first part or the system message."""
    where = layout(settings, lacks)
    first, rest = "", request.text
    if len(request.parts) > 1:
        first, rest = request.parts[0], "".join(request.parts[1:])
    if not (first.strip() and rest.strip()):
        first, rest = "", request.text
    system = [_anthropic_block(request.system)] if request.system.strip() else []
    content = [_anthropic_block(first)] if first else []
    (content or system or [{}])[-1]["cache_control"] = {"type": "ephemeral"}
    content.append(_anthropic_block(rest + ("" if where == "strict" else printed(request))))
    length = settings.max_tokens or (FEWER_TOKENS if "max_tokens" in lacks else MAX_TOKENS)
    body: Body = {
        "model": model,
        "max_tokens": min(length, request.limit or length),
        "messages": [{"role": "user", "content": content}],
    }
    body |= given(
        system=system or None, temperature=temperature(settings, lacks), top_p=settings.top_p
    )
    schema = {"type": "json_schema", "schema": request.schema} if where == "strict" else None
    config = given(format=schema, effort=settings.effort)
    return body | ({"output_config": config} if config else {})


def anthropic_reply(reply: Body, headers: Mapping[str, str], body: bytes) -> ChatReply:
    """Read a reply."""
    if reply.get("type") == "error":
        raise refused(500, headers, body)
    content = reply.get("content")
    if not isinstance(content, list):
        raise no_reply("sent no content", body)
    blocks = objects_in(content)
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    calls = [block.get("input") for block in blocks if block.get("type") == "tool_use"]
    finish = ANTHROPIC_FINISHES.get(word(reply.get("stop_reason")), "stop")
    return ChatReply(
        text="" if finish == "refusal" else text_or_call(texts, calls),
        finish=finish,
        usage=_anthropic_usage(inside(reply, "usage")),
        model=word(reply.get("model")) or None,
    )


def _anthropic_block(text: str) -> Body:
    return {"type": "text", "text": text}


def _anthropic_usage(usage: Body) -> Usage:
    return usage_beside_cache(
        usage.get("input_tokens"),
        usage.get("output_tokens"),
        usage.get("cache_read_input_tokens"),
        usage.get("cache_creation_input_tokens"),
        inside(usage, "output_tokens_details").get("thinking_tokens"),
    )


ANTHROPIC = Wire(
    "anthropic",
    "ANTHROPIC_API_KEY",
    Takes(
        ALL - {"seed"},
        efforts=("low", "medium", "high", "xhigh", "max"),
        layouts=("strict", "prompt"),
    ),
    lambda server: f"{server.url.removesuffix('/v1')}/v1/messages",
    lambda key: {"anthropic-version": ANTHROPIC_VERSION} | ({"x-api-key": key} if key else {}),
    anthropic_body,
    anthropic_reply,
    AnthropicBatches,
)


# Thinking budgets in tokens, for models before Gemini 3, which have no thinking levels.
BUDGETS: dict[Effort, int] = {"none": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24576}

GEMINI_FILTERS = (
    *("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST"),
    *("PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "ESCALATION"),
)
GEMINI_FINISHES: dict[str, Finish] = {
    "MAX_TOKENS": "length",
    **dict.fromkeys(GEMINI_FILTERS, "filter"),
}
GEMINI_BROKEN = {
    "OTHER",
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MALFORMED_RESPONSE",
}


def gemini_body(
    request: ChatRequest, model: str, settings: Settings, lacks: frozenset[str]
) -> Body:
    """Return the request."""
    where = layout(settings, lacks)
    text, system = texts_of(request, settings, lacks)
    body: Body = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    if system is not None:
        body["systemInstruction"] = {"parts": [{"text": system}]}
    unlimited = "max_tokens" in lacks and settings.max_tokens is None
    body["generationConfig"] = given(
        temperature=temperature(settings, lacks),
        topP=settings.top_p,
        seed=settings.seed,
        maxOutputTokens=None if unlimited else longest(settings, request),
        responseMimeType=None if where == "prompt" else "application/json",
        responseJsonSchema=request.schema if where == "strict" else None,
        thinkingConfig=_gemini_thinking(model, settings.effort),
    )
    return body


def gemini_reply(reply: Body, headers: Mapping[str, str], body: bytes) -> ChatReply:
    """Read a reply."""
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
    if reason in GEMINI_BROKEN:
        raise no_reply(f"ended its reply early: {reason}", body)
    parts = objects_in(inside(candidate, "content").get("parts"))
    texts = [part.get("text") for part in parts if not part.get("thought")]
    calls = [inside(part, "functionCall").get("args") for part in parts if "functionCall" in part]
    finish = GEMINI_FINISHES.get(reason, "stop")
    return ChatReply(
        text="" if finish == "filter" else text_or_call(texts, calls),
        finish=finish,
        usage=_gemini_usage(inside(reply, "usageMetadata")),
        model=word(reply.get("modelVersion")) or None,
    )


def _gemini_thinking(model: str, effort: Effort | None) -> Body | None:
    if effort is None:
        return None
    if effort == "none" or model.removeprefix("models/").startswith("gemini-2"):
        return {"thinkingBudget": BUDGETS[effort]}
    return {"thinkingLevel": effort.upper()}


def _gemini_usage(usage: Body) -> Usage:
    """The token counts; candidatesTokenCount excludes thoughts."""
    thoughts = tokens(usage.get("thoughtsTokenCount"))
    return Usage(
        prompt=tokens(usage.get("promptTokenCount")),
        completion=together(usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount")),
        cached=tokens(usage.get("cachedContentTokenCount")),
        reasoning=thoughts,
    )


def _gemini_url(server: Server) -> str:
    base = server.url if server.url.endswith(("/v1", "/v1beta")) else f"{server.url}/v1beta"
    model = quote(server.model, safe="/")
    return f"{base}/{model if '/' in model else f'models/{model}'}:generateContent"


GEMINI = Wire(
    "gemini",
    "GEMINI_API_KEY",
    Takes(ALL, efforts=tuple(BUDGETS)),
    _gemini_url,
    lambda key: {"x-goog-api-key": key} if key else {},
    gemini_body,
    gemini_reply,
    GeminiBatches,
)
