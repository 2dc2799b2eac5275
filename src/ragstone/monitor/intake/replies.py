"""Replies: what OTLP/HTTP demands. Protobuf is answered with protobuf, JSON with JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from ragstone.monitor.traces.wire import inside

JSON, PROTOBUF = "application/json", "application/x-protobuf"

RETRY_AFTER = 2
"""Seconds after which a sender should try again."""

_CODES = {400: 3, 401: 16, 404: 5, 405: 12, 408: 4, 413: 11, 415: 3, 429: 8, 503: 14}
"""The code of gRPC for each status."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A status, a body, and the headers beside its length."""

    status: int
    body: bytes = b""
    kind: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


def refusal(status: int, message: str, *, json: bool = True) -> Reply:
    """Nothing was taken in; ``google.rpc.Status`` says why.

    Args:
        status: Of HTTP: 429 and 503 tell when to try again.
        message: For who reads the sender's log.
        json: Whether the request was JSON, and not protobuf.
    """
    code = _CODES[status]
    headers = {}
    if status in (429, 503):
        headers["retry-after"] = str(RETRY_AFTER)
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if json:
        body = _json({"code": code, "message": message})
        return Reply(status, body, JSON, headers)
    return Reply(status, bytes((8, code)) + inside(2, message.encode()), PROTOBUF, headers)


def traces_reply(rejected: int, message: str, *, json: bool) -> Reply:
    """Spans were taken in, all or in part."""
    answer = ExportTraceServiceResponse()
    if rejected:
        answer.partial_success.CopyFrom(
            ExportTracePartialSuccess(rejected_spans=rejected, error_message=message)
        )
    return _message(answer, json)


def logs_reply(rejected: int, message: str, *, json: bool) -> Reply:
    """Log records were taken in, all or in part."""
    answer = ExportLogsServiceResponse()
    if rejected:
        answer.partial_success.CopyFrom(
            ExportLogsPartialSuccess(rejected_log_records=rejected, error_message=message)
        )
    return _message(answer, json)


def examples_reply(accepted: int, rejected: int, message: str) -> Reply:
    """Examples were taken in, all or in part."""
    said = {"accepted": accepted, "rejected": rejected}
    return Reply(200, _json({**said, **({"message": message} if message else {})}))


def _message(answer: ExportTraceServiceResponse | ExportLogsServiceResponse, json: bool) -> Reply:
    if json:
        return Reply(200, MessageToJson(answer, indent=None).encode())
    return Reply(200, answer.SerializeToString(), PROTOBUF)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
