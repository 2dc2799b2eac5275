"""Heard request: what an app reads of a request, heard along for its guard."""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from uuid import uuid4

from ragstone.core.escape import on_one_line
from ragstone.core.messages import reason

from .encoded import Undecodable, decoded

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class HeardRequest:
    """A request, whose body is kept while the app reads it; the app reads it as ever.

    Attributes:
        method: Such as ``POST``.
        path: Its path, without the query.
        headers: Their values by lower-case name; of several with a name the last.
        run_id: What the request calls itself by ``x-request-id``, as far as that can be shown;
            else a new id.
    """

    def __init__(self, scope: Scope, most_bytes: int) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: Mapping[str, str] = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        self.run_id = on_one_line(self.headers.get("x-request-id", ""))[:100] or uuid4().hex
        self._most = most_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._whole = False

    def heard(self, receive: Receive) -> Receive:
        """A ``receive`` for the app, which hears along."""

        async def hear() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                piece = message.get("body", b"")
                self._size += len(piece)
                if self._size <= self._most:
                    self._pieces.append(piece)
                else:
                    self._pieces.clear()
                self._whole = not message.get("more_body", False)
            return message

        return hear

    def body(self) -> tuple[Any, str | None]:
        """Its JSON, and why there is none; both None for an empty body."""
        if self._size > self._most:
            return None, reason("body_too_large", most=self._most)
        if not self._whole:
            return None, reason("request_not_read")
        try:
            text = decoded(b"".join(self._pieces), self.headers.get("content-encoding"), self._most)
            return (json.loads(text) if text.strip() else None), None
        except Undecodable as error:
            return None, error.why
        except (ValueError, RecursionError):
            return None, reason("broken_json", part="request")
