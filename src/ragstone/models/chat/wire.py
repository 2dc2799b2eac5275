"""Wire: the request and reply format of a provider."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.models.server import SURROGATE, Server, one_line

from .failure import ChatFailure, Trouble
from .model import ChatReply, ChatRequest, tokens
from .refusal import BODY_SHOWN
from .settings import Layout, Settings, Takes

if TYPE_CHECKING:
    from .batches.format import BatchFormat

SCHEMA_NAME = "judgements"
"""The same for every question: many servers put it before the prompt, where it affects caching."""

PRINTED = "Reply with one JSON object that fits this JSON schema, and nothing else:"

WORKED = "Such as, to another question:"

Body = dict[str, Any]
"""A request, or a piece of one, as JSON."""


@dataclass(frozen=True, slots=True)
class Wire:
    """One provider's format.

    Args:
        format: Its name, part of a model's identity.
        variable: The environment variable that holds the key.
        takes: The supported settings.
        url: The URL for requests to a server.
        headers: The HTTP headers, given the key.
        body: Builds a request from a question, the model's name, the settings, and the features
            that the server is known not to support. What the user set is always included.
        read: Reads a reply from its status, headers and body.
        batches: Its format for batches; None if it has none.
    """

    format: str
    variable: str
    takes: Takes
    url: Callable[[Server], str]
    headers: Callable[[str | None], dict[str, str]]
    body: Callable[[ChatRequest, str, Settings, frozenset[str]], Body]
    read: Callable[[int, Mapping[str, str], bytes], ChatReply]
    batches: "BatchFormat | None" = None


def layout(settings: Settings, lacks: frozenset[str]) -> Layout:
    """Where the schema is sent: as the user set, else in the server's field if it supports that."""
    return settings.schema or ("prompt" if "schema" in lacks else "strict")


def longest(settings: Settings, request: ChatRequest) -> int | None:
    """Maximum tokens of the reply: the user's setting or the run's limit, whichever is smaller."""
    said = [one for one in (settings.max_tokens, request.limit) if one is not None]
    return min(said, default=None)


def temperature(settings: Settings, lacks: frozenset[str]) -> float | None:
    """The user's setting; by default 0 if the server supports a temperature, otherwise None."""
    if settings.temperature is None and "temperature" in lacks:
        return None
    return settings.temperature or 0


def texts_of(
    request: ChatRequest, settings: Settings, lacks: frozenset[str]
) -> tuple[str, str | None]:
    """The user message, and the system message, for servers that take one text for each.

    The system message is None if there is none, or if the server has no field for it; then it
    begins the user message.
    """
    text = request.text + ("" if layout(settings, lacks) == "strict" else printed(request))
    if not request.system.strip():
        return text, None
    return (f"{request.system}\n\n{text}", None) if "system" in lacks else (text, request.system)


def printed(request: ChatRequest) -> str:
    """The schema with an example reply, for the very end of the user message."""
    schema = json.dumps(request.schema, separators=(",", ":"), ensure_ascii=False)
    example = f"\n{WORKED}\n{request.example}" if request.example else ""
    return f"\n\n{PRINTED}\n{schema}{example}"


def opened(body: bytes) -> Body:
    """Parse a reply's body as a JSON object.

    Raises:
        ChatFailure: It is not a JSON object.
    """
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        raise no_reply("sent no JSON object" if body.strip() else "sent nothing", body)
    return reply


def no_reply(words: str, body: bytes, trouble: Trouble = "bad_reply") -> ChatFailure:
    """The failure of a server that sent status 200 but no reply in its format."""
    sent = one_line(body.decode(errors="replace"), BODY_SHOWN)
    return ChatFailure(trouble, words, http=200, body=sent)


def word(value: object) -> str:
    """The value if it is a string; otherwise an empty string."""
    return value if isinstance(value, str) else ""


def inside(made: object, name: str) -> Body:
    """The object under this key of another object; empty if there is none."""
    found = made.get(name) if isinstance(made, dict) else None
    return found if isinstance(found, dict) else {}


def together(*counts: object) -> int | None:
    """The sum of the counts that are given; None if none is given or one is impossible."""
    said = [one for one in counts if one is not None]
    known = [one for one in map(tokens, said) if one is not None]
    return sum(known) if said and len(known) == len(said) else None


def given(**fields: object) -> Body:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def dumped(made: object) -> str:
    """A tool call's arguments as JSON text, for models that reply with a tool call."""
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)


def encoded(body: Body) -> bytes:
    """A request as UTF-8; lone surrogates, which cannot be encoded, are replaced."""
    from pydantic_core import PydanticSerializationError, to_json

    try:
        return to_json(body)
    except PydanticSerializationError:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        return SURROGATE.sub("\ufffd", text).encode()
