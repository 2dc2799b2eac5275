"""Chat batches: many requests to a server in a file, answered within a day at a lower price.

A batch that is not in the provider's list is sent again, so a list that cannot be read to its
end is an error. Everything that asks a server raises ``ChatFailure`` if it was not reached,
refused, or sent something else.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal
from urllib.parse import quote

from ragstone.models.embedding_api import Server, scrubbed

from .http_transport import MOST_PIECES, Connections, blaming, objects_in, refused
from .model import ChatFailure, ChatReply, ChatRequest
from .wire_format import Body, encoded, no_reply, opened, word

# Bytes of a file that are read at a time.
PIECE = 1 << 18

LONGEST_LINE = 1 << 26


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


# The most pages of a list that are read.
PAGES = 200
# Seconds that the server's clock may be behind.
EARLIER = 86_400.0


class ChatBatches(ABC):
    """Makes, finds, follows and reads the batches of a model. It never retries.

    A provider's subclass knows its file of requests and its addresses. A batch may have been
    created though ``create`` failed, unless the server refused it.

    Args:
        headers: Those that sign a request with the key of ``variable``.
        body: Makes the request of a question, without what the server is known not to support.

    Attributes:
        most_requests: The most requests in a batch.
        most_bytes: The most bytes of its file.
        by_name: True if ``find`` finds a batch by its tag; otherwise its results have to prove it.
    """

    most_requests: ClassVar[int]
    most_bytes: ClassVar[int]
    by_name: ClassVar[bool] = True

    def __init__(
        self,
        server: Server,
        headers: Mapping[str, str],
        variable: str,
        connections: Connections,
        body: Callable[[ChatRequest], Body],
        read: Callable[[int, Mapping[str, str], bytes], ChatReply],
    ) -> None:
        self.url, self.model, self.host = server.url, server.model, server.host
        self._headers, self._variable = headers, variable
        self._key, self._proxy = server.key, server.proxy
        self._connections = connections
        self._body, self._read = body, read

    def line(self, custom: str, request: ChatRequest) -> bytes:
        """Return a line of the file of requests: a request with its id."""
        return encoded(self._line(custom, self._body(request))) + b"\n"

    @abstractmethod
    async def upload(self, file: Path, tag: str) -> str:
        """Upload the file, where that comes before the batch; costs nothing and may be repeated."""

    async def create(self, file: Path, uploaded: str, tag: str) -> str:
        """Create the batch, which is what is paid for; gives its id."""
        batch = await self._create(file, uploaded, tag)
        if not _is_name(batch):
            raise no_reply("sent an id that is none", batch.encode(errors="replace"))
        return batch

    async def find(self, tag: str, since: float, count: int) -> list[str]:
        """Return the ids of batches that may be this one, after it is unknown whether it was
        created."""
        return list(filter(_is_name, await self._find(tag, since, count)))

    @abstractmethod
    async def status(self, batch: str) -> BatchStatus:
        """Return the progress of the batch."""

    @abstractmethod
    def results(self, ended: BatchStatus) -> AsyncIterator[BatchResult]:
        """Return the results of a batch that ended, in any order; some may lack or come twice."""

    def read(self, status: int, body: bytes) -> ChatReply:
        """Read the reply of a result."""
        return self._read(status, {}, body)

    @abstractmethod
    def _line(self, custom: str, body: Body) -> Body: ...
    @abstractmethod
    async def _create(self, file: Path, uploaded: str, tag: str) -> str: ...
    @abstractmethod
    async def _find(self, tag: str, since: float, count: int) -> list[str]: ...

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
        pieces = self._connections.pieces(
            "GET", url, self._headers, proxy=self._proxy, most=MOST_PIECES
        )
        async for status, of, piece in pieces:
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

    async def pages(
        self, url: str, following: Callable[[Body, Sequence[Body]], str]
    ) -> AsyncIterator[list[Body]]:
        """Return the batches of a list, page by page."""
        more = ""
        for _ in range(PAGES):
            page = await self.get(f"{url}{more}")
            listed = page.get("data") or page.get("operations") or page.get("batches")
            batches = objects_in(listed)
            yield batches
            more = following(page, batches)
            if not more:
                return
        raise ChatFailure("bad_reply", f"{self.host}: the list of batches does not end")

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


def after_last(parameter: str) -> Callable[[Body, Sequence[Body]], str]:
    """Return ``following`` for lists in which this parameter, with the last id, leads on."""

    def following(page: Body, batches: Sequence[Body]) -> str:
        last = word(batches[-1].get("id")) if batches else ""
        return f"&{parameter}={in_path(last)}" if page.get("has_more") and last else ""

    return following


def ends_before(times: Sequence[float], since: float) -> bool:
    """Return True if a list has only older batches after a page of these times, newest first."""
    return bool(times) and times[0] > times[-1] and times[-1] < since - EARLIER


def _is_name(name: str) -> bool:
    return name.isascii() and name.isprintable()
