"""No script: traces as the exporters of a RAG system send them, each with an id of its own.

A trace has 4 spans and about 8 kB: a chain with question and answer, a retriever with five
passages, the call of a model with its messages, and the embedding of the question. The texts are
of the demo data; one trace in twenty has an address or a phone number in it.
"""

import gzip
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from measure import demo_words
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

from ragstone.data import Example, cornwall, read

HEADERS = {"content-type": "application/x-protobuf", "content-encoding": "gzip"}
Attributes = Mapping[str, str | float]
SPANS = 4
BATCH = 100
FIRST = 1_790_000_000 * 10**9
_ASIDE = " Write to ann.lee@example.org or call +44 20 7946 0958."


def batch(first: int, n: int = BATCH) -> bytes:
    """Traces with the numbers from this one on, as a request before it is packed."""
    body, places = _template(first // n % 8, n)
    written = bytearray(body)
    for number, ids in enumerate(places):
        id = trace_id(first + number)
        for at in ids:
            written[at : at + 16] = id
    return bytes(written)


def packed(first: int, n: int = BATCH) -> bytes:
    """The same, packed."""
    return gzip.compress(batch(first, n), 1)


def split(first: int, n: int = BATCH) -> list[bytes]:
    """The same in two requests, packed: the children first, and then the roots."""
    data = TracesData.FromString(batch(first, n))
    roots, children = TracesData(), TracesData()
    for part in (roots, children):
        part.CopyFrom(data)
        del part.resource_spans[0].scope_spans[0].spans[:]
    for span in data.resource_spans[0].scope_spans[0].spans:
        part = children if span.parent_span_id else roots
        part.resource_spans[0].scope_spans[0].spans.append(span)
    return [gzip.compress(part.SerializeToString(), 1) for part in (children, roots)]


def trace_id(number: int) -> bytes:
    """The id of the trace with this number."""
    return b"ragstone" + number.to_bytes(8, "big")


@cache
def _template(seed: int, n: int) -> tuple[bytes, list[list[int]]]:
    """A request, and where in it the id of each trace stands."""
    draw = random.Random(seed)
    marks = [bytes(draw.randrange(256) for _ in range(16)) for _ in range(n)]
    spans = (span for mark in marks for span in _trace(mark, draw))
    body = request({"service.name": "shop", "service.version": "1.4.2"}, spans).SerializeToString()
    return body, [[at.start() for at in re.finditer(re.escape(mark), body)] for mark in marks]


def _trace(id: bytes, draw: random.Random) -> Iterator[Span]:
    example = draw.choice(_answers())
    aside = _ASIDE if draw.random() < 0.05 else ""
    question, answer = f"{example.question}{aside}", example.answer or ""
    passages = [" ".join(draw.choices(demo_words(), k=150)) for _ in range(5)]
    messages = [
        {"role": "system", "content": "Answer by the passages.\n\n" + "\n\n".join(passages[:3])},
        {"role": "user", "content": question},
    ]
    documents: Attributes = {
        f"retrieval.documents.{n}.document.{name}": value
        for n, text in enumerate(passages)
        for name, value in (("id", f"d{n}"), ("content", text), ("score", 0.9 - n / 10))
    }
    steps: list[Attributes] = [
        {"openinference.span.kind": "CHAIN", "input.value": question, "output.value": answer,
         "session.id": f"s{draw.randrange(10_000)}"},
        {"openinference.span.kind": "RETRIEVER", "input.value": question, **documents},
        {"openinference.span.kind": "LLM", "llm.model_name": "small-1",
         "llm.token_count.prompt": 812, "llm.token_count.completion": 64,
         "input.value": json.dumps({"messages": messages}), "output.value": answer},
        {"openinference.span.kind": "EMBEDDING", "embedding.model_name": "e-1",
         "input.value": question},
    ]  # fmt: skip
    root = draw.randbytes(8)
    for number, attributes in enumerate(steps):
        own, parent = (draw.randbytes(8), root) if number else (root, b"")
        name = str(attributes["openinference.span.kind"]).lower()
        yield span(id, own, parent, name, attributes, FIRST + number * 10**7)


def request(resource: Mapping[str, str], spans: Iterable[Span]) -> TracesData:
    """A request with the spans of an app."""
    data = TracesData()
    group = data.resource_spans.add()
    for name, value in resource.items():
        group.resource.attributes.add(key=name).value.string_value = value
    group.scope_spans.add().spans.extend(spans)
    return data


def span(
    trace: bytes, id: bytes, parent: bytes, name: str, attributes: Attributes, start: int = FIRST
) -> Span:
    """A span with attributes of any type."""
    made = Span(
        trace_id=trace,
        span_id=id,
        parent_span_id=parent,
        name=name,
        start_time_unix_nano=start,
        end_time_unix_nano=FIRST + 10**9,
    )
    for key, value in attributes.items():
        field = {str: "string_value", float: "double_value", int: "int_value"}[type(value)]
        setattr(made.attributes.add(key=key).value, field, value)
    return made


@cache
def _answers() -> list[Example]:
    return list(read(cornwall()))
