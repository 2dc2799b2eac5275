"""What is sent is kept before it is acknowledged, and what cannot be taken in is said so."""

import gzip
import sys
import time
import zlib
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData

from ragstone.data.traces import fold
from ragstone.data.traces.spans import SpanLimits, TracePart
from ragstone.monitor.intake.group_commit import IntakeSettings
from ragstone.monitor.intake.http_request import MEMBERS, Refused, TooLarge, unpacked
from ragstone.monitor.intake.intake_app import IntakeApp
from ragstone.monitor.intake.otlp_http import exposition
from ragstone.monitor.intake.send_tokens import SendTokens
from ragstone.monitor.store.incoming import insert_malformed, last_malformed
from ragstone.monitor.store.rows import ASSESS, DEAD, HEARTBEAT, SILENT, count, counted, keep, to_do
from ragstone.monitor.store.store import MonitorStore
from tests.monitor.intake.held import Held
from tests.monitor.intake.running import (
    JSON,
    NOW,
    PROTOBUF,
    SECOND,
    Answer,
    as_otlp_json,
    kept,
    running,
    serving,
    trace_id,
    traces,
)
from tests.project import ROOT

IDS = {trace_id(number).hex() for number in range(5)}


def test_traces_are_kept_one_row_each(store: MonitorStore) -> None:
    with running(store) as (sender, _):
        answer = sender.post("/v1/traces", traces(0, 5).SerializeToString(), PROTOBUF)
        assert (answer.status, answer.body) == (200, b"")
        assert answer.headers["content-type"] == PROTOBUF["content-type"]
        assert kept(store) == dict.fromkeys(IDS, 1)
    with store.database.reading() as run:
        assert counted(run, 0) == {"received": 20, "kept": 20, "spans": 20}


def test_where_the_extra_is_missing_examples_are_taken_and_traces_name_it(
    store: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "ragstone.data.traces.otlp", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.trace.v1.trace_pb2", None)
    with running(store) as (sender, _):
        for headers, body in ((PROTOBUF, traces(0, 5).SerializeToString()), (JSON, b"{}")):
            answer = sender.post("/v1/traces", body, headers)
            assert answer.status == 400
            assert b"pip install 'ragstone[otlp]'" in answer.body
        example = b'{"question": "How long?", "answer": "312 m", "contexts": ["312 m"]}'
        assert sender.post("/v1/examples", example, JSON).status == 200
    with store.database.reading() as run:
        assert {why for _, why, _ in last_malformed(run)} == {"otlp_not_installed"}


@pytest.mark.parametrize("pack", ["gzip", "deflate", "bare", "members", "identity"])
def test_a_packed_body_is_unpacked(store: MonitorStore, pack: str) -> None:
    body = as_otlp_json(traces(0, 5))
    bare = zlib.compressobj(wbits=-15)
    packed, name = {
        "gzip": (gzip.compress(body), "gzip"),
        "deflate": (zlib.compress(body), "deflate"),
        "bare": (bare.compress(body) + bare.flush(), "deflate"),
        "members": (gzip.compress(body[:100]) + gzip.compress(body[100:]), "gzip"),
        "identity": (body, "identity"),
    }[pack]
    with running(store) as (sender, _):
        answer = sender.post("/v1/traces", packed, {**JSON, "content-encoding": name})
    assert (answer.status, answer.json) == (200, {})
    assert set(kept(store)) == IDS


def test_what_is_kept_folds_into_what_was_sent(store: MonitorStore) -> None:
    with running(store) as (sender, _):
        sender.post("/v1/traces", traces(0, 1, "Where is Rome?").SerializeToString(), PROTOBUF)
    with store.database.reading() as run:
        rows = run("SELECT trace, kind, body FROM received")
    folded = fold([TracePart(trace, kind, bytes(body), 4) for trace, kind, body in rows])
    assert folded.rooted
    assert [one.example.question for one in folded.examples] == ["Where is Rome?"]


def test_log_records_of_a_model_are_kept_and_others_pass(store: MonitorStore) -> None:
    data = LogsData()
    records = data.resource_logs.add().scope_logs.add().log_records
    for name in ("gen_ai.client.inference.operation.details", "something.else"):
        record = records.add(event_name=name, trace_id=trace_id(0), span_id=bytes([1] * 8))
        record.time_unix_nano = NOW * SECOND
        record.attributes.add(key="gen_ai.request.model" if "gen_ai" in name else "k")
    with running(store) as (sender, _):
        answer = sender.post("/v1/logs", data.SerializeToString(), PROTOBUF)
    assert (answer.status, answer.body) == (200, b"")
    assert kept(store) == {trace_id(0).hex(): 1}


def test_metrics_are_accepted_and_not_kept(store: MonitorStore) -> None:
    with running(store) as (sender, _):
        assert sender.post("/v1/metrics", b"\x0a\x00", PROTOBUF) == Answer(
            200, sender.post("/v1/metrics", b"x", PROTOBUF).headers, b""
        )
        assert sender.post("/v1/metrics", b"{}", JSON).json == {}
    assert kept(store) == {}


def test_examples_come_as_an_object_a_list_or_lines(store: MonitorStore) -> None:
    one, two, three = (b'{"id":"%d","question":"q","answer":"a"}' % n for n in range(3))
    with running(store) as (sender, _):
        assert sender.post("/v1/examples", one, JSON).json == {"accepted": 1, "rejected": 0}
        lines = {"content-type": "application/x-ndjson; charset=utf-8"}
        assert sender.post("/v1/examples", two + b"\n" + three + b"\n", lines).status == 200
        assert sender.post("/v1/examples", b"[" + one + b"]", JSON).json["accepted"] == 1
    assert kept(store) == {"0": 2, "1": 1, "2": 1}


def test_secrets_are_out_before_anything_is_kept(store: MonitorStore) -> None:
    body = traces(0, 3, "I am ann@example.org").SerializeToString()
    with running(store) as (sender, _):
        sender.post("/v1/traces", body, PROTOBUF)
        sender.post("/v1/traces", b"\xff ann@example.org", PROTOBUF)
    with store.database.reading() as run:
        rows = run("SELECT body FROM received UNION ALL SELECT body FROM malformed")
        assert len(rows) == 4
        assert not [1 for (one,) in rows if b"ann@" in bytes(one)]


def test_malformed_spans_are_counted_kept_aside_and_told(store: MonitorStore) -> None:
    data = traces(0, 2, spans=1)
    data.resource_spans[0].scope_spans[0].spans[1].trace_id = b"short"
    with running(store) as (sender, _):
        packed = sender.post("/v1/traces", data.SerializeToString(), PROTOBUF)
        plain = sender.post("/v1/traces", as_otlp_json(data), JSON)
    said = ExportTraceServiceResponse.FromString(packed.body).partial_success
    assert packed.status == plain.status == 200
    assert said.rejected_spans == 1
    assert said.error_message == "1 × the trace's id is not 16 bytes, or all of them are zero"
    assert plain.json["partialSuccess"]["rejectedSpans"] == "1"
    with store.database.reading() as run:
        assert [why for _, why, _ in last_malformed(run)] == ["bad_trace_id"] * 2
        assert counted(run, 0)["malformed"] == 2


def test_a_trace_with_a_name_that_no_index_takes_is_kept_aside(store: MonitorStore) -> None:
    body = b'[{"id":"%s","answer":"a"},{"id":"x","answer":"a"}]' % (b"n" * 9_000)
    with running(store) as (sender, _):
        answer = sender.post("/v1/examples", body, JSON)
    assert (answer.json["accepted"], answer.json["rejected"]) == (1, 1)
    assert set(kept(store)) == {"x"}


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/v1/traces", b"\xff\xff", PROTOBUF, 400),
        ("/v1/traces", b"[]", JSON, 400),
        ("/v1/traces", b"{", JSON, 400),
        ("/v1/logs", b"\xff\xff", PROTOBUF, 400),
        ("/v1/examples", b"\xff", JSON, 400),
        ("/v1/examples", b"{}", PROTOBUF, 415),
        ("/v1/traces", b"{}", {"content-type": "text/plain"}, 415),
        ("/v1/traces", b"{}", {}, 415),
        ("/v1/traces", b"{}", {**JSON, "content-encoding": "br"}, 415),
        ("/v1/traces", b"{}", {**JSON, "content-encoding": "gzip"}, 400),
        (
            "/v1/traces",
            gzip.compress(b"{}", mtime=0)[:-9],
            {**JSON, "content-encoding": "gzip"},
            400,
        ),
        ("/v1/other", b"{}", JSON, 404),
        ("/health", b"{}", JSON, 405),
    ],
)
def test_what_cannot_be_read_is_refused_as_the_sender_reads_it(
    store: MonitorStore, path: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    with running(store) as (sender, _):
        answer = sender.post(path, body, headers)
    assert answer.status == status
    if headers == PROTOBUF:
        # google.rpc.Status: code is field 1, message is field 2.
        assert answer.headers["content-type"] == PROTOBUF["content-type"]
        assert (answer.body[0], answer.body[2]) == (8, 18)
    else:
        assert answer.json["code"]
        assert answer.json["message"]
    assert kept(store) == {}


LITTLE = IntakeSettings(body=2_000, unpacked=20_000)


def test_a_body_over_the_limit_is_refused_whether_it_says_so_or_not(store: MonitorStore) -> None:
    with running(store, LITTLE) as (sender, _):
        assert sender.post("/v1/traces", b"x" * 2_001, PROTOBUF).status == 413
        chunked = {**PROTOBUF, "transfer-encoding": "chunked"}
        body = b"7d1\r\n" + b"x" * 2_001 + b"\r\n0\r\n\r\n"
        assert sender.post("/v1/traces", body, chunked).status == 413
        assert sender.post("/v1/examples", b'{"answer":"a"}', JSON).status == 200


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_bomb_is_not_unpacked(store: MonitorStore, encoding: str) -> None:
    packed = (gzip.compress if encoding == "gzip" else zlib.compress)(bytes(1_000_000))
    with running(store, LITTLE) as (sender, _):
        answer = sender.post("/v1/traces", packed, {**PROTOBUF, "content-encoding": encoding})
    assert len(packed) < 2_000
    assert answer.status == 413


def test_a_large_body_is_read_as_a_small_one_is(store: MonitorStore) -> None:
    body = traces(0, 3, "x" * 900_000).SerializeToString()
    assert len(body) > 8_000_000
    with running(store) as (sender, _):
        packed = {**PROTOBUF, "content-encoding": "gzip"}
        assert sender.post("/v1/traces", gzip.compress(body, 1), packed).status == 200
    assert len(kept(store)) == 3


def test_a_body_with_more_spans_than_are_allowed_is_refused(store: MonitorStore) -> None:
    settings = IntakeSettings(limits=replace(SpanLimits(), spans=8))
    with running(store, settings) as (sender, _):
        answer = sender.post("/v1/traces", as_otlp_json(traces(0, 2)), JSON)
        assert sender.post("/v1/traces", as_otlp_json(traces(2, 1)), JSON).status == 200
    assert answer.status == 413
    assert answer.json["message"] == "A body has at most 8 items. Send smaller batches."
    assert len(kept(store)) == 1


TOKEN = IntakeSettings(senders=SendTokens("sésame"), owner="sésame")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer sesame"}, 401),
        ({"authorization": "Basic s\u00e9same"}, 401),
        ({"x-ragstone-token": ""}, 401),
        ({"authorization": "Bearer s\u00c3\u00a9same"}, 200),
        ({"x-ragstone-token": "s\u00c3\u00a9same"}, 200),
    ],
)
def test_who_sends_shows_the_token(
    store: MonitorStore, headers: dict[str, str], status: int
) -> None:
    with running(store, TOKEN) as (sender, _):
        body = b'{"answer":"a"}'
        assert sender.post("/v1/examples", body, {**JSON, **headers}).status == status
        assert sender.get("/metrics", headers).status == status
        assert sender.get("/health").status == sender.get("/ready").status == 200
    assert "same" not in repr(TOKEN)


def test_figures_are_for_prometheus(store: MonitorStore) -> None:
    with running(store) as (sender, _):
        sender.post("/v1/traces", traces(0, 5).SerializeToString(), PROTOBUF)
        sender.post("/v1/traces", b"{", JSON)
        answer = sender.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.body.decode().splitlines()
    assert 'ragstone_monitor_items_total{what="kept"} 20' in lines
    assert 'ragstone_monitor_replies_total{status="400"} 1' in lines
    assert "ragstone_monitor_queue_requests 0" in lines
    assert "ragstone_monitor_store_up 1" in lines


def test_figures_say_what_waits_and_what_is_wrong(store: MonitorStore) -> None:
    now = time.time()
    with store.database.transaction() as run:
        count(run, now, {"judged": 7, "due": 9})
        to_do(run, now - 100, ASSESS, ["e1", "e2"])
        keep(run, HEARTBEAT, {"at": now - 50})
        run(
            "INSERT INTO alarms (rule, slice, kind, state, since, fired_at, facts) "
            "VALUES ('r', '', 'no_data', 'firing', ?, ?, '{}')",
            now, now,
        )  # fmt: skip
    with running(store) as (sender, _):
        sender.post("/v1/traces", traces(0, 5).SerializeToString(), PROTOBUF)
        text = sender.get("/metrics").body.decode()
        found = figures(text)
    assert found['last_hour{what="judged"}'] == 7
    assert found['last_hour{what="due"}'] == 9
    assert found['waiting{step="fold"}'] == 5
    assert found['waiting{step="guard"}'] == 2
    assert 100 <= found['lag_seconds{step="guard"}'] < 1_000
    assert 50 <= found["worker_silent_seconds"] < 1_000
    assert f"from {SILENT:g} on it is silent, from {DEAD:g} on dead." in text
    assert found["alarms_firing"] == found['alarms_firing_by_kind{kind="no_data"}'] == 1


def figures(text: str) -> dict[str, float]:
    """What Prometheus reads, without what all names begin with."""
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name.removeprefix("ragstone_monitor_"): float(value) for name, _, value in lines}


def test_figures_without_a_store_are_those_of_the_process(store: MonitorStore) -> None:
    held: Any = Held(store)
    held.reading = held.away
    app = IntakeApp(MonitorStore(held, store.folder, store.place))
    held.go.set()
    with serving(app) as sender:
        answer = sender.get("/metrics")
    app.close()
    assert answer.status == 200
    assert "queue_requests" in figures(answer.body.decode())
    assert "alarms_firing" not in figures(answer.body.decode())


def test_nothing_is_taken_in_after_it_was_closed(store: MonitorStore) -> None:
    with running(store) as (sender, app):
        app.close()
        assert sender.get("/ready").status == 503
        answer = sender.post("/v1/traces", traces(0, 5).SerializeToString(), PROTOBUF)
        assert answer.status == 503
        assert answer.headers["retry-after"]
    assert kept(store) == {}


def test_a_bomb_in_the_second_part_of_a_body_is_not_unpacked() -> None:
    half = gzip.compress(bytes(15_000))
    assert len(unpacked(half * 2, "gzip", 30_000)) == 30_000
    with pytest.raises(TooLarge):
        unpacked(half * 2, "gzip", 29_999)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_bodies_that_are_slow_to_unpack_are_not(encoding: str) -> None:
    """What is unpacked is never copied as often as it has parts."""
    if encoding == "gzip":
        empty = gzip.compress(b"")
        assert unpacked(empty * (MEMBERS - 1) + gzip.compress(b"x"), "gzip", 10) == b"x"
        bodies = [empty * 100_000, gzip.compress(bytes(30 * 10**6)) + bytes(16 * 10**6)]
    else:
        stored = b"\0\0\0\xff\xff"
        bodies = [zlib.compress(bytes(30 * 10**6)) + bytes(16 * 10**6), stored * 3_000_000]
    began = time.process_time()
    for body in bodies:
        with suppress(Refused):
            unpacked(body, encoding, 32 * 10**6)
    assert time.process_time() - began < 1


def test_the_page_tells_how_large_a_body_may_be() -> None:
    usual, docs = IntakeSettings(), ROOT / "docs"
    said = f"larger than {usual.body // 10**6} MB, or than {usual.unpacked // 10**6} MB unpacked"
    assert said in (docs / "watch.md").read_text("utf-8")


def test_only_the_last_thousand_of_what_was_put_aside_are_kept(store: MonitorStore) -> None:
    faults = [(f"why{number}", b"x") for number in range(1_005)]
    with store.database.transaction() as run:
        insert_malformed(run, 1.0, [("older", b"x")] * 3)
        insert_malformed(run, 2.0, faults)
        found = last_malformed(run, 2_000)
        assert [why for _, why, _ in found] == [why for why, _ in faults[:4:-1]]
        insert_malformed(run, 3.0, [("newer", b"x")])
        assert len(last_malformed(run, 2_000)) == 1_000


def test_alarms_that_are_over_do_not_fire(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        for at, state in ((None, "firing"), (5.0, "resolved")):
            run(
                "INSERT INTO alarms (rule, slice, kind, state, since, fired_at, resolved_at, "
                "facts) VALUES ('r', '', 'worse', ?, 1, 1, ?, '{}')",
                state, at,
            )  # fmt: skip
    found = figures(exposition(store.database, 10.0, taken={}, replies={}, waiting=0,
                               waiting_bytes=0, is_writable=True))  # fmt: skip
    assert found["alarms_firing"] == found['alarms_firing_by_kind{kind="worse"}'] == 1
    assert found['last_hour{what="judged"}'] == found['last_hour{what="due"}'] == 0
