"""No script: random changes to bytes and JSON, for the scripts that fuzz."""

import json
import random
import re
from collections.abc import Sequence

Random = random.Random

WORDS = (
    b"\0", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe9", b"\xed\xa0\x80", b"\\ud800", b"\\udc00",
    b"\\u0000", b"NaN", b"Infinity", b"-0", b"1e999", b"1e-999", b"-1", b"9" * 25, b"9" * 5000,
    b"0." + b"1" * 400, b"null", b"true", b"[]", b"{}", b'""', b"[" * 300, b'{"a":' * 300,
    b"[" * 20_000, b'"', b"'", b"\\", b",", b"\n", b"\r", b"\r\n", b"\t", b";", b"\x1b[31m",
    "\u202e\u2066".encode(), "\U0001f600".encode(), "\u0660".encode(), "\u00b2".encode(),
    b"a" * 70_000, b'["a", "b"]', b"['a', 'b']", b"labels.", b"labels.a.b", b"slices.x", b"id",
    b"__proto__", b"\x1f\x8b", b"PAR1", b"ARROW1", b"0x10", b"1_000", b"1979-05-27T07:32:00Z",
    b"inf", b"nan", b"Q0", b"query-id",
)  # fmt: skip
"""What files of other people hold, or an attacker puts there."""

NUMBERS = (0, 1, -1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 40,
           (1 << 63) - 1)  # fmt: skip
VALUES: tuple[object, ...] = (
    None, True, 0, -1, 10**30, 10**400, 0.5, "", "a", "\ud800", "x\x00y", [], {}, [[]], [None], [1],
    {"a": 1}, {"": None}, ["a"], [["a", "b"]], [{"id": "a", "text": "b"}], {"id": 1}, "[\"a\"]",
    "{", float("nan"), float("inf"), "9" * 5000,
)  # fmt: skip


def changed_bytes(whole: bytes, draw: Random, words: Sequence[bytes] = WORDS) -> bytes:
    """The bytes with one to six changes: bits, pieces, words, numbers that lie."""
    content = bytearray(whole)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        at = draw.randrange(len(content) + 1)
        end = at + draw.choice((1, 4, 16, 200, 5000))
        match draw.randrange(10):
            case 0 if content:
                for _ in range(draw.choice((1, 1, 2, 8, 64))):
                    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
            case 1:
                del content[at:]
            case 2:
                del content[at:end]
            case 3:
                content[at:at] = draw.choice(words)
            case 4:
                word = draw.choice(words)
                content[at : at + len(word)] = word
            case 5:
                content[at:at] = content[at:end] * draw.choice((1, 2, 50))
            case 6:
                content[at:end] = draw.randbytes(len(content[at:end]))
            case 7:
                size = draw.choice((2, 4, 8))
                number = draw.choice(NUMBERS) % (1 << 8 * size)
                content[at : at + size] = number.to_bytes(
                    size, "little" if draw.random() < 0.5 else "big"
                )
            case 8:
                lines = bytes(content).split(b"\n")
                draw.shuffle(lines)
                content[:] = b"\n".join(lines)
            case _ if tokens := list(re.finditer(rb"[\w.]+", bytes(content[:200_000]))):
                token = draw.choice(tokens)
                content[token.start() : token.end()] = draw.choice(words)
    return bytes(content)


def changed_json(text: str, draw: Random) -> str:
    """JSON of the same shape, or lines of it, with other values; ValueError if it is no JSON."""
    try:
        json.loads(text)
        lines = [text]
    except ValueError:
        lines = text.splitlines() or [text]
    at = draw.randrange(len(lines))
    value = json.loads(lines[at])
    for _ in range(draw.choice((1, 2, 5))):
        value = _with_other(value, draw)
    lines[at] = json.dumps(value)
    return "\n".join(lines)


def _with_other(value: object, draw: Random) -> object:
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(list(value))
        match draw.randrange(8):
            case 0:
                return {name: part for name, part in value.items() if name != key}
            case 1:
                return {**value, draw.choice(WORDS).decode("latin-1"): draw.choice(VALUES)}
        return {**value, key: _with_other(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        at = draw.randrange(len(value))
        if draw.randrange(8) == 0:
            return [*value, *value[:at]]
        return [*value[:at], _with_other(value[at], draw), *value[at + 1 :]]
    return draw.choice(VALUES)
