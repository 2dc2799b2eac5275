"""What is read of a body, what is put aside, and what is refused."""

import json
from typing import Any

import pytest
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from ragstone.data.traces import Redaction, SpanLimits, TracePart, UnreadableBody
from ragstone.data.traces.otlp import read_logs, read_traces
from ragstone.data.traces.spans import MOST_ASIDE

from .sending import START, TRACE, as_json, logs, record, span, traces

OTHER = "f" * 32


def spans_in(part: TracePart) -> list[Any]:
    data = TracesData.FromString(part.body)
    return [
        one for group in data.resource_spans for scope in group.scope_spans for one in scope.spans
    ]


def test_the_spans_of_a_body_are_sorted_by_trace() -> None:
    spans = [span(1), span(2, trace=OTHER), span(3, 1), span(4, 2, trace=OTHER)]
    body = read_traces(traces(*spans))
    assert [part.trace for part in body.parts] == [TRACE, OTHER]
    assert [spans_in(part) for part in body.parts] == [[spans[0], spans[2]], [spans[1], spans[3]]]
    assert [part.spans for part in body.parts] == [2, 2]
    assert (body.spans, body.malformed) == (4, ())


def test_a_part_keeps_the_resource_and_the_scope_of_its_spans() -> None:
    data = TracesData()
    for service in ("shop", "search"):
        group = data.resource_spans.add()
        group.resource.attributes.add(key="service.name").value.string_value = service
        for scope in ("a", "b"):
            within = group.scope_spans.add()
            within.scope.name = scope
            within.spans.append(span(len(service) + ord(scope)))
    (part,) = read_traces(data.SerializeToString()).parts
    assert TracesData.FromString(part.body) == data


@pytest.mark.parametrize("json", [False, True])
def test_json_says_the_same_as_protobuf(json: bool) -> None:
    spans = [
        span(1, attributes={"a": "x", "n": 2**53 + 1, "f": 0.5, "yes": True}, error="broken"),
        span(2, 1, {"list": ["a", 1, {"b": [True]}], "none": {}}, events=[("e", {"k": "v"})]),
    ]
    body = traces(*spans)
    (part,) = read_traces(as_json(body) if json else body, json=json).parts
    assert part.trace == TRACE
    assert spans_in(part) == spans


def test_json_may_have_unknown_fields_nulls_and_numbers_for_texts() -> None:
    given = {
        "resourceSpans": [
            {
                "resource": None,
                "new": 1,
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": TRACE.upper(),
                                "spanId": "00000000000000a1",
                                "parentSpanId": "",
                                "name": "n",
                                "kind": 2,
                                "startTimeUnixNano": str(START),
                                "endTimeUnixNano": START + 1,
                                "invented": {"x": []},
                                "attributes": [
                                    {"key": "i", "value": {"intValue": "7"}},
                                    {"key": "j", "value": {"intValue": 8}},
                                    {"key": "k", "value": None},
                                ],
                                "status": {"code": 2},
                            }
                        ]
                    }
                ],
            }
        ]
    }
    (part,) = read_traces(json.dumps(given).encode(), json=True).parts
    (one,) = spans_in(part)
    assert [(a.key, a.value.int_value) for a in one.attributes] == [("i", 7), ("j", 8), ("k", 0)]
    assert (one.span_id.hex(), one.kind, one.status.code) == ("00000000000000a1", 2, 2)


def bad(**fields: Any) -> Any:
    one = span(9)
    for name, value in fields.items():
        setattr(one, name, value)
    return one


@pytest.mark.parametrize(
    ("why", "one"),
    [
        ("bad_trace_id", bad(trace_id=b"")),
        ("bad_trace_id", bad(trace_id=bytes(16))),
        ("bad_trace_id", bad(trace_id=b"short")),
        ("bad_span_id", bad(span_id=bytes(8))),
        ("bad_span_id", bad(span_id=b"")),
        ("bad_span_id", bad(parent_span_id=b"abc")),
        ("absurd_time", bad(start_time_unix_nano=0)),
        ("absurd_time", bad(start_time_unix_nano=2**63)),
        ("absurd_time", bad(end_time_unix_nano=START - 3600 * 10**9)),
        ("too_many_attributes", span(9, attributes={str(n): n for n in range(30)})),
        ("too_many_attributes", span(9, events=[("e", {str(n): n for n in range(30)})])),
        ("span_too_long", span(9, attributes={"a": "x" * 60_000})),
    ],
)
def test_a_malformed_span_is_put_aside_and_the_others_go_through(why: str, one: Any) -> None:
    limits = SpanLimits(attributes=20, span_length=50_000)
    body = read_traces(traces(span(1), one, span(2)), limits=limits)
    assert [why for why, _ in body.malformed] == [why]
    assert body.spans == 2
    assert len(body.malformed[0][1]) <= 4096


def test_a_span_that_is_not_closed_and_a_clock_that_was_set_are_taken() -> None:
    body = read_traces(traces(bad(end_time_unix_nano=0), bad(end_time_unix_nano=START - 10**9)))
    assert body.spans == 2


def test_json_that_is_no_span_is_put_aside_with_what_it_was() -> None:
    given = json.loads(as_json(traces(span(1), span(2))))
    spans = given["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans[0]["attributes"] = [{"key": 5, "value": {"stringValue": "ann@example.org"}}]
    spans += [None, 7, {"traceId": "zz", "spanId": "00"}]
    body = read_traces(json.dumps(given).encode(), json=True, redaction=Redaction())
    assert body.spans == 1
    assert sorted(why for why, _ in body.malformed) == [
        "bad_trace_id", "bad_trace_id", "not_otlp", "not_otlp",
    ]  # fmt: skip
    assert not any(b"ann@" in aside for _, aside in body.malformed)


def test_a_value_that_is_nested_too_deep_is_put_aside() -> None:
    deep: Any = "x"
    for _ in range(40):
        deep = {
            "arrayValue": {"values": [deep if isinstance(deep, dict) else {"stringValue": "x"}]}
        }
    given = json.loads(as_json(traces(span(1))))
    given["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = [
        {"key": "deep", "value": deep}
    ]
    body = read_traces(json.dumps(given).encode(), json=True)
    assert [why for why, _ in body.malformed] == ["not_otlp"]


@pytest.mark.parametrize(
    ("body", "json"),
    [
        (b"\xff\xff\xff", False),
        (b"hello", False),
        (b"{", True),
        (b"[]", True),
        (b"null", True),
        (b'{"resourceSpans": 5}', True),
        (b'{"resourceSpans": [7]}', True),
        (b"[" * 100_000, True),
        (b"\xff\xfe{", True),
    ],
)
def test_a_body_that_is_no_otlp_is_refused(body: bytes, json: bool) -> None:
    with pytest.raises(UnreadableBody, match="body"):
        read_traces(body, json=json)


def test_an_empty_body_has_nothing() -> None:
    assert read_traces(b"").parts == read_traces(b"{}", json=True).parts == ()


@pytest.mark.parametrize("json", [False, True])
@pytest.mark.parametrize(
    ("limits", "n"), [(SpanLimits(spans=20), 30), (SpanLimits(values=100), 100)]
)
def test_a_body_with_too_much_in_it_is_refused_as_a_whole(
    json: bool, limits: SpanLimits, n: int
) -> None:
    few, many = (traces(*(span(n) for n in range(1, 1 + end))) for end in (4, n))
    few, many = (as_json(body) if json else body for body in (few, many))
    assert read_traces(few, json=json, limits=limits).spans == 4
    with pytest.raises(UnreadableBody, match=r"has at most [\d,]+ .* Send smaller batches"):
        read_traces(many, json=json, limits=limits)


@pytest.mark.parametrize("json", [False, True])
@pytest.mark.parametrize("within", ["events", "links"])
def test_events_and_links_are_counted_with_the_spans(json: bool, within: str) -> None:
    data = TracesData.FromString(traces(span(1)))
    (item,) = data.resource_spans[0].scope_spans[0].spans
    for _ in range(30):
        getattr(item, within).add()
    body = data.SerializeToString()
    body = as_json(body) if json else body
    assert read_traces(body, json=json, limits=SpanLimits(spans=100)).spans == 1
    with pytest.raises(UnreadableBody, match="has at most"):
        read_traces(body, json=json, limits=SpanLimits(spans=25))


def test_of_many_malformed_spans_the_last_are_written_down() -> None:
    body = traces(*(span(n, trace="ab") for n in range(1, MOST_ASIDE + 6)))
    malformed = read_traces(body).malformed
    assert {why for why, _ in malformed} == {"bad_trace_id"}
    assert [bool(aside) for _, aside in malformed] == [False] * 5 + [True] * MOST_ASIDE


def test_of_a_span_with_too_many_attributes_some_are_put_aside_redacted() -> None:
    many = {f"a{n}": "ann@example.org" for n in range(30)}
    (aside,) = read_traces(
        traces(span(1, attributes=many)), redaction=Redaction(), limits=SpanLimits(attributes=20)
    ).malformed
    assert aside[0] == "too_many_attributes"
    assert b"[email]" in aside[1]
    assert b"ann@" not in aside[1]


def test_a_text_that_is_too_long_is_cut_and_marked() -> None:
    given = traces(span(1, attributes={"long": "x" * 100, "list": ["y" * 100], "short": "z"}))
    (part,) = read_traces(given, limits=SpanLimits(attribute_length=10)).parts
    texts = [one.value for one in spans_in(part)[0].attributes]
    assert texts[0].string_value == "x" * 10 + "… [cut]"
    assert texts[1].array_value.values[0].string_value == "y" * 10 + "… [cut]"
    assert texts[2].string_value == "z"


def test_a_long_resource_is_kept_by_the_names_that_are_read() -> None:
    resource = {
        "service.name": "shop",
        "service.version": "7",
        **{f"k{n}": "x" * 100 for n in range(99)},
    }
    (part,) = read_traces(traces(span(1), resource=resource)).parts
    kept = TracesData.FromString(part.body).resource_spans[0].resource.attributes
    assert {one.key: one.value.string_value for one in kept} == {
        "service.name": "shop", "service.version": "7",
    }  # fmt: skip


@pytest.mark.parametrize("json", [False, True])
def test_log_records_of_calls_are_kept_and_others_are_counted(json: bool) -> None:
    records = [
        record(1, "gen_ai.client.inference.operation.details", {"gen_ai.input.messages": "[]"}),
        record(1, "http.request", {"path": "/"}),
        record(1, "gen_ai.evaluation.result", {"gen_ai.evaluation.score.value": 1.0}),
        record(2, "gen_ai.choice", body={"message": {"content": "Yes."}}, trace=OTHER),
    ]
    body = logs(*records)
    read = read_logs(as_json(body, LogsData) if json else body, json=json)
    assert [(part.trace, part.kind, part.spans) for part in read.parts] == [
        (TRACE, "logs", 1), (OTHER, "logs", 1),
    ]  # fmt: skip
    assert (read.spans, read.ignored, read.malformed) == (2, 2, ())
    kept = LogsData.FromString(read.parts[1].body).resource_logs[0].scope_logs[0].log_records
    assert list(kept) == [records[3]]


def test_a_log_record_of_a_call_without_a_trace_is_put_aside() -> None:
    read = read_logs(logs(record(0, "gen_ai.choice", trace="00" * 16)))
    assert [why for why, _ in read.malformed] == ["log_without_trace"]
    assert read.spans == 0
