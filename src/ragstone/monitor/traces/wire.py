"""Wire: puts messages of OTLP together from parts that are bytes already.

A field that holds a message is its number, the length and the bytes, so spans that were read once
need not be copied field by field into the message of their trace.
"""

from collections.abc import Iterable


def inside(number: int, content: bytes) -> bytes:
    """A field that holds a message or a text.

    >>> inside(1, b"abc")
    b'\\n\\x03abc'
    """
    return bytes((number << 3 | 2,)) + _varint(len(content)) + content


def repeated(number: int, contents: Iterable[bytes]) -> bytes:
    """Several such fields, one after the other."""
    return b"".join([inside(number, content) for content in contents])


def _varint(size: int) -> bytes:
    digits = bytearray()
    while size > 127:
        digits.append(size & 127 | 128)
        size >>= 7
    digits.append(size)
    return bytes(digits)
