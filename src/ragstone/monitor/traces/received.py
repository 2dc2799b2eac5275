"""Received: what a body that arrived is made of."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ragstone.core.errors import InputError

LONGEST_ASIDE = 4096
"""Bytes of a malformed span that are put aside."""

CUT = "… [cut]"
"""Ends a text that was longer than what is kept of it."""


@dataclass(frozen=True, slots=True)
class SpanLimits:
    """How much of a body is taken in; what is over a limit is put aside or cut, and marked.

    Attributes:
        spans: Spans, log records or examples of one body; the others are put aside.
        attributes: Attributes of one span or log record, with those of its events.
        attribute_length: Characters of one text; it is cut there and marked.
        span_length: Bytes of one span or log record.
    """

    spans: int = 50_000
    attributes: int = 10_000
    attribute_length: int = 1_000_000
    span_length: int = 4_000_000


@dataclass(frozen=True, slots=True)
class TracePart:
    """What one request says of one trace, redacted.

    Attributes:
        trace: The id of the trace: 32 hex digits, or what an example was sent under.
        kind: What ``body`` is: TracesData or LogsData as OTLP's protobuf, or an example as JSON.
        body: What is to be kept.
        spans: Spans, log records or examples in it.
    """

    trace: str
    kind: Literal["spans", "logs", "example"]
    body: bytes
    spans: int


@dataclass(frozen=True, slots=True)
class Malformed:
    """Something that could not be taken in.

    Attributes:
        why: A reason's code with its facts.
        body: What came, redacted, at most 4 kB of it; empty where there is too much to keep.
    """

    why: str
    body: bytes


@dataclass(frozen=True, slots=True)
class ReceivedBody:
    """A body, read.

    Attributes:
        parts: One for each trace, in the order in which they begin.
        malformed: What was put aside, one for each span, log record or example.
        spans: Those in ``parts``.
        ignored: Log records that say nothing of a model's call; they are accepted and not kept.
    """

    parts: tuple[TracePart, ...]
    malformed: tuple[Malformed, ...]
    spans: int
    ignored: int = 0


class UnreadableBody(InputError):
    """A body that is not what it should be at all.

    Attributes:
        why: A reason's code with its facts.
    """

    def __init__(self, message: str, why: str) -> None:
        self.why = why
        super().__init__(message)


def put_aside(why: str, body: bytes) -> Malformed:
    """What could not be taken in, with as much of it as is kept."""
    return Malformed(why, body[:LONGEST_ASIDE])


def received(
    parts: Iterable[TracePart], malformed: Iterable[Malformed], ignored: int = 0
) -> ReceivedBody:
    """A body of these parts."""
    whole = tuple(parts)
    return ReceivedBody(whole, tuple(malformed), sum(part.spans for part in whole), ignored)
