"""Chat names: opens a chat model by its name, and assumes reasoning tokens by the name's effort.

    openai:MODEL                  api.openai.com, or the server in OPENAI_BASE_URL
    azure:DEPLOYMENT              the resource in AZURE_OPENAI_ENDPOINT
    anthropic:MODEL               api.anthropic.com, or the server in ANTHROPIC_BASE_URL
    gemini:MODEL                  Google's server, or the server in GOOGLE_GEMINI_BASE_URL
    http(s)://HOST[/v1]#MODEL     any server with an OpenAI-compatible API
    bedrock:MODEL_ID              AWS, through botocore
    litellm:MODEL                 any model that litellm supports
    pydantic-ai:MODEL             any model that Pydantic AI supports

Settings may follow: ``?temperature=0&seed=7``. Keys are read from the environment only, and each
is sent to a single server only.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import cast, get_args

from ragstone.core.errors import ModelError, UnknownName
from ragstone.core.messages import argument
from ragstone.models.embedding_api import (
    OPENAI_URL,
    Server,
    address,
    key_from,
    openai_server,
    origin,
)

from .bedrock import bedrock_chat
from .http_chat import Wire, http_chat
from .http_formats import ANTHROPIC, AZURE, BUDGETS, COMPATIBLE, GEMINI, OPENAI
from .http_transport import Connections
from .library_clients import litellm_chat, pydantic_ai_chat
from .model import ChatModel
from .wire_format import Effort, parse_settings

FORMS = (
    "openai:MODEL",
    "azure:DEPLOYMENT",
    "anthropic:MODEL",
    "gemini:MODEL",
    "http://HOST/v1#MODEL",
    "bedrock:MODEL_ID",
    "litellm:MODEL",
    "pydantic-ai:MODEL",
)
WINDOWS = {"openai": 128_000, "azure": 128_000, "anthropic": 200_000, "gemini": 1_000_000}
# Default for servers whose models are not known.
COMPATIBLE_WINDOW = 32_000

ANTHROPIC_URL = "https://api.anthropic.com"
GEMINI_URL = "https://generativelanguage.googleapis.com"
ADAPTERS: dict[str, Callable[[str, str], ChatModel]] = {
    "bedrock": bedrock_chat,
    "litellm": litellm_chat,
    "pydantic-ai": pydantic_ai_chat,
}


def is_chat(name: str) -> bool:
    """Return True if the name has the form of a chat model's name."""
    return _kind(name) is not None


def open_chat(
    name: str, connections: Connections | None = None, *, offline: bool = False, to_ask: bool = True
) -> ChatModel:
    """Open a chat model by name. Nothing is sent.

    Args:
        connections: The run's, which closes them; None: the model opens its own.
        to_ask: False opens a model that will not be called and so needs no key; models of an extra
            may need their key anyway.

    Raises:
        UnknownName: The name has none of the forms.
        ModelError: The name lacks the model, a setting is wrong, a key is missing, or ``offline``
            forbids the server.
        MissingDependency: The adapter is not installed.
    """
    kind = _kind(name)
    if kind is None:
        meant = nearest(name)
        guess = f"Did you mean {meant}? " if meant else ""
        raise UnknownName("model", name, FORMS, hint=f"{guess}Valid forms: {', '.join(FORMS)}")
    where, settings = split_settings(name)
    if kind in ADAPTERS:
        if offline:
            raise ModelError(
                f"{name} may send texts elsewhere, which {argument('offline', True)} forbids"
            )
        return ADAPTERS[kind](_model(where, kind), settings)
    wire, server = SERVERS[kind](where, to_ask)
    if offline and not server.is_local:
        raise ModelError(
            f"{name} would send texts to {server.host}, which {argument('offline', True)} forbids. "
            "Name a server on this machine, such as http://localhost:11434/v1#MODEL"
        )
    return http_chat(
        where,
        wire,
        server,
        parse_settings(settings, wire.takes, name),
        window=WINDOWS.get(kind, COMPATIBLE_WINDOW),
        connections=connections,
    )


def nearest(name: str) -> str | None:
    """Return the name with the spelling of its prefix corrected; None if no prefix is close."""
    kind, colon, model = name.partition(":")
    close = get_close_matches(kind.strip().lower(), (*SERVERS, *ADAPTERS))
    return f"{close[0]}:{model}" if colon and model and close and close[0] != "http" else None


def _kind(name: str) -> str | None:
    if name.startswith(("http://", "https://")):
        return "http"
    kind = name.partition(":")[0]
    return kind if ":" in name and (kind in SERVERS or kind in ADAPTERS) else None


def split_settings(name: str) -> tuple[str, str]:
    """Return the name and the text of its settings; a query inside an address starts none."""
    before, mark, after = name.partition("#") if "://" in name else ("", "", name)
    model, _, settings = after.partition("?")
    return f"{before}{mark}{model}".strip(), settings.strip()


def _model(where: str, kind: str) -> str:
    model = where.removeprefix(f"{kind}:").strip()
    if not model:
        form = next(form for form in FORMS if form.startswith(f"{kind}:"))
        raise ModelError(f"{where!r} names no model. Use {form}")
    return model


def _openai(where: str, to_ask: bool) -> tuple[Wire, Server]:
    server = openai_server(where, to_ask=to_ask)
    # OpenAI's own server is sent the newer field names first, other servers the older ones.
    return (OPENAI if origin(server.url) == origin(OPENAI_URL) else COMPATIBLE), server


def _azure(where: str, to_ask: bool) -> tuple[Wire, Server]:
    model, endpoint = _model(where, "azure"), os.environ.get("AZURE_OPENAI_ENDPOINT", "")
    if not endpoint:
        raise ModelError(
            f"{where} needs an address: set AZURE_OPENAI_ENDPOINT to https://NAME.openai.azure.com"
        )
    server = _server(endpoint, model, where, [AZURE.variable], to_ask)
    return AZURE, replace(server, url=server.url.removesuffix("/v1").removesuffix("/openai"))


def _anthropic(where: str, to_ask: bool) -> tuple[Wire, Server]:
    model, base = _model(where, "anthropic"), os.environ.get("ANTHROPIC_BASE_URL")
    return ANTHROPIC, _server(base or ANTHROPIC_URL, model, where, [ANTHROPIC.variable], to_ask)


def _gemini(where: str, to_ask: bool) -> tuple[Wire, Server]:
    model, base = _model(where, "gemini"), os.environ.get("GOOGLE_GEMINI_BASE_URL")
    variables = [GEMINI.variable, "GOOGLE_API_KEY"]
    return GEMINI, _server(base or GEMINI_URL, model, where, variables, to_ask)


def _server(url: str, model: str, where: str, variables: Sequence[str], to_ask: bool) -> Server:
    parts = address(url, where, "model")
    key = next(filter(None, map(key_from, variables)), None)
    server = Server(f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}", model, key)
    if to_ask and key is None and not server.is_local:
        raise ModelError(f"{where} needs a key: set {' or '.join(variables)}")
    return server


SERVERS: dict[str, Callable[[str, bool], tuple[Wire, Server]]] = {
    "openai": _openai,
    "azure": _azure,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "http": _openai,
}


# Tokens by effort: the budgets that Google gives for Gemini 2.5
# (ai.google.dev/gemini-api/docs/openai), and its maximum for efforts above ``high``. Other
# providers publish none.
ASSUMED: dict[Effort, int] = {**BUDGETS, "xhigh": 32_768, "max": 32_768}


def effort_in(name: str) -> Effort | None:
    """Return the effort that a judge's name sets; None if it sets none."""
    for part in split_settings(name)[1].split("&"):
        setting, _, value = (word.strip() for word in part.partition("="))
        if setting == "effort" and value in get_args(Effort):
            return cast(Effort, value)
    return None


def assumed_reasoning(name: str) -> int:
    """Reasoning tokens per call, by the effort in the name; 0 if it sets none."""
    effort = effort_in(name)
    return 0 if effort is None else ASSUMED[effort]
