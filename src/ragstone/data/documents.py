"""Documents: what was retrieved, in the many shapes in which passages are written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .conversation import text_in
from .example import Context, id_text
from .fields import squash
from .json_text import finite_number, first_value, object_or_empty, opened

IDS = (
    *("id", "_id", "id_", "doc_id", "docid", "document_id", "chunk_id", "node_id", "passage_id"),
    *("uuid", "file_id", "segment_id", "context_id"),
)
TEXTS = (
    *("content", "page_content", "text", "document", "passage", "chunk", "body", "snippet"),
    "value",
)
SCORES = ("score", "relevance_score", "similarity", "similarity_score", "rerank_score")
IN_METADATA = (*IDS, "source", "url", "uri", "doc_uri", "file_name", "title")
LISTS = (
    *("documents", "source_documents", "retrieved_documents", "contexts", "retrieved_contexts"),
    *("context", "docs", "nodes", "source_nodes", "results", "chunks", "passages", "matches"),
    *("output", "result", "response", "data"),
)
HOLDERS = frozenset((
    *("node", "document", "kwargs", "payload", "text_resource", "properties"),
    *("_source", "retrievedContext", "retrieved_context", "data"),
))  # fmt: skip
# Documents of one retrieval that are looked at.
MOST = 100_000

DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Document:
    """Something that was retrieved; each of these may be missing.

    Attributes:
        source: What its metadata call it, such as the name of a file; chunks may share it.
    """

    id: str | None = None
    text: str | None = None
    score: float | None = None
    source: str | None = None


def documents_in(value: Any, deep: int = DEEPEST) -> list[Document] | None:
    """Return the documents that a value is or holds; None if it is nothing of the kind."""
    value = opened(value)
    if not deep:
        return None
    if isinstance(value, dict):
        by_name = {squash(name): item for name, item in reversed(list(value.items()))}
        for name in LISTS:
            inner = by_name.get(squash(name))
            if inner is not None and (documents := documents_in(inner, deep - 1)) is not None:
                return documents
        return None
    if not isinstance(value, list):
        return None
    inner = opened(value[0]) if len(value) == 1 else None
    if isinstance(inner, list) and not _is_pair(inner):
        return documents_in(inner, deep - 1)
    documents = [document for item in value[:MOST] if (document := _document(item)) is not None]
    return documents if documents or not value else None


def _is_pair(value: list[Any]) -> bool:
    return len(value) == 2 and isinstance(value[1], (int, float))


def _document(value: Any) -> Document | None:
    value = opened(value) if isinstance(value, str) and value[:1] == "{" else value
    if isinstance(value, str):
        return Document(text=value)
    if isinstance(value, list) and _is_pair(value):
        inner = _document(value[0])
        return None if inner is None else replace(inner, score=finite_number(value[1]))
    if not isinstance(value, dict):
        return None
    by_name = unwrapped(value)
    texts = (text_in(by_name.get(squash(name))) for name in TEXTS)
    text = next(filter(None, texts), None) or None
    if text is None and isinstance(value.get("source"), dict):
        text = text_in(value["source"]) or None
    about = object_or_empty(opened(by_name.get("metadata")))
    if text is None:
        text = first_value(about, TEXTS, str)
    scores = (finite_number(by_name.get(squash(score))) for score in SCORES)
    score = next((score for score in scores if score is not None), None)
    source = _id({squash(name): item for name, item in about.items()}, IN_METADATA)
    source = source or _id(by_name, ("source", "uri", "url"))
    return Document(_id(by_name, IDS), text, score, source)


def unwrapped(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a passage by their squashed names, those in its holders with them.

    >>> unwrapped({"node": {"id_": "n1", "text": "t"}, "score": 0.5})
    {'id': 'n1', 'text': 't', 'score': 0.5}
    >>> unwrapped({"document.content": "t", "document.score": 0.5})
    {'content': 't', 'score': 0.5}
    """
    fields: dict[str, Any] = {}
    for name, value in document.items():
        if name in HOLDERS and isinstance(value, dict):
            for inner, item in unwrapped(value).items():
                fields.setdefault(inner, item)
        else:
            fields[squash(name.removeprefix("document."))] = value
    if "kwargs" in document:
        # The id of what LangChain writes down is that of a class.
        fields["id"] = object_or_empty(document["kwargs"]).get("id")
    return fields


def _id(by_name: Mapping[str, Any], names: Iterable[str]) -> str | None:
    ids = (id_text(by_name.get(squash(name))) for name in names)
    return next((id[:1000] for id in ids if id and id.strip()), None)


TextOf = Callable[[str], str | None]


def no_text(id: str) -> None:
    """Return None: no passage is known by its id."""


def contexts_of(documents: Sequence[Document], text_of: TextOf = no_text) -> tuple[Context, ...]:
    """Return the passages as contexts with ids; ``text_of`` fills in missing texts by id."""
    contexts = []
    ids: set[str] = set()
    for rank, document in enumerate(documents, 1):
        text = document.text
        if text is None:
            passages = map(text_of, filter(None, (document.id, document.source)))
            text = next((passage for passage in passages if passage is not None), None)
        id = name = document.id or document.source or str(rank)
        again = 1
        while id in ids:
            again += 1
            id = f"{name}#{again}"
        ids.add(id)
        contexts.append(Context(id, text, rank, document.score))
    return tuple(contexts)
