"""Connections: how many there may be at once, and how long the beginning of a request may take."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 1_000
SECONDS = 15.0


class BoundedConnection(H11Protocol):
    """uvicorn's connection; one too many is closed, and so is one that sends its head slowly.

    Name it as ``http`` of uvicorn's ``Config``. A body has its own time, in the settings.
    """

    most = MOST
    seconds = SECONDS
    _ends: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Somebody connected."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
        else:
            self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Something came."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._head_is_there()
        elif before is None or before.response_complete:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection ended."""
        self._head_is_there()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        if self._ends is None:
            self._ends = self.loop.call_later(self.seconds, self.transport.abort)

    def _head_is_there(self) -> None:
        if self._ends is not None:
            self._ends.cancel()
            self._ends = None
