"""Unpacking: gzip and deflate, piece by piece, so that a bomb is known before it is unpacked."""

import zlib

_PIECE = 1 << 16
_GZIP, _ZLIB, _RAW = 31, 15, -15

ENCODINGS = ("gzip", "x-gzip", "deflate", "identity", "")
"""The values of Content-Encoding that are understood."""


class TooLarge(Exception):
    """A body is larger than is allowed."""


class NotPacked(Exception):
    """A body is not packed as it says."""


def unpacked(body: bytes, encoding: str, most: int) -> bytes:
    """A body as it was before it was packed.

    Args:
        body: As it came.
        encoding: One of ``ENCODINGS``.
        most: Bytes of the result.

    Raises:
        TooLarge: It would be more.
        NotPacked: It is not packed so, or its end is missing.
    """
    match encoding:
        case "gzip" | "x-gzip":
            return _members(body, most)
        case "deflate":
            # Deflate means zlib's format; some send it bare.
            bare = len(body) < 2 or body[0] & 15 != 8 or (body[0] << 8 | body[1]) % 31
            return _inflated(body, _RAW if bare else _ZLIB, most)[0]
    if len(body) > most:
        raise TooLarge
    return body


def _members(body: bytes, most: int) -> bytes:
    """Of gzip, whose packed parts may follow each other."""
    found = bytearray()
    while True:
        part, body = _inflated(body, _GZIP, most - len(found))
        if not body and not found:
            return part
        found += part
        if not body:
            return bytes(found)


def _inflated(body: bytes, form: int, most: int) -> tuple[bytes, bytes]:
    """What is packed, and what stands behind it."""
    unpacker = zlib.decompressobj(form)
    pieces = []
    size = 0
    left = body
    try:
        while not unpacker.eof:
            piece = unpacker.decompress(left, min(_PIECE, most - size + 1))
            left = unpacker.unconsumed_tail
            size += len(piece)
            if size > most:
                raise TooLarge
            pieces.append(piece)
            if not piece and not left and not unpacker.eof:
                raise NotPacked
    except zlib.error:
        raise NotPacked from None
    return b"".join(pieces), unpacker.unused_data
