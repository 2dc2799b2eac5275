"""Event places: where the text of an answer stands in server-sent events."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from .answer_places import SPELLED, beside, text_of
from .json_path import JsonPath
from .server_events import ServerEvent, written_event

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
