"""Wire format: settings such as ``?temperature=0``, and the pieces of requests and replies."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from ragstone.core.errors import ModelError
from ragstone.models.embedding_api import one_line
from ragstone.models.tokenizer import readable

from .http_transport import BODY_SHOWN
from .model import ITEMS, ChatFailure, ChatRequest, Trouble, Usage, tokens

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
# ``strict``: the schema is sent in the server's own field. ``json``: it is in the prompt, and the
# server is told to reply in JSON. ``prompt``: it is in the prompt only.
Layout = Literal["strict", "json", "prompt"]

# Settings that change which questions are asked, but not the reply to a question.
ASKING = ("window", "items")

EFFORTS: tuple[Effort, ...] = get_args(Effort)
LAYOUTS: tuple[Layout, ...] = get_args(Layout)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a model; None where the user did not set one.

    Args:
        temperature: From 0 to 2; default 0 if the server supports it.
        top_p: Above 0 and at most 1.
        seed: A whole number, at least 0.
        schema: Where the reply's JSON schema is sent; default ``strict``.
        window: Context window: maximum tokens of question and reply together.
        items: The most items of one task in one question; fewer are easier for small models.
    """

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    effort: Effort | None = None
    max_tokens: int | None = None
    schema: Layout | None = None
    window: int | None = None
    items: int | None = None

    @property
    def given(self) -> dict[str, str]:
        """The settings of the user, as text, in a fixed order."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _text(value) for name, value in values.items() if value is not None}

    @property
    def answering(self) -> str:
        """The settings that change replies: ``temperature=0&seed=7``."""
        return "&".join(f"{name}={text}" for name, text in self.given.items() if name not in ASKING)

    @property
    def sampling(self) -> str:
        """The settings that change replies, in words, with the default temperature."""
        settings = {"temperature": "0"} | self.given
        return ", ".join(f"{name} {text}" for name, text in settings.items() if name not in ASKING)

    def __str__(self) -> str:
        """The text form, which does not depend on the order in which the user wrote them."""
        joined = "&".join(f"{name}={text}" for name, text in self.given.items())
        return f"?{joined}" if joined else ""


@dataclass(frozen=True, slots=True)
class Takes:
    """The settings that a request format supports.

    Args:
        efforts: Supported values of ``effort``.
        layouts: Supported values of ``schema``.
    """

    names: frozenset[str]
    efforts: tuple[Effort, ...] = EFFORTS
    layouts: tuple[Layout, ...] = LAYOUTS


ALL = frozenset(field.name for field in fields(Settings))


def parse_settings(text: str, takes: Takes, name: str) -> Settings:
    """Parse the settings after the question mark in a name."""
    values: dict[str, Any] = {}
    faults: list[str] = []
    for part in text.split("&") if text else []:
        setting, _, value = (word.strip() for word in part.partition("="))
        if setting not in ALL:
            faults.append(f"{setting or part!r}: there is no such setting")
        elif setting not in takes.names:
            faults.append(f"{setting}: this server has no such setting")
        elif setting in values:
            faults.append(f"{setting}: given twice")
        else:
            values[setting] = value
    choices = {"effort": takes.efforts, "schema": takes.layouts}
    for setting, value in values.items():
        if setting in choices:
            expected, fits = f"one of {', '.join(choices[setting])}", value in choices[setting]
        else:
            expected, kind, fits_in = NUMBERS[setting]
            try:
                values[setting] = kind(value)
                fits = fits_in(values[setting])
            except ValueError:
                fits = False
        if not fits:
            faults.append(f"{setting}: expected {expected}, got {value!r}")
    if faults:
        known = ", ".join(field.name for field in fields(Settings) if field.name in takes.names)
        raise ModelError(f"{name}: {'; '.join(faults)}. Valid settings: {known}")
    return Settings(**values)


NUMBERS: dict[str, tuple[str, Callable[[str], float], Callable[[float], bool]]] = {
    "temperature": ("a number from 0 to 2", float, lambda it: 0 <= it <= 2),
    "top_p": ("a number above 0 and at most 1", float, lambda it: 0 < it <= 1),
    "seed": ("a whole number from 0 up", int, lambda it: 0 <= it < 1 << 63),
    "max_tokens": ("a whole number above 0", int, lambda it: 1 <= it <= 10**8),
    "window": ("a whole number from 1000 up", int, lambda it: 1000 <= it <= 10**9),
    "items": (f"a whole number from 1 to {ITEMS}", int, lambda it: 1 <= it <= ITEMS),
}


def _text(value: object) -> str:
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


# The same for every question: many servers put it before the prompt, where it affects caching.
SCHEMA_NAME = "judgements"

PRINTED = "Reply with one JSON object that fits this JSON schema, and nothing else:"

WORKED = "Such as, to another question:"

# A request, or a piece of one, as JSON.
Body = dict[str, Any]


def layout(settings: Settings, lacks: frozenset[str]) -> Layout:
    """Return where the schema is sent: the user's choice, else the server's field if it has one."""
    return settings.schema or ("prompt" if "schema" in lacks else "strict")


def longest(settings: Settings, request: ChatRequest) -> int | None:
    """Maximum tokens of the reply: the user's setting or the run's limit, whichever is smaller."""
    known = [limit for limit in (settings.max_tokens, request.limit) if limit is not None]
    return min(known, default=None)


def temperature(settings: Settings, lacks: frozenset[str]) -> float | None:
    """Return the user's setting, else 0 if the server supports a temperature, else None."""
    if settings.temperature is None and "temperature" in lacks:
        return None
    return settings.temperature or 0


def texts_of(
    request: ChatRequest, settings: Settings, lacks: frozenset[str]
) -> tuple[str, str | None]:
    """Return the user message, and the system message, for servers that take one text for each.

    The system message is None if there is none, or if the server has no field for it; then it
    begins the user message.
    """
    text = request.text + ("" if layout(settings, lacks) == "strict" else printed(request))
    if not request.system.strip():
        return text, None
    return (f"{request.system}\n\n{text}", None) if "system" in lacks else (text, request.system)


def printed(request: ChatRequest) -> str:
    """Return the schema with an example reply, for the very end of the user message."""
    schema = json.dumps(request.schema, separators=(",", ":"), ensure_ascii=False)
    example = f"\n{WORKED}\n{request.example}" if request.example else ""
    return f"\n\n{PRINTED}\n{schema}{example}"


def opened(body: bytes) -> Body:
    """Parse a reply's body as a JSON object."""
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        raise no_reply("sent no JSON object" if body.strip() else "sent nothing", body)
    return reply


def no_reply(words: str, body: bytes, trouble: Trouble = "bad_reply") -> ChatFailure:
    """Return the failure of a server that sent status 200 but no reply in its format."""
    sent = one_line(body.decode(errors="replace"), BODY_SHOWN)
    return ChatFailure(trouble, words, http=200, body=sent)


def word(value: object) -> str:
    """Return the value if it is a string; otherwise an empty string."""
    return value if isinstance(value, str) else ""


def inside(value: object, name: str) -> Body:
    """Return the object under this key of another object; empty if there is none."""
    content = value.get(name) if isinstance(value, dict) else None
    return content if isinstance(content, dict) else {}


def together(*counts: object) -> int | None:
    """Return the sum of the counts but None; None if there is none or one is impossible."""
    valid = [tokens(count) for count in counts if count is not None]
    return None if not valid or None in valid else sum(filter(None, valid))


def usage_beside_cache(
    fresh: object, completion: object, cached: object, written: object, reasoning: object = None
) -> Usage:
    """Return the token counts of a server whose prompt excludes tokens of the cache."""
    return Usage(
        prompt=None if fresh is None else together(fresh, cached, written),
        completion=tokens(completion),
        cached=tokens(cached),
        reasoning=tokens(reasoning),
        written=tokens(written),
    )


def given(**fields: object) -> Body:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def dumped(value: object) -> str:
    """Return a tool call's arguments as JSON text, for models that reply with a tool call."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def text_or_call(texts: Iterable[object], calls: Sequence[object]) -> str:
    """Return the joined texts of a reply; if there are none, the arguments of its first call."""
    return "".join(map(word, texts)) or (dumped(calls[0]) if calls else "")


def encoded(body: Body) -> bytes:
    """Return a request as UTF-8; lone surrogates, which cannot be encoded, are replaced."""
    from pydantic_core import PydanticSerializationError, to_json

    try:
        return to_json(body)
    except PydanticSerializationError:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        return readable(text).encode()
