"""Sends the traces of a RAG app to a monitor, by OpenTelemetry's own exporters.

Each answer is a trace of four spans, as an app with OpenTelemetry's semantic conventions for
generative AI sends it: the request, the embedding of the question, the retrieval, the chat. From
some point on, as after a bad deploy, a part of the answers belongs to other questions.

    python examples/watched/emit.py --to http://127.0.0.1:8431 --n 2000
"""

import argparse
import base64
import gzip
import json
import random
import re
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToJson
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, set_span_in_context

CORNWALL = Path(__file__).parents[2] / "src" / "ragstone" / "data" / "cornwall.jsonl"
SECOND, DAY = 1_000_000_000, 86_400
IDS = re.compile(r'("(?:traceId|spanId|parentSpanId)": )"([^"]*)"')
BATCH = 100
"""Traces in one request."""


@dataclass(frozen=True)
class Asked:
    """A question with what was retrieved and answered."""

    question: str
    answer: str
    contexts: tuple[tuple[str, str], ...]


def asked_in(file: Path) -> list[Asked]:
    """The questions of a data set, each with passages by id and text, and an answer."""
    data = file.read_bytes()
    lines = (gzip.decompress(data) if file.suffix == ".gz" else data).splitlines()
    found = []
    for at, line in enumerate(lines):
        row = json.loads(line)
        ids = (row.get("meta") or {}).get("context_ids") or []
        contexts = tuple(
            (one["id"], one["text"]) if isinstance(one, dict)
            else (str(ids[rank]) if rank < len(ids) else f"{at}-{rank}", one)
            for rank, one in enumerate(row.get("contexts") or [])
        )  # fmt: skip
        if row.get("question") and row.get("answer") and contexts:
            found.append(Asked(row["question"], row["answer"], contexts))
    return found


def write_corpus(asked: Sequence[Asked], file: Path) -> None:
    """The passages by id, for traces that carry ids alone."""
    passages = {id: text for one in asked for id, text in one.contexts}
    with file.open("w", encoding="utf-8") as lines:
        for id, text in passages.items():
            lines.write(json.dumps({"_id": id, "text": text}) + "\n")


class Traffic:
    """Makes the spans of answers, and the log records that go with them.

    Args:
        version: Of the app, which is in the resource of each span.
        content: Whether texts are in ``spans``, or in ``logs`` alone.
    """

    def __init__(self, version: str, content: str) -> None:
        self.content = content
        resource = Resource.create({"service.name": "penmarrow-chat", "service.version": version})
        self._spans, self._logs = InMemorySpanExporter(), InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
        tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        loggers = LoggerProvider(resource=resource, shutdown_on_exit=False)
        loggers.add_log_record_processor(SimpleLogRecordProcessor(self._logs))
        self._tracer, self._logger = tracers.get_tracer("app"), loggers.get_logger("app")

    def answer(self, one: Asked, answer: str, at: float, session: str) -> None:
        """One answer, begun at this time in seconds since the epoch."""
        begun = int(at * SECOND)

        def span(
            name: str, start: float, end: float, attributes: Mapping[str, Any], parent: Any
        ) -> Any:
            made = self._tracer.start_span(
                name, None if parent is None else set_span_in_context(parent),
                kind=SpanKind.SERVER if parent is None else SpanKind.CLIENT,
                attributes=attributes, start_time=begun + int(start * SECOND),
            )  # fmt: skip
            ends.append((made, begun + int(end * SECOND)))
            return made

        ends: list[tuple[Any, int]] = []
        in_spans = self.content == "spans"
        root = span("POST /ask", 0, 1.4, {"session.id": session, "http.route": "/ask"}, None)
        span("embeddings", 0.01, 0.05, {
            "gen_ai.operation.name": "embeddings", "gen_ai.request.model": "minilm",
        }, root)  # fmt: skip
        documents = [
            {"id": id, "score": round(0.9 - 0.1 * rank, 2)}
            | ({"content": text} if in_spans else {})
            for rank, (id, text) in enumerate(one.contexts)
        ]
        span("retrieval penmarrow", 0.05, 0.2, {
            "gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "penmarrow",
            "gen_ai.retrieval.top_k": len(documents),
            "gen_ai.retrieval.documents": json.dumps(documents),
        } | ({"gen_ai.retrieval.query.text": one.question} if in_spans else {}), root)  # fmt: skip
        messages = {
            "gen_ai.input.messages": json.dumps([_message("user", one.question)]),
            "gen_ai.output.messages": json.dumps([_message("assistant", answer)]),
        }
        chat = span("chat tiny-1", 0.2, 1.4, {
            "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "tiny-1", "gen_ai.response.finish_reasons": ["stop"],
            "gen_ai.usage.input_tokens": 40 + len(one.question) // 4,
            "gen_ai.usage.output_tokens": len(answer) // 4,
        } | (messages if in_spans else {}), root)  # fmt: skip
        if not in_spans:
            self._logger.emit(LogRecord(
                timestamp=begun + SECOND, event_name="gen_ai.client.inference.operation.details",
                context=set_span_in_context(chat), attributes=messages,
            ))  # fmt: skip
        for made, end in reversed(ends):
            made.end(end_time=end)

    def taken(self) -> tuple[Sequence[ReadableSpan], Sequence[ReadableLogRecord]]:
        """What was made since the last time."""
        spans, logs = self._spans.get_finished_spans(), self._logs.get_finished_logs()
        self._spans.clear()
        self._logs.clear()
        return spans, logs


class Exporters:
    """Sends spans and logs to a monitor.

    Args:
        to: Its address.
        encoding: ``protobuf``, or ``json`` for spans.
        token: Of the monitor, if it needs one.
    """

    def __init__(self, to: str, encoding: str, token: str = "") -> None:
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._url, self._json = f"{to}/v1/traces", encoding == "json"
        self._spans = OTLPSpanExporter(
            endpoint=self._url, headers=self._headers, compression=Compression.Gzip
        )
        self._logs = OTLPLogExporter(
            endpoint=f"{to}/v1/logs", headers=self._headers, compression=Compression.Gzip
        )

    def spans(self, spans: Sequence[ReadableSpan]) -> None:
        """Send spans, in one request."""
        if not spans:
            return
        if self._json:
            self._send_json(spans)
        elif self._spans.export(spans) is not SpanExportResult.SUCCESS:
            raise RuntimeError("The monitor did not take the spans.")

    def logs(self, logs: Sequence[ReadableLogRecord]) -> None:
        """Send log records, in one request."""
        if logs and "SUCCESS" not in str(self._logs.export(logs)):
            raise RuntimeError("The monitor did not take the logs.")

    def _send_json(self, spans: Sequence[ReadableSpan]) -> None:
        text = MessageToJson(encode_spans(spans), use_integers_for_enums=True, indent=None)
        # OTLP's JSON has ids in hexadecimal digits, where protobuf's has base64.
        text = IDS.sub(lambda id: f'{id[1]}"{base64.b64decode(id[2]).hex()}"', text)
        request = urllib.request.Request(
            self._url, gzip.compress(text.encode()),
            {**self._headers, "content-type": "application/json", "content-encoding": "gzip"},
        )  # fmt: skip
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


@dataclass(frozen=True)
class Way:
    """How answers are sent.

    Attributes:
        encoding: ``protobuf``, or ``json`` for spans.
        content: Whether texts are in ``spans``, or in ``logs`` with passages by id alone.
        logs_first: Whether logs go before their spans.
        split: Whether the spans of each trace go in two requests.
    """

    encoding: str = "protobuf"
    content: str = "spans"
    logs_first: bool = False
    split: bool = False


EVERY_WAY = tuple(
    Way(encoding, content, logs_first, split)
    for encoding in ("protobuf", "json")
    for content in ("spans", "logs")
    for logs_first in ((False, True) if content == "logs" else (False,))
    for split in (False, True)
)


def emit(
    asked: Sequence[Asked],
    to: str,
    *,
    n: int,
    ways: Sequence[Way] = (Way(),),
    token: str = "",
    drop: float = 0.4,
    until: float | None = None,
) -> Iterator[int]:
    """Send a day of answers, 100 at a time; yields how many were sent so far.

    For the second half of them version v42 is deployed.

    Args:
        asked: What is asked, over and over.
        to: The address of the monitor.
        n: How many answers.
        ways: How they are sent, in turn.
        token: Of the monitor, if it needs one.
        drop: The share of v42's answers that belong to other questions.
        until: When it ended, in seconds since the epoch; by default now.
    """
    rng = random.Random(0)
    end = time.time() if until is None else until
    traffic = {
        (version, content): Traffic(version, content)
        for version in ("v41", "v42")
        for content in ("spans", "logs")
    }
    exporters = {one: Exporters(to, one, token) for one in ("protobuf", "json")}
    for number, begin in enumerate(range(0, n, BATCH)):
        way = ways[number % len(ways)]
        for at in range(begin, min(begin + BATCH, n)):
            one = rng.choice(asked)
            version = "v42" if at >= 0.5 * n else "v41"
            wrong = version == "v42" and rng.random() < drop
            answer = rng.choice(asked).answer if wrong else one.answer
            when = end - DAY * (1 - at / n)
            traffic[version, way.content].answer(one, answer, when, f"session-{at // 3}")
        made = [one.taken() for one in traffic.values()]
        spans = [span for found, _ in made for span in found]
        logs = [log for _, found in made for log in found]
        sends = exporters[way.encoding]
        if way.logs_first:
            sends.logs(logs)
        sends.spans(spans[::2] if way.split else spans)
        if way.split:
            sends.spans(spans[1::2])
        if not way.logs_first:
            sends.logs(logs)
        yield min(begin + BATCH, n)


def main() -> None:
    """Send what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", default="http://127.0.0.1:8431", help="Address of the monitor.")
    parser.add_argument("--token", default="", help="A send token of the monitor.")
    parser.add_argument(
        "--data", type=Path, default=CORNWALL, help="Questions with contexts and answers."
    )
    parser.add_argument("--n", type=int, default=2_000, help="How many answers.")
    parser.add_argument("--encoding", choices=("protobuf", "json"), default="protobuf")
    parser.add_argument("--content", choices=("spans", "logs"), default="spans")
    parser.add_argument("--logs-first", action="store_true", help="Logs go before their spans.")
    parser.add_argument("--split", action="store_true", help="Each trace in two requests.")
    parser.add_argument(
        "--corpus", type=Path, help="Write the passages to this file, and send nothing."
    )
    given = parser.parse_args()
    asked = asked_in(given.data)
    if given.corpus:
        write_corpus(asked, given.corpus)
        return
    sent = 0
    way = Way(given.encoding, given.content, given.logs_first, given.split)
    for sent in emit(asked, given.to, n=given.n, ways=[way], token=given.token):
        print(f"\r{sent:,} of {given.n:,} sent", end="", flush=True)
    print(f"\r{sent:,} answers sent to {given.to}")


if __name__ == "__main__":
    main()
