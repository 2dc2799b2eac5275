"""Scores are sent as log records with the ids of their span: all of them, in order."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from ragstone.core.messages import reason
from ragstone.monitor.exports import NotTaken, begin_write_back, post, write_back
from ragstone.monitor.series.metric_over_time import MeanInWindow
from ragstone.monitor.settings.sections import WriteBackSettings
from ragstone.monitor.store.store import MonitorStore
from tests.availability import import_or_skip

from .stored import put_example, put_score

pb = import_or_skip("opentelemetry.proto.logs.v1.logs_pb2")
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TO = WriteBackSettings("http://localhost:9/v1/logs")
HEADERS = {"authorization": "RECEIVER_KEY"}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECEIVER_KEY", "Bearer s3cret")


class Sink:
    """Takes bodies, or refuses them."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.open = True

    def __call__(self, to: WriteBackSettings, body: bytes) -> None:
        assert to is TO
        if not self.open:
            raise NotTaken("closed")
        self.bodies.append(body)

    def records(self) -> list[Any]:
        return [
            record
            for body in self.bodies
            for resource in pb.LogsData.FromString(body).resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]


def attributes(record: Any) -> dict[str, Any]:
    return {
        one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in record.attributes
    }


def test_a_score_is_an_event_with_the_ids_of_its_span(store: MonitorStore) -> None:
    begin_write_back(store)
    put_example(store, "a", 1.0, trace=TRACE, span=SPAN)
    put_score(store, "a", "faithfulness", 0.75, at=1.5, judge="local/1", probability=0.25)
    sink = Sink()
    mean = MeanInWindow(0, 1, 0.8, 0.7, None, None, None, 12, 0, 0, None, None)
    assert write_back(store, TO, lambda _: mean, sink) == 1
    (record,) = sink.records()
    assert record.event_name == "gen_ai.evaluation.result"
    assert (record.trace_id.hex(), record.span_id.hex()) == (TRACE, SPAN)
    assert record.time_unix_nano == 6_500_000_000
    assert attributes(record) == {
        "gen_ai.evaluation.name": "faithfulness",
        "gen_ai.evaluation.score.value": 0.75,
        "ragstone.example": "a",
        "ragstone.status": "value",
        "ragstone.evaluator.version": "local/1",
        "ragstone.source": "sample",
        "ragstone.probability": 0.25,
        "ragstone.window.mean": 0.8,
        "ragstone.window.low": 0.7,
        "ragstone.window.n": 12,
        "ragstone.window.hours": 24.0,
    }


def test_undefined_and_missing_have_no_value_and_missing_is_an_error(store: MonitorStore) -> None:
    begin_write_back(store)
    put_example(store, "a", 1.0, trace="my own", span="")
    put_score(store, "a", "m1", None, status="undefined", reason=reason("no_majority"))
    put_score(store, "a", "m2", None, status="missing", reason="timed out")
    sink = Sink()
    write_back(store, TO, send=sink)
    undefined, missing = map(attributes, sink.records())
    assert [record.trace_id for record in sink.records()] == [b"", b""]
    assert "gen_ai.evaluation.score.value" not in undefined | missing
    assert "error.type" not in undefined
    assert missing["error.type"] == "missing"
    assert "half of the panel" in undefined["gen_ai.evaluation.explanation"]


def test_what_was_scored_before_is_not_sent(store: MonitorStore) -> None:
    put_example(store, "a", 1.0)
    put_score(store, "a", "m1", 1.0)
    begin_write_back(store)
    put_score(store, "a", "m2", 1.0)
    begin_write_back(store)
    sink = Sink()
    assert write_back(store, TO, send=sink) == 1
    assert [attributes(one)["gen_ai.evaluation.name"] for one in sink.records()] == ["m2"]


def test_what_was_not_taken_is_sent_again_and_nothing_twice(
    store: MonitorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.monitor.exports.BATCH", 2)
    begin_write_back(store)
    put_example(store, "a", 1.0)
    for at in range(5):
        put_score(store, "a", f"m{at}", 1.0)
    sink = Sink()
    sink.open = False
    with pytest.raises(NotTaken):
        write_back(store, TO, send=sink)
    sink.open = True
    assert write_back(store, TO, send=sink) == 5
    assert write_back(store, TO, send=sink) == 0
    names = [attributes(one)["gen_ai.evaluation.name"] for one in sink.records()]
    assert names == ["m0", "m1", "m2", "m3", "m4"]
    assert len(sink.bodies) == 3


class Receiver(BaseHTTPRequestHandler):
    """Answers with the status that its path names."""

    got: list[tuple[str, str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.got.append((self.path, self.headers["authorization"], body))
        self.send_response(int(self.path.strip("/")))
        self.send_header("location", "/200")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[tuple[str, str, bytes]]]]:
    got: list[tuple[str, str, bytes]] = []
    server = HTTPServer(("127.0.0.1", 0), type("Own", (Receiver,), {"got": got}))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", got
    server.shutdown()
    server.server_close()


def test_a_body_goes_by_http_with_the_headers(
    receiver: tuple[str, list[tuple[str, str, bytes]]],
) -> None:
    url, got = receiver
    post(WriteBackSettings(f"{url}/200", HEADERS), b"logs")
    assert got == [("/200", "Bearer s3cret", b"logs")]


@pytest.mark.parametrize("status", [307, 302, 400, 429, 503])
def test_other_answers_are_no_taking_and_no_redirect_is_followed(
    receiver: tuple[str, list[tuple[str, str, bytes]]], status: int
) -> None:
    url, got = receiver
    with pytest.raises(NotTaken, match=str(status)):
        post(WriteBackSettings(f"{url}/{status}", HEADERS), b"logs")
    assert len(got) == 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1/logs", "nonsense", "http://[::1"])
def test_a_receiver_that_is_away_is_said_without_a_secret(url: str) -> None:
    with pytest.raises(NotTaken) as caught:
        post(WriteBackSettings(url, HEADERS), b"")
    assert "s3cret" not in str(caught.value)


def test_a_trace_whose_id_is_no_opentelemetry_id_goes_without_one(store: MonitorStore) -> None:
    begin_write_back(store)
    put_example(store, "a", 1.0, trace="abcd", span="order 7")
    put_score(store, "a", "faithfulness", 0.75, at=1.5)
    sink = Sink()
    write_back(store, TO, lambda _: None, sink)
    (record,) = sink.records()
    assert (record.trace_id, record.span_id) == (b"", b"")
    assert attributes(record)["ragstone.example"] == "a"
