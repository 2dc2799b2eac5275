"""Event reader: server-sent events and lines of JSON, read wherever they are cut, and written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What a line may begin with; the first is a comment.
FIELDS = ("", "data", "event", "id", "retry")

# Of one event; an event without an end would be held for ever.
MOST_BYTES = 1 << 20


class EventTooLarge(ValueError):
    """An event has more bytes than are held."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event, or what stands between two.

    Attributes:
        raw: Its bytes as they came, the blank line behind it too.
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

    Args:
        is_of_lines: Whether each line is an event, of JSON, such as Ollama streams.
    """

    def __init__(self, *, is_of_lines: bool = False) -> None:
        self._is_of_lines = is_of_lines
        self._rest = b""
        self._lines: list[bytes] = []
        self._held = 0

    def feed(self, more: bytes) -> Iterator[ServerEvent]:
        """Yield the events that are complete with these bytes.

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
            if self._is_of_lines or not line.strip(b"\r\n"):
                yield self._event()
        if self._held + len(self._rest) > MOST_BYTES:
            raise EventTooLarge

    def close(self) -> Iterator[ServerEvent]:
        """Yield what is left when no more bytes come; an event may lack its blank line."""
        if self._rest:
            self._lines += [line for line in _lines(self._rest) if line]
            self._rest = b""
        if self._lines:
            yield self._event()

    def held(self) -> bytes:
        """Return the bytes of an event that is not complete."""
        return b"".join(self._lines) + self._rest

    def _event(self) -> ServerEvent:
        lines, raw = self._lines, b"".join(self._lines)
        self._lines, self._held = [], 0
        if self._is_of_lines:
            return ServerEvent(raw, "", raw.decode("utf-8", "replace").strip() or None)
        name, data, strange = "", list[str](), False
        for number, line in enumerate(lines):
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
        return ServerEvent(raw, name, "\n".join(data) if data else None, strange)


def written_event(data: str, name: str = "") -> bytes:
    """Write an event; ``data`` may have several lines."""
    lines = [f"event: {name}"] if name else []
    lines += [f"data: {line}" for line in re.split("\r\n?|\n", data)]
    return ("\n".join(lines) + "\n\n").encode()


def _lines(text: bytes) -> list[bytes]:
    """Split into lines with their ends; the last one is what has no end, maybe nothing."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[-1].endswith((b"\n", b"\r")):
        lines.append(b"")
    return lines


def written_line(data: str, name: str = "") -> bytes:
    """Write a line of JSON; its name, if it has one, is the key of it all."""
    return (f'{{"{name}":{data}}}\n' if name else f"{data}\n").encode()
