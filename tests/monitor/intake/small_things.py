"""Bodies of many small things, each of which is larger once it is read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ragstone.data.traces.value_counts import inside
from tests.monitor.intake.running import JSON, NOW, PROTOBUF, SECOND

EXAMPLES, TRACES, LOGS = "/v1/examples", "/v1/traces", "/v1/logs"

IDS = b'"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331",'
IDS += b'"startTimeUnixNano":"%d"' % (NOW * SECOND)
SPAN = inside(1, bytes(range(16))) + inside(2, bytes(range(8)))
SPAN += b"\x39" + (NOW * SECOND).to_bytes(8, "little")


@dataclass(frozen=True)
class Shape:
    """How a body is made of things that are alike.

    Attributes:
        name: What they are.
        path: Where it is sent.
        headers: What it is said to be.
        body: Makes it of so many bytes.
    """

    name: str
    path: str
    headers: Mapping[str, str]
    body: Callable[[int], bytes]


def shapes() -> Iterator[Shape]:
    """All of them."""
    for name, head, unit, tail in (
        ("objects", b"[", b"{},", b"{}]"),
        ("lists", b"[", b"[],", b"[]]"),
        ("numbers", b"[", b"1,", b"1]"),
        ("examples", b"[", b'{"answer":"a"},', b'{"answer":"a"}]'),
        ("lines", b"", b"{}\n", b""),
        ("bad lines", b"{}\n", b"x\n", b""),
        ("blank lines", b"{}", b"\n", b""),
        ("contexts", b'{"answer":"a","contexts":[', b'"",', b'""]}'),
        ("turns", b'{"answer":"a","history":[', b"{},", b"{}]}"),
        ("contexts of another tool", b'{"answer":"a","x":{"y":[', b'"",', b'""]}}'),
    ):
        yield Shape(f"JSON {name}", EXAMPLES, JSON, around(head, unit, tail))
    yield Shape("JSON fields", EXAMPLES, JSON, fields)
    groups, spans = b'{"resourceSpans":[', b'{"resourceSpans":[{"scopeSpans":[{"spans":['
    records = b'{"resourceLogs":[{"scopeLogs":[{"logRecords":['
    span, end = spans + b"{" + IDS, b"]}]}]}]}"
    for name, head, unit, tail in (
        ("resourceSpans", groups, b"{},", b"{}]}"),
        ("scopeSpans", groups + b'{"scopeSpans":[', b"{},", b"{}]}]}"),
        ("spans", spans, b"{},", b"{}]}]}]}"),
        ("bad spans", spans, b"1,", b"1]}]}]}"),
        ("attributes", span + b',"attributes":[', b'{"key":""},', b'{"key":""}' + end),
        ("events", span + b',"events":[', b"{},", b"{}" + end),
        ("links", span + b',"links":[', b"{},", b"{}" + end),
        ("values", span + b',"attributes":[{"key":"a","value":{"arrayValue":{"values":[',
         b"{},", b"{}]}}}" + end),
        ("resource attributes", groups + b'{"resource":{"attributes":[',
         b'{"key":""},', b'{"key":""}]}}]}'),
    ):  # fmt: skip
        yield Shape(f"JSON {name}", TRACES, JSON, around(head, unit, tail))
    yield Shape("JSON records", LOGS, JSON, around(records, b"{},", b"{}]}]}]}"))
    for name, within, unit in (
        ("resourceSpans", lambda content: content, b"\x0a\0"),
        ("scopeSpans", lambda content: inside(1, content), b"\x12\0"),
        ("spans", in_scope, b"\x12\0"),
        ("whole spans", in_scope, inside(2, SPAN)),
        ("attributes", in_span, b"\x4a\0"),
        ("events", in_span, b"\x5a\0"),
        ("links", in_span, b"\x6a\0"),
        ("values", lambda content: in_span(inside(9, inside(2, inside(5, content)))), b"\x0a\0"),
        ("event attributes", lambda content: in_span(inside(11, content)), b"\x1a\0"),
        ("resource attributes", lambda content: inside(1, inside(1, content)), b"\x0a\0"),
        ("unknown fields", lambda content: content, b"\x78\1"),
    ):
        yield Shape(f"protobuf {name}", TRACES, PROTOBUF, repeated_in(within, unit))
    yield Shape("protobuf records", LOGS, PROTOBUF, repeated_in(in_scope, b"\x12\0"))


def around(head: bytes, unit: bytes, tail: bytes) -> Callable[[int], bytes]:
    return lambda size: head + unit * ((size - len(head) - len(tail)) // len(unit)) + tail


def repeated_in(within: Callable[[bytes], bytes], unit: bytes) -> Callable[[int], bytes]:
    return lambda size: within(unit * ((size - 200) // len(unit)))


def fields(size: int) -> bytes:
    return b'{"answer":"a",' + b",".join(b'"%x":1' % n for n in range(size // 10)) + b"}"


def in_scope(content: bytes) -> bytes:
    return inside(1, inside(2, content))


def in_span(content: bytes) -> bytes:
    return in_scope(inside(2, SPAN + content))
