"""JSON reply: the objects in what a model wrote, mended where small models go wrong.

Clean JSON is read as it is. Else what surrounds it is left out (fences, prose, a leading think
tag), and mended are: comments, trailing commas, single or curly quotes around strings, raw line
breaks in strings, unknown escapes, and the words of Python. NaN and infinities are read as null.

What a model wrote may hold a stranger's words, so nothing is guessed: what is not closed stays
unclosed, a key that is given twice makes the object malformed, and nothing is taken from inside an
object that cannot be read.
"""

import json
import re
from collections.abc import Sized
from math import isfinite
from typing import Any, NoReturn

MOST_OBJECTS = 50
"""Objects that a reply may hold side by side."""

DEEPEST = 100
"""Brackets within brackets."""

ITEMS = "items"
"""The key of a list that stands by itself."""


class Malformed(ValueError):
    """A reply from which no object can be read."""


class Unclosed(Malformed):
    """A reply that ends within its object: it was cut off."""


def json_objects(text: str) -> list[dict[str, Any]]:
    """All objects of a reply that stand side by side, in order; nearly always one.

    Which of several is meant cannot be told here: any of them may be a stranger's. A list of
    objects is read as an object with the one key ``items``.

    Raises:
        Unclosed: The reply ends within an object, even if whole ones stand before it.
        Malformed: There is none, or one that cannot be read.
    """
    text = _whole_characters(text)
    try:
        return [_object(_DECODER.decode(text))]
    except json.JSONDecodeError:
        pass
    except RecursionError:
        raise Malformed("brackets within brackets, too deep to be read") from None
    _, rest = _apart(text)
    found: list[dict[str, Any]] = []
    start = _OPENING.search(rest)
    while start is not None:
        made, end = _object_at(rest, start.start())
        found.append(made)
        _not_more_than_can_be(found)
        start = _OPENING.search(rest, end)
    found = [made for made in found if made] or found
    if not found:
        raise Malformed("no JSON object")
    return found


def drafts(text: str) -> list[dict[str, Any]]:
    """The whole objects that a think tag at the beginning holds.

    A model may have sketched them, or a stranger's tag may have swallowed the reply.

    Raises:
        Malformed: There are too many to look at.
    """
    if not text.lstrip().startswith("<"):
        return []
    thoughts, _ = _apart(_whole_characters(text))
    found: list[dict[str, Any]] = []
    tried: list[int] = []
    start = _OPENING.search(thoughts)
    while start is not None:
        tried.append(start.start())
        _not_more_than_can_be(tried)
        try:
            made, end = _object_at(thoughts, start.start())
        except Malformed:
            end = start.end()
        else:
            found.append(made)
        start = _OPENING.search(thoughts, end)
    return found


def _not_more_than_can_be(found: Sized) -> None:
    if len(found) > MOST_OBJECTS:
        raise Malformed(f"more than {MOST_OBJECTS} JSON objects")


def _object_at(text: str, start: int) -> tuple[dict[str, Any], int]:
    """The object that begins here, and where it ends."""
    mended, end = _mended(text, start)
    try:
        return _object(_DECODER.decode(mended)), end
    except json.JSONDecodeError as error:
        raise Malformed(f"not JSON: {error.msg}, at {_near(text, start)}") from None


def _object(made: Any) -> dict[str, Any]:
    if isinstance(made, list) and made and all(isinstance(one, dict) for one in made):
        return {ITEMS: made}
    if isinstance(made, dict):
        return made
    raise Malformed(f"no JSON object but a {type(made).__name__}")


# Thinking aloud

_TAGS = ("think", "thinking", "thought", "reasoning")
_THINKING = re.compile(rf"\s*<({'|'.join(_TAGS)})>", re.IGNORECASE | re.ASCII)
_THOUGHT = {tag: re.compile(f"</{tag}>", re.IGNORECASE | re.ASCII) for tag in _TAGS}


def _apart(text: str) -> tuple[str, str]:
    """What a think tag at the beginning holds, and the rest.

    A closing tag alone takes nothing away: it may be a stranger's, after the reply.
    """
    opened = _THINKING.match(text)
    if opened is None:
        return "", text
    closing = _THOUGHT[opened[1].lower()].search(text, opened.end())
    if closing is None:
        raise Unclosed(f"the reply ends within <{opened[1]}>")
    return text[opened.end() : closing.start()], text[closing.end() :]


# Mending

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
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)|\"", re.DOTALL)


def _mended(text: str, start: int) -> tuple[str, int]:
    """The document that begins here in plain JSON, and where it ends."""
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
        if mark is None:
            if last not in _BEFORE_VALUE:
                raise Malformed(f"not JSON: a comma is missing at {_near(text, token.start())}")
            written.append(_value(token))
            last = "value"
            continue
        if mark in "{[":
            if last and last not in _BEFORE_VALUE:
                raise Malformed(f"not JSON: a comma is missing at {_near(text, token.start())}")
            if len(closing) == DEEPEST:
                raise Malformed(f"more than {DEEPEST} brackets within brackets")
            closing.append("}" if mark == "{" else "]")
        elif mark in "}]":
            if closing.pop() != mark:
                raise Malformed(f"not JSON: wrong bracket at {_near(text, token.start())}")
            if last == ",":
                written.pop()
        written.append(mark)
        last = mark
        if not closing:
            return "".join(written), at


def _give_up(text: str, start: int, at: int) -> NoReturn:
    rest = text[at : at + 1]
    if not rest or rest in "\"'“”„" or text[at:] == "-" or text.startswith("/*", at):
        raise Unclosed(f"the reply ends within the object that begins at {_near(text, start)}")
    raise Malformed(f"not JSON: {_near(text, at)} where a value, key or bracket should be")


def _value(token: re.Match[str]) -> str:
    kind = token.lastgroup
    if kind == "word":
        return _WORDS.get(token["word"], token["word"])
    return f'"{_ESCAPE.sub(_escape, token[kind or 0])}"'


def _escape(match: re.Match[str]) -> str:
    """An escape that JSON knows, else the characters themselves."""
    found = match.group()
    if found == '"':
        return '\\"'
    if len(found) > 2 or found[1] in '"\\/bfnrt':
        return found
    return found[1] if found[1] in "'“”\n" else f"\\{found}"


def _near(text: str, at: int) -> str:
    return f"character {at}: {text[at : at + 20]!r}"


# Reading


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise Malformed("a key is given twice in one object")
    return made


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
_SURROGATE = re.compile("[\ud800-\udfff]")


def _whole_characters(text: str) -> str:
    """Halves of characters, written out or escaped, become U+FFFD: no file could hold them."""
    text = text.removeprefix("\ufeff")
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    if "\\ud" in text or "\\uD" in text:
        text = _LONE.sub(lambda match: match[1] or "\\ufffd", text)
    return text
