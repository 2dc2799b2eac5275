"""Event replies: lets the text of a stream of events leave as far as it is judged."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ragstone.core.messages import reason
from ragstone.guard.stream import ReleasePolicy

from .chat_events import EventPlaces
from .event_places import NOTE_EVENT, AnswerKey, Written
from .event_reader import (
    MOST_BYTES,
    EventReader,
    EventTooLarge,
    LineReader,
    ServerEvent,
    written_event,
    written_line,
)
from .guarded_replies import GuardedPieces, note_of
from .request_guard import ContainedInRequest, Exchange, RequestGuard, Told
from .request_reading import BufferedRequest, Extraction


@dataclass(frozen=True, slots=True)
class EventReplies:
    """Settings by which replies that are streams of server-sent events are judged.

    Attributes:
        places: Where the text stands; made anew for each reply.
        key: Of the note of each answer.
        reads_lines: Whether lines of JSON are read too: where the text in them is known.
    """

    guard: RequestGuard
    extraction: Extraction
    places: Callable[[Written], EventPlaces]
    release: ReleasePolicy
    key: str
    reads_lines: bool


class EventReply:
    """One reply. Its bytes are given as they come; what may leave is sent on.

    ``lines`` says that it is lines of JSON rather than server-sent events.
    """

    def __init__(
        self,
        settings: EventReplies,
        request: BufferedRequest,
        facts: Told,
        send: Callable[[bytes], Awaitable[None]],
        *,
        lines: bool = False,
    ) -> None:
        self.settings = settings
        self.send = send
        self._request = request
        self._told = facts
        self._reader: EventReader = LineReader() if lines else EventReader()
        self._written: Written = written_line if lines else written_event
        self.places = settings.places(self._written)
        self._answers: dict[AnswerKey, _Answer] = {}
        self._reply: Any = None
        self.beside: frozenset[str] = frozenset()
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
            self.settings.guard.not_judged(why, self._known)
            await self._unread(self._reader.held())

    async def close(self) -> None:
        """Take the end of the app's reply."""
        if self._too_large:
            return
        for event in self._reader.close():
            await self._take(event)
        await self._end_all()
        if not self._answers:
            why = reason("nothing_at", path=self.places, part="reply")
            passes = not (self._unknown or self._unread_event)
            ruling = self.settings.guard.not_judged(why, self._known, passes=passes)
            if ruling.held and not self.settings.release.gives_unjudged:
                note = json.dumps(note_of(ruling, "replaced", self.beside))
                await self.send(self._written(note, NOTE_EVENT))

    def leave(self) -> None:
        """Conclude what was begun, where nobody waits for the rest."""
        for answer in self._answers.values():
            answer.leave()

    @property
    def _known(self) -> Exchange:
        return self._told.exchange.over(Exchange(run_id=self._request.run_id))

    async def _unread(self, body: bytes) -> None:
        if self.settings.release.gives_unjudged:
            await self.send(body)

    async def _take(self, event: ServerEvent) -> None:
        parts = self.places.parts(event)
        path = self.settings.extraction.reply_contexts
        if path is not None and self._reply is None and path.values(parts.value) is not None:
            self._reply = parts.value
        if not self._is_known and not parts.unread:
            if not (parts.texts or parts.known or parts.done or event.data is None):
                self._unknown += parts.rest
                if len(self._unknown) > MOST_BYTES:
                    raise EventTooLarge
                if not self.settings.release.gives_unjudged:
                    return
            elif parts.texts or parts.known:
                self._is_known = True
                if not self.settings.release.gives_unjudged:
                    await self.send(bytes(self._unknown))
                self._unknown.clear()
        if parts.done:
            await self._end_all()
        if parts.unread:
            self._unread_event = True
            self.beside |= {"unread"}
            await self._unread(parts.rest)
        elif parts.rest:
            await self.send(parts.rest)
        self.beside |= parts.beside
        for key in parts.texts.keys() | parts.ends:
            if key not in self._answers:
                self._answers[key] = _Answer(self, key, event, await self._begun())
            answer = self._answers[key]
            answer.like = event
            await answer.give(parts.texts.get(key, ""))
            if key in parts.ends:
                await answer.end()
        if parts.repeats:
            await self.send(self.places.repeated(event))

    async def _end_all(self) -> None:
        for answer in self._answers.values():
            await answer.end()

    async def _begun(self) -> GuardedPieces:
        by, why = self._known, None
        guard, extraction = self.settings.guard, self.settings.extraction
        with ContainedInRequest("guard failed", by.run_id) as reading:
            by, why = await extraction.exchange(self._request, self._told.exchange, self._reply)
        if reading.error is not None:
            why = reading.reason("guard_failed")
        return await asyncio.to_thread(GuardedPieces, guard, self.settings.release, by, why)


@dataclass(slots=True)
class _Answer:
    """One answer of a reply; ``like`` is its last event."""

    reply: EventReply
    key: AnswerKey
    like: ServerEvent
    pieces: GuardedPieces
    ended: bool = False

    async def give(self, text: str) -> None:
        if text and not self.ended:
            await self._out(await asyncio.to_thread(self.pieces.feed, text))

    async def end(self) -> None:
        if self.ended:
            return
        self.ended = True
        await self._out(await asyncio.to_thread(self.pieces.close))
        reply, action = self.reply, self.pieces.action
        note = note_of(self.pieces.ruling, action, reply.beside)
        held = action == "replaced"
        await reply.send(reply.places.end(self.like, self.key, reply.settings.key, note, held=held))

    def leave(self) -> None:
        if not self.ended:
            self.ended = True
            self.pieces.close(ConnectionError())

    async def _out(self, pieces: list[str]) -> None:
        if text := "".join(pieces):
            await self.reply.send(self.reply.places.piece(self.like, self.key, text))
