"""No script: traces as the exporters of a RAG system send them, each with an id of its own.

A trace has 4 spans and about 8 kB: a chain with question and answer, a retriever with five
passages, the call of a model with its messages, and the embedding of the question. The texts are
of the demo data; one trace in twenty has an address or a phone number in it.
"""

import gzip
import json
import random
from collections.abc import Iterator
from functools import cache

from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

import ragstone
from ragstone.data import Example, cornwall

HEADERS = {"content-type": "application/x-protobuf", "content-encoding": "gzip"}
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
    data = TracesData()
    group = data.resource_spans.add()
    for name, value in {"service.name": "shop", "service.version": "1.4.2"}.items():
        group.resource.attributes.add(key=name).value.string_value = value
    spans = group.scope_spans.add().spans
    draw = random.Random(seed)
    marks = [bytes(draw.randrange(256) for _ in range(16)) for _ in range(n)]
    for mark in marks:
        spans.extend(_trace(mark, draw))
    body = data.SerializeToString()
    return body, [list(_found(body, mark)) for mark in marks]


def _found(body: bytes, mark: bytes) -> Iterator[int]:
    at = body.find(mark)
    while at >= 0:
        yield at
        at = body.find(mark, at + 16)


def _trace(id: bytes, draw: random.Random) -> Iterator[Span]:
    told = draw.choice(_answers())
    aside = _ASIDE if draw.random() < 0.05 else ""
    question, answer = f"{told.question}{aside}", told.answer or ""
    passages = [" ".join(draw.choices(_words(), k=150)) for _ in range(5)]
    messages = [
        {"role": "system", "content": "Answer by the passages.\n\n" + "\n\n".join(passages[:3])},
        {"role": "user", "content": question},
    ]
    documents: dict[str, str | float] = {
        f"retrieval.documents.{n}.document.{name}": value
        for n, text in enumerate(passages)
        for name, value in (("id", f"d{n}"), ("content", text), ("score", 0.9 - n / 10))
    }
    said: list[dict[str, str | float]] = [
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
    for number, attributes in enumerate(said):
        span = Span(
            trace_id=id,
            span_id=draw.randbytes(8) if number else root,
            parent_span_id=root if number else b"",
            name=str(attributes["openinference.span.kind"]).lower(),
            start_time_unix_nano=FIRST + number * 10**7,
            end_time_unix_nano=FIRST + 10**9,
        )
        for name, value in attributes.items():
            known = span.attributes.add(key=name).value
            if isinstance(value, str):
                known.string_value = value
            elif isinstance(value, float):
                known.double_value = value
            else:
                known.int_value = int(value)
        yield span


@cache
def _answers() -> list[Example]:
    return list(ragstone.read(cornwall()))


@cache
def _words() -> list[str]:
    """Words as often as they are in passages; drawn one by one they pack as text does."""
    texts = [one.text or "" for told in _answers() for one in told.contexts or ()]
    return " ".join(texts).split()
