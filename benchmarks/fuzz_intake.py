"""Random and mutated bodies of traces, logs and examples: each is read or refused, nothing else.

    python benchmarks/fuzz_intake.py [--bodies 100000] [--seed 1]

Whole bodies in every convention that is understood, as protobuf and JSON, are mutated: bits,
pieces, lengths, values, tokens of JSON, or they are random bytes from the start. Each is read with
redaction, and what was read of each trace is folded and written down. Each ends as read, partly
read (something was put aside) or refused; any exception but the refusal is a bug, and its number
makes it again: ``--again NUMBER``.

Prints the counts and the memory after each tenth, which must not grow.
"""

import argparse
import json
import random
import sys
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from mutations import changed_bytes
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

from ragstone.data import as_record
from ragstone.monitor.traces import (
    ReceivedBody,
    Redaction,
    SpanLimits,
    UnreadableBody,
    fold,
    read_examples,
    read_logs,
    read_traces,
)
from ragstone.monitor.traces.attribute_names import FACTS, ROLES

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
KEYS = (
    *("document.id", "document.content", "document.score", "message.role", "message.content"),
    *("", "."),
)
NAMES = (
    *(name for fact in FACTS for name in fact.names),
    *(
        f"{one}.{index}.{key}"
        for fact in FACTS
        for one in fact.lists
        for index in ("0", "1", "x", "99999999")
        for key in KEYS
    ),
)
EVENTS = (
    *("gen_ai.client.inference.operation.details", "gen_ai.user.message", "gen_ai.choice"),
    *("exception", "gen_ai.content.prompt", "x"),
)
TOKENS = (
    *(b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"true", b"1e999", b"-0", b"NaN"),
    *(b'"\\ud800"', b"\xff", b"\\u0000", b"9" * 400, b'"traceId"', b'"attributes"'),
)

IDS = ("traceId", "spanId", "parentSpanId")

Read = Callable[[bytes], ReceivedBody]
Whole = Callable[[random.Random], bytes]


@dataclass(frozen=True)
class Sort:
    """Bodies of one sort: how whole ones are made, and how they are read."""

    name: str
    whole: Whole
    read: Read


def value(drawn: random.Random, deep: int = 0) -> AnyValue:
    """A value of any type."""
    one = AnyValue()
    match drawn.randrange(8 if deep < 4 else 6):
        case 0:
            one.int_value = drawn.choice((0, 1, -1, 2**63 - 1, 42))
        case 1:
            one.double_value = drawn.choice((0.0, 0.5, float("nan"), float("inf"), 1e300))
        case 2:
            one.bool_value = True
        case 3:
            one.bytes_value = drawn.randbytes(8)
        case 6:
            one.array_value.values.extend(value(drawn, deep + 1) for _ in range(drawn.randrange(4)))
            one.array_value.SetInParent()
        case 7:
            one.kvlist_value.values.extend(attributes(drawn, drawn.randrange(4), deep + 1))
            one.kvlist_value.SetInParent()
        case _:
            one.string_value = drawn.choice(TEXTS)
    return one


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
        record = LogRecord(
            trace_id=some_id(drawn, 16), span_id=some_id(drawn, 8), event_name=drawn.choice(EVENTS),
            time_unix_nano=START, attributes=attributes(drawn, 5), body=value(drawn),
        )  # fmt: skip
        within.log_records.append(record)
    return bytes(data.SerializeToString())


def as_json(whole: Whole, message: Any) -> Whole:
    """The same as JSON, with ids in hex."""

    def with_hex(given: Any) -> Any:
        if isinstance(given, list):
            return [with_hex(one) for one in given]
        if not isinstance(given, dict):
            return given
        return {
            name: b64decode(one).hex() if name in IDS else with_hex(one)
            for name, one in given.items()
        }

    def written(drawn: random.Random) -> bytes:
        return json.dumps(with_hex(MessageToDict(message.FromString(whole(drawn))))).encode()

    return written


def examples(drawn: random.Random) -> bytes:
    def one() -> dict[str, Any]:
        names = ("question", "answer", "contexts", "trace", "span", "at", "latency", "user", "id")
        values = (*TEXTS, 5, -1, 1e400, None, True, [], ["a"], {"a": 1}, "2026-11-23T10:00:00Z")
        return {name: drawn.choice(values) for name in drawn.sample(names, drawn.randrange(1, 7))}

    given = [{"question": "q", "answer": "a"}, *(one() for _ in range(drawn.randrange(4)))]
    lines = "\n".join(map(json.dumps, given))
    return (lines if drawn.random() < 0.5 else json.dumps(given)).encode()


SORTS = (
    Sort("traces", traces, lambda body: read_traces(body, redaction=REDACTION, limits=LIMITS)),
    Sort("logs", logs, lambda body: read_logs(body, redaction=REDACTION, limits=LIMITS)),
    Sort(
        "traces as JSON",
        as_json(traces, TracesData),
        lambda body: read_traces(body, json=True, redaction=REDACTION, limits=LIMITS),
    ),
    Sort(
        "logs as JSON",
        as_json(logs, LogsData),
        lambda body: read_logs(body, json=True, redaction=REDACTION, limits=LIMITS),
    ),
    Sort(
        "examples",
        examples,
        lambda body: read_examples(body, redaction=REDACTION, limits=LIMITS),
    ),
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
    if any(len(one.body) > 4096 for one in read.malformed):
        raise AssertionError("more was put aside than is kept")
    return "partly read" if read.malformed else "read"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bodies", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=int)
    asked = parser.parse_args()
    if asked.again is not None:
        print(outcome(*body_of(asked.seed, asked.again)))
        return
    counts: Counter[tuple[str, str]] = Counter()
    slowest = 0.0
    for number in range(asked.bodies):
        sort, body = body_of(asked.seed, number)
        start = time.process_time()
        try:
            ended = outcome(sort, body)
        except Exception as error:  # what may not happen, counted with its number
            ended = "bug"
            print(f"{sort.name} {number}: {type(error).__name__}: {error}"[:300])
        slowest = max(slowest, time.process_time() - start)
        counts[sort.name, ended] += 1
        if (number + 1) % max(1, asked.bodies // 10) == 0:
            print(f"{number + 1:,} bodies, {memory():,.0f} MB", flush=True)
    for (name, ended), n in sorted(counts.items()):
        print(f"{name:16} {ended:12} {n:8,}")
    print(f"slowest body: {slowest:.3f} s of the processor")
    sys.exit(any(ended == "bug" for _, ended in counts))


def memory() -> float:
    """What the process holds now, in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


if __name__ == "__main__":
    main()
