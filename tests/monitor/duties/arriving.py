"""Arriving: puts what came into a store, as the intake does."""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from ragstone.data.traces import TracePart, read_examples
from ragstone.data.traces.otlp import read_traces
from ragstone.monitor.store.store import MonitorStore
from tests.data.traces.sending import span, traces

QUESTION = "How long does the ferry take to the island?"
TRUE = "The ferry takes 90 minutes."
FALSE = "The ferry takes 45 minutes and costs nothing."
PASSAGE = "The ferry to the island takes 90 minutes and leaves at 8 and at 17 every day."


def trace_id(number: int) -> str:
    """A trace's id, which looks as if it was drawn."""
    return blake2b(str(number).encode(), digest_size=16).hexdigest()


def spans_of_answer(
    number: int,
    *,
    answer: str = TRUE,
    question: str = QUESTION,
    passage: str = PASSAGE,
    start: float = 0.0,
    attributes: Mapping[str, Any] | None = None,
) -> list[Span]:
    """A root, a retriever and a model, as OpenInference writes them."""
    trace = trace_id(number)
    return [
        span(
            *(1, 0, {"openinference.span.kind": "CHAIN", "input.value": question,
                     "output.value": answer, **(attributes or {})}),
            trace=trace, start=start, end=start + 1.5,
        ),
        span(
            *(2, 1, {"openinference.span.kind": "RETRIEVER", "input.value": question,
                     "retrieval.documents.0.document.id": "p1",
                     "retrieval.documents.0.document.content": passage}),
            trace=trace, start=start, end=start + 0.5,
        ),
        span(
            *(3, 1, {"openinference.span.kind": "LLM", "llm.model_name": "m-1",
                     "llm.output_messages.0.message.role": "assistant",
                     "llm.output_messages.0.message.content": answer}),
            trace=trace, start=start + 0.5, end=start + 1.4,
        ),
    ]  # fmt: skip


def receive(store: MonitorStore, at: float, *spans: Span, **resource: str) -> None:
    """These spans in one request."""
    body = traces(*spans, resource={"service.name": "shop", **resource})
    _put(store, at, read_traces(body).parts)


def receive_answers(store: MonitorStore, at: float, numbers: Iterable[int], **said: Any) -> None:
    """A whole trace for each number."""
    receive(store, at, *(one for number in numbers for one in spans_of_answer(number, **said)))


def receive_examples(store: MonitorStore, at: float, body: bytes) -> None:
    """Examples that are sent as such."""
    _put(store, at, read_examples(body, now=at).parts)


def _put(store: MonitorStore, at: float, parts: Iterable[TracePart]) -> None:
    with store.database.transaction() as run:
        run.many(
            "INSERT INTO received (trace, kind, at, body) VALUES (?, ?, ?, ?)",
            [(one.trace, one.kind, at, one.body) for one in parts],
        )


def rows(store: MonitorStore, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """What the store has."""
    with store.database.reading() as run:
        return run(statement, *values)
