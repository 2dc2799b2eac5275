"""Event places: where the text of answers stands in the events of a reply."""

# ruff: noqa: ARG002, for one form needs what another does not.

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragstone.data.json_path import JsonPath

from .event_reader import ServerEvent
from .request_reading import json_value

# The data of the last event of many streams.
DONE = "[DONE]"

# The name of the event that tells what came of the answer, where it has one of its own.
NOTE_EVENT = "ragstone-guard"

# What tells an answer from the others of its reply: its kind and its number, such as of a choice
# or of an output and its part.
AnswerKey = tuple[str, int, int]

# Makes the bytes of an event from its data and its name.
Written = Callable[[str, str], bytes]


@dataclass(frozen=True, slots=True)
class EventParts:
    """The contents of an event.

    Attributes:
        value: Its JSON; None if it has none.
        texts: Text of answers, by the answer.
        rest: What passes at once, as bytes; empty if nothing does.
        ends: The answers that end with it.
        done: Whether all answers do; ``rest`` is then sent behind them.
        unread: Whether it may be text that is not known as such; ``rest`` then has it.
        known: Whether it is of a form in which text would be known.
        repeats: Whether it repeats answers that end with it; it is then written anew behind them.
        beside: What it has beside an answer that is not judged: ``tool_calls``, ``reasoning``.
    """

    value: Any = None
    texts: Mapping[AnswerKey, str] = field(default_factory=dict)
    rest: bytes = b""
    ends: frozenset[AnswerKey] = frozenset()
    done: bool = False
    unread: bool = False
    known: bool = False
    repeats: bool = False
    beside: frozenset[str] = frozenset()


_TEXT: AnswerKey = ("text", 0, 0)


@dataclass(frozen=True, slots=True)
class EventText:
    """Events whose data is text, or JSON with the text at a path.

    Only events of the default type count as text; others pass.
    """

    path: JsonPath | None
    written: Written

    def parts(self, event: ServerEvent) -> EventParts:
        """Return the contents of an event."""
        if (parts := plain_parts(event)) is not None:
            return parts
        value = json_of(event)
        if self.path is None:
            if event.name not in ("", "message"):
                return EventParts(value, rest=event.raw, unread=is_unread(event, value))
            return EventParts(value, {_TEXT: event.data or ""})
        values = [part for part in self.path.values(value) or [] if part]
        texts = [part for part in values if isinstance(part, str)]
        if len(texts) < len(values) or not texts:
            unread = bool(values) or is_unread(event, value)
            return EventParts(value, rest=event.raw, unread=unread)
        return EventParts(value, {_TEXT: "".join(texts)})

    def piece(self, like: ServerEvent, answer: AnswerKey, text: str) -> bytes:
        """Write an event with this text of an answer, and all else as in one of the app's."""
        if self.path is None:
            return self.written(text, like.name)
        value = self.path.changed(json_of(like), lambda _: text)
        return self.written(json_text(value), like.name)

    def end(
        self, like: ServerEvent, answer: AnswerKey, key: str, note: Any, *, held: bool
    ) -> bytes:
        """Write the event behind an answer that is through, with the note of what came of it.

        Args:
            like: The event that ends the answer, or any of its events.
            key: Of the note, where it stands in an event of the app's form.
            held: Whether not all of it was given.
        """
        return self.written(json_text(note), NOTE_EVENT)

    def repeated(self, event: ServerEvent) -> bytes:
        """Write an event that repeats answers, with what left of them."""
        return event.raw

    def __str__(self) -> str:
        return "data" if self.path is None else str(self.path)


def plain_parts(event: ServerEvent) -> EventParts | None:
    """Return the contents of an event that has no data to look into; None if it has."""
    if event.data is None or event.strange:
        return EventParts(rest=event.raw, unread=event.strange)
    return EventParts(rest=event.raw, done=True) if event.data.strip() == DONE else None


def index_of(value: Any, name: str) -> int:
    """Return the number under a key; 0 if there is none."""
    number = value.get(name, 0) if isinstance(value, Mapping) else 0
    return number if isinstance(number, int) else 0


def is_unread(event: ServerEvent, value: Any) -> bool:
    """Tell whether data is no object or list of JSON, and so may be text."""
    return not isinstance(value, Mapping | list) and bool((event.data or "").strip())


def json_of(event: ServerEvent) -> Any:
    """Return the JSON of an event; None if it has none."""
    try:
        return json_value(event.data or "")
    except (ValueError, RecursionError):
        return None


def json_text(value: Any) -> str:
    """Write a value as JSON, without spaces."""
    return json.dumps(value, separators=(",", ":"))
