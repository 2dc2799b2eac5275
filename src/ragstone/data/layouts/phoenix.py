"""Phoenix: its tables of spans, of which each trace becomes an example.

The root span has question and answer, the retrievers' spans have the documents, and the last span
of a language model names the system. Spans are known by their columns, as ``get_spans_dataframe``
has them; so are the tables of ``get_qa_with_reference``, whose ``reference`` is the retrieved text,
and of ``get_retrieved_documents``.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.data.example import parse_cell
from ragstone.data.fields import NAMES, squash
from ragstone.data.json_text import finite_number, object_or_empty, opened
from ragstone.data.sources import Row

SPAN, TRACE, POSITION = "context.span_id", "context.trace_id", "document_position"
INPUT, OUTPUT = "attributes.input.value", "attributes.output.value"
RETRIEVED = "attributes.retrieval.documents"
RERANKED = "attributes.reranker.output_documents"
MODEL, MESSAGES = "attributes.llm.model_name", "attributes.llm.output_messages"
SESSION = "attributes.session.id"
SLICES = ("name", "status_code")

_NUMBERED = re.compile(
    r"(attributes\.(?:retrieval\.documents|reranker\.output_documents))\.([0-9]{1,6})\.(document\.\w+)"
)
_ASKED = frozenset(map(squash, NAMES["question"]))
_SAID = frozenset(map(squash, (*NAMES["answer"], "result", "text")))

Span = Mapping[str, Any]


def is_phoenix(record: Span) -> bool:
    """Return True for a span, or a row of a table made of spans."""
    context = opened(record.get("context"))
    if isinstance(context, dict) and isinstance(opened(record.get("attributes")), dict):
        return "span_id" in context
    return not record.keys().isdisjoint((SPAN, TRACE)) and bool(
        record.keys() & {INPUT, OUTPUT, RETRIEVED} or record.keys() >= {"input", "reference"}
    )


def traces(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield one row a trace: its root span, with documents and model of its other spans.

    All spans are taken into memory, because those of a trace may be anywhere.
    """
    spans_by_trace: dict[str, list[tuple[int | None, Span]]] = {}
    for line, record in rows:
        if isinstance(record, Mapping) and is_phoenix(record):
            span = _spread(record)
            by = span.get(SPAN) if POSITION in span else span.get(TRACE) or span.get(SPAN)
            spans_by_trace.setdefault(str(by), []).append((line, span))
        else:
            yield line, record
    for spans in spans_by_trace.values():
        yield spans[0][0], _whole([span for _, span in spans])


def flat_phoenix(record: Span) -> dict[str, Any]:
    """Make an example of a trace."""
    span = _spread(record)
    if "reference" in span:
        texts = span["reference"]
        return {
            "id": span.get(SPAN),
            "question": span["input"],
            "contexts": [texts] if isinstance(texts, str) else texts,
            **({"answer": span["output"]} if "output" in span else {}),
        }
    flat = {
        "id": span.get(SPAN) or span.get(TRACE),
        "question": _phoenix_text(span.get(INPUT), _ASKED),
        "contexts": span.get(RETRIEVED),
        "answer": _phoenix_text(span.get(OUTPUT), _SAID),
        "system": span.get(MODEL),
        "session": span.get(SESSION),
        "slices": {name: span[name] for name in SLICES if span.get(name) is not None},
        "meta": {TRACE: span[TRACE]} if span.get(TRACE) else {},
    }
    return {name: value for name, value in flat.items() if value is not None}


def _spread(record: Span) -> dict[str, Any]:
    context, attributes = opened(record.get("context")), opened(record.get("attributes"))
    span = dict(record)
    if isinstance(context, dict) and isinstance(attributes, dict):
        span |= {f"context.{name}": value for name, value in context.items()}
        span |= {f"attributes.{name}": value for name, value in _flat(attributes)}
    session = span.get("attributes.session")
    if isinstance(session, dict):
        span[SESSION] = session.get("id")
    lists: dict[str, dict[int, dict[str, Any]]] = {}
    for name, value in span.items():
        if not isinstance(name, str):
            continue
        if (numbered := _NUMBERED.fullmatch(name)) and value is not None:
            attribute, position, key = numbered.groups()
            lists.setdefault(attribute, {}).setdefault(int(position), {})[key] = value
    for attribute, documents in lists.items():
        span[attribute] = [documents[position] for position in sorted(documents)]
    return span


def _flat(attributes: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield attributes, also nested ones by dotted names such as input.value."""
    for name, value in attributes.items():
        yield name, value
        for inner, item in object_or_empty(value).items():
            yield f"{name}.{inner}", item


def _whole(spans: list[Span]) -> Span:
    if POSITION in spans[0]:
        spans = sorted(spans, key=lambda span: finite_number(span[POSITION]) or 0)
        texts = [{"text": span.get("reference"), "score": finite_number(span.get("document_score"))}
                 for span in spans]  # fmt: skip
        return {**spans[0], "reference": texts}
    spans = sorted(spans, key=lambda span: str(span.get("start_time") or ""))
    known = {str(span.get(SPAN)) for span in spans}
    root = min(spans, key=lambda span: (span.get("parent_id") is not None,
                                        str(span.get("parent_id")) in known))  # fmt: skip
    whole = dict(root)
    documents = _documents(spans, RERANKED) or _documents(spans, RETRIEVED)
    if documents is not None:
        whole[RETRIEVED] = documents
    for span in spans:
        if span.get("span_kind") == "LLM" or span.get(MODEL):
            whole[MODEL] = span.get(MODEL) or whole.get(MODEL)
            if root.get(OUTPUT) is None:
                whole[OUTPUT] = _message(span) or span.get(OUTPUT)
        for name in (INPUT, SESSION):
            if whole.get(name) is None and span.get(name) is not None:
                whole[name] = span[name]
    return whole


def _documents(spans: list[Span], attribute: str) -> list[Any] | None:
    lists = [_listed(span.get(attribute)) for span in spans]
    if all(part is None for part in lists):
        return None
    once: dict[str, Any] = {}
    for document in (document for part in lists for document in part or ()):
        once.setdefault(repr(document), document)
    return list(once.values())


def _listed(value: object) -> list[Any] | None:
    if isinstance(value, str):
        value = parse_cell(value, "", [])
    return value if isinstance(value, list) else None


def _message(span: Span) -> str | None:
    messages = _listed(span.get(MESSAGES)) or [{}]
    content = object_or_empty(messages[-1]).get("message.content")
    return content if isinstance(content, str) else None


def _phoenix_text(value: object, names: frozenset[str]) -> object:
    texts = object_or_empty(opened(value)).items() if isinstance(value, str) else ()
    matching = (text for name, text in texts if squash(name) in names and isinstance(text, str))
    return next(matching, value)
