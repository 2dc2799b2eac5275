"""Event replies: lets the text of a stream of events leave as far as it is judged."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

from ragstone.core.messages import reason
from ragstone.guard.stream import ReleasePolicy

from .event_places import NOTE_EVENT, AnswerKey, EventParts, EventPlaces, Written
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
from .request_guard import Exchange, RequestGuard, Told, log_error
from .request_reading import BufferedRequest, Extraction, NotFound


@dataclass(frozen=True, slots=True)
class EventReplies:
    """Judges replies that are streams of server-sent events.

    Attributes:
        guard: What judges.
        extraction: Where question and contexts are found.
        places: Where the text stands; made anew for each reply.
        release: What leaves, and when.
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
    """One reply. Its bytes are given as they come; what may leave is sent on."""

    def __init__(
        self,
        replies: EventReplies,
        request: BufferedRequest,
        told: Told,
        send: Callable[[bytes], Awaitable[None]],
        *,
        lines: bool = False,
    ) -> None:
        """Begin a reply.

        Args:
            replies: The settings.
            request: What was asked.
            told: By ``tell_guard``.
            send: Sends bytes to the client.
            lines: Whether it is lines of JSON rather than server-sent events.
        """
        self._with = replies
        self._request = request
        self._told = told
        self._send = send
        self._reader: EventReader = LineReader() if lines else EventReader()
        self._written: Written = written_line if lines else written_event
        self._places = replies.places(self._written)
        self._answers: dict[AnswerKey, _Answer] = {}
        self._reply: Any = None
        self._beside: frozenset[str] = frozenset()
        self._too_large = False
        self._unread_event = False
        # Events in which no text is known, before the first in which it is: it may never come.
        self._is_known = False
        self._unknown = bytearray()

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
                why = reason("nothing_at", path=self._places, part="reply")
                passes = not (self._unknown or self._unread_event)
                ruling = self._with.guard.not_judged(why, self._known, passes=passes)
                if ruling.held and not self._with.release.gives_unjudged:
                    note = json.dumps(note_of(ruling, "replaced", self._beside))
                    await self._send(self._written(note, NOTE_EVENT))

    def leave(self) -> None:
        """Nobody waits for the rest: conclude what was begun."""
        for one in self._answers.values():
            one.leave()

    @property
    def _known(self) -> Exchange:
        return self._told.exchange.over(Exchange(run_id=self._request.run_id))

    async def _unread(self, body: bytes) -> None:
        if self._with.release.gives_unjudged:
            await self._send(body)

    async def _take(self, event: ServerEvent) -> None:
        parts = self._places.parts(event)
        self._look_for_contexts(parts)
        if not self._is_known and not parts.unread:
            if not (parts.texts or parts.known or parts.done or event.data is None):
                self._unknown += parts.rest
                if len(self._unknown) > MOST_BYTES:
                    raise EventTooLarge
                if not self._with.release.gives_unjudged:
                    return
            elif parts.texts or parts.known:
                self._is_known = True
                if not self._with.release.gives_unjudged:
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
        for number in parts.texts.keys() | parts.ends:
            if number not in self._answers:
                self._answers[number] = await self._begun(number, event)
            answer = self._answers[number]
            answer.like = event
            await answer.give(parts.texts.get(number, ""))
            if number in parts.ends:
                await answer.end(self._beside)
        if parts.repeats:
            await self._send(self._places.repeated(event))

    def _look_for_contexts(self, parts: EventParts) -> None:
        path = self._with.extraction.reply_contexts
        if path is not None and self._reply is None and path.values(parts.value) is not None:
            self._reply = parts.value

    async def _end_all(self) -> None:
        for one in self._answers.values():
            await one.end(self._beside)

    async def _begun(self, number: AnswerKey, event: ServerEvent) -> "_Answer":
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
        return _Answer(
            self._with, self._places, self._send, number, event, await asyncio.to_thread(begin)
        )


class _Answer:
    """One answer of a reply."""

    def __init__(
        self,
        replies: EventReplies,
        places: EventPlaces,
        send: Callable[[bytes], Awaitable[None]],
        number: AnswerKey,
        like: ServerEvent,
        pieces: GuardedPieces,
    ) -> None:
        self.like = like
        self._key = replies.key
        self._places = places
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
        end = self._places.end(self.like, self._number, self._key, note, held=action == "replaced")
        await self._send(end)

    def leave(self) -> None:
        """Nobody waits for the rest."""
        if not self._ended:
            self._ended = True
            self._pieces.close(ConnectionError())

    async def _out(self, pieces: list[str]) -> None:
        if text := "".join(pieces):
            await self._send(self._places.piece(self.like, self._number, text))
