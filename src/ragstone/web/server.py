"""Server: runs an app by uvicorn within bounds on connections, on time and on pieces of a body.

All servers here have the same bounds. A connection on which the server waits for its client has a
limit, and where too many are open, those that have waited longest are closed. So whoever opens
connections and says nothing, sends slowly or does not read, takes no place from others.
"""

import resource
from asyncio import TimerHandle, constants
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from types import MappingProxyType
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 1_000
# Connections that are accepted in a row; they need files beside those that are counted.
BACKLOG = 512

# Seconds in which a client has to agree on encryption.
HANDSHAKE = 10.0

# Seconds that requests have to end once the server is asked to.
GRACE = 3


def connections_within(files: int) -> int:
    """How many connections may be open of a process that may open so many files.

    >>> connections_within(1_024), connections_within(1_000_000)
    (341, 1000)
    """
    return min(CONNECTIONS, files // 3)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a client may take of a server: connections, seconds, and chunks of one body.

    Of more connections those are closed that have waited longest. The ``head`` of a request counts
    from its first chance to come; in ``pause`` a client has to go on to send, or to read.
    """

    connections: int = field(
        default_factory=lambda: connections_within(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    )
    head: float = 15.0
    body: float = 30.0
    pause: float = 10.0
    chunks: int = 10_000


class _BoundedChunks(h11.Connection):
    """Reads requests; each chunk takes as long as a thousand bytes, so they are counted."""

    def __init__(self, most: int) -> None:
        super().__init__(h11.SERVER)
        self._most, self._chunks = most, 0

    def next_event(self) -> Any:
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._chunks = 0
        elif isinstance(event, h11.Data) and event.chunk_start:
            self._chunks += 1
            if self._chunks > self._most:
                raise h11.RemoteProtocolError("too many chunks")
        return event


_LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class BoundedConnection(H11Protocol):
    """uvicorn's connection, within bounds; name it as ``http`` of uvicorn's ``Config``."""

    bounds = Bounds()
    _timer: TimerHandle | None = None
    _turn: tuple[object, float] = (None, 0.0)
    _since = _unread = 0.0

    def connection_made(self, transport: Any) -> None:
        """Somebody connected."""
        super().connection_made(transport)
        self.conn = _BoundedChunks(self.bounds.chunks)
        self._watch()
        if len(self.connections) > self.bounds.connections:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Something came."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """A reply was written."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """The client reads more slowly than is written."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """It can be written on."""
        super().resume_writing()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection ended."""
        super().connection_lost(exc)
        self._stop()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, unless a reply is under way."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def _seconds(self) -> float:
        """What the client has before it has to act; 0 while it is the server's turn."""
        if self.conn.their_state is h11.SEND_BODY:
            return self.bounds.body
        if self.cycle is None or self.cycle.response_complete:
            return self.bounds.head
        return self.bounds.pause if self.flow.write_paused else 0.0

    def _watch(self) -> None:
        """Set the time at which the client is late."""
        turn, now = (self.cycle, self._seconds()), self.loop.time()
        if turn != self._turn:
            self._turn, self._since = turn, now
            self._unread = self.transport.get_write_buffer_size()
        self._stop()
        if turn[1]:
            ends = min(self._since + turn[1], now + self.bounds.pause)
            self._timer = self.loop.call_at(ends, self._late)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        if self.flow.read_paused or self.transport.get_write_buffer_size() < self._unread:
            # It is the server that does not read, or the client reads on.
            self._turn = (None, 0.0)
            self._watch()
            return
        if self.cycle is not None and not self.cycle.response_started:
            self.transport.write(_LATE)
        self._drop()

    def _drop(self) -> None:
        self._stop()
        self.connections.discard(self)
        self.transport.abort()

    def _make_room(self) -> None:
        """Close some of those that wait for their client: the silent first, the longest first."""

        def order(other: BoundedConnection) -> tuple[bool, float]:
            # Those that send a body which was not refused come last.
            sends = other.cycle is not None and not other.cycle.response_complete
            return sends, other._since

        others = [other for other in self.connections if isinstance(other, BoundedConnection)]
        waiting = sorted((other for other in others if other._timer is not None), key=order)
        # Several at once, for all have to be looked at.
        for other in waiting[: 1 + self.bounds.connections // 50]:
            other._drop()


def serve(
    app: ASGIApp, taken: socket, tls: Mapping[str, Path | None] = MappingProxyType({})
) -> None:
    """Serve an app on a port until the process is asked to end; with ``tls``, encrypted."""
    if tls:
        # A connection is counted when its encryption stands; until then asyncio limits its time.
        constants.SSL_HANDSHAKE_TIMEOUT = HANDSHAKE
    config = uvicorn.Config(
        app,
        # Otherwise it sets up the whole process's log, for which it closes what is there.
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        http=BoundedConnection,
        ws="none",
        backlog=BACKLOG,
        timeout_graceful_shutdown=GRACE,
        **tls,  # type: ignore[arg-type]
    )
    # Ctrl+C is how it ends, which it tells once more when everything is closed.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[taken])
