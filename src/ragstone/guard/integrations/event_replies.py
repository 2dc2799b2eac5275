"""Event replies: lets the text of a stream of events leave as far as it is judged."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from ragstone.core.messages import reason
from ragstone.guard.stream import ReleasePolicy

from .chat_events import EventPlaces
from .event_places import NOTE_EVENT, AnswerKey, Written
from .event_reader import (
    MOST_BYTES,
    EventReader,
    EventTooLarge,
    ServerEvent,
    written_event,
    written_line,
)
from .guarded_replies import GuardedPieces, note_of
from .request_guard import ContainedInRequest, Exchange, RequestGuard, Told
from .request_reading import BufferedRequest, Extraction


class EventReply:
    """One reply. Its bytes are given as they come; what may leave is sent on.

    Args:
        places: Where the text stands.
        key: The name under which the note of each answer is written.
        is_of_lines: Whether it is lines of JSON rather than server-sent events.
    """

    def __init__(
        self,
        guard: RequestGuard,
        extraction: Extraction,
        places: Callable[[Written], EventPlaces],
        release: ReleasePolicy,
        key: str,
        request: BufferedRequest,
        facts: Told,
        send: Callable[[bytes], Awaitable[None]],
        *,
        is_of_lines: bool = False,
    ) -> None:
        self._key, self._send = key, send
        self._guard, self._extraction, self._release = guard, extraction, release
        self._request, self._told = request, facts
        self._reader = EventReader(is_of_lines=is_of_lines)
        self._written: Written = written_line if is_of_lines else written_event
        self._places = places(self._written)
        self._answers: dict[AnswerKey, GuardedPieces] = {}
        self._last: dict[AnswerKey, ServerEvent] = {}
        self._ended: set[AnswerKey] = set()
        self._reply: Any = None
        self._beside: frozenset[str] = frozenset()
        self._too_large = False
        self._unread_event = False
        # Events in which no text is known, before the first in which it is: it may never come.
        self._is_known = False
        self._unknown = bytearray()

    async def feed(self, body: bytes) -> None:
        """Take bytes of the app's."""
        if self._too_large:
            await self._unread(body)
            return
        try:
            for event in self._reader.feed(body):
                await self._take(event)
        except EventTooLarge:
            self._too_large = True
            await self._end_all()
            why = reason("body_too_large", most=MOST_BYTES)
            self._guard.not_judged(why, self._known)
            await self._unread(self._reader.held())

    async def close(self) -> None:
        """Take the end of the app's reply."""
        if self._too_large:
            return
        for event in self._reader.close():
            await self._take(event)
        await self._end_all()
        if not self._answers:
            why = reason("nothing_at", path=self._places, part="reply")
            passes = not (self._unknown or self._unread_event)
            ruling = self._guard.not_judged(why, self._known, passes=passes)
            if ruling.held and not self._release.gives_unjudged:
                note = json.dumps(note_of(ruling, "replaced", self._beside))
                await self._send(self._written(note, NOTE_EVENT))

    def leave(self) -> None:
        """Conclude what was begun, where nobody waits for the rest."""
        for key, pieces in self._answers.items():
            if key not in self._ended:
                self._ended.add(key)
                pieces.close(ConnectionError())

    @property
    def _known(self) -> Exchange:
        return self._told.exchange.over(Exchange(run_id=self._request.run_id))

    async def _unread(self, body: bytes) -> None:
        if self._release.gives_unjudged:
            await self._send(body)

    async def _take(self, event: ServerEvent) -> None:
        parts = self._places.parts(event)
        path = self._extraction.reply_contexts
        if path is not None and self._reply is None and path.values(parts.value) is not None:
            self._reply = parts.value
        if not self._is_known and not parts.unread:
            if not (parts.texts or parts.known or parts.done or event.data is None):
                self._unknown += parts.rest
                if len(self._unknown) > MOST_BYTES:
                    raise EventTooLarge
                if not self._release.gives_unjudged:
                    return
            elif parts.texts or parts.known:
                self._is_known = True
                if not self._release.gives_unjudged:
                    await self._send(bytes(self._unknown))
                self._unknown.clear()
        if parts.done:
            await self._end_all()
        if parts.unread:
            self._unread_event = True
            self._beside |= {"unread"}
            await self._unread(parts.rest)
        elif parts.rest:
            await self._send(parts.rest)
        self._beside |= parts.beside
        for key in parts.texts.keys() | parts.ends:
            self._last[key] = event
            if key not in self._answers:
                self._answers[key] = await self._begun()
            if (text := parts.texts.get(key)) and key not in self._ended:
                await self._give(key, partial(self._answers[key].feed, text))
            if key in parts.ends:
                await self._end(key)
        if parts.repeats:
            await self._send(self._places.repeated(event))

    async def _end_all(self) -> None:
        for key in self._answers:
            await self._end(key)

    async def _end(self, key: AnswerKey) -> None:
        if key in self._ended:
            return
        self._ended.add(key)
        pieces = self._answers[key]
        await self._give(key, pieces.close)
        note = note_of(pieces.ruling, pieces.action, self._beside)
        held = pieces.action == "replaced"
        await self._send(self._places.end(self._last[key], key, self._key, note, held=held))

    async def _give(self, key: AnswerKey, judging: Callable[[], list[str]]) -> None:
        if text := "".join(await asyncio.to_thread(judging)):
            await self._send(self._places.piece(self._last[key], key, text))

    async def _begun(self) -> GuardedPieces:
        by, why = self._known, None
        with ContainedInRequest("guard failed", by.run_id) as reading:
            by, why = await self._extraction.exchange(self._request, self._told, self._reply)
        if reading.error is not None:
            why = reading.reason("guard_failed")
        return await asyncio.to_thread(GuardedPieces, self._guard, self._release, by, why)
