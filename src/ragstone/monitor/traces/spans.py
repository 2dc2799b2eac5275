"""Spans: the parts of a trace as spans with plain values, each once, with what log events add."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import Status, TracesData

from .names import (
    ERROR,
    INPUT_MESSAGES,
    LISTS,
    MESSAGE_EVENTS,
    OUTPUT_MESSAGES,
    ROLE,
    ROLES,
    Role,
    TraceFact,
)
from .received import TracePart

_SECOND = 1e9


@dataclass(slots=True)
class TraceSpan:
    """One span.

    Attributes:
        id: Hex digits; empty for one that is known by its log events alone, and has none.
        parent: The id of its parent; empty for none.
        name: Its name.
        start: In nanoseconds since the epoch.
        end: In the same.
        attributes: By name.
        resource: Attributes of what sent it.
        error: What went wrong; None where nothing did.
        told: Whether the span itself is there, not only its log events.
    """

    id: str
    parent: str
    name: str
    start: int
    end: int
    attributes: dict[str, Any]
    resource: Mapping[str, Any]
    error: str | None = None
    told: bool = True
    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def role(self) -> Role | None:
        """What it does; None if that is not said."""
        for name in ROLE.names:
            said = self.attributes.get(name)
            if isinstance(said, str) and (role := ROLES.get(said.strip('"').lower())) is not None:
                return role
        return None

    def says(self, fact: TraceFact) -> Any:
        """A fact about the span itself, or None."""
        value = fact.among(self.attributes)
        if value is None:
            value = next((self.lists[one] for one in fact.lists if one in self.lists), None)
        return value

    def tells(self, fact: TraceFact) -> Iterator[Any]:
        """What the resource and the span say of a fact, the likeliest first."""
        for name in fact.names:
            for place in (self.resource, self.attributes):
                if place.get(name) not in (None, ""):
                    yield place[name]


def spans_of(parts: Iterable[TracePart]) -> list[TraceSpan]:
    """The spans of a trace, by when they began; the same whatever the order of the parts."""
    found: dict[str, TraceSpan] = {}
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
                    versions[id], found[id] = version, _span(span, resource)
        elif part.kind == "logs":
            for record in _in_logs(part.body):
                records[record.SerializeToString()] = record
    _join(found, [records[raw] for raw in sorted(records)])
    spans = sorted(found.values(), key=lambda span: (span.start, span.id))
    for span in spans:
        span.lists = _lists(span.attributes)
    return spans


def _in_spans(body: bytes) -> Iterable[tuple[Any, Mapping[str, Any], bytes]]:
    data = TracesData()
    try:
        data.ParseFromString(body)
    except DecodeError:
        return
    for group in data.resource_spans:
        resource = _values(group.resource.attributes)
        head = group.resource.SerializeToString()
        for scope in group.scope_spans:
            for span in scope.spans:
                yield span, resource, head


def _in_logs(body: bytes) -> Iterable[Any]:
    data = LogsData()
    try:
        data.ParseFromString(body)
    except DecodeError:
        return
    for group in data.resource_logs:
        for scope in group.scope_logs:
            yield from scope.log_records


def _span(span: Any, resource: Mapping[str, Any]) -> TraceSpan:
    attributes = _values(span.attributes)
    error = None
    failed = span.status.code == Status.STATUS_CODE_ERROR
    messages: list[tuple[str, Any]] = []
    for event in span.events:
        said = _values(event.attributes)
        if event.name == "exception":
            failed_by = ERROR.among(said)
            error = failed_by if isinstance(failed_by, str) else error
        elif event.name in MESSAGE_EVENTS:
            messages.append((event.name, said))
        elif event.name.startswith("gen_ai."):
            attributes = {**said, **attributes}
    _put_messages(attributes, messages)
    if failed:
        said = ERROR.among(attributes)
        error = span.status.message or error or (said if isinstance(said, str) else "") or "error"
    end = max(span.end_time_unix_nano, span.start_time_unix_nano)
    return TraceSpan(
        span.span_id.hex(),
        span.parent_span_id.hex().replace("0" * 16, ""),
        span.name,
        span.start_time_unix_nano,
        end,
        attributes,
        resource,
        error if failed else None,
    )


def _join(spans: dict[str, TraceSpan], records: Sequence[Any]) -> None:
    """Give the spans what the log events of calls say about them."""
    messages: dict[str, list[tuple[str, Any]]] = {}
    for record in sorted(records, key=_time):
        id, at = record.span_id.hex().replace("0" * 16, ""), _time(record)
        said = _values(record.attributes)
        body = _value(record.body)
        name = record.event_name or said.get("event.name")
        span = spans.get(id)
        if span is None:
            span = spans[id] = TraceSpan(id, "", str(name or ""), at, at, {}, {}, told=False)
        span.end = max(span.end, at) if not span.told else span.end
        if isinstance(name, str) and name in MESSAGE_EVENTS:
            messages.setdefault(id, []).append((name, body if isinstance(body, dict) else said))
        within = body if isinstance(body, dict) and name not in MESSAGE_EVENTS else {}
        for key, value in {**within, **said}.items():
            if key.startswith("gen_ai.") or key not in span.attributes:
                span.attributes.setdefault(key, value)
    for id, those in messages.items():
        _put_messages(spans[id].attributes, those)


def _time(record: Any) -> int:
    return int(record.time_unix_nano or record.observed_time_unix_nano)


def _put_messages(attributes: dict[str, Any], events: Sequence[tuple[str, Any]]) -> None:
    """Events that are one message each, as the lists that newer emitters send."""
    given: list[Any] = []
    written: list[Any] = []
    for name, said in events:
        role = MESSAGE_EVENTS[name]
        if role == "choice":
            said = said.get("message") or said
        if isinstance(said, dict) and said.get("content"):
            if role == "choice":
                written.append({"role": "assistant", **said})
            else:
                given.append({"role": role, **said})
    if given:
        attributes.setdefault(INPUT_MESSAGES.names[0], given)
    if written:
        attributes.setdefault(OUTPUT_MESSAGES.names[0], written)


def _lists(attributes: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Attributes with an index, such as ``retrieval.documents.0.document.id``, as lists."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for name, value in attributes.items():
        for beginning in LISTS:
            if name.startswith(beginning) and name[len(beginning) : len(beginning) + 1] == ".":
                index, _, key = name[len(beginning) + 1 :].partition(".")
                if index.isascii() and index.isdigit() and len(index) < 7:
                    found.setdefault(beginning, {}).setdefault(int(index), {})[key] = value
    return {
        beginning: [items[index] for index in sorted(items)] for beginning, items in found.items()
    }


def _values(attributes: Iterable[Any]) -> dict[str, Any]:
    return {one.key: _value(one.value) for one in attributes}


def _value(value: Any) -> Any:
    """The plain value of an AnyValue; None for bytes and for none."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    if kind == "kvlist_value":
        return _values(value.kvlist_value.values)
    return None if kind in (None, "bytes_value") else getattr(value, kind)


def seconds(nanoseconds: int) -> float:
    """The same time in seconds."""
    return nanoseconds / _SECOND
