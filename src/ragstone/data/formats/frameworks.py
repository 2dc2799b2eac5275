"""Frameworks: results and traces of Haystack, LlamaIndex and Phoenix, read as flat records.

Each Phoenix trace becomes an example. The root span has question and answer, the retrievers'
spans have the documents, and the last span of a language model names the system. Spans are known
by their columns, as ``get_spans_dataframe`` has them; so are the tables of
``get_qa_with_reference``, whose ``reference`` is the retrieved text, and of
``get_retrieved_documents``.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ragstone.data.example import parse_cell
from ragstone.data.fields import NAMES, squash
from ragstone.data.json_text import BadJsonError, decode
from ragstone.data.sources import Row

TEXT_PARTS = ("content", "_content")


def is_haystack(record: Mapping[str, Any]) -> bool:
    """Return True if the record has replies or answers of a pipeline or its components."""
    return _says(record) or any(type(part) is dict and _says(part) for part in record.values())


def flat_haystack(record: Mapping[str, Any]) -> dict[str, Any]:
    """Put the first answer, its question, documents and model side by side.

    The last of several components counts: its documents are what was read.
    """
    components = {name: part for name, part in record.items() if isinstance(part, dict)}
    flat: dict[str, Any] = {}
    for part in (*components.values(), record):
        flat.update(_said(part))
    used = {name for name, part in components.items() if part.keys() & {"documents", *_SAYS}}
    rest = {name: value for name, value in record.items() if name not in used and name not in _SAYS}
    return {**flat, **rest}


_SAYS = ("replies", "answers")


def _says(part: Mapping[str, Any]) -> bool:
    if isinstance(part.get("replies"), list):
        return True
    answers = part.get("answers")
    return isinstance(answers, list) and any("data" in answer for answer in _objects(answers))


def _said(part: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    model = None
    if isinstance(part.get("documents"), list):
        facts["documents"] = part["documents"]
    if isinstance(replies := part.get("replies"), list):
        reply = replies[0] if replies else None
        facts["response"] = _text(reply)
        model = _model(part.get("meta")) or (isinstance(reply, dict) and _model(reply))
    answers = part.get("answers")
    for answer in _objects(answers) if isinstance(answers, list) and _says(part) else ():
        fields = {"response": answer.get("data"), "query": answer.get("query"),
                 "documents": answer.get("documents")}  # fmt: skip
        facts.update({name: value for name, value in fields.items() if value is not None})
        model = _model(answer)
        break
    if model:
        facts["system"] = model
    return facts


def _objects(values: list[Any]) -> Iterator[dict[str, Any]]:
    """Objects of Haystack, as they are or as ``to_dict`` wraps them."""
    for value in values:
        if isinstance(value, dict):
            inner = value.get("init_parameters")
            yield inner if isinstance(inner, dict) else value


def _text(reply: object) -> object:
    if not isinstance(reply, dict):
        return reply
    content = next((reply[name] for name in TEXT_PARTS if name in reply), None)
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return content


def _model(value: object) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict):
        return None
    metas = (value.get(name) for name in ("meta", "_meta"))
    model = next((meta for meta in metas if isinstance(meta, dict)), value).get("model")
    return model if isinstance(model, str) and model else None


def columns_of_run(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return inputs and scores of an ``EvaluationRunResult``, as columns."""
    inputs, results = document.get("inputs"), document.get("results")
    if not isinstance(inputs, dict) or not isinstance(results, dict):
        return None
    lengths = {len(column) if isinstance(column, list) else -1 for column in inputs.values()}
    if len(lengths) != 1 or lengths == {-1}:
        return None
    scores = {
        metric: result["individual_scores"]
        for metric, result in results.items()
        if isinstance(result, dict) and isinstance(result.get("individual_scores"), list)
    }
    name = document.get("run_name")
    systems = {"system": [name] * lengths.pop()} if isinstance(name, str) and name else {}
    return {**scores, **systems, **inputs}


RESULT = frozenset(("query", "response", "passing"))
REMARKS = ("feedback", "invalid_result", "invalid_reason", "pairwise_source")


def is_llama_index(record: Mapping[str, Any]) -> bool:
    """Return True for an ``EvaluationResult``, or a response with ``source_nodes``."""
    if "source_nodes" in record:
        return _are_nodes(record["source_nodes"])
    response = record.get("response")
    if isinstance(response, dict):
        return _are_nodes(response.get("source_nodes"))
    return record.keys() >= RESULT


def flat_llama_index(record: Mapping[str, Any]) -> dict[str, Any]:
    """Make a response with its nodes as contexts; an evaluator's remarks go to ``meta``."""
    response = record.get("response")
    flat = {**record, **response} if isinstance(response, dict) else dict(record)
    if "source_nodes" in flat and "contexts" not in flat:
        flat["contexts"] = flat.pop("source_nodes")
    remarks = {name: flat.pop(name) for name in REMARKS if record.keys() >= RESULT and name in flat}
    remarks_made = {name: remark for name, remark in remarks.items() if remark}
    if remarks_made and isinstance(flat.get("meta", {}), dict):
        flat["meta"] = {**flat.get("meta", {}), **remarks_made}
    return flat


def rows_of_batch(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the rows of a ``BatchEvalRunner``'s result: for each evaluator a list of the same
    examples.

    A row has each evaluator's score under its name. None if the document is something else.
    """
    lists = list(document.values())
    if not all(isinstance(part, list) and len(part) == len(lists[0]) for part in lists):
        return None
    every = (result for part in lists for result in part)
    if not lists or not all(isinstance(row, dict) and row.keys() >= RESULT for row in every):
        return None
    rows = []
    for of_example in zip(*lists, strict=True):
        row = {name: of_example[0].get(name) for name in ("query", "response", "contexts")}
        row["meta"] = {
            evaluator: {name: result.get(name) for name in ("passing", *REMARKS)}
            for evaluator, result in zip(document, of_example, strict=True)
        }
        scores = (result.get("score") for result in of_example)
        rows.append({**dict(zip(document, scores, strict=True)), **row, "passing": None})
    return rows


def _are_nodes(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(node, dict) and isinstance(node.get("node"), dict) for node in value
    )


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
    if isinstance(record.get("context"), dict) and isinstance(record.get("attributes"), dict):
        return "span_id" in record["context"]
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
    context, attributes = record.get("context"), record.get("attributes")
    span = dict(record)
    if isinstance(context, dict) and isinstance(attributes, dict):
        span |= {f"context.{name}": value for name, value in context.items()}
        span |= {f"attributes.{name}": value for name, value in attributes.items()}
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


def _whole(spans: list[Span]) -> Span:
    if POSITION in spans[0]:
        spans = sorted(spans, key=lambda span: _number(span[POSITION]) or 0)
        texts = [{"text": span.get("reference"), "score": _number(span.get("document_score"))}
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


def _number(value: object) -> float | None:
    try:
        return None if value is None else float(str(value))
    except ValueError:
        return None


def _message(span: Span) -> str | None:
    messages = _listed(span.get(MESSAGES)) or [{}]
    last = messages[-1]
    content = last.get("message.content") if isinstance(last, dict) else None
    return content if isinstance(content, str) else None


def _phoenix_text(value: object, names: frozenset[str]) -> object:
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    inner: object = None
    with suppress(BadJsonError):
        inner = decode(value)
    texts = inner.items() if isinstance(inner, dict) else ()
    matching = (text for name, text in texts if squash(name) in names and isinstance(text, str))
    return next(matching, value)
