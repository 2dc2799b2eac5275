"""Chat model: what every back end takes and gives."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol

ITEMS = 20
"""Items of a question, at the most: models lose track of more."""

Finish = Literal["stop", "length", "filter", "refusal"]
"""Why a reply ended: by itself, at the length limit, by a content filter, by declining."""


MOST_TOKENS = 10**9
"""Of one call. Some gateways send 2⁶⁴ - 5 or 2³² - 5 where a difference fell below 0."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the server counts them; None where it does not say.

    ``prompt`` holds the cached ones and those ``written`` to the cache, where the server charges
    for that; ``completion`` holds those of the reasoning. What no call can have
    becomes None, for then the server does not say: a negative number, one above ``MOST_TOKENS``,
    one that is not whole.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    written: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, tokens(getattr(self, field.name)))


def tokens(value: object) -> int | None:
    """The number, where a call can have so many tokens; else None."""
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a model.

    Args:
        system: What the model is told first, the same for every question of a run.
        parts: The user's message, to be joined; what sibling questions share comes first.
        schema: The JSON schema that the reply has to fit.
        name: Of what is asked, such as ``support``.
        example: A reply such as may be written, for models that are shown the schema.
        limit: Tokens that the reply may have, reasoning included; None: as many as the model may
            write. Not part of what is asked.
    """

    system: str
    parts: tuple[str, ...]
    schema: Mapping[str, Any]
    name: str
    example: str = ""
    limit: int | None = None

    @property
    def text(self) -> str:
        """The user's message."""
        return "".join(self.parts)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model sent back.

    Args:
        text: Its words, as they came; empty where it declined or was filtered.
        finish: Why they end.
        usage: What it cost in tokens.
        model: The model as the server names it, often with its date.
    """

    text: str
    finish: Finish = "stop"
    usage: Usage = Usage()
    model: str | None = None


class ChatModel(Protocol):
    """A model that is asked one question at a time. It never retries, and keeps nothing."""

    @property
    def name(self) -> str:
        """As the user wrote it and as it stands in every row: ``openai:gpt-5-mini?seed=7``."""

    @property
    def about(self) -> str:
        """Model, server and sampling in one line; without any key."""

    @property
    def identity(self) -> str:
        """What makes its replies its own: format, server, model, sampling. Holds no key."""

    @property
    def window(self) -> int:
        """Tokens that a question may have, the reply's included."""

    @property
    def items(self) -> int:
        """Items of one task that a question to it may be about, from 1 to 20."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What its server did not take, so that it was left out, such as ``temperature``."""

    @property
    def kept(self) -> bool:
        """Whether its replies may answer the same question in other runs; not those of a test."""

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Ask once.

        Raises:
            ChatFailure: There is no reply; says which trouble, and whether asking again may help.
        """

    async def close(self) -> None:
        """Give back connections; nothing is asked after that."""
