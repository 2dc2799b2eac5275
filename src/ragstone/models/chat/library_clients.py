"""Library clients: chat models of litellm and Pydantic AI, or any async function of the user."""

import inspect
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from hashlib import blake2b
from typing import Any

from ragstone.core.errors import MissingDependency, ModelError, needing
from ragstone.core.user_code import source
from ragstone.models.embedding_api import scrubbed

from .http_chat import AskingChat
from .http_formats import openai_body, openai_reply
from .http_transport import Unsupported, refused, secrets
from .model import ITEMS, ChatFailure, ChatModel, ChatReply, ChatRequest, Finish, Trouble, Usage
from .wire_format import (
    ALL,
    SCHEMA_NAME,
    Body,
    Settings,
    Takes,
    given,
    layout,
    longest,
    parse_settings,
    printed,
    temperature,
)

WINDOW = 128_000
LITELLM_TAKES = Takes(ALL)
LITELLM_CODES = {
    "ContextWindowExceededError": "context_length_exceeded",
    "ContentPolicyViolationError": "content_policy_violation",
    "PaymentRequiredError": "insufficient_quota",
}


def litellm_chat(model: str, settings: str) -> ChatModel:
    """Return a model that litellm supports, by litellm's name for it:
    ``mistral/mistral-small-latest``."""
    read = parse_settings(settings, LITELLM_TAKES, f"litellm:{model}")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    with needing(f"litellm:{model}", "litellm"):
        import litellm
    litellm.suppress_debug_info = True

    async def send(payload: Body) -> ChatReply:
        try:
            reply = await litellm.acompletion(**payload, num_retries=0, max_retries=0)
        except litellm.exceptions.openai.OpenAIError as error:
            raise _litellm_failure(error) from error
        content: Body = reply.model_dump()
        return openai_reply(content, {}, json.dumps(content, default=str).encode())

    return AskingChat(
        name=f"litellm:{model}",
        about=f"{model} by litellm",
        identity=f"litellm {model}",
        settings=read,
        window=WINDOW,
        body=lambda request, lacks: openai_body(request, model, read, lacks),
        send=send,
    )


def _litellm_failure(error: Any) -> ChatFailure:
    words = scrubbed(str(error), *secrets())
    name = type(error).__name__
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None)
    headers = headers if isinstance(headers, Mapping) else {}
    if name == "APIConnectionError":
        return ChatFailure("connection", words)
    if name in ("Timeout", "APITimeoutError"):
        return ChatFailure("timeout", words)
    code = getattr(error, "status_code", None)
    status = code if isinstance(code, int) else 500
    sent = json.dumps({"error": {"message": words, "code": LITELLM_CODES.get(name, "")}}).encode()
    failure = refused(status, headers, sent)
    return failure if isinstance(failure, Unsupported) else failure.saying(words)


PYDANTIC_AI_TAKES = Takes(ALL, layouts=("strict", "prompt"))
PYDANTIC_AI_TROUBLES: dict[str, Trouble] = {
    "ModelTimeoutError": "timeout",
    "ContentFilterError": "filtered",
    "UnexpectedModelBehavior": "bad_reply",
}
PYDANTIC_AI_FINISHES: dict[str | None, Finish] = {"length": "length", "content_filter": "filter"}


def pydantic_ai_chat(model: str, settings: str) -> ChatModel:
    """Return a model that Pydantic AI supports, by its name there: ``groq:llama-3.3-70b``."""
    read = parse_settings(settings, PYDANTIC_AI_TAKES, f"pydantic-ai:{model}")
    try:
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import AgentRunError, UserError
        from pydantic_ai.models import infer_model

        opened = infer_model(model)
    except ImportError as error:
        raise MissingDependency(f"pydantic-ai:{model}", "pydantic-ai") from error
    except (UserError, ValueError) as error:
        words = scrubbed(str(error), *secrets())
        raise ModelError(f"pydantic-ai:{model} cannot be opened: {words}") from error
    _disable_retries(opened)
    entered = False

    async def send(payload: Body) -> ChatReply:
        nonlocal entered
        if not entered:
            entered = True
            await opened.__aenter__()
        messages, parameters = _messages(payload)
        try:
            reply = await model_request(
                opened,
                messages,
                model_settings=payload["settings"],
                model_request_parameters=parameters,
            )
        except (AgentRunError, UserError) as error:
            raise _pydantic_ai_failure(error) from error
        return _pydantic_ai_read(reply)

    async def finish() -> None:
        nonlocal entered
        if entered:
            entered = False
            await opened.__aexit__(None, None, None)

    return AskingChat(
        name=f"pydantic-ai:{model}",
        about=f"{opened.model_name} of {opened.system} by Pydantic AI",
        identity=f"pydantic-ai {opened.system} {opened.base_url or ''} {opened.model_name}",
        settings=read,
        window=WINDOW,
        body=lambda request, lacks: pydantic_ai_body(request, read, lacks),
        send=send,
        finish=finish,
    )


def pydantic_ai_body(request: ChatRequest, settings: Settings, lacks: frozenset[str]) -> Body:
    """Return the request, before it is converted to Pydantic AI's classes."""
    where = layout(settings, lacks)
    return {
        "system": request.system,
        "text": request.text + ("" if where == "strict" else printed(request)),
        "schema": dict(request.schema) if where == "strict" else None,
        "name": SCHEMA_NAME,
        "settings": given(
            temperature=temperature(settings, lacks),
            top_p=settings.top_p,
            seed=settings.seed,
            max_tokens=longest(settings, request),
            thinking=False if settings.effort == "none" else settings.effort,
        ),
    }


def _messages(payload: Body) -> tuple[Any, Any]:
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    parts: list[Any] = [SystemPromptPart(payload["system"])] if payload["system"].strip() else []
    messages = [ModelRequest(parts=[*parts, UserPromptPart(payload["text"])])]
    if payload["schema"] is None:
        return messages, ModelRequestParameters()
    output = OutputObjectDefinition(
        json_schema=payload["schema"], name=payload["name"], strict=True
    )
    return messages, ModelRequestParameters(output_mode="native", output_object=output)


def _pydantic_ai_read(reply: Any) -> ChatReply:
    finish = PYDANTIC_AI_FINISHES.get(reply.finish_reason, "stop")
    usage = reply.usage
    known = usage.input_tokens or usage.output_tokens
    return ChatReply(
        text="" if finish == "filter" else (reply.text or ""),
        finish=finish,
        usage=Usage(
            prompt=usage.input_tokens,
            completion=usage.output_tokens,
            cached=usage.cache_read_tokens or None,
            reasoning=usage.details.get("reasoning_tokens"),
        )
        if known
        else Usage(),
        model=reply.model_name,
    )


def _pydantic_ai_failure(error: Any) -> ChatFailure:
    words = scrubbed(str(error), *secrets())
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        sent = json.dumps(getattr(error, "body", None), default=str)
        headers = getattr(error, "headers", None) or {}
        failure = refused(status, headers, scrubbed(sent, *secrets()).encode())
        failure.after = max(failure.after, getattr(error, "retry_after", None) or 0.0)
        return failure if isinstance(failure, Unsupported) else failure.saying(words)
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "UserError" in kinds:
        schema = ("schema",) if "output" in words.lower() else ()
        return Unsupported(schema, words, http=400, body="")
    troubles = (trouble for name, trouble in PYDANTIC_AI_TROUBLES.items() if name in kinds)
    return ChatFailure(next(troubles, "connection"), words)


def _disable_retries(model: Any) -> None:
    """Switch off the retries of the provider's client, because the run retries."""
    client: Any = getattr(model, "client", None)
    if hasattr(client, "max_retries"):
        client.max_retries = 0


Answer = ChatReply | str | Mapping[str, Any]


class CallableChat:
    """A user's async function as a chat model.

    The function takes a ``ChatRequest`` and returns the reply: a ``ChatReply``, its text, or an
    object that fits ``request.schema``. If it has no reply it raises ``ChatFailure``; a
    ``TimeoutError`` counts as ``timeout`` and any other ``OSError`` as ``connection``. Any other
    exception is a bug in the function and ends the run.

    Args:
        identity: Identifies its replies in place of a hash of its source; change it whenever the
            replies would change. Required if the source does not show everything the function
            does: for a closure, a method, a callable object or a ``partial``.
        window: Context window: maximum tokens of question and reply together.
        items: The most items of one task in one question, from 1 to 20.

    Raises:
        InputError: An identity is required and missing.
    """

    kept = True

    def __init__(
        self,
        function: Callable[[ChatRequest], Awaitable[Answer]],
        name: str = "callable",
        *,
        identity: str = "",
        window: int = 128_000,
        items: int = ITEMS,
    ) -> None:
        self._function = function
        self.name = name
        self.window = window
        self.items = items
        self.notes: tuple[str, ...] = ()
        where = _where(function)
        self.about = f"{name}, a function: {where}"
        if not identity:
            instead = f'CallableChat(function, "{name}", identity="1")'
            text = source(function, instead=instead)
            identity = f"{where} {blake2b(text.encode(), digest_size=16).hexdigest()}"
        self.identity = f"callable {name} {identity}"

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Call the function once.

        Raises:
            ChatFailure: There is no reply.
            ModelError: The function is not asynchronous.
        """
        awaited = self._function(request)
        if not inspect.isawaitable(awaited):
            raise ModelError(f"The model {self.name} must be an async function")
        try:
            answer = await awaited
        except TimeoutError as error:
            raise ChatFailure("timeout", f"{self.name} timed out: {error}") from error
        except OSError as error:
            raise ChatFailure("connection", f"{self.name} failed: {error}") from error
        return self._read(answer)

    async def close(self) -> None:
        """Does nothing: there are no connections to close."""

    def _read(self, answer: object) -> ChatReply:
        if isinstance(answer, ChatReply):
            return answer
        if isinstance(answer, str):
            return ChatReply(answer)
        if isinstance(answer, Mapping):
            return ChatReply(json.dumps(dict(answer), ensure_ascii=False))
        kind = type(answer).__name__
        words = f"{self.name} returned a {kind}, not a ChatReply, a string or a mapping"
        raise ChatFailure("bad_reply", words)


def _where(function: object) -> str:
    known = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(known, '__module__', '')}.{getattr(known, '__qualname__', '')}"
