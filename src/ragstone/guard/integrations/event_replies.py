"""Server-sent events: reads and writes them, and lets their text leave as far as it is judged."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from ragstone.core.messages import reason
from ragstone.guard.stream import ReleasePolicy

from .guarded_replies import GuardedPieces, note_of
from .request_guard import Exchange, RequestGuard, Told, log_error
from .request_reading import (
    SPELLED,
    BufferedRequest,
    Extraction,
    JsonPath,
    NotFound,
    beside,
    text_of,
)

FIELDS = ("", "data", "event", "id", "retry")
"""What a line may begin with; the first is a comment."""

MOST_BYTES = 1 << 20
"""Of one event; an event without an end would be held for ever."""


class EventTooLarge(ValueError):
    """An event has more bytes than are held."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event, or what stands between two.

    Attributes:
        raw: Its bytes as they came, the blank line behind it too.
        name: The field ``event``; empty if there is none.
        data: The lines of ``data``, joined; None if it has none, such as a comment.
        strange: Whether it has lines that are none of events, which may be text all the same.
    """

    raw: bytes
    name: str
    data: str | None
    strange: bool = False


class EventReader:
    """Makes events of bytes, wherever these are cut.

    Lines end in CR, LF or both, as the standard has it (WHATWG HTML, section 9.2).
    """

    def __init__(self) -> None:
        self._rest = b""
        self._lines: list[bytes] = []
        self._held = 0

    def feed(self, more: bytes) -> Iterator[ServerEvent]:
        """The events that are complete with these bytes.

        Raises:
            EventTooLarge: An event has more than ``MOST_BYTES``.
        """
        # A CR at the end may be the first half of a line break.
        text = self._rest + more
        whole = text[:-1] if text.endswith(b"\r") else text
        lines = _lines(whole)
        self._rest = lines.pop() + text[len(whole) :]
        for line in lines:
            self._lines.append(line)
            self._held += len(line)
            if not line.strip(b"\r\n"):
                yield self._event()
        if self._held + len(self._rest) > MOST_BYTES:
            raise EventTooLarge

    def close(self) -> Iterator[ServerEvent]:
        """What is left when no more bytes come; an event may lack its blank line."""
        if self._rest:
            self._lines += [line for line in _lines(self._rest) if line]
            self._rest = b""
        if self._lines:
            yield self._event()

    def held(self) -> bytes:
        """The bytes of an event that is not complete."""
        return b"".join(self._lines) + self._rest

    def _event(self) -> ServerEvent:
        name, data, strange = "", list[str](), False
        for number, line in enumerate(self._lines):
            text = line.rstrip(b"\r\n").decode("utf-8", "replace")
            if number == 0:
                text = text.removeprefix("\ufeff")
            field, _, value = text.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                data.append(value)
            elif field == "event":
                name = value
            strange = strange or (bool(text.strip()) and field not in FIELDS)
        raw = b"".join(self._lines)
        self._lines, self._held = [], 0
        return ServerEvent(raw, name, "\n".join(data) if data else None, strange)


def written_event(data: str, name: str = "") -> bytes:
    """The bytes of an event; ``data`` may have several lines."""
    lines = [f"event: {name}"] if name else []
    lines += [f"data: {line}" for line in _text_lines(data)]
    return ("\n".join(lines) + "\n\n").encode()


def _text_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _lines(text: bytes) -> list[bytes]:
    """Its lines with their ends; the last one is what has no end, maybe nothing."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[-1].endswith((b"\n", b"\r")):
        lines.append(b"")
    return lines


DONE = "[DONE]"
"""The data of the last event of many streams."""

NOTE_EVENT = "ragstone-guard"
"""The name of the event that tells what came of the answer, where it has one of its own."""


@dataclass(frozen=True, slots=True)
class EventParts:
    """What an event holds.

    Attributes:
        value: Its JSON; None if it has none.
        texts: Text of answers, by the number of the answer; 0 where there is only one.
        rest: What passes at once, as bytes; empty if nothing does.
        ends: The answers that end with it.
        done: Whether all answers do; ``rest`` is then sent behind them.
        unread: Whether it may be text that is not known as such; ``rest`` then has it.
        beside: What it has beside an answer that is not judged: ``tool_calls``, ``reasoning``.
    """

    value: Any = None
    texts: Mapping[int, str] = field(default_factory=dict)
    rest: bytes = b""
    ends: frozenset[int] = frozenset()
    done: bool = False
    unread: bool = False
    beside: frozenset[str] = frozenset()


class EventPlaces(Protocol):
    """Where the text of answers stands in the events of a reply."""

    def parts(self, event: ServerEvent) -> EventParts:
        """What an event holds."""

    def piece(self, like: ServerEvent, answer: int, text: str) -> bytes:
        """An event with this text of an answer, like one of the app's."""

    def end(self, like: ServerEvent, answer: int, key: str, note: Any, *, held: bool) -> bytes:
        """What is sent behind an answer that is through.

        Args:
            like: The event that ends the answer, or any of its events.
            answer: Its number.
            key: Of the note.
            note: What came of the answer.
            held: Whether not all of it was given.
        """


@dataclass(frozen=True, slots=True)
class EventText:
    """Events whose data is text, or JSON with the text at a path.

    Only events of the default type count as text; others pass.
    """

    path: JsonPath | None = None

    def parts(self, event: ServerEvent) -> EventParts:
        """What an event holds."""
        if event.data is None or event.strange:
            return EventParts(rest=event.raw, unread=event.strange)
        if event.data.strip() == DONE:
            return EventParts(rest=event.raw, done=True)
        value = _json(event.data)
        if self.path is None:
            if event.name not in ("", "message"):
                return EventParts(value, rest=event.raw, unread=_is_unread(event, value))
            return EventParts(value, {0: event.data})
        found = [one for one in self.path.values(value) or [] if one]
        texts = [one for one in found if isinstance(one, str)]
        if len(texts) < len(found) or not texts:
            unread = bool(found) or _is_unread(event, value)
            return EventParts(value, rest=event.raw, unread=unread)
        return EventParts(value, {0: "".join(texts)})

    def piece(self, like: ServerEvent, answer: int, text: str) -> bytes:  # noqa: ARG002
        """An event with this text, of the same type and with the same other fields."""
        if self.path is None:
            return written_event(text, like.name)
        value = self.path.changed(_json(like.data or ""), lambda _: text)
        return written_event(_written(value), like.name)

    def end(self, like: ServerEvent, answer: int, key: str, note: Any, *, held: bool) -> bytes:  # noqa: ARG002
        """An event of its own with the note."""
        return written_event(_written(note), NOTE_EVENT)

    def __str__(self) -> str:
        return "data" if self.path is None else str(self.path)


class ChatChunks:
    """The chunks of a chat completion in the form of OpenAI's API.

    The note stands in the chunk that ends the choice, as a further key, which clients leave alone.
    A choice of which something was held back ends with ``content_filter``.
    """

    def parts(self, event: ServerEvent) -> EventParts:
        """What a chunk holds; calls of tools and reasoning pass at once."""
        if event.data is None or event.strange:
            return EventParts(rest=event.raw, unread=event.strange)
        if event.data.strip() == DONE:
            return EventParts(rest=event.raw, done=True)
        value = _json(event.data)
        choices = value.get("choices") if isinstance(value, Mapping) else None
        if not isinstance(choices, list):
            unread = bool(choices) or _is_unread(event, value)
            return EventParts(value, rest=event.raw, unread=unread)
        texts = {_number(one): _text(one) for one in choices if _text(one)}
        ends = frozenset(
            _number(one)
            for one in choices
            if isinstance(one, Mapping) and one.get("finish_reason") is not None
        )
        found = beside(_delta(one) for one in choices)
        if not texts and not ends and not any(_spells(one) for one in choices):
            return EventParts(value, rest=event.raw, beside=found)
        kept = [_without_text(choice) for choice in choices if _says_more(choice)]
        rest = written_event(_written({**value, "choices": kept})) if kept else b""
        return EventParts(value, texts, rest, ends, beside=found)

    def piece(self, like: ServerEvent, answer: int, text: str) -> bytes:
        """A chunk with this text."""
        said: dict[str, Any] = {"index": answer, "delta": {"content": text}, "finish_reason": None}
        if _is_legacy(like):
            said["text"] = said.pop("delta")["content"]
        return written_event(_written(_chunk(like, said)))

    def end(self, like: ServerEvent, answer: int, key: str, note: Any, *, held: bool) -> bytes:
        """The chunk that ends the choice, with the note."""
        value = _json(like.data or "")
        found = [one for one in value["choices"] if _number(one) == answer] or [{}]
        finish = "content_filter" if held else found[0].get("finish_reason") or "stop"
        choice: dict[str, Any] = {"index": answer, "delta": {}, "finish_reason": finish}
        if _is_legacy(like):
            choice["text"] = ""
            del choice["delta"]
        return written_event(_written({**_chunk(like, choice), key: note}))

    def __str__(self) -> str:
        return "$.choices[*].delta.content"


def _chunk(like: ServerEvent, choice: dict[str, Any]) -> dict[str, Any]:
    value = _json(like.data or "")
    return {**{name: one for name, one in value.items() if name != "usage"}, "choices": [choice]}


def _delta(choice: Any) -> Mapping[str, Any]:
    delta = choice.get("delta") if isinstance(choice, Mapping) else None
    return delta if isinstance(delta, Mapping) else {}


def _text(choice: Any) -> str:
    said = text_of(_delta(choice).get("content"))
    if said is None and isinstance(choice, Mapping):
        # A completion in the older form, without messages.
        said = text_of(choice.get("text"))
    return said or ""


def _is_legacy(event: ServerEvent) -> bool:
    """Whether the text of an event stands as in completions without messages."""
    choices = _json(event.data or "")["choices"]
    return all(isinstance(one, Mapping) and "text" in one for one in choices)


def _spells(choice: Any) -> bool:
    """Whether a choice may repeat its text beside the place where it stands."""
    if not isinstance(choice, Mapping):
        return bool(choice)
    return bool(_delta(choice).get("content")) or any(choice.get(name) for name in SPELLED)


def _says_more(choice: Any) -> bool:
    """Whether a choice has more than text and its end, such as a role or the call of a tool."""
    return any(one for name, one in _delta(choice).items() if name != "content")


def _without_text(choice: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: one for name, one in choice.items() if name not in SPELLED}
    delta = {name: one for name, one in _delta(choice).items() if name != "content"}
    return {**kept, "delta": delta, "finish_reason": None}


def _number(choice: Any) -> int:
    number = choice.get("index", 0) if isinstance(choice, Mapping) else 0
    return number if isinstance(number, int) else 0


def _is_unread(event: ServerEvent, value: Any) -> bool:
    """Whether data is no object or list of JSON, and so may be text."""
    return not isinstance(value, Mapping | list) and bool((event.data or "").strip())


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _written(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


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
        request: BufferedRequest,
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
        if self._with.release.gives_unjudged:
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
