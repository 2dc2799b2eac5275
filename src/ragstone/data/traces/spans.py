"""Spans: the spans of a trace, what each says, and what a received body holds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from ragstone.core.errors import InputError, needing
from ragstone.data.conversation import answered_in, asked_in, structured_in
from ragstone.data.json_text import opened

from . import attribute_names as names

# Malformed spans of a body that are written down, which takes longer than to read them.
MOST_ASIDE = 1_000

# Bytes of a malformed span that are put aside.
LONGEST_ASIDE = 4096

# What an extra is needed for.
OTLP = "Reading traces in OTLP"
# As OTLP numbers it.
_STATUS_CODE_ERROR = 2

# Ends a text that was longer than what is kept of it.
CUT = "… [cut]"


@dataclass(frozen=True, slots=True)
class SpanLimits:
    """Limits of a body. One that has too many of something is refused as a whole; a span with too
    much in it is put aside, and a text that is too long is cut and marked.

    Attributes:
        spans: Spans, log records or examples of one body, with their events, links and groups.
        examples: Examples of one body, with what is in their lists, such as contexts.
        values: Values of one body, at any depth.
        attributes: Attributes of one span or log record, with those of its events and links.
        attribute_length: Characters of one text; it is cut there and marked.
    """

    spans: int = 50_000
    examples: int = 20_000
    values: int = 1_000_000
    attributes: int = 10_000
    attribute_length: int = 1_000_000
    span_length: int = 4_000_000


@dataclass(frozen=True, slots=True)
class TracePart:
    """The part of a trace that one request brought, redacted.

    Attributes:
        kind: What ``body`` is: TracesData or LogsData as OTLP's protobuf, or an example as JSON.
    """

    trace: str
    kind: Literal["spans", "logs", "example"]
    body: bytes
    spans: int


# Why something could not be taken in, and what came: redacted, at most 4 kB of it; empty where
# there is too much to keep.
Malformed = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class ReceivedBody:
    """A body, read.

    Attributes:
        malformed: What was put aside, one for each span, log record or example.
        ignored: Log records that say nothing of a model's call; they are accepted and not kept.
    """

    parts: tuple[TracePart, ...]
    malformed: tuple[Malformed, ...]
    ignored: int = 0

    @property
    def spans(self) -> int:
        """Number of spans, log records or examples."""
        return sum(part.spans for part in self.parts)


class UnreadableBody(InputError):
    """A body that is not what it should be at all."""

    def __init__(self, message: str, why: str) -> None:
        self.why = why
        super().__init__(message)


TOO_MANY = "too_many_in_body"


def too_many(most: int, what: str) -> UnreadableBody:
    """Return the error of a body with more in it than is taken in at once."""
    return UnreadableBody(f"A body has at most {most:,} {what}. Send smaller batches.", TOO_MANY)


def put_aside(why: str, body: bytes) -> Malformed:
    """Return what could not be taken in, with as much of it as is kept."""
    return why, body[:LONGEST_ASIDE]


# Why something could not be taken in, and what writes it down.
Fault = tuple[str, Callable[[], bytes]]


def all_aside(faults: Sequence[Fault]) -> tuple[Malformed, ...]:
    """All that could not be taken in; only the last ones are written down."""
    first = len(faults) - MOST_ASIDE
    return tuple(
        put_aside(why, body() if number >= first else b"")
        for number, (why, body) in enumerate(faults)
    )


_SECOND = 1e9


@dataclass(slots=True)
class TraceSpan:
    """One span.

    Attributes:
        there: Whether the span itself is there, not only its log events.
    """

    id: str
    parent: str
    name: str
    start: int
    end: int
    attributes: dict[str, Any]
    resource: Mapping[str, Any]
    error: str | None = None
    there: bool = True
    lists: dict[str, list[dict[str, Any]]] = field(init=False)

    def __post_init__(self) -> None:
        self.find_lists()

    def find_lists(self) -> None:
        """Put together what attributes with an index say, such as ``PREFIX.0.document.id``."""
        self.lists = _lists(self.attributes)

    @property
    def role(self) -> names.Role | None:
        """Return what it does; None if that is not said."""
        for name in names.ROLE.names:
            value = self.attributes.get(name)
            role = names.ROLES.get(value.strip('"').lower()) if isinstance(value, str) else None
            if role is not None:
                return role
        return None

    def says(self, fact: names.TraceFact) -> Any:
        """Return a fact about the span itself, or None."""
        value = fact.among(self.attributes)
        if value is None:
            value = next((self.lists[name] for name in fact.lists if name in self.lists), None)
        return value

    def tells(self, fact: names.TraceFact) -> Iterator[Any]:
        """Give what the resource and the span say of a fact, the likeliest first."""
        for name in fact.names:
            for attributes in (self.resource, self.attributes):
                if attributes.get(name) not in (None, ""):
                    yield attributes[name]


def spans_of(parts: Iterable[TracePart]) -> list[TraceSpan]:
    """Return the spans of a trace, by when they began; the same whatever the order of the parts."""
    by_id: dict[str, TraceSpan] = {}
    versions: dict[str, tuple[int, int, bytes]] = {}
    records: dict[bytes, Any] = {}
    for part in parts:
        if part.kind == "spans":
            for span, resource, heads in _in_spans(part.body):
                id = span.span_id.hex()
                raw = span.SerializeToString()
                # A span that was sent again may be more complete; which one holds depends on
                # nothing but itself.
                version = (span.end_time_unix_nano, len(raw), raw + heads)
                if id not in versions or version > versions[id]:
                    versions[id], by_id[id] = version, _span(span, resource)
        elif part.kind == "logs":
            for record in _in_logs(part.body):
                records[record.SerializeToString()] = record
    _join(by_id, [records[raw] for raw in sorted(records)])
    spans = sorted(by_id.values(), key=lambda span: (span.start, span.id))
    for span in spans if records else ():
        span.find_lists()
    return spans


def _in_spans(body: bytes) -> Iterable[tuple[Any, Mapping[str, Any], bytes]]:
    with needing(OTLP, "otlp"):
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    for group in _groups(TracesData(), "resource_spans", body):
        resource = _values(group.resource.attributes)
        head = group.resource.SerializeToString()
        for scope in group.scope_spans:
            for span in scope.spans:
                yield span, resource, head


def _in_logs(body: bytes) -> Iterable[Any]:
    with needing(OTLP, "otlp"):
        from opentelemetry.proto.logs.v1.logs_pb2 import LogsData

    for group in _groups(LogsData(), "resource_logs", body):
        for scope in group.scope_logs:
            yield from scope.log_records


def _groups(message: Any, name: str, body: bytes) -> Iterable[Any]:
    from google.protobuf.message import DecodeError

    with suppress(DecodeError):
        message.ParseFromString(body)
        return getattr(message, name)  # type: ignore[no-any-return]
    return ()


def _span(span: Any, resource: Mapping[str, Any]) -> TraceSpan:
    attributes = _values(span.attributes)
    error = None
    failed = span.status.code == _STATUS_CODE_ERROR
    messages: list[tuple[str, Any]] = []
    for event in span.events:
        values = _values(event.attributes)
        if event.name == "exception":
            failed_by = names.ERROR.among(values)
            error = failed_by if isinstance(failed_by, str) else error
        elif event.name in names.MESSAGE_EVENTS:
            messages.append((event.name, values))
        elif event.name.startswith("gen_ai."):
            attributes = {**values, **attributes}
    _put_messages(attributes, messages)
    if failed:
        recorded = names.ERROR.among(attributes)
        recorded = recorded if isinstance(recorded, str) else ""
        error = span.status.message or error or recorded or "error"
    begin, parent = span.start_time_unix_nano, span.parent_span_id.hex().replace("0" * 16, "")
    end = max(span.end_time_unix_nano, begin)
    return TraceSpan(
        span.span_id.hex(), parent, span.name, begin, end, attributes, resource,
        error if failed else None,
    )  # fmt: skip


def _join(spans: dict[str, TraceSpan], records: Sequence[Any]) -> None:
    """Give the spans what the log events of calls say about them."""
    messages: dict[str, list[tuple[str, Any]]] = {}
    for record in sorted(records, key=_time):
        id, at = record.span_id.hex().replace("0" * 16, ""), _time(record)
        values = _values(record.attributes)
        body = _value(record.body)
        name = record.event_name or values.get("event.name")
        span = spans.get(id)
        if span is None:
            span = spans[id] = TraceSpan(id, "", str(name or ""), at, at, {}, {}, there=False)
        span.end = max(span.end, at) if not span.there else span.end
        if isinstance(name, str) and name in names.MESSAGE_EVENTS:
            messages.setdefault(id, []).append((name, body if isinstance(body, dict) else values))
        within = body if isinstance(body, dict) and name not in names.MESSAGE_EVENTS else {}
        for key, value in {**within, **values}.items():
            if key.startswith("gen_ai.") or key not in span.attributes:
                span.attributes.setdefault(key, value)
    for id, those in messages.items():
        _put_messages(spans[id].attributes, those)


def _time(record: Any) -> int:
    return int(record.time_unix_nano or record.observed_time_unix_nano)


def _put_messages(attributes: dict[str, Any], events: Sequence[tuple[str, Any]]) -> None:
    messages: list[Any] = []
    written: list[Any] = []
    for name, content in events:
        role = names.MESSAGE_EVENTS[name]
        if role == "choice":
            content = opened(content.get("message")) or content
        if isinstance(content, dict) and content.get("content"):
            if role == "choice":
                written.append({"role": "assistant", **content})
            else:
                messages.append({"role": role, **content})
    if messages:
        attributes.setdefault(names.INPUT_MESSAGES.names[0], messages)
    if written:
        attributes.setdefault(names.OUTPUT_MESSAGES.names[0], written)


def _lists(attributes: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    lists: dict[str, dict[int, dict[str, Any]]] = {}
    for name, value in attributes.items():
        for beginning in names.LISTS:
            if name.startswith(beginning) and name[len(beginning) : len(beginning) + 1] == ".":
                index, _, key = name[len(beginning) + 1 :].partition(".")
                if index.isascii() and index.isdigit() and len(index) < 7:
                    lists.setdefault(beginning, {}).setdefault(int(index), {})[key] = value
    return {start: [items[index] for index in sorted(items)] for start, items in lists.items()}


def _values(attributes: Iterable[Any]) -> dict[str, Any]:
    return {attribute.key: _value(attribute.value) for attribute in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _values(value.kvlist_value.values)
    return None if kind in (None, "bytes_value") else getattr(value, kind)


def seconds(nanoseconds: int) -> float:
    """Return the same time in seconds."""
    return nanoseconds / _SECOND


def calls_model(span: TraceSpan) -> bool:
    """Tell whether a span is a call of a model that writes."""
    if span.role is None:
        messages = (names.INPUT_MESSAGES, names.OUTPUT_MESSAGES)
        return any(span.says(fact) is not None for fact in messages)
    return span.role == "call"


def own_question(span: TraceSpan) -> str | None:
    """Return what the input of a span asks."""
    facts = [names.INPUT, names.INPUT_MESSAGES]
    facts = facts[::-1] if calls_model(span) else facts
    return next((text for fact in facts if (text := asked_in(span.says(fact)))), None)


def own_answer(span: TraceSpan) -> str | None:
    """Return what the output of a span answers."""
    facts = [names.OUTPUT, names.OUTPUT_MESSAGES]
    facts = facts[::-1] if calls_model(span) else facts
    return next((text for fact in facts if (text := answered_in(span.says(fact)))), None)


def structured_answer(span: TraceSpan) -> str | None:
    """Return the JSON that a span puts out where its output is no text."""
    facts = (names.OUTPUT, names.OUTPUT_MESSAGES)
    return next((text for fact in facts if (text := structured_in(span.says(fact)))), None)
