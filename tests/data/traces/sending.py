"""Sending: bodies as exporters send them, from spans written by hand."""

import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

TRACE = "0af7651916cd43dd8448eb211c80319c"
START = 1_790_000_000_000_000_000
SECOND = 1_000_000_000


def value_of(given: Any) -> AnyValue:
    """A plain value as OTLP has it."""
    if isinstance(given, bool):
        return AnyValue(bool_value=given)
    if isinstance(given, str):
        return AnyValue(string_value=given)
    if isinstance(given, int):
        return AnyValue(int_value=given)
    if isinstance(given, float):
        return AnyValue(double_value=given)
    value = AnyValue()
    if isinstance(given, dict):
        value.kvlist_value.values.extend(attributes_of(given))
        value.kvlist_value.SetInParent()
    elif isinstance(given, list):
        value.array_value.values.extend(map(value_of, given))
        value.array_value.SetInParent()
    return value


def attributes_of(given: Mapping[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=name, value=value_of(one)) for name, one in given.items()]


def span(
    id: int,
    parent: int = 0,
    attributes: Mapping[str, Any] | None = None,
    *,
    trace: str = TRACE,
    name: str = "step",
    start: float = 0.0,
    end: float = 1.0,
    error: str | None = None,
    events: Sequence[tuple[str, Mapping[str, Any]]] = (),
) -> Span:
    """A span whose id is a number, with times in seconds after ``START``."""
    one = Span(
        trace_id=bytes.fromhex(trace),
        span_id=id.to_bytes(8, "big"),
        parent_span_id=parent.to_bytes(8, "big") if parent else b"",
        name=name,
        start_time_unix_nano=START + int(start * SECOND),
        end_time_unix_nano=START + int(end * SECOND),
        attributes=attributes_of(attributes or {}),
    )
    for event, said in events:
        one.events.add(name=event, attributes=attributes_of(said))
    if error is not None:
        one.status.code = one.status.STATUS_CODE_ERROR
        one.status.message = error
    return one


def record(
    id: int,
    event: str,
    attributes: Mapping[str, Any] | None = None,
    *,
    trace: str = TRACE,
    body: Any = None,
    at: float = 0.5,
) -> LogRecord:
    """A log record of the span with that number."""
    one = LogRecord(
        trace_id=bytes.fromhex(trace),
        span_id=id.to_bytes(8, "big") if id else b"",
        event_name=event,
        time_unix_nano=START + int(at * SECOND),
        attributes=attributes_of(attributes or {}),
    )
    if body is not None:
        one.body.CopyFrom(value_of(body))
    return one


def traces(*spans: Span, resource: Mapping[str, Any] | None = None) -> bytes:
    """A body of ``/v1/traces``."""
    data = TracesData()
    group = data.resource_spans.add()
    group.resource.attributes.extend(attributes_of(resource or {"service.name": "shop"}))
    group.scope_spans.add().spans.extend(spans)
    return bytes(data.SerializeToString())


def logs(*records: LogRecord) -> bytes:
    """A body of ``/v1/logs``."""
    data = LogsData()
    data.resource_logs.add().scope_logs.add().log_records.extend(records)
    return bytes(data.SerializeToString())


def as_json(body: bytes, message: Any = TracesData) -> bytes:
    """The same body as OTLP's JSON, made in another way than it is read."""

    def with_hex(value: Any) -> Any:
        if isinstance(value, list):
            return [with_hex(one) for one in value]
        if isinstance(value, dict):
            return {
                name: b64decode(one).hex()
                if name in ("traceId", "spanId", "parentSpanId")
                else with_hex(one)
                for name, one in value.items()
            }
        return value

    return json.dumps(with_hex(MessageToDict(message.FromString(body)))).encode()
