"""A running intake, and what senders send to it."""

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from ragstone.monitor.intake.group_commit import IntakeSettings
from ragstone.monitor.intake.intake_app import IntakeApp
from ragstone.monitor.store.store import MonitorStore
from ragstone.web.server import BoundedConnection
from tests.serving import served

SECOND = 10**9
NOW = 1_790_000_000
PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Sender:
    """Sends to a port of this machine."""

    port: int

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        """Ask for something."""
        return self.ask("GET", path, None, headers or {})

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Send something."""
        return self.ask("POST", path, body, headers)

    def ask(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        """One request, on a connection of its own."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as line:
            line.request(method, path, body, dict(headers))
            answer = line.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())


@contextmanager
def serving(app: Any) -> Iterator[Sender]:
    """An app on a port of its own, by uvicorn."""
    with served(lambda _: app, http=BoundedConnection) as host:
        yield Sender(int(host.partition(":")[2]))


@contextmanager
def running(
    store: MonitorStore,
    settings: IntakeSettings = IntakeSettings(),  # noqa: B008
) -> Iterator[tuple[Sender, IntakeApp]]:
    """An intake over a store, until it has written all."""
    app = IntakeApp(store, settings)
    try:
        with serving(app) as sender:
            yield sender, app
    finally:
        app.close()


def traces(first: int, n: int, text: str = "What is it?", spans: int = 4) -> TracesData:
    """So many traces, each a root and what hangs from it."""
    data = TracesData()
    group = data.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = "app"
    scope = group.scope_spans.add()
    for number in range(first, first + n):
        for at in range(spans):
            span = scope.spans.add()
            span.trace_id = trace_id(number)
            span.span_id = (number * 100 + at + 1).to_bytes(8, "big")
            if at:
                span.parent_span_id = (number * 100 + 1).to_bytes(8, "big")
            span.name = "chat" if at else "answer"
            span.start_time_unix_nano = NOW * SECOND + at
            span.end_time_unix_nano = (NOW + 1) * SECOND
            said = {"openinference.span.kind": "LLM" if at else "CHAIN", "input.value": text}
            for name, value in {**said, "output.value": "It is."}.items():
                span.attributes.add(key=name).value.string_value = value
    return data


def trace_id(number: int) -> bytes:
    """The id of a trace by its number."""
    return blake2b(str(number).encode(), digest_size=16).digest()


def as_otlp_json(data: TracesData) -> bytes:
    """The same as OTLP has it in JSON: ids in hex, whole numbers as texts."""
    from google.protobuf.json_format import MessageToDict

    given = MessageToDict(data)
    for group in given["resourceSpans"]:
        for scope in group["scopeSpans"]:
            for span, message in zip(
                scope["spans"], data.resource_spans[0].scope_spans[0].spans, strict=True
            ):
                span["traceId"], span["spanId"] = message.trace_id.hex(), message.span_id.hex()
                if message.parent_span_id:
                    span["parentSpanId"] = message.parent_span_id.hex()
    return json.dumps(given).encode()


def kept(store: MonitorStore) -> dict[str, int]:
    """The traces in a store, and how many rows each has."""
    with store.database.reading() as run:
        rows = run("SELECT trace, count(*) FROM received GROUP BY trace")
    return {trace: int(n) for trace, n in rows}
