"""Server: the HTTP calls about batches. What they pass on holds no key."""

import json
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from pathlib import Path
from urllib.parse import quote

from ragstone.models.chat.connections import Connections
from ragstone.models.chat.failure import ChatFailure
from ragstone.models.chat.refusal import refused
from ragstone.models.chat.wire import Body, encoded, opened
from ragstone.models.server import Server, scrubbed

PIECE = 1 << 18
"""Bytes of a file that are read at a time."""
LONGEST_LINE = 1 << 26


class BatchServer:
    """The server of a model, with its key.

    Args:
        server: Address and key.
        headers: Of every request.
        variable: The environment variable that holds the key.
        connections: The connections of the run.
    """

    def __init__(
        self, server: Server, headers: Mapping[str, str], variable: str, connections: Connections
    ) -> None:
        self.url, self.model, self.host = server.url, server.model, server.host
        self._headers, self._variable = headers, variable
        self._key, self._proxy = server.key, server.proxy
        self._connections = connections

    async def get(self, url: str) -> Body:
        """The JSON object at a URL.

        Raises:
            ChatFailure: The server was not reached, refused, or sent something else.
        """
        return (await self._call("GET", url, {}, None))[1]

    async def post(self, url: str, body: Body) -> Body:
        """What comes back for a JSON object.

        Raises:
            ChatFailure: As ``get``.
        """
        kind = {"Content-Type": "application/json"}
        return (await self._call("POST", url, kind, encoded(body)))[1]

    async def send(
        self,
        url: str,
        headers: Mapping[str, str],
        body: AsyncIterable[bytes] | bytes,
        *,
        signed: bool = True,
    ) -> tuple[Mapping[str, str], Body]:
        """Post a body that may be long; gives the reply with its headers.

        Args:
            url: Where to.
            headers: With the body's type and length.
            body: What is sent.
            signed: Whether the key is sent with it.

        Raises:
            ChatFailure: As ``get``.
        """
        return await self._call("POST", url, headers, body, signed=signed)

    async def lines(self, url: str) -> AsyncIterator[Body]:
        """The JSON objects of a file of one a line; a line that is none is passed over.

        Raises:
            ChatFailure: As ``get``.
        """
        rest = b""
        status, headers = 200, dict[str, str]()
        async for status, of, piece in self._connections.pieces(url, self._headers, self._proxy):
            headers = dict(of)
            *whole, rest = (rest + piece).split(b"\n")
            if status != 200 or len(rest) > LONGEST_LINE:
                rest = b"\n".join((*whole, rest))[:LONGEST_LINE]
                if status == 200:
                    raise self._said(ChatFailure("bad_reply", "sent a file that has no lines"))
                continue
            for line in whole:
                if (found := _object(line)) is not None:
                    yield found
        if status != 200:
            raise self._said(refused(status, headers, self._scrubbed(rest)))
        if (found := _object(rest)) is not None:
            yield found

    async def _call(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: AsyncIterable[bytes] | bytes | None,
        *,
        signed: bool = True,
    ) -> tuple[Mapping[str, str], Body]:
        sent = {**(self._headers if signed else {}), **headers}
        try:
            status, back, reply = await self._connections.request(
                method, url, sent, body, self._proxy
            )
            reply = self._scrubbed(reply)
            if not 200 <= status < 300:
                raise refused(status, back, reply)
            return back, opened(reply) if reply.strip() else {}
        except ChatFailure as failure:
            raise self._said(failure) from failure

    def _scrubbed(self, reply: bytes) -> bytes:
        key = (self._key or "").encode()
        if key and key in reply:
            return scrubbed(reply.decode(errors="replace"), self._key).encode()
        return reply

    def _said(self, failure: ChatFailure) -> ChatFailure:
        words = f"{self.host} {scrubbed(str(failure), self._key)}"
        if failure.trouble == "not_allowed":
            sent = f"The key of {self._variable} was sent" if self._key else "No key was sent"
            words = f"{words}. {sent}"
        return ChatFailure(
            failure.trouble,
            words,
            after=failure.after,
            http=failure.http,
            body=scrubbed(failure.body, self._key),
        )


async def pieces_of(file: Path, before: bytes = b"", after: bytes = b"") -> AsyncIterator[bytes]:
    """A file piece by piece, with something before and after it."""
    if before:
        yield before
    with file.open("rb") as read:
        while piece := read.read(PIECE):
            yield piece
    if after:
        yield after


def in_path(name: str) -> str:
    """A server's id as a part of a path, which it cannot leave."""
    return quote(name, safe="").replace(".", "%2E")


def _object(line: bytes) -> Body | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
