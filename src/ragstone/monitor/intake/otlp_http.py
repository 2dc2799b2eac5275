"""OTLP over HTTP: bodies turned into stored parts, replies to senders, and Prometheus figures.

OTLP/HTTP demands that protobuf is answered with protobuf, and JSON with JSON.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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

from ragstone.core.database import Database, Sql
from ragstone.core.errors import StoreAway
from ragstone.core.messages import worded
from ragstone.monitor.store.incoming import unfolded
from ragstone.monitor.store.rows import ASSESS, DEAD, SILENT, counted, last_heartbeat, waiting_for
from ragstone.monitor.store.stored_alarms import raised_alarms
from ragstone.monitor.traces.otlp import inside, read_logs, read_traces
from ragstone.monitor.traces.posted_examples import read_examples
from ragstone.monitor.traces.redaction import Redaction
from ragstone.monitor.traces.spans import (
    Malformed,
    ReceivedBody,
    TracePart,
    UnreadableBody,
    put_aside,
)

from .group_commit import AcceptedBody, IntakeSettings

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


LONGEST_TRACE = 1_000
"""Bytes of the name of a trace; PostgreSQL has no index over longer ones."""

SHOWN = 3
_BEGINNING = 16_000


@dataclass(frozen=True, slots=True)
class SentSignal:
    """What is sent to one address.

    Attributes:
        counted: What one item of it is counted as.
        protobuf: Whether it may come as protobuf.
        read: Reads a body.
        reply: The reply, of how many items were kept and put aside, and why.
    """

    counted: str
    protobuf: bool
    read: Callable[[bytes, bool, IntakeSettings, float], ReceivedBody]
    reply: Callable[[int, int, str, bool], Reply]


TRACES = SentSignal(
    "spans",
    True,
    lambda body, json, use, _: read_traces(
        body, json=json, redaction=use.redaction, limits=use.limits
    ),
    lambda _, rejected, why, json: traces_reply(rejected, why, json=json),
)
LOGS = SentSignal(
    "logs",
    True,
    lambda body, json, use, _: read_logs(
        body, json=json, redaction=use.redaction, limits=use.limits
    ),
    lambda _, rejected, why, json: logs_reply(rejected, why, json=json),
)
EXAMPLES = SentSignal(
    "examples",
    False,
    lambda body, _, use, now: read_examples(
        body, redaction=use.redaction, limits=use.limits, now=now
    ),
    lambda accepted, rejected, why, _: examples_reply(accepted, rejected, why),
)


def taken_from(
    signal: SentSignal, body: bytes, *, json: bool, settings: IntakeSettings, now: float
) -> AcceptedBody:
    """What is written of a body.

    Raises:
        UnreadableBody: It is not what it should be at all.
    """
    read = signal.read(body, json, settings, now)
    parts, malformed = _named(read)
    kept = sum(part.spans for part in parts)
    counts = {
        "received": kept + len(malformed),
        "kept": kept,
        signal.counted: kept,
        "malformed": len(malformed),
        "ignored": read.ignored,
    }
    return AcceptedBody(parts, malformed, counts)


def unread(error: UnreadableBody, body: bytes, redaction: Redaction | None) -> Malformed:
    """What is kept aside of a body that cannot be read."""
    beginning = body[:_BEGINNING].decode("utf-8", "replace")
    return put_aside(error.why, (redaction.redact(beginning) if redaction else beginning).encode())


def why_rejected(malformed: Sequence[Malformed]) -> str:
    """In words, why what was put aside was; the most frequent first."""
    reasons = Counter(one.why for one in malformed)
    said = [f"{n:,} × {worded(why)}" for why, n in reasons.most_common(SHOWN)]
    return "; ".join([*said, *(["…"] if len(reasons) > SHOWN else [])])


def _named(read: ReceivedBody) -> tuple[list[TracePart], list[Malformed]]:
    """Without the parts whose trace has too long a name."""
    parts, malformed = [], list(read.malformed)
    for part in read.parts:
        if len(part.trace.encode("utf-8", "surrogatepass")) <= LONGEST_TRACE:
            parts.append(part)
        else:
            malformed.append(put_aside("name_too_long", part.body))
    return parts, malformed


HOUR = 3_600
PREFIX = "ragstone_monitor"
MOST_ALARMS = 10_000

TAKEN = (
    "received",
    "kept",
    "spans",
    "logs",
    "examples",
    "malformed",
    "ignored",
    "unreadable",
    "dropped",
)


@dataclass(frozen=True, slots=True)
class IntakeFigures:
    """What came since the process began, and what waits now.

    Attributes:
        taken: How much of what was written, as it is counted in the store.
        replies: Requests by the status they were answered with.
        waiting: Requests that wait to be written.
        waiting_bytes: That they hold.
        is_writable: Whether the store could be written to when that was last tried.
    """

    taken: Mapping[str, int]
    replies: Mapping[int, int]
    waiting: int
    waiting_bytes: int
    is_writable: bool


def exposition(figures: IntakeFigures, database: Database, now: float) -> str:
    """All figures, as text. Those of the store are left out where it is away."""
    lines = [*_intake(figures)]
    try:
        with database.reading() as run:
            lines += [*_lags(run, now), *_judging(run, now), *_alarms(run)]
    except StoreAway:
        pass
    return "\n".join([*lines, ""])


def _intake(figures: IntakeFigures) -> Iterator[str]:
    yield from _head(
        "items_total", "counter", "Spans, log records and examples by what became of them."
    )
    for what in TAKEN:
        yield _line("items_total", figures.taken.get(what, 0), what=what)
    yield from _head("replies_total", "counter", "Requests by the status of their reply.")
    for status, n in sorted(figures.replies.items()):
        yield _line("replies_total", n, status=status)
    yield from _head("refused_total", "counter", "Requests that were not taken in.")
    yield _line("refused_total", figures.taken.get("refused", 0))
    yield from _head("queue_requests", "gauge", "Requests that wait to be written.")
    yield _line("queue_requests", figures.waiting)
    yield from _head("queue_bytes", "gauge", "Bytes that they hold.")
    yield _line("queue_bytes", figures.waiting_bytes)
    yield from _head("store_up", "gauge", "1 if the store could be written to.")
    yield _line("store_up", int(figures.is_writable))


def _lags(run: Sql, now: float) -> Iterator[str]:
    parts, since = unfolded(run)
    guard = waiting_for(run, ASSESS)
    yield from _head("waiting", "gauge", "What came and waits for the worker.")
    yield _line("waiting", parts, step="fold")
    yield _line("waiting", guard.n, step="guard")
    yield from _head("lag_seconds", "gauge", "For how long the first of those has waited.")
    yield _line("lag_seconds", _age(since, now), step="fold")
    yield _line("lag_seconds", _age(guard.since, now), step="guard")


def _judging(run: Sql, now: float) -> Iterator[str]:
    yield from _head("last_hour", "gauge", "How much came, was due and was done in an hour.")
    for what, n in sorted({"judged": 0, "due": 0, **counted(run, now - HOUR)}.items()):
        yield _line("last_hour", n, what=what)
    sign = last_heartbeat(run)
    if sign is not None:
        words = (
            "Since the worker's last sign of life: "
            f"from {SILENT:g} on it is silent, from {DEAD:g} on dead."
        )
        yield from _head("worker_silent_seconds", "gauge", words)
        yield _line("worker_silent_seconds", _age(sign, now))


def _alarms(run: Sql) -> Iterator[str]:
    """The dead-man's switch is one of them: judging that stopped, or no data."""
    firing = Counter(one.kind for one in raised_alarms(run, MOST_ALARMS) if one.firing)
    yield from _head("alarms_firing", "gauge", "Alarms that are firing.")
    yield _line("alarms_firing", firing.total())
    yield from _head("alarms_firing_by_kind", "gauge", "Those by what is wrong.")
    for kind, n in sorted(firing.items()):
        yield _line("alarms_firing_by_kind", n, kind=kind)


def _age(since: float | None, now: float) -> float:
    return 0.0 if since is None else max(0.0, now - since)


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP {PREFIX}_{name} {words}"
    yield f"# TYPE {PREFIX}_{name} {kind}"


def _line(name: str, value: float, **labels: object) -> str:
    said = ",".join(f'{label}="{_escaped(str(of))}"' for label, of in labels.items())
    return f"{PREFIX}_{name}{f'{{{said}}}' if said else ''} {value:.10g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
