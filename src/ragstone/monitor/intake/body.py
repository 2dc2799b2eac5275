"""Body: read as it comes, within its size, its time and the room there is."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from .asking import too_large
from .replies import Reply, refusal
from .settings import IntakeSettings
from .waiting import WaitingPlace

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

FULL = "Too much is waiting to be written. Send it again later."


class SenderGone(Exception):
    """Nobody waits for a reply any more."""


async def whole_body(
    receive: Receive, place: WaitingPlace, settings: IntakeSettings, *, json: bool
) -> bytes | Reply:
    """The body of a request, or why it is not read.

    Raises:
        SenderGone: The connection ended before the body did.
    """
    try:
        async with asyncio.timeout(settings.seconds):
            return await _whole(receive, place, settings, json)
    except TimeoutError:
        return refusal(408, f"The body was not there within {settings.seconds:g} s.", json=json)


async def _whole(
    receive: Receive, place: WaitingPlace, settings: IntakeSettings, json: bool
) -> bytes | Reply:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise SenderGone
        piece = message.get("body", b"")
        size += len(piece)
        if size > settings.body:
            return too_large(settings.body, json=json)
        if not place.grow(len(piece)):
            return refusal(429, FULL, json=json)
        pieces.append(piece)
        if not message.get("more_body"):
            return b"".join(pieces)
