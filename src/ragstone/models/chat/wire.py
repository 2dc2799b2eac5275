"""Wire: how a provider wants to be asked, and what its replies look like."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.models.server import Server, one_line

from .failure import ChatFailure, Trouble
from .model import ChatReply, ChatRequest, tokens
from .refusal import BODY_SHOWN
from .settings import Layout, Settings, Takes

SCHEMA_NAME = "judgements"
"""The same for every question: many servers put it before the prompt."""

PRINTED = "Reply with one JSON object that fits this JSON schema, and nothing else:"

WORKED = "Such as, to another question:"

Body = dict[str, Any]
"""A request, or a piece of one, as JSON."""


@dataclass(frozen=True, slots=True)
class Wire:
    """One provider's format.

    Args:
        format: Its name, part of what makes replies their own.
        variable: Of the environment, that holds its key.
        takes: The settings it has a place for.
        url: Where requests to a server go.
        headers: That carry the key.
        body: The request in this format: from a question, the model's name, the settings, and what
            the server is known not to take. What the user set is in it whatever the server takes.
        read: The reply of a status, headers and body.
    """

    format: str
    variable: str
    takes: Takes
    url: Callable[[Server], str]
    headers: Callable[[str | None], dict[str, str]]
    body: Callable[[ChatRequest, str, Settings, frozenset[str]], Body]
    read: Callable[[int, Mapping[str, str], bytes], ChatReply]


def layout(settings: Settings, lacks: frozenset[str]) -> Layout:
    """Where the schema goes: where the user wants it, else in the server's field if it has one."""
    return settings.schema or ("prompt" if "schema" in lacks else "strict")


def longest(settings: Settings, request: ChatRequest) -> int | None:
    """Tokens that the reply may have: what the user set, or less where the run wants less."""
    said = [one for one in (settings.max_tokens, request.limit) if one is not None]
    return min(said, default=None)


def temperature(settings: Settings, lacks: frozenset[str]) -> float | None:
    """What the user set, else 0 if the server takes one."""
    if settings.temperature is None and "temperature" in lacks:
        return None
    return settings.temperature or 0


def printed(request: ChatRequest) -> str:
    """The schema with a worked reply, to stand at the very end of the user's message."""
    schema = json.dumps(request.schema, separators=(",", ":"), ensure_ascii=False)
    example = f"\n{WORKED}\n{request.example}" if request.example else ""
    return f"\n\n{PRINTED}\n{schema}{example}"


def opened(body: bytes) -> Body:
    """The object that a reply's body is.

    Raises:
        ChatFailure: It is none.
    """
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        raise no_reply("sent no JSON object" if body.strip() else "sent nothing", body)
    return reply


def no_reply(words: str, body: bytes, trouble: Trouble = "bad_reply") -> ChatFailure:
    """The failure of a server that sent no reply of its format, and no error either."""
    sent = one_line(body.decode(errors="replace"), BODY_SHOWN)
    return ChatFailure(trouble, words, http=200, body=sent)


def word(value: object) -> str:
    """A word; empty where the server sent something else."""
    return value if isinstance(value, str) else ""


def inside(made: object, name: str) -> Body:
    """The object of this name within another; empty where there is none."""
    found = made.get(name) if isinstance(made, dict) else None
    return found if isinstance(found, dict) else {}


def together(*counts: object) -> int | None:
    """The sum of what the server says; None where it says nothing, or what no call can have."""
    said = [one for one in counts if one is not None]
    known = [one for one in map(tokens, said) if one is not None]
    return sum(known) if said and len(known) == len(said) else None


def given(**fields: object) -> Body:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def dumped(made: object) -> str:
    """As JSON: a tool call's arguments, where a model replies with one."""
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)
