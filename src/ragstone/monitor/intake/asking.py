"""Asking: what a request asks for, and whether it may."""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from .replies import JSON, PROTOBUF, Reply, refusal
from .unpacking import ENCODINGS

LINES = (
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonlines",
)
"""How JSON lines are called."""

_JSONS = (JSON, *LINES)
_PROTOBUFS = (PROTOBUF, "application/protobuf")


@dataclass(frozen=True, slots=True)
class SentForm:
    """How a body is written.

    Attributes:
        json: JSON, and not protobuf.
        encoding: How it is packed.
    """

    json: bool
    encoding: str


class SentHeaders:
    """The headers of a request; of several with one name, the first."""

    def __init__(self, raw: Iterable[tuple[bytes, bytes]]) -> None:
        self._known: dict[bytes, bytes] = {}
        for name, value in raw:
            self._known.setdefault(name.lower(), value)

    def get(self, name: str) -> str:
        """The value; empty if there is none."""
        return self._known.get(name.encode(), b"").decode("latin-1").strip()

    def shows(self, token: str) -> bool:
        """Whether the sender knows the token; always, if none is asked for."""
        scheme, _, bearer = self.get("authorization").partition(" ")
        given = bearer.strip() if scheme.lower() == "bearer" else self.get("x-ragstone-token")
        # Compared in constant time, so that it cannot be guessed letter by letter.
        return not token or hmac.compare_digest(
            token.encode("utf-8", "surrogatepass"), given.encode("latin-1")
        )

    @property
    def is_json(self) -> bool:
        """Whether a reply is to be JSON."""
        return self._kind not in _PROTOBUFS

    @property
    def _kind(self) -> str:
        return self.get("content-type").partition(";")[0].strip().lower()

    def form(self, *, protobuf: bool, most: int) -> SentForm | Reply:
        """How the body is written, or why it is not read.

        Args:
            protobuf: Whether it may be that, and not only JSON.
            most: Bytes of a body.
        """
        encoding = self.get("content-encoding").lower()
        length = self.get("content-length")
        known = (*_PROTOBUFS, JSON) if protobuf else _JSONS
        # A page of another site can send a form or plain text from a browser here, but not these.
        if self._kind not in known:
            expected = " or ".join((PROTOBUF, JSON) if protobuf else (JSON, LINES[0]))
            return refusal(415, f"Content-Type is {expected}.", json=self.is_json)
        if encoding not in ENCODINGS:
            return refusal(415, "Content-Encoding is gzip, deflate or identity.", json=self.is_json)
        if length.isdecimal() and len(length) < 20 and int(length) > most:
            return too_large(most, json=self.is_json)
        return SentForm(self.is_json, encoding)


def too_large(most: int, *, json: bool) -> Reply:
    """That a body is larger than is allowed."""
    return refusal(413, f"A body has at most {most:,} bytes. Send smaller batches.", json=json)
