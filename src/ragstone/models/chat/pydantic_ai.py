"""Pydantic AI: the models of Pydantic AI, through its own clients."""

import json
from typing import Any

from ragstone.core.errors import MissingDependency, ModelError
from ragstone.models.server import scrubbed

from .asking import AskingChat, Card
from .failure import ChatFailure
from .model import ChatModel, ChatReply, ChatRequest, Finish, Usage
from .refusal import Unsupported, refused
from .secrets import secrets
from .settings import ALL, Settings, Takes, parse_settings
from .wire import SCHEMA_NAME, Body, given, layout, longest, printed, temperature

WINDOW = 128_000
TAKES = Takes(ALL, layouts=("strict", "prompt"))
FINISHES: dict[str | None, Finish] = {"length": "length", "content_filter": "filter"}


def pydantic_ai_chat(model: str, settings: str) -> ChatModel:
    """A model that Pydantic AI supports, by its name there: ``groq:llama-3.3-70b``.

    Raises:
        MissingDependency: pydantic-ai-slim, or its extra for this provider, is not installed.
        ModelError: There is no such model, its key is missing, or a setting is wrong.
    """
    read = parse_settings(settings, TAKES, f"pydantic-ai:{model}")
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
    card = Card(
        name=f"pydantic-ai:{model}{read}",
        about=f"{opened.model_name} of {opened.system} by Pydantic AI",
        identity=f"pydantic-ai {opened.system} {opened.base_url or ''} {opened.model_name}",
        settings=read,
        window=read.window or WINDOW,
    )

    entered = False

    async def send(made: Body) -> ChatReply:
        nonlocal entered
        if not entered:
            entered = True
            await opened.__aenter__()
        messages, parameters = _messages(made)
        try:
            reply = await model_request(
                opened,
                messages,
                model_settings=made["settings"],
                model_request_parameters=parameters,
            )
        except (AgentRunError, UserError) as error:
            raise _failure(error) from error
        return _read(reply)

    async def finish() -> None:
        nonlocal entered
        if entered:
            entered = False
            await opened.__aexit__(None, None, None)

    return AskingChat(card, lambda request, lacks: body(request, read, lacks), send, finish)


def body(request: ChatRequest, settings: Settings, lacks: frozenset[str]) -> Body:
    """The request, before it is converted to Pydantic AI's classes."""
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


def _messages(made: Body) -> tuple[Any, Any]:
    """The request's messages and output parameters as Pydantic AI's classes."""
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    parts: list[Any] = [SystemPromptPart(made["system"])] if made["system"].strip() else []
    messages = [ModelRequest(parts=[*parts, UserPromptPart(made["text"])])]
    if made["schema"] is None:
        return messages, ModelRequestParameters()
    wanted = OutputObjectDefinition(json_schema=made["schema"], name=made["name"], strict=True)
    return messages, ModelRequestParameters(output_mode="native", output_object=wanted)


def _read(reply: Any) -> ChatReply:
    finish = FINISHES.get(reply.finish_reason, "stop")
    usage = reply.usage
    reasoning = usage.details.get("reasoning_tokens")
    known = usage.input_tokens or usage.output_tokens
    return ChatReply(
        text="" if finish == "filter" else (reply.text or ""),
        finish=finish,
        usage=Usage(
            prompt=usage.input_tokens,
            completion=usage.output_tokens,
            cached=usage.cache_read_tokens or None,
            reasoning=reasoning,
        )
        if known
        else Usage(),
        model=reply.model_name,
    )


def _failure(error: Any) -> ChatFailure:
    """An error of Pydantic AI as a ``ChatFailure``."""
    words = scrubbed(str(error), *secrets())
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        sent = json.dumps(getattr(error, "body", None), default=str)
        headers = getattr(error, "headers", None) or {}
        failure = refused(status, headers, scrubbed(sent, *secrets()).encode())
        if not isinstance(failure, Unsupported):
            after = max(failure.after, getattr(error, "retry_after", None) or 0.0)
            return ChatFailure(failure.trouble, words, after=after, http=status, body=failure.body)
        return failure
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "UserError" in kinds:
        schema = ("schema",) if "output" in words.lower() else ()
        return Unsupported(schema, words, http=400, body="")
    if "ModelTimeoutError" in kinds:
        return ChatFailure("timeout", words)
    if "ContentFilterError" in kinds:
        return ChatFailure("filtered", words)
    if "UnexpectedModelBehavior" in kinds:
        return ChatFailure("bad_reply", words)
    return ChatFailure("connection", words)


def _disable_retries(model: Any) -> None:
    """Switch off the retries of the provider's client, because the run retries."""
    client: Any = getattr(model, "client", None)
    if hasattr(client, "max_retries"):
        client.max_retries = 0
