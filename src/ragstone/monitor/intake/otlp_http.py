"""OTLP over HTTP: bodies turned into stored parts, replies to senders, and Prometheus figures.

OTLP/HTTP demands that protobuf is answered with protobuf, and JSON with JSON.
"""

import json as json_text
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from starlette.responses import Response

from ragstone.core.database import Database
from ragstone.core.errors import MissingDependency, StoreAway, needing
from ragstone.core.messages import worded
from ragstone.data.traces.posted_examples import read_examples
from ragstone.data.traces.redaction import Redaction
from ragstone.data.traces.spans import Malformed, TracePart, UnreadableBody, put_aside
from ragstone.data.traces.value_counts import inside
from ragstone.monitor.store.incoming import unfolded
from ragstone.monitor.store.rows import ASSESS, DEAD, SILENT, counted, last_heartbeat, waiting_for
from ragstone.monitor.store.stored_alarms import firing_alarms

from .group_commit import AcceptedBody, IntakeSettings

JSON, PROTOBUF = "application/json", "application/x-protobuf"

# Seconds after which a sender should try again.
RETRY_AFTER = 2

# The code of gRPC for each status.
_CODES = {400: 3, 401: 16, 404: 5, 405: 12, 408: 4, 413: 11, 415: 3, 429: 8, 503: 14}

Signal = Literal["spans", "logs", "examples"]


def refusal(status: int, message: str, *, json: bool = True) -> Response:
    """Return the reply that nothing was taken in; ``google.rpc.Status`` says why."""
    code = _CODES[status]
    headers = {}
    if status in (429, 503):
        headers["retry-after"] = str(RETRY_AFTER)
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if json:
        return Response(_json({"code": code, "message": message}), status, headers, JSON)
    return Response(bytes((8, code)) + inside(2, message.encode()), status, headers, PROTOBUF)


def reply_to(signal: Signal, body: AcceptedBody, *, json: bool) -> Response:
    """Return the reply that a body was taken in, all or in part."""
    rejected, why = len(body.malformed), why_rejected(body.malformed)
    if signal == "examples":
        counts = {"accepted": body.counts["kept"], "rejected": rejected}
        content = _json({**counts, **({"message": why} if why else {})})
        return Response(content, media_type=JSON)
    from google.protobuf.json_format import MessageToJson
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    answer: ExportTraceServiceResponse | ExportLogsServiceResponse
    if signal == "spans":
        answer = ExportTraceServiceResponse()
        answer.partial_success.rejected_spans = rejected
    else:
        answer = ExportLogsServiceResponse()
        answer.partial_success.rejected_log_records = rejected
    answer.partial_success.error_message = why
    if not rejected:
        answer.ClearField("partial_success")
    if json:
        return Response(MessageToJson(answer, indent=None), media_type=JSON)
    return Response(answer.SerializeToString(), media_type=PROTOBUF)


def _json(value: object) -> bytes:
    return json_text.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


# Bytes of the name of a trace; PostgreSQL has no index over longer ones.
LONGEST_TRACE = 1_000

SHOWN = 3
_BEGINNING = 16_000


def accept_body(
    signal: Signal, body: bytes, *, json: bool, use: IntakeSettings, now: float
) -> AcceptedBody:
    """Return what is written of a body.

    Raises:
        UnreadableBody: It cannot be read, or is OTLP and the extra ``otlp`` is not installed.
    """
    redaction, limits = use.redaction, use.limits
    if signal == "examples":
        read = read_examples(body, redaction=redaction, limits=limits, now=now)
    else:
        try:
            with needing("OTLP", "otlp"):
                from ragstone.data.traces.otlp import read_logs, read_traces
        except MissingDependency as error:
            raise UnreadableBody(str(error), "otlp_not_installed") from error
        reader = read_traces if signal == "spans" else read_logs
        read = reader(body, json=json, redaction=redaction, limits=limits)
    parts = [part for part in read.parts if _fits_an_index(part)]
    unnamed = [part for part in read.parts if not _fits_an_index(part)]
    malformed = [*read.malformed, *(put_aside("name_too_long", part.body) for part in unnamed)]
    n = sum(part.spans for part in parts)
    counts = {"received": n + len(malformed), "kept": n, signal: n}
    counts |= {"malformed": len(malformed), "ignored": read.ignored}
    return AcceptedBody(parts, malformed, counts)


def _fits_an_index(part: TracePart) -> bool:
    return len(part.trace.encode("utf-8", "surrogatepass")) <= LONGEST_TRACE


def unread(error: UnreadableBody, body: bytes, redaction: Redaction | None) -> Malformed:
    """Return what is kept aside of a body that cannot be read."""
    beginning = body[:_BEGINNING].decode("utf-8", "replace")
    return put_aside(error.why, (redaction.redact(beginning) if redaction else beginning).encode())


def why_rejected(malformed: Sequence[Malformed]) -> str:
    """Return in words why something was put aside, the most frequent reasons first."""
    reasons = Counter(why for why, _ in malformed)
    words = [f"{n:,} × {worded(why)}" for why, n in reasons.most_common(SHOWN)]
    return "; ".join([*words, *(["…"] if len(reasons) > SHOWN else [])])


HOUR = 3_600
PREFIX = "ragstone_monitor"
TAKEN = (
    *("received", "kept", "spans", "logs", "examples", "malformed", "ignored", "unreadable"),
    "dropped",
)


def exposition(
    database: Database,
    now: float,
    *,
    taken: Mapping[str, int],
    replies: Mapping[int, int],
    waiting: int,
    waiting_bytes: int,
    is_writable: bool,
) -> str:
    """Return all figures as text. Those of the store are left out where it is away.

    Args:
        taken: How much of what was written since the process began, as the store counts it.
        replies: Requests by the status they were answered with.
    """
    lines = [
        *_figure(
            "items_total", "Spans, log records and examples by what became of them.",
            {what: taken.get(what, 0) for what in TAKEN}, "what",
        ),
        *_figure(
            "replies_total", "Requests by the status of their reply.",
            dict(sorted(replies.items())), "status",
        ),
        *_figure(
            "refused_total", "Requests that were not taken in.", taken.get("refused", 0)
        ),
        *_figure("queue_requests", "Requests that wait to be written.", waiting),
        *_figure("queue_bytes", "Bytes that they hold.", waiting_bytes),
        *_figure("store_up", "1 if the store could be written to.", int(is_writable)),
    ]  # fmt: skip
    with suppress(StoreAway):
        lines += _of_store(database, now)
    return "\n".join([*lines, ""])


def _of_store(database: Database, now: float) -> list[str]:
    with database.reading() as run:
        parts, parts_since = unfolded(run)
        answers, answers_since = waiting_for(run, ASSESS)
        beat = last_heartbeat(run)
        last_hour = {"judged": 0, "due": 0, **counted(run, now - HOUR)}
        # The dead-man's switch is one of them: judging that stopped, or no data.
        firing = Counter(alarm.kind for alarm in firing_alarms(run))
    waiting = {"fold": parts, "guard": answers}
    lags = {"fold": _age(parts_since, now), "guard": _age(answers_since, now)}
    last_beat = (
        "Since the worker's last sign of life: "
        f"from {SILENT:g} on it is silent, from {DEAD:g} on dead."
    )
    return [
        *_figure("waiting", "What came and waits for the worker.", waiting, "step"),
        *_figure("lag_seconds", "For how long the first of those has waited.", lags, "step"),
        *_figure(
            "last_hour", "How much came, was due and was done in an hour.",
            dict(sorted(last_hour.items())), "what",
        ),
        *(() if beat is None else _figure("worker_silent_seconds", last_beat, _age(beat, now))),
        *_figure("alarms_firing", "Alarms that are firing.", firing.total()),
        *_figure(
            "alarms_firing_by_kind", "Those by what is wrong.", dict(sorted(firing.items())), "kind"
        ),
    ]  # fmt: skip


def _age(since: float | None, now: float) -> float:
    return 0.0 if since is None else max(0.0, now - since)


def _figure(
    name: str, words: str, values: float | Mapping[Any, float], label: str = ""
) -> Iterator[str]:
    yield f"# HELP {PREFIX}_{name} {words}"
    yield f"# TYPE {PREFIX}_{name} {'counter' if name.endswith('_total') else 'gauge'}"
    if not isinstance(values, Mapping):
        yield f"{PREFIX}_{name} {values:.10g}"
        return
    for of, value in values.items():
        text = str(of).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        yield f'{PREFIX}_{name}{{{label}="{text}"}} {value:.10g}'
