"""HTTP requests: headers and bodies, read within limits on size and waiting requests.

Gzip and deflate are unpacked piece by piece, so that a bomb is recognised before it is unpacked.
Limits on time and connections are the server's.
"""

import zlib
from collections.abc import AsyncIterable, Callable
from itertools import count
from threading import Lock

from starlette.datastructures import Headers

from .otlp_http import JSON, PROTOBUF

_PIECE = 1 << 16
_GZIP, _ZLIB, _RAW = 31, 15, -15

# Parts of a body in gzip: each takes as long as thousands of bytes.
MEMBERS = 1_000

# The values of Content-Encoding that are understood.
ENCODINGS = ("gzip", "x-gzip", "deflate", "identity", "")

UNPACKED = "The body is not packed as its Content-Encoding says."


class TooLarge(Exception):
    """A body is larger than is allowed."""


class Refused(Exception):
    """A request that is not taken in, with the status and the message of its reply."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(message)


def unpacked(body: bytes, encoding: str, most: int) -> bytes:
    """Return a body as it was before it was packed by one of ``ENCODINGS``.

    Raises:
        TooLarge: It would have more than ``most`` bytes.
        Refused: It is not packed so, or its end is missing.
    """
    match encoding:
        case "gzip" | "x-gzip":
            return _members(body, most)
        case "deflate":
            # Deflate means zlib's format; some send it bare.
            bare = len(body) < 2 or body[0] & 15 != 8 or (body[0] << 8 | body[1]) % 31
            return _inflated(body, 0, _RAW if bare else _ZLIB, most)[0]
    if len(body) > most:
        raise TooLarge
    return body


def _members(body: bytes, most: int) -> bytes:
    """Unpack gzip, whose packed parts may follow each other."""
    parts: list[bytes] = []
    at = size = 0
    while at < len(body) or not parts:
        if len(parts) == MEMBERS:
            raise Refused(400, UNPACKED)
        part, at = _inflated(body, at, _GZIP, most - size)
        size += len(part)
        parts.append(part)
    return b"".join(parts)


def _inflated(body: bytes, at: int, form: int, most: int) -> tuple[bytes, int]:
    """Return what is packed from there on, and where it ends.

    Both sides are cut into pieces, for the unpacker copies what it is given and does not need.
    """
    unpacker = zlib.decompressobj(form)
    pieces: list[bytes] = []
    size = 0
    rest = b""
    try:
        while not unpacker.eof:
            if not rest:
                rest = body[at : at + _PIECE]
                at += len(rest)
            piece = unpacker.decompress(rest, min(_PIECE, most - size + 1))
            ended = not (rest or piece)
            rest = unpacker.unconsumed_tail
            size += len(piece)
            if size > most:
                raise TooLarge
            pieces.append(piece)
            if ended and not unpacker.eof:
                raise Refused(400, UNPACKED)
    except zlib.error:
        raise Refused(400, UNPACKED) from None
    return b"".join(pieces), at - len(unpacker.unused_data)


JSON_LINES = "application/x-ndjson"
_JSONS = (JSON, JSON_LINES, "application/ndjson", "application/jsonl", "application/x-jsonlines")
_PROTOBUFS = (PROTOBUF, "application/protobuf")


class SentHeaders(Headers):
    """The headers of a request; of several with one name, the first."""

    @property
    def token(self) -> bytes:
        """The token that the sender shows; empty if it shows none."""
        scheme, _, bearer = self.get("authorization", "").partition(" ")
        is_bearer = scheme.lower() == "bearer"
        token = bearer.strip() if is_bearer else self.get("x-ragstone-token", "")
        return token.encode("latin-1")

    @property
    def kind(self) -> str:
        """The content type, without its parameters."""
        return self.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def encoding(self) -> str:
        """The content encoding."""
        return self.get("content-encoding", "").lower()

    @property
    def is_json(self) -> bool:
        """True if a reply is to be JSON, and not protobuf."""
        return self.kind not in _PROTOBUFS

    def check_form(self, *, protobuf: bool, most: int) -> None:
        """Refuse a body that cannot be read, or says that it has more than ``most`` bytes."""
        # A page of another site can send a form or plain text from a browser here, but not these.
        if self.kind not in ((*_PROTOBUFS, JSON) if protobuf else _JSONS):
            expected = f"{PROTOBUF} or {JSON}" if protobuf else f"{JSON} or {JSON_LINES}"
            raise Refused(415, f"Content-Type is {expected}.")
        if self.encoding not in ENCODINGS:
            raise Refused(415, "Content-Encoding is gzip, deflate or identity.")
        length = self.get("content-length", "")
        if length.isdecimal() and len(length) < 20 and int(length) > most:
            raise too_large(most)


def too_large(most: int) -> Refused:
    """Return the refusal of a body that is larger than is allowed."""
    return Refused(413, f"A body has at most {most:,} bytes. Send smaller batches.")


class WaitingRoom:
    """Counts the requests that are being taken in, and the bytes that each of them holds."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._lock = Lock()
        self._numbers = count()
        self._held: dict[int, int] = {}
        self.bytes = 0

    @property
    def requests(self) -> int:
        """Number of requests that were let in and have not left."""
        return len(self._held)

    @property
    def is_full(self) -> bool:
        """True if no other request is let in."""
        return self.requests >= self._most or self.bytes >= self._most_bytes

    def enter(self) -> int | None:
        """Let one request in, and return its number; None where the room is full."""
        with self._lock:
            if self.is_full:
                return None
            number = next(self._numbers)
            self._held[number] = 0
            return number

    def grow(self, number: int, size: int) -> bool:
        """Let a request hold so many bytes more; False where there is no room for them."""
        with self._lock:
            if number not in self._held or self.bytes + size > self._most_bytes:
                return False
            self._held[number] += size
            self.bytes += size
            return True

    def leave(self, number: int) -> None:
        """Make room for another request."""
        with self._lock:
            self.bytes -= self._held.pop(number)


FULL = "Too much is waiting to be written. Send it again later."


async def whole_body(pieces: AsyncIterable[bytes], grow: Callable[[int], bool], most: int) -> bytes:
    """Read the body of a request; refuse one that is too large, or that there is no room for."""
    body = bytearray()
    async for piece in pieces:
        if len(body) + len(piece) > most:
            raise too_large(most)
        if not grow(len(piece)):
            raise Refused(429, FULL)
        body += piece
    return bytes(body)
