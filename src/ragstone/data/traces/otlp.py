"""OTLP: bodies that exporters send, in protobuf or JSON, read and sorted by trace.

On the wire, a field that holds a message is its number, its length and its bytes, so spans that
were read once are copied as bytes into the message of their trace.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Literal

from google.protobuf.message import DecodeError
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from .attribute_names import PEOPLE, RESOURCE, SCORE_EVENT
from .otlp_json import change_texts, read_json
from .redaction import Redaction, hashed_id
from .spans import (
    CUT,
    LONGEST_ASIDE,
    Fault,
    ReceivedBody,
    SpanLimits,
    TracePart,
    UnreadableBody,
    all_aside,
    too_many,
)
from .value_counts import check_json, check_protobuf, inside, repeated

_YEAR_2000, _YEAR_2100 = 946_684_800 * 10**9, 4_102_444_800 * 10**9
_MINUTE = 60 * 10**9
_NO_TRACE, _NO_SPAN = bytes(16), bytes(8)

# Attributes that are put aside of a span with too many of them.
_MOST_SHOWN = 100

# Bytes of what is said of the sender; it is kept with each trace of a request.
_LONGEST_RESOURCE = 2_000


@dataclass(frozen=True, slots=True)
class _Signal:
    """The lists in a message, each in an item of the one before, and what is wrong with an item."""

    kind: Literal["spans", "logs"]
    message: Callable[[], Any]
    groups: str
    scopes: str
    items: str
    fault: Callable[[Any], str | None]


def _read(
    signal: _Signal,
    body: bytes,
    *,
    json: bool = False,
    redaction: Redaction | None = None,
    limits: SpanLimits = SpanLimits(),  # noqa: B008
) -> ReceivedBody:
    if json:
        check_json(body, limits.values)
        data = signal.message()
        names = (signal.groups, signal.scopes, signal.items)
        faulty = read_json(body, data, names, limits)
        return _Reading(signal, redaction, limits, body).read(data, faulty)
    check_protobuf(body, signal.message, limits.values, limits.spans)
    data = signal.message()
    try:
        data.ParseFromString(body)
    except DecodeError:
        raise UnreadableBody(
            f"The body is no {signal.kind} of OTLP as protobuf. Set the exporter to http/protobuf, "
            "or send application/json where it is JSON.",
            "not_otlp",
        ) from None
    data.DiscardUnknownFields()
    return _Reading(signal, redaction, limits, body).read(data)


class _Reading:
    def __init__(
        self, signal: _Signal, redaction: Redaction | None, limits: SpanLimits, body: bytes
    ) -> None:
        self._signal = signal
        self._redaction = redaction or Redaction(())
        self._limits = limits
        self._likely = self._redaction.screen(body)
        self._heads: dict[tuple[int, ...], bytes] = {}
        self._traces: dict[bytes, dict[tuple[int, int], list[bytes]]] = {}
        self._faults: list[Fault] = []
        self._ignored = 0

    def read(self, data: Any, faulty: Sequence[str] = ()) -> ReceivedBody:
        """Read all of a body, with the JSON of items that could not be parsed."""
        self._count(data)
        for numbers, item in self._each(data):
            self._take(numbers, item)
        self._faults += [("not_otlp", partial(self._redacted, text)) for text in faulty]
        return ReceivedBody(tuple(self._parts()), all_aside(self._faults), self._ignored)

    def _count(self, data: Any) -> None:
        left = self._limits.spans
        signal = self._signal
        for group in getattr(data, signal.groups):
            left -= 1
            for scope in getattr(group, signal.scopes):
                items = getattr(scope, signal.items)
                left -= 1 + len(items)
                if left >= 0 and signal.kind == "spans":
                    left -= sum(len(span.events) + len(span.links) for span in items)
                if left < 0:
                    raise too_many(self._limits.spans, "items")

    def _each(self, data: Any) -> Iterator[tuple[tuple[int, int], Any]]:
        signal = self._signal
        for group_number, group in enumerate(getattr(data, signal.groups)):
            for scope_number, scope in enumerate(getattr(group, signal.scopes)):
                numbers = (group_number, scope_number)
                items = getattr(scope, signal.items)
                if items:
                    self._heads[(group_number,)] = self._head(group.resource)
                    self._heads[numbers] = self._head(scope.scope)
                for item in items:
                    yield numbers, item

    def _take(self, group: tuple[int, int], item: Any) -> None:
        raw = item.SerializeToString()
        if self._signal.kind == "logs" and not _is_of_call(item, raw):
            self._ignored += 1
            return
        fault = self._signal.fault(item)
        if fault is None and len(raw) > self._limits.span_length:
            fault = "span_too_long"
        attributes = (len(holder.attributes) for holder in _holders(item))
        if fault is None and sum(attributes) > self._limits.attributes:
            fault = "too_many_attributes"
        if fault is not None:
            self._faults.append((fault, partial(self._aside, fault, item, raw)))
            return
        items = self._traces.setdefault(item.trace_id, {}).setdefault(group, [])
        items.append(self._fit(item, raw))

    def _fit(self, message: Any, raw: bytes) -> bytes:
        changed = False
        if self._likely(raw):
            self._redact_in(message)
            changed = True
        if len(raw) > self._limits.attribute_length:
            change_texts(message, self._cut)
            changed = True
        return message.SerializeToString() if changed else raw

    def _redact_in(self, message: Any) -> None:
        ids = [
            (item.value, item.value.string_value)
            for item in getattr(message, "attributes", ())
            if item.key in PEOPLE and item.value.WhichOneof("value") == "string_value"
        ]
        change_texts(message, self._redact)
        for value, id in ids:
            if value.string_value != id:
                value.string_value = hashed_id(id)

    def _redact(self, text: str) -> str:
        return self._redaction.redact(text) if self._likely(text.encode()) else text

    def _cut(self, text: str) -> str:
        most = self._limits.attribute_length
        return text if len(text) <= most else text[:most] + CUT

    def _aside(self, fault: str, item: Any, raw: bytes) -> bytes:
        """Return a malformed item, redacted before it is cut, for half a secret is one."""
        if len(raw) > self._limits.span_length:
            # Not worth the time: what it is can be told by its beginning.
            return self._redacted(raw[: 4 * LONGEST_ASIDE].decode("utf-8", "replace"))
        if fault == "too_many_attributes":
            for part in _holders(item):
                del part.attributes[_MOST_SHOWN:]
            raw = item.SerializeToString()
        return self._fit(item, raw)

    def _redacted(self, text: str) -> bytes:
        return self._redaction.redact(text).encode()

    def _head(self, message: Any) -> bytes:
        raw = self._fit(message, message.SerializeToString())
        if len(raw) > _LONGEST_RESOURCE:
            raw = _shortened(message)
        return raw

    def _parts(self) -> Iterator[TracePart]:
        for id, lists in self._traces.items():
            groups: dict[int, list[bytes]] = {}
            for (group, scope), items in lists.items():
                content = inside(1, self._heads[group, scope]) + repeated(2, items)
                groups.setdefault(group, []).append(content)
            body = b"".join(
                inside(1, inside(1, self._heads[(group,)]) + repeated(2, scopes))
                for group, scopes in groups.items()
            )
            yield TracePart(id.hex(), self._signal.kind, body, sum(map(len, lists.values())))


def _shortened(message: Any) -> bytes:
    """Shorten a resource that is too long to be kept with each trace to what we know by name."""
    known = (item for item in message.attributes if item.key in RESOURCE and item.ByteSize() <= 300)
    short = type(message)(attributes=islice(known, 20))
    if hasattr(message, "name"):
        short.name, short.version = message.name[:100], message.version[:100]
    return bytes(short.SerializeToString())


def _holders(item: Any) -> list[Any]:
    """Return what has attributes: a span or log record, its events and links."""
    return [item, *getattr(item, "events", ()), *getattr(item, "links", ())]


def _span_fault(span: Any) -> str | None:
    if len(span.trace_id) != 16 or span.trace_id == _NO_TRACE:
        return "bad_trace_id"
    if len(span.span_id) != 8 or span.span_id == _NO_SPAN or len(span.parent_span_id) not in (0, 8):
        return "bad_span_id"
    start, end = span.start_time_unix_nano, span.end_time_unix_nano
    if not _YEAR_2000 <= start < _YEAR_2100:
        return "absurd_time"
    # An end of 0 is that of a span that was not closed; clocks that are set may go back a little.
    if end and not start - _MINUTE <= end < _YEAR_2100:
        return "absurd_time"
    return None


def _record_fault(record: Any) -> str | None:
    if not record.trace_id or record.trace_id == _NO_TRACE:
        return "log_without_trace"
    if len(record.trace_id) != 16:
        return "bad_trace_id"
    if len(record.span_id) not in (0, 8):
        return "bad_span_id"
    time = record.time_unix_nano
    if time and not _YEAR_2000 <= time < _YEAR_2100:
        return "absurd_time"
    return None


def _is_of_call(record: Any, raw: bytes) -> bool:
    """Tell whether a log record may hold what a model was told or said; our scores do not."""
    return b"gen_ai." in raw and record.event_name != SCORE_EVENT


_SPANS = _Signal("spans", TracesData, "resource_spans", "scope_spans", "spans", _span_fault)
_LOGS = _Signal("logs", LogsData, "resource_logs", "scope_logs", "log_records", _record_fault)

# Returns the spans of a body as it comes to ``/v1/traces``, unpacked.
read_traces = partial(_read, _SPANS)

# Returns the log records of a body as it comes to ``/v1/logs``.
#
# Only those of calls of models are kept, the others are counted in ``ignored``.
read_logs = partial(_read, _LOGS)
