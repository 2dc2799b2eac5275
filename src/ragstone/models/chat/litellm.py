"""litellm: many further providers, through litellm's own client."""

import json
import os
from collections.abc import Mapping
from typing import Any

from ragstone.core.errors import MissingDependency
from ragstone.models.server import retry_after, scrubbed

from . import openai
from .asking import AskingChat, Card
from .failure import ChatFailure
from .model import ChatModel, ChatReply
from .refusal import Unsupported, refused
from .secrets import secrets
from .settings import ALL, Takes, parse_settings
from .wire import Body

WINDOW = 128_000
TAKES = Takes(ALL)


def litellm_chat(model: str, settings: str) -> ChatModel:
    """A model that litellm supports, by litellm's name for it: ``mistral/mistral-small-latest``.

    Raises:
        MissingDependency: litellm is not installed.
        ModelError: A setting is wrong.
    """
    read = parse_settings(settings, TAKES, f"litellm:{model}")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm
    except ImportError as error:
        raise MissingDependency(f"litellm:{model}", "litellm") from error
    litellm.suppress_debug_info = True
    card = Card(
        name=f"litellm:{model}{read}",
        about=f"{model} by litellm",
        identity=f"litellm {model}",
        settings=read,
        window=read.window or WINDOW,
    )

    async def send(made: Body) -> ChatReply:
        try:
            reply = await litellm.acompletion(**made, num_retries=0, max_retries=0)
        except litellm.exceptions.openai.OpenAIError as error:
            raise _failure(error) from error
        found: Body = reply.model_dump()
        return openai.read_reply(found, {}, json.dumps(found, default=str).encode())

    return AskingChat(card, lambda request, lacks: openai.body(request, model, read, lacks), send)


def _failure(error: Any) -> ChatFailure:
    """An error of litellm as a ``ChatFailure``, mainly by its HTTP status."""
    words = scrubbed(str(error), *secrets())
    name = type(error).__name__
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None)
    headers = headers if isinstance(headers, Mapping) else {}
    if name == "APIConnectionError":
        return ChatFailure("connection", words)
    if name in ("Timeout", "APITimeoutError"):
        return ChatFailure("timeout", words)
    found = getattr(error, "status_code", None)
    status = found if isinstance(found, int) else 500
    sent = json.dumps({"error": {"message": words, "code": _code(name)}}).encode()
    failure = refused(status, headers, sent)
    if isinstance(failure, Unsupported):
        return failure
    after = max(failure.after, retry_after(headers))
    return ChatFailure(failure.trouble, words, after=after, http=status, body=failure.body)


def _code(name: str) -> str:
    """The error code in OpenAI's format for an exception class of litellm."""
    return {
        "ContextWindowExceededError": "context_length_exceeded",
        "ContentPolicyViolationError": "content_policy_violation",
        "PaymentRequiredError": "insufficient_quota",
    }.get(name, "")
