"""No script: random and mutated traces, logs and examples, which tests send to an intake.

Whole bodies in every convention that is understood, as protobuf and JSON, are mutated, or they are
random bytes from the start. Each is read with redaction, and what was read of each trace is folded
and written down: it ends as read, partly read (something was put aside) or refused; any exception
but the refusal is a bug. Through the app of an intake one in four goes packed besides, of these
some broken again, and one in ten to another address, or it says of itself what it is not.
"""

import asyncio
import gzip
import json
import random
import re
import tempfile
import zlib
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, MutableMapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf.json_format import MessageToJson
from measure import memory
from mutations import changed_bytes
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

from ragstone.data import as_record
from ragstone.data.traces import (
    ReceivedBody,
    Redaction,
    SpanLimits,
    UnreadableBody,
    fold,
    read_examples,
)
from ragstone.data.traces.attribute_names import FACTS, ROLES
from ragstone.data.traces.otlp import read_logs, read_traces
from ragstone.monitor.intake.group_commit import IntakeSettings
from ragstone.monitor.intake.intake_app import PATHS, IntakeApp
from ragstone.monitor.store.store import open_store

START = 1_790_000_000_000_000_000
LIMITS = SpanLimits(spans=200, attributes=50, attribute_length=2_000, span_length=20_000)
REDACTION = Redaction(patterns={"ticket": r"T-\d+"})

TEXTS = (
    *("How deep is the lake?", "It is 254 m deep.", "", "ann@example.org", "4111 1111 1111 1111"),
    *("T-17", "x" * 3_000, '"', "[", "[[[[", "{}", "null", '{"a": "\\ud800"}'),
    '{"question": "How deep?", "context": ["It is 254 m deep."]}',
    '[{"role": "user", "content": "a"}]',
    '[{"role": "user", "parts": [{"type": "text", "content": "a"}]}]',
    '{"messages": [["human", "a"]]}',
    '[{"id": 1, "score": "NaN"}]',
    *sorted(ROLES),
)
KEYS = ("document.id", "document.content", "document.score", "message.role", "message.content", "",
        ".")  # fmt: skip
LISTS = [name for fact in FACTS for name in fact.lists]
NAMES = (
    *(name for fact in FACTS for name in fact.names),
    *map(".".join, product(LISTS, ("0", "1", "x", "99999999"), KEYS)),
)
EVENTS = ("gen_ai.client.inference.operation.details", "gen_ai.user.message", "gen_ai.choice",
          "exception", "gen_ai.content.prompt", "x")  # fmt: skip
TOKENS = (
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"true", b"1e999", b"-0", b"NaN"),
    *(b'"\\ud800"', b"\xff", b"\\u0000", b"9" * 400, b'"traceId"', b'"attributes"'),
)

IDS = re.compile(r'("(?:traceId|spanId|parentSpanId)": )"([^"]*)"')

Read = Callable[[bytes], ReceivedBody]
Whole = Callable[[random.Random], bytes]
Headers = list[tuple[bytes, bytes]]


class Sort(NamedTuple):
    """Bodies of one sort: how whole ones are made, and how they are read."""

    name: str
    whole: Whole
    read: Read


def value(drawn: random.Random, deep: int = 0) -> AnyValue:
    """A value of any type."""
    match drawn.randrange(8 if deep < 4 else 6):
        case 0:
            return AnyValue(int_value=drawn.choice((0, 1, -1, 2**63 - 1, 42)))
        case 1:
            numbers = (0.0, 0.5, float("nan"), float("inf"), 1e300)
            return AnyValue(double_value=drawn.choice(numbers))
        case 2:
            return AnyValue(bool_value=True)
        case 3:
            return AnyValue(bytes_value=drawn.randbytes(8))
        case 6:
            values = [value(drawn, deep + 1) for _ in range(drawn.randrange(4))]
            return AnyValue(array_value=ArrayValue(values=values))
        case 7:
            pairs = attributes(drawn, drawn.randrange(4), deep + 1)
            return AnyValue(kvlist_value=KeyValueList(values=pairs))
    return AnyValue(string_value=drawn.choice(TEXTS))


def attributes(drawn: random.Random, n: int, deep: int = 0) -> list[KeyValue]:
    names = (drawn.choice(NAMES) for _ in range(n))
    return [KeyValue(key=name, value=value(drawn, deep)) for name in names]


def some_id(drawn: random.Random, size: int) -> bytes:
    return drawn.choice((1, 1, 1, 2, 3, 4)).to_bytes(size, "big") if drawn.random() < 0.95 else b""


def span(drawn: random.Random) -> Span:
    one = Span(
        trace_id=some_id(drawn, 16),
        span_id=drawn.randrange(1, 9).to_bytes(8, "big"),
        parent_span_id=drawn.randrange(0, 9).to_bytes(8, "big") if drawn.random() < 0.8 else b"",
        name=drawn.choice(TEXTS),
        start_time_unix_nano=START + drawn.randrange(10**9),
        end_time_unix_nano=START + drawn.randrange(2 * 10**9),
        attributes=attributes(drawn, drawn.randrange(12)),
    )
    if drawn.random() < 0.3:
        one.events.add(name=drawn.choice(EVENTS), attributes=attributes(drawn, 3))
    if drawn.random() < 0.2:
        one.status.code = one.status.STATUS_CODE_ERROR
    return one


def traces(drawn: random.Random) -> bytes:
    data = TracesData()
    for _ in range(drawn.randrange(1, 3)):
        group = data.resource_spans.add()
        group.resource.attributes.extend(attributes(drawn, 3))
        group.scope_spans.add().spans.extend(span(drawn) for _ in range(drawn.randrange(7)))
    return bytes(data.SerializeToString())


def logs(drawn: random.Random) -> bytes:
    data = LogsData()
    within = data.resource_logs.add().scope_logs.add()
    for _ in range(drawn.randrange(6)):
        within.log_records.add(
            trace_id=some_id(drawn, 16), span_id=some_id(drawn, 8), event_name=drawn.choice(EVENTS),
            time_unix_nano=START, attributes=attributes(drawn, 5), body=value(drawn),
        )  # fmt: skip
    return bytes(data.SerializeToString())


def as_json(whole: Whole, message: Any) -> Whole:
    """The same as JSON, with ids in hex."""

    def written(drawn: random.Random) -> bytes:
        text = MessageToJson(message.FromString(whole(drawn)), indent=None)
        return IDS.sub(lambda id: f'{id[1]}"{b64decode(id[2]).hex()}"', text).encode()

    return written


def examples(drawn: random.Random) -> bytes:
    def one() -> dict[str, Any]:
        names = ("question", "answer", "contexts", "trace", "span", "at", "latency", "user", "id")
        values = (*TEXTS, 5, -1, 1e400, None, True, [], ["a"], {"a": 1}, "2026-11-23T10:00:00Z")
        return {name: drawn.choice(values) for name in drawn.sample(names, drawn.randrange(1, 7))}

    given = [{"question": "q", "answer": "a"}, *(one() for _ in range(drawn.randrange(4)))]
    lines = "\n".join(map(json.dumps, given))
    return (lines if drawn.random() < 0.5 else json.dumps(given)).encode()


def reading(read: Callable[..., ReceivedBody], **options: bool) -> Read:
    return partial(read, redaction=REDACTION, limits=LIMITS, **options)


SORTS = (
    Sort("traces", traces, reading(read_traces)),
    Sort("logs", logs, reading(read_logs)),
    Sort("traces as JSON", as_json(traces, TracesData), reading(read_traces, json=True)),
    Sort("logs as JSON", as_json(logs, LogsData), reading(read_logs, json=True)),
    Sort("examples", examples, reading(read_examples)),
)


def body_of(seed: int, number: int) -> tuple[Sort, bytes]:
    """The body with that number, and its sort."""
    drawn = random.Random(f"{seed} {number}")
    sort = SORTS[number % len(SORTS)]
    body = sort.whole(drawn)
    match drawn.randrange(20):
        case 0:
            return sort, drawn.randbytes(drawn.randrange(300))
        case chosen if chosen < 6:
            return sort, body
    return sort, changed_bytes(body, drawn, TOKENS)


def outcome(sort: Sort, body: bytes) -> str:
    """How reading a body ends; anything but a refusal is raised."""
    try:
        read = sort.read(body)
    except UnreadableBody:
        return "refused"
    for trace in {part.trace for part in read.parts}:
        folded = fold([part for part in read.parts if part.trace == trace])
        for one in folded.examples:
            json.dumps(as_record(one.example), ensure_ascii=False, allow_nan=False).encode()
    if any(len(aside) > 4096 for _, aside in read.malformed):
        raise AssertionError("more was put aside than is kept")
    return "partly read" if read.malformed else "read"


PROTOBUF, JSON = "application/x-protobuf", "application/json"
KINDS = (PROTOBUF, JSON, "application/x-ndjson", "text/plain", "", "\xff", "application/json;" * 99)
ENCODINGS = ("gzip", "deflate", "identity", "br", "", "\xff")
LENGTHS = ("0", "-1", "9" * 40, "x", "1", "99999999999999")
AT_ONCE = 8
GROWN = 32
"""MB by which memory may grow after the first fifth."""


def fuzzed(bodies: int, seed: int) -> tuple[Counter[int], list[str], float]:
    """Send so many requests to an intake over a new store.

    How often each status, what may not happen, and the megabytes by which memory grew.
    """
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "store")
        app = IntakeApp(store, IntakeSettings(redaction=REDACTION, limits=LIMITS))
        try:
            return asyncio.run(_all(app, bodies, seed))
        finally:
            app.close()
            store.close()


async def _all(app: IntakeApp, bodies: int, seed: int) -> tuple[Counter[int], list[str], float]:
    statuses, faults, held = Counter[int](), list[str](), list[float]()
    tenth = max(AT_ONCE, bodies // 10)

    async def send(number: int) -> None:
        method, path, sent, content = request_of(seed, number)
        try:
            status, headers, body = await answered(app, method, path, sent, content)
        except Exception as error:
            faults.append(f"{number}: {type(error).__name__}: {error}"[:300])
            return
        statuses[status] += 1
        if status >= 500:
            faults.append(f"{number}: {status} {body[:100]!r}")
        if method == "HEAD":
            return
        if headers[b"content-type"] == JSON.encode():
            json.loads(body)
        elif method == "POST" and headers[b"content-type"] != PROTOBUF.encode():
            faults.append(f"{number}: answered as {headers[b'content-type']!r}")

    for first in range(0, bodies, AT_ONCE):
        numbers = range(first, min(first + AT_ONCE, bodies))
        await asyncio.gather(*map(send, numbers))
        if first // tenth != (first + AT_ONCE) // tenth:
            held.append(memory() / 2**20)
    return statuses, faults, max(held[1:]) - held[1]


def request_of(seed: int, number: int) -> tuple[str, str, Headers, bytes]:
    """Method, path, headers and body of the request with that number."""
    sort, body = body_of(seed, number)
    drawn = random.Random(f"{seed} {number} sent")
    is_json = "JSON" in sort.name or sort.name == "examples"
    path = f"/v1/{sort.name.split()[0]}"
    headers = {"content-type": JSON if is_json else PROTOBUF}
    if drawn.random() < 0.25:
        headers["content-encoding"] = drawn.choice(ENCODINGS[:2])
        pack = gzip.compress if headers["content-encoding"] == "gzip" else zlib.compress
        body = pack(body)
        if drawn.random() < 0.3:
            body = changed_bytes(body, drawn)
    method = "POST"
    if drawn.random() < 0.1:
        match drawn.randrange(5):
            case 0:
                headers["content-type"] = drawn.choice(KINDS)
            case 1:
                headers["content-encoding"] = drawn.choice(ENCODINGS)
            case 2:
                headers["content-length"] = drawn.choice(LENGTHS)
            case 3:
                path = drawn.choice((*sorted(PATHS), "/v1", "/v1/traces/", "//", "/v1/\ud800"))
            case 4:
                method = drawn.choice(("GET", "PUT", "HEAD", "OPTIONS", "X"))
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    return method, path, raw, body


async def answered(
    app: IntakeApp, method: str, path: str, headers: Headers, content: bytes
) -> tuple[int, dict[bytes, bytes], bytes]:
    """What the app answers to a request, as a server would hand it in: piece by piece."""
    half = len(content) // 2
    pieces = [content[:half], content[half:]]
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    await app(scope, receive, send)
    start, body = sent
    return start["status"], dict(start["headers"]), body["body"]
