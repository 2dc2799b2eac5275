"""OpenTelemetry's own exporter sends here, and is told in its own language how it went."""

import gzip
from collections.abc import Iterator, Mapping
from threading import Timer
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from requests import PreparedRequest, Response, Session

from ragstone.data.traces import TracePart, fold
from ragstone.monitor.intake.group_commit import IntakeSettings
from ragstone.monitor.intake.intake_app import IntakeApp
from ragstone.monitor.intake.send_tokens import SendTokens
from ragstone.monitor.store.rows import counted
from ragstone.monitor.store.store import MonitorStore
from tests.monitor.intake.held import Held
from tests.monitor.intake.running import Sender, as_otlp_json, kept, running, serving

TRACES = 300


def exporter(sender: Sender, **settings: Any) -> OTLPSpanExporter:
    return OTLPSpanExporter(f"{sender.url}/v1/traces", **settings)


def emit(exports: OTLPSpanExporter, n: int = TRACES) -> set[str]:
    """Answer so many questions, and say which traces that were."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exports, max_export_batch_size=256))
    tracer = provider.get_tracer("app")
    found = set()
    for number in range(n):
        with tracer.start_as_current_span("answer") as root:
            root.set_attribute("openinference.span.kind", "CHAIN")
            root.set_attribute("input.value", f"question {number}")
            root.set_attribute("output.value", "It is so.")
            with tracer.start_as_current_span("chat") as chat:
                chat.set_attribute("openinference.span.kind", "LLM")
            found.add(f"{root.get_span_context().trace_id:032x}")
    provider.shutdown()
    return found


@pytest.fixture
def exported(store: MonitorStore) -> Iterator[tuple[MonitorStore, Sender]]:
    with running(store, IntakeSettings(senders=SendTokens("t"))) as (sender, _):
        yield store, sender


TOKEN = {"authorization": "Bearer t"}


@pytest.mark.parametrize(
    "compression", [Compression.NoCompression, Compression.Gzip, Compression.Deflate]
)
def test_every_trace_of_the_exporter_is_kept(
    exported: tuple[MonitorStore, Sender], compression: Compression
) -> None:
    store, sender = exported
    sent = emit(exporter(sender, compression=compression, headers=TOKEN))
    assert set(kept(store)) == sent
    with store.database.reading() as run:
        assert counted(run, 0)["spans"] == 2 * TRACES
        rows = run("SELECT trace, kind, body FROM received ORDER BY trace")
    by_trace: dict[str, list[TracePart]] = {}
    for trace, kind, body in rows:
        by_trace.setdefault(trace, []).append(TracePart(trace, kind, bytes(body), 1))
    asked = {one.example.question for parts in by_trace.values() for one in fold(parts).examples}
    assert asked == {f"question {number}" for number in range(TRACES)}


class AsJson(Session):
    """Sends what the exporter writes as the JSON of OTLP, packed as it was."""

    def send(self, request: PreparedRequest, **settings: Any) -> Response:
        assert isinstance(request.body, bytes)
        body = gzip.compress(as_otlp_json(TracesData.FromString(gzip.decompress(request.body))))
        request.prepare_body(body, None)
        request.headers["content-type"] = "application/json"
        return super().send(request, **settings)


def test_the_same_as_json_is_kept_too(exported: tuple[MonitorStore, Sender]) -> None:
    store, sender = exported
    with AsJson() as session:
        sent = emit(exporter(sender, compression=Compression.Gzip, headers=TOKEN, session=session))
    assert set(kept(store)) == sent


def test_log_events_of_the_exporter_are_kept(exported: tuple[MonitorStore, Sender]) -> None:
    store, sender = exported
    provider = LoggerProvider()
    exports = OTLPLogExporter(f"{sender.url}/v1/logs", headers=TOKEN)
    provider.add_log_record_processor(SimpleLogRecordProcessor(exports))
    tracer = TracerProvider().get_tracer("app")
    with tracer.start_as_current_span("chat") as span:
        provider.get_logger("app").emit(
            event_name="gen_ai.client.inference.operation.details",
            attributes={"gen_ai.operation.name": "chat"},
        )
        trace = f"{span.get_span_context().trace_id:032x}"
    provider.shutdown()
    assert kept(store) == {trace: 1}


class Recording(OTLPSpanExporter):
    """Keeps what came of each batch."""

    def __init__(self, sender: Sender, **settings: Any) -> None:
        super().__init__(f"{sender.url}/v1/traces", timeout=60, **settings)
        self.results: list[SpanExportResult] = []

    def export(self, spans: Any) -> SpanExportResult:
        self.results.append(super().export(spans))
        return self.results[-1]


def test_a_wrong_token_is_not_tried_again(
    exported: tuple[MonitorStore, Sender], caplog: pytest.LogCaptureFixture
) -> None:
    store, sender = exported
    exports = Recording(sender, headers={"authorization": "Bearer guessed"})
    emit(exports, 5)
    assert exports.results == [SpanExportResult.FAILURE]
    assert "401" in caplog.text
    assert kept(store) == {}


@pytest.mark.parametrize("status", [429, 503])
def test_the_exporter_sends_again_what_could_not_be_taken(store: MonitorStore, status: int) -> None:
    held: Any = Held(store)
    statuses: list[int] = []

    async def watched(scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            await send(message)

        await app(scope, receive, sent)

    full = IntakeSettings(waiting=0 if status == 429 else 10)
    app = IntakeApp(MonitorStore(held, store.folder, store.place), full)
    held.fails = status == 503
    held.go.set()
    with serving(watched) as sender:
        exports = Recording(sender)

        def make_room() -> None:
            held.fails = False
            app.room._most = 10

        Timer(0.5, make_room).start()
        sent = emit(exports, 5)
    app.close()
    assert statuses[0] == status
    assert statuses[-1] == 200
    assert exports.results == [SpanExportResult.SUCCESS]
    assert set(kept(store)) == sent
