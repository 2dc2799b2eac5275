"""Chat batches: many requests to a server in a file, answered within a day at a lower price.

A batch that is not in the provider's list is sent again, so a list that cannot be read to its
end is an error. Everything that asks a server raises ``ChatFailure`` if it was not reached,
refused, or sent something else.
"""

import json
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import quote

from ragstone.models.embedding_api import Server, scrubbed

from .http_transport import Connections, blaming, refused
from .model import ChatFailure, ChatReply, ChatRequest
from .wire_format import Body, encoded, no_reply, opened, word

PIECE = 1 << 18
"""Bytes of a file that are read at a time."""
LONGEST_LINE = 1 << 26


class BatchServer:
    """The server of a model, with its key."""

    def __init__(
        self, server: Server, headers: Mapping[str, str], variable: str, connections: Connections
    ) -> None:
        self.url, self.model, self.host = server.url, server.model, server.host
        self._headers, self._variable = headers, variable
        self._key, self._proxy = server.key, server.proxy
        self._connections = connections

    async def get(self, url: str) -> Body:
        """Return the JSON object at a URL."""
        return (await self.send(url, {}, None, method="GET"))[1]

    async def post(self, url: str, body: Body) -> Body:
        """Return the JSON object that comes back for a JSON object."""
        kind = {"Content-Type": "application/json"}
        return (await self.send(url, kind, encoded(body)))[1]

    async def send(
        self,
        url: str,
        headers: Mapping[str, str],
        body: AsyncIterable[bytes] | bytes | None,
        *,
        signed: bool = True,
        method: str = "POST",
    ) -> tuple[Mapping[str, str], Body]:
        """Send a body that may be long, signed with the key; gives the reply with its headers."""
        sent = {**(self._headers if signed else {}), **headers}
        with self._blaming():
            status, back, reply = await self._connections.request(
                method, url, sent, body, self._proxy
            )
            reply = self._scrubbed(reply)
            if not 200 <= status < 300:
                raise refused(status, back, reply)
            return back, opened(reply) if reply.strip() else {}

    async def lines(self, url: str) -> AsyncIterator[Body]:
        """Return the JSON objects of a file of one a line; a line that is none is passed over."""
        rest = b""
        status, headers = 200, dict[str, str]()
        async for status, of, piece in self._connections.pieces(url, self._headers, self._proxy):
            headers = dict(of)
            *whole, rest = (rest + piece).split(b"\n")
            if status != 200 or len(rest) > LONGEST_LINE:
                rest = b"\n".join((*whole, rest))[:LONGEST_LINE]
                if status == 200:
                    with self._blaming():
                        raise ChatFailure("bad_reply", "sent a file that has no lines")
                continue
            for line in whole:
                if (record := _object(line)) is not None:
                    yield record
        if status != 200:
            with self._blaming():
                raise refused(status, headers, self._scrubbed(rest))
        if (record := _object(rest)) is not None:
            yield record

    def _scrubbed(self, reply: bytes) -> bytes:
        key = (self._key or "").encode()
        if key and key in reply:
            return scrubbed(reply.decode(errors="replace"), self._key).encode()
        return reply

    def _blaming(self) -> AbstractContextManager[None]:
        return blaming(self.host, self._key, self._variable)


async def pieces_of(file: Path, before: bytes = b"", after: bytes = b"") -> AsyncIterator[bytes]:
    """Return a file piece by piece, with something before and after it."""
    if before:
        yield before
    with file.open("rb") as read:
        while piece := read.read(PIECE):
            yield piece
    if after:
        yield after


def in_path(name: str) -> str:
    """Return a server's id as a part of a path, which it cannot leave."""
    return quote(name, safe="").replace(".", "%2E")


def _object(line: bytes) -> Body | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """The progress of a batch, in the words of the server.

    Args:
        state: ``open``: it may still change. ``ended``: its results can be read. ``failed``: it
            was refused as a whole, and nothing in it was asked.
        unanswered: Of these, the ones that failed, expired or were cancelled.
        places: Where its results are, for ``results``.
    """

    state: Literal["open", "ended", "failed"]
    said: str
    requests: int = 0
    answered: int = 0
    unanswered: int = 0
    places: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of one request of a batch.

    Args:
        status: The HTTP status that the reply would have had; None if there was no attempt, as it
            expired or was cancelled.
    """

    custom: str
    status: int | None
    body: bytes = b""


class BatchFormat(Protocol):
    """A provider's batches: the file of requests, its sending, finding, following and reading."""

    @property
    def most_requests(self) -> int:
        """The most requests in a batch."""

    @property
    def most_bytes(self) -> int:
        """The most bytes of its file."""

    @property
    def by_name(self) -> bool:
        """True if ``find`` finds a batch by its tag; otherwise its results have to prove it."""

    def line(self, custom: str, body: Body) -> Body:
        """Return a line of the file: a request with its id."""

    async def upload(self, server: BatchServer, file: Path, tag: str) -> str:
        """Upload the file, where that comes before the batch; costs nothing and may be repeated."""

    async def create(self, server: BatchServer, file: Path, uploaded: str, tag: str) -> str:
        """Create the batch, which is what is paid for; gives its id."""

    async def find(self, server: BatchServer, tag: str, since: float, count: int) -> list[str]:
        """Return the ids of batches that may be this one, after it is unknown whether it was
        created."""

    async def status(self, server: BatchServer, batch: str) -> BatchStatus:
        """Return the progress of the batch."""

    def results(self, server: BatchServer, ended: BatchStatus) -> AsyncIterator[BatchResult]:
        """Return the results of a batch that ended, in any order; some may lack or come twice."""


PAGES = 200
"""The most pages of a list that are read."""
EARLIER = 86_400.0
"""Seconds that the server's clock may be behind."""


async def pages(
    server: BatchServer, url: str, following: Callable[[Body, Sequence[Body]], str]
) -> AsyncIterator[list[Body]]:
    """Return the batches of a list, page by page."""
    more = ""
    for _ in range(PAGES):
        page = await server.get(f"{url}{more}")
        listed = page.get("data") or page.get("operations") or page.get("batches")
        batches = (
            [batch for batch in listed if isinstance(batch, dict)]
            if isinstance(listed, list)
            else []
        )
        yield batches
        more = following(page, batches)
        if not more:
            return
    raise ChatFailure("bad_reply", f"{server.host}: the list of batches does not end")


def after_last(parameter: str) -> Callable[[Body, Sequence[Body]], str]:
    """Return ``following`` for lists in which this parameter, with the last id, leads on."""

    def following(page: Body, batches: Sequence[Body]) -> str:
        last = word(batches[-1].get("id")) if batches else ""
        return f"&{parameter}={in_path(last)}" if page.get("has_more") and last else ""

    return following


def ends_before(times: Sequence[float], since: float) -> bool:
    """Return True if a list has only older batches after a page of these times, newest first."""
    return bool(times) and times[0] > times[-1] and times[-1] < since - EARLIER


class ChatBatches:
    """Makes, finds, follows and reads the batches of a model. It never retries.

    ``BatchFormat`` documents the methods. A batch may have been created though ``create`` failed,
    unless the server refused it.

    Args:
        body: Makes the request of a question, without what the server is known not to support.
    """

    def __init__(
        self,
        form: BatchFormat,
        server: BatchServer,
        body: Callable[[ChatRequest], Body],
        read: Callable[[int, Mapping[str, str], bytes], ChatReply],
    ) -> None:
        self._form, self._server, self._body, self._read = form, server, body, read
        self.most_requests, self.most_bytes = form.most_requests, form.most_bytes
        self.by_name, self.host = form.by_name, server.host
        self.upload = partial(form.upload, server)
        self.status = partial(form.status, server)
        self.results = partial(form.results, server)

    def line(self, custom: str, request: ChatRequest) -> bytes:
        """Return a line of the file of requests."""
        return encoded(self._form.line(custom, self._body(request))) + b"\n"

    async def create(self, file: Path, uploaded: str, tag: str) -> str:
        """Create the batch; gives its id."""
        batch = await self._form.create(self._server, file, uploaded, tag)
        if not _is_name(batch):
            raise no_reply("sent an id that is none", batch.encode(errors="replace"))
        return batch

    async def find(self, tag: str, since: float, count: int) -> list[str]:
        """Return the ids of batches that may be the one that was sent."""
        return list(filter(_is_name, await self._form.find(self._server, tag, since, count)))

    def read(self, status: int, body: bytes) -> ChatReply:
        """Read the reply of a result."""
        return self._read(status, {}, body)


def _is_name(name: str) -> bool:
    return name.isascii() and name.isprintable()
