"""Event reply: server-sent events, whose text leaves as far as it is judged."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

from ragstone.core.messages import reason
from ragstone.guard.stream import ReleasePolicy

from .event_places import EventParts, EventPlaces
from .exchange import Exchange, Told
from .extraction import Extraction, NotFound
from .guarded_pieces import GuardedPieces
from .heard_request import HeardRequest
from .reply_note import note_of
from .request_guard import RequestGuard, log_error
from .server_events import MOST_BYTES, EventReader, EventTooLarge, ServerEvent


@dataclass(frozen=True, slots=True)
class EventReplies:
    """Judges replies that are streams of server-sent events.

    Attributes:
        guard: What judges.
        extraction: Where question and contexts are found.
        places: Where the text stands.
        release: What leaves, and when.
        key: Of the note of each answer.
    """

    guard: RequestGuard
    extraction: Extraction
    places: EventPlaces
    release: ReleasePolicy
    key: str


class EventReply:
    """One reply. Its bytes are given as they come; what may leave is sent on."""

    def __init__(
        self,
        replies: EventReplies,
        request: HeardRequest,
        told: Told,
        send: Callable[[bytes], Awaitable[None]],
    ) -> None:
        self._with = replies
        self._request = request
        self._told = told
        self._send = send
        self._reader = EventReader()
        self._answers: dict[int, _Answer] = {}
        self._reply: Any = None
        self._beside: frozenset[str] = frozenset()
        self._too_large = False
        self._unread_event = False

    async def feed(self, body: bytes) -> None:
        """Bytes of the app's."""
        if self._too_large:
            await self._unread(body)
            return
        try:
            for event in self._reader.feed(body):
                await self._take(event)
        except EventTooLarge:
            self._too_large = True
            await self._end_all()
            self._with.guard.not_judged(reason("body_too_large", most=MOST_BYTES), self._known)
            await self._unread(self._reader.held())

    async def close(self) -> None:
        """The app has given all."""
        if not self._too_large:
            for event in self._reader.close():
                await self._take(event)
            await self._end_all()
            if not self._answers:
                why = reason("nothing_at", path=self._with.places, part="reply")
                passes = not self._unread_event
                self._with.guard.not_judged(why, self._known, passes=passes)

    def leave(self) -> None:
        """Nobody waits for the rest: conclude what was begun."""
        for one in self._answers.values():
            one.leave()

    @property
    def _known(self) -> Exchange:
        return self._told.exchange.over(Exchange(run_id=self._request.run_id))

    async def _unread(self, body: bytes) -> None:
        if self._with.guard.if_not_judged == "open":
            await self._send(body)

    async def _take(self, event: ServerEvent) -> None:
        parts = self._with.places.parts(event)
        self._look_for_contexts(parts)
        if parts.done:
            await self._end_all()
        if parts.unread:
            self._unread_event = True
            self._beside |= {"unread"}
            await self._unread(parts.rest)
        elif parts.rest:
            await self._send(parts.rest)
        self._beside |= parts.beside
        for number in parts.texts.keys() | parts.ends:
            if number not in self._answers:
                self._answers[number] = await self._begun(number, event)
            answer = self._answers[number]
            answer.like = event
            await answer.give(parts.texts.get(number, ""))
            if number in parts.ends:
                await answer.end(self._beside)

    def _look_for_contexts(self, parts: EventParts) -> None:
        path = self._with.extraction.reply_contexts
        if path is not None and self._reply is None and path.values(parts.value) is not None:
            self._reply = parts.value

    async def _end_all(self) -> None:
        for one in self._answers.values():
            await one.end(self._beside)

    async def _begun(self, number: int, event: ServerEvent) -> "_Answer":
        by, why = self._known, None
        try:
            by = await self._with.extraction.exchange(
                self._request, self._told.exchange, self._reply
            )
        except NotFound as error:
            why = error.why
        except Exception as error:
            log_error("guard failed", error, by.run_id)
            why = reason("guard_failed", error=type(error).__name__)
        begin = partial(GuardedPieces, self._with.guard, self._with.release, by, why)
        return _Answer(self._with, self._send, number, event, await asyncio.to_thread(begin))


class _Answer:
    """One answer of a reply."""

    def __init__(
        self,
        replies: EventReplies,
        send: Callable[[bytes], Awaitable[None]],
        number: int,
        like: ServerEvent,
        pieces: GuardedPieces,
    ) -> None:
        self.like = like
        self._with = replies
        self._send = send
        self._number = number
        self._pieces = pieces
        self._ended = False

    async def give(self, text: str) -> None:
        """A piece of it."""
        if text and not self._ended:
            await self._out(await asyncio.to_thread(self._pieces.feed, text))

    async def end(self, beside: Collection[str]) -> None:
        """All of it was given."""
        if self._ended:
            return
        self._ended = True
        await self._out(await asyncio.to_thread(self._pieces.close))
        action = self._pieces.action
        note = note_of(self._pieces.ruling, action, beside)
        end = self._with.places.end(
            self.like, self._number, self._with.key, note, held=action == "replaced"
        )
        await self._send(end)

    def leave(self) -> None:
        """Nobody waits for the rest."""
        if not self._ended:
            self._ended = True
            self._pieces.close(ConnectionError())

    async def _out(self, pieces: list[str]) -> None:
        if text := "".join(pieces):
            await self._send(self._with.places.piece(self.like, self._number, text))
