"""Chat model: the interface of every provider, its failures, and JSON objects read from replies.

Clean JSON is read as is. Otherwise text around it is skipped (fences, prose, a leading think
tag), and these are repaired: comments, trailing commas, single or curly quotes around strings,
raw line breaks in strings, unknown escapes, and Python's True, False and None. NaN and
infinities become null.

A reply may quote untrusted text, so nothing is guessed: an unclosed object is an error, so is a
key that occurs twice, and nothing is taken from inside an object that cannot be read.
"""

import json
import re
from collections.abc import Mapping, Sized
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Literal, NoReturn, Protocol

from ragstone.core.errors import ModelFailure
from ragstone.models.tokenizer import readable

# ``rate_limit``: status 429. ``server_error``: 5xx and overload. ``timeout``: no reply in time.
# ``unreachable``: no connection. ``connection``: the connection broke. ``bad_reply``: the reply is
# not in the expected format. ``too_long``: more than the context window holds. ``filtered``: a
# content filter blocked the question. ``rejected``: the request is invalid. ``parameter``: a
# setting of the user's is not supported. ``not_allowed``: the key is wrong or missing.
# ``not_found``: no such model or address. ``no_credit``: the account has no credit left.
Trouble = Literal[
    "rate_limit",
    "server_error",
    "timeout",
    "unreachable",
    "connection",
    "bad_reply",
    "too_long",
    "filtered",
    "rejected",
    "parameter",
    "not_allowed",
    "not_found",
    "no_credit",
]

# Transient: a retry may help.
PASSING = frozenset(
    {"rate_limit", "server_error", "timeout", "unreachable", "connection", "bad_reply"}
)

# Permanent: every other question would fail too, so the run stops immediately.
FINAL = frozenset({"parameter", "not_allowed", "not_found", "no_credit"})


class ChatFailure(ModelFailure):
    """A model gave no reply.

    Attributes:
        after: Seconds that the server asks to wait before a retry; 0 if it does not say.
        http: The reply's HTTP status; None if there was no reply.
    """

    def __init__(
        self,
        trouble: Trouble,
        words: str,
        *,
        after: float = 0.0,
        http: int | None = None,
        body: str = "",
    ) -> None:
        self.trouble = trouble
        self.after = after
        self.http = http
        self.body = body
        super().__init__(words)

    def saying(self, words: str, trouble: Trouble | None = None) -> "ChatFailure":
        """Return the same failure in other words, and with another trouble if that is known."""
        trouble = trouble or self.trouble
        return ChatFailure(trouble, words, after=self.after, http=self.http, body=self.body)

    @property
    def passing(self) -> bool:
        """True if a retry may help."""
        return self.trouble in PASSING

    @property
    def final(self) -> bool:
        """True if every other question would fail too."""
        return self.trouble in FINAL


# The most items in one question: with more, models lose track.
ITEMS = 20

# Why a reply ended: complete, length limit, content filter, or the model declined.
Finish = Literal["stop", "length", "filter", "refusal"]


# The most tokens of one call. Some gateways send 2⁶⁴ - 5 or 2³² - 5 after an integer underflow.
MOST_TOKENS = 10**9


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as counted by the server; None if it does not say.

    ``prompt`` includes ``cached`` tokens, which are added if a server counts them beside it, and,
    on servers that charge for them, those ``written`` to the cache; ``completion`` includes
    ``reasoning``. Impossible counts become None: a negative number, one above ``MOST_TOKENS``, one
    that is not whole.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    written: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, tokens(getattr(self, field.name)))
        if self.prompt is not None and self.cached is not None and self.cached > self.prompt:
            object.__setattr__(self, "prompt", tokens(self.prompt + self.cached))


def tokens(value: object) -> int | None:
    """Return the value if it is a possible number of tokens; otherwise None."""
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a model.

    Args:
        parts: The user message in parts to be joined; those shared by related questions come first.
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
    """The reply of a model.

    Args:
        text: Its text, unchanged; empty if the model declined or a filter blocked it.
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
        """The name that the user wrote, which every row has: ``openai:gpt-5-mini?seed=7``."""

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
        """True if other runs may reuse its replies to the same question; False for test models."""

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Send one question.

        Raises:
            ChatFailure: There is no reply; says why, and whether a retry may help.
        """

    async def close(self) -> None:
        """Close connections; nothing may be asked after that."""


# Maximum number of top-level objects in a reply.
MOST_OBJECTS = 50

# Maximum nesting depth.
DEEPEST = 100

# The key under which a top-level list of objects is returned.
LIST_KEY = "items"


class MalformedReply(ValueError):
    """The reply holds no readable object."""


class Unclosed(MalformedReply):
    """The reply ends inside an object: it was cut off."""


def json_objects(text: str) -> list[dict[str, Any]]:
    """Return all top-level objects of a reply, in order; nearly always one.

    If there are several, the caller must decide which is meant, because any of them may be quoted
    from untrusted text. A list of objects is returned as an object with the single key ``items``;
    a JSON text in a JSON string is read as that text.

    Raises:
        Unclosed: The reply ends inside an object, even if complete ones come before it.
        MalformedReply: There is no object, or one that cannot be read.
    """
    text = _without_surrogates(text)
    whole = _whole(text)
    if whole:
        return whole
    _, rest = _split_thoughts(text)
    if rest != text and (whole := _whole(rest)):
        return whole
    objects: list[dict[str, Any]] = []
    start = _OPENING.search(rest)
    while start is not None:
        content, end = _object_at(rest, start.start())
        objects.append(content)
        _check_count(objects)
        start = _OPENING.search(rest, end)
    objects = [each for each in objects if each] or objects
    if not objects:
        raise MalformedReply("no JSON object")
    return objects


def drafts(text: str) -> list[dict[str, Any]]:
    """Return the complete objects inside a think tag at the beginning of the reply, or before its
    end.

    They may be drafts of the model's, or the reply itself, swallowed by a tag in quoted text.
    """
    if "</" not in text:
        return []
    thoughts, _ = _split_thoughts(_without_surrogates(text))
    objects: list[dict[str, Any]] = []
    tried: list[int] = []
    start = _OPENING.search(thoughts)
    while start is not None:
        tried.append(start.start())
        _check_count(tried)
        try:
            content, end = _object_at(thoughts, start.start())
        except MalformedReply:
            end = start.end()
        else:
            objects.append(content)
        start = _OPENING.search(thoughts, end)
    return objects


def _check_count(objects: Sized) -> None:
    if len(objects) > MOST_OBJECTS:
        raise MalformedReply(f"more than {MOST_OBJECTS} JSON objects")


def _whole(text: str) -> list[dict[str, Any]]:
    try:
        value = _DECODER.decode(text)
        while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list | str):
            (value,) = value
        return json_objects(value) if isinstance(value, str) else [_object(value)]
    except json.JSONDecodeError:
        return []
    except RecursionError:
        raise MalformedReply("the JSON is nested too deeply") from None


def _object_at(text: str, start: int) -> tuple[dict[str, Any], int]:
    repaired, end = _repaired(text, start)
    try:
        return _object(_DECODER.decode(repaired)), end
    except json.JSONDecodeError as error:
        raise MalformedReply(f"not JSON: {error.msg}, at {_near(text, start)}") from None


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return {LIST_KEY: value}
    if isinstance(value, dict):
        return value
    raise MalformedReply(f"expected a JSON object, got a {type(value).__name__}")


# Think tags

_TAGS = ("think", "thinking", "thought", "reasoning")
_THINKING = re.compile(rf"\s*<({'|'.join(_TAGS)})>", re.IGNORECASE | re.ASCII)
_THOUGHT = {tag: re.compile(f"</{tag}>", re.IGNORECASE | re.ASCII) for tag in _TAGS}
_CLOSING = re.compile(rf"</(?:{'|'.join(_TAGS)})>", re.IGNORECASE | re.ASCII)
_OF_JSON = re.compile(r"[{}\[\]\"]")


def _split_thoughts(text: str) -> tuple[str, str]:
    """The content of a think tag at the beginning, and the rest.

    Templates that write the opening tag into the prompt leave a closing one without it. That one
    counts only if a single object follows, for it may be in quoted text within or after the reply.
    """
    opened = _THINKING.match(text)
    if opened is None:
        for lone in list(_CLOSING.finditer(text))[-1:]:
            if _is_one_object(text[lone.end() :]):
                return text[: lone.start()], text[lone.end() :]
        return "", text
    closing = _THOUGHT[opened[1].lower()].search(text, opened.end())
    if closing is None:
        raise Unclosed(f"the reply ends inside <{opened[1]}>")
    return text[opened.end() : closing.start()], text[closing.end() :]


def _is_one_object(text: str) -> bool:
    try:
        if _whole(text):
            return True
        start = _OPENING.search(text)
        if start is None:
            return False
        _, end = _object_at(text, start.start())
        return _OF_JSON.search(text[: start.start()] + text[end:]) is None
    except MalformedReply:
        return False


# Repairs

_OPENING = re.compile(r"\{(?=\s*(?:[\"'“”„}#]|//|/\*|\Z))|\[(?=\s*\{)")
_SKIPPED = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)+", re.DOTALL)
_TOKEN = re.compile(
    r"(?P<mark>[{}\[\]:,])"
    r'|"(?P<plain>[^"\\]*(?:\\.[^"\\]*)*)"'
    r"|'(?P<single>[^'\\]*(?:\\.[^'\\]*)*)'"
    r"|[“”„](?P<curly>[^”\\]*(?:\\.[^”\\]*)*)”"
    r"|(?P<word>[A-Za-z]+|-?[0-9][0-9.eE+-]*|-Infinity)(?![\w.])",
    re.DOTALL,
)
_WORDS = {
    "True": "true",
    "False": "false",
    "None": "null",
    "nan": "null",
    "inf": "null",
    "undefined": "null",
}
_BEFORE_VALUE = frozenset("{[:,")
# A run of JSON's own escapes, which stay; an escape of another language; an unescaped quote.
_ESCAPE = re.compile(r"(?:\\(?:u[0-9a-fA-F]{4}|[\"\\/bfnrt]))+|\\.|\"", re.DOTALL)


def _repaired(text: str, start: int) -> tuple[str, int]:
    written: list[str] = []
    closing: list[str] = []
    last = ""
    at = start
    while True:
        skipped = _SKIPPED.match(text, at)
        if skipped is not None:
            at = skipped.end()
        token = _TOKEN.match(text, at)
        if token is None:
            _give_up(text, start, at)
        at = token.end()
        mark = token["mark"]
        begins_value = mark is None or mark in "{["
        if begins_value and last and last not in _BEFORE_VALUE:
            raise MalformedReply(f"not JSON: a comma is missing at {_near(text, token.start())}")
        if mark is None:
            written.append(_value(token))
            last = "value"
            continue
        if begins_value:
            if len(closing) == DEEPEST:
                raise MalformedReply(f"more than {DEEPEST} nested brackets")
            closing.append("}" if mark == "{" else "]")
        elif mark in "}]":
            if closing.pop() != mark:
                raise MalformedReply(f"not JSON: wrong bracket at {_near(text, token.start())}")
            if last == ",":
                written.pop()
        written.append(mark)
        last = mark
        if not closing:
            return "".join(written), at


def _give_up(text: str, start: int, at: int) -> NoReturn:
    rest = text[at : at + 1]
    if not rest or rest in "\"'“”„" or text[at:] == "-" or text.startswith("/*", at):
        raise Unclosed(f"the reply ends inside the object that begins at {_near(text, start)}")
    raise MalformedReply(f"not JSON: expected a value, key or bracket at {_near(text, at)}")


def _value(token: re.Match[str]) -> str:
    kind = token.lastgroup
    if kind == "word":
        return _WORDS.get(token["word"], token["word"])
    return f'"{_ESCAPE.sub(_escape, token[kind or 0])}"'


def _escape(match: re.Match[str]) -> str:
    escape = match.group()
    if escape == '"':
        return '\\"'
    if len(escape) > 2 or escape[1] in '"\\/bfnrt':
        return escape
    return escape[1] if escape[1] in "'“”\n" else f"\\{escape}"


def _near(text: str, at: int) -> str:
    return f"character {at}: {text[at : at + 20]!r}"


# Reading


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise MalformedReply("a key occurs twice in one object")
    return content


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= 300 else None


def _number(digits: str) -> float | None:
    value = float(digits)
    return value if isfinite(value) else None


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_int=_integer,
    parse_float=_number,
    parse_constant=lambda _: None,
    strict=False,
)

_LONE = re.compile(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def _without_surrogates(text: str) -> str:
    text = readable(text.removeprefix("\ufeff"))
    if "\\ud" in text or "\\uD" in text:
        text = _LONE.sub(lambda match: match[1] or "\\ufffd", text)
    return text
