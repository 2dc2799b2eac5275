"""Chat model: the interface of every provider, with its request and reply."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol

ITEMS = 20
"""The most items in one question: with more, models lose track."""

Finish = Literal["stop", "length", "filter", "refusal"]
"""Why a reply ended: complete, length limit, content filter, or the model declined."""


MOST_TOKENS = 10**9
"""The most tokens of one call. Some gateways send 2⁶⁴ - 5 or 2³² - 5 after an integer underflow."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as counted by the server; None if it does not say.

    ``prompt`` includes ``cached`` tokens and, on servers that charge for them, those ``written`` to
    the cache; ``completion`` includes ``reasoning``. Impossible counts become None: a negative
    number, one above ``MOST_TOKENS``, one that is not whole.
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
    """The value if it is a possible number of tokens; otherwise None."""
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a model.

    Args:
        system: The system message, the same for every question of a run.
        parts: The user message in parts to be joined; those shared by related questions come first.
        schema: The JSON schema that the reply must fit.
        name: What the question is about, such as ``support``.
        example: An example reply, for models that get the schema in the prompt.
        limit: Maximum tokens of the reply, reasoning included; None: the model's own maximum. Not
            part of the question's identity.
    """

    system: str
    parts: tuple[str, ...]
    schema: Mapping[str, Any]
    name: str
    example: str = ""
    limit: int | None = None

    @property
    def text(self) -> str:
        """The user message."""
        return "".join(self.parts)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model sent back.

    Args:
        text: Its text, unchanged; empty if the model declined or a filter blocked it.
        finish: Why the reply ended.
        usage: The tokens used.
        model: The model's name as the server gives it, often with a date.
    """

    text: str
    finish: Finish = "stop"
    usage: Usage = Usage()
    model: str | None = None


class ChatModel(Protocol):
    """A model that answers one question per call. It never retries and caches nothing."""

    @property
    def name(self) -> str:
        """As the user wrote it, and as written to every row: ``openai:gpt-5-mini?seed=7``."""

    @property
    def about(self) -> str:
        """Model, server and sampling in one line, without any key."""

    @property
    def identity(self) -> str:
        """Everything its replies depend on: format, server, model, sampling. Holds no key."""

    @property
    def window(self) -> int:
        """Context window: maximum tokens of question and reply together."""

    @property
    def items(self) -> int:
        """The most items of one task in one question, from 1 to 20."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Features that the server rejected and that were left out, such as ``temperature``."""

    @property
    def kept(self) -> bool:
        """Whether other runs may reuse its replies to the same question; False for test models."""

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Send one question.

        Raises:
            ChatFailure: There is no reply; says why, and whether a retry may help.
        """

    async def close(self) -> None:
        """Close connections; nothing may be asked after that."""
