"""Values of a body: how many it holds, counted before it is parsed, and how they are written.

Two bytes of a body may become an object of two hundred, so a limit on bytes alone is none.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import Any

from .spans import too_many

# What is up to the next mark that is in no text, or to the end.
_MARK = re.compile(
    rb'(?:[^"\[{,:]++|"[^"\\]*+(?:\\.[^"\\]*+)*+\\?(?:"|\Z))*+(?:[\[{,:]|\Z)', re.DOTALL
)


def check_json(body: bytes, most: int) -> None:
    """See that JSON has at most so many values.

    >>> check_json(b'[1, {"a": "1,2,3"}]', 4)
    """
    # What begins a list or an object, ends a name, or stands between two values; most bodies have
    # fewer marks even with those within their texts.
    if sum(map(body.count, (b"[", b"{", b",", b":"))) <= most:
        return
    if next(islice(_MARK.finditer(body), most + 1, None), None) is not None:
        raise too_many(most, "values")


def check_protobuf(body: bytes, message: Any, most: int, most_items: int) -> None:
    """See that a message has at most so many fields, at any depth and in its upper levels.

    Args:
        body: As it came; where it is no such message, what is before the fault is counted.
        most: Fields; those that hold messages, which take more memory, count twice.
        most_items: Fields of the message, its groups and their scopes.
    """
    kind = message.DESCRIPTOR
    if _left(body, 0, len(body), kind, 2, most_items) < 0:
        raise too_many(most_items, "items")
    # No field has less than two bytes, and only one that holds a message counts twice.
    if len(body) > most and _left(body, 0, len(body), kind, _DEEPEST, most) < 0:
        raise too_many(most, "values")


# Levels; protobuf reads no more.
_DEEPEST = 100


def _left(body: bytes, at: int, end: int, kind: Any, levels: int, left: int) -> int:
    """Return how many more fields may come behind a message; negative if it has too many."""
    within = _messages(kind)
    while at < end and left >= 0:
        left -= 1
        key, at = _varint(body, at, end)
        match key & 7:
            case 0:
                _, at = _varint(body, at, end)
            case 1:
                at += 8
            case 2:
                size, at = _varint(body, at, end)
                inner = within.get(key >> 3)
                if inner is not None and levels:
                    left -= 1
                    left = _left(body, at, min(at + size, end), inner, levels - 1, left)
                at += size
            case 5:
                at += 4
    return left


@cache
def _messages(kind: Any) -> dict[int, Any]:
    """Return the fields of a message that hold messages, by number."""
    fields = kind.fields_by_number.items()
    return {number: field.message_type for number, field in fields if field.message_type}


def _varint(body: bytes, at: int, end: int) -> tuple[int, int]:
    """Return a number, and where it ends; where it is none, all that is left is passed over."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            break
        digit = body[at]
        at += 1
        value |= (digit & 127) << shift
        if digit < 128:
            return value, at
    return 0, end


def inside(number: int, content: bytes) -> bytes:
    """Return a field that holds a message or a text.

    >>> inside(1, b"abc")
    b'\\n\\x03abc'
    """
    return bytes((number << 3 | 2,)) + _varint_of(len(content)) + content


def repeated(number: int, contents: Iterable[bytes]) -> bytes:
    """Return several such fields, one after the other."""
    return b"".join([inside(number, content) for content in contents])


def _varint_of(size: int) -> bytes:
    digits = bytearray()
    while size > 127:
        digits.append(size & 127 | 128)
        size >>= 7
    digits.append(size)
    return bytes(digits)
