"""Retrieved documents: retrieval results in their many shapes, and a corpus of texts by id."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.core.errors import DataError, Fault, InputError
from ragstone.data.example import id_text
from ragstone.data.fields import squash

from .trace_texts import opened, text_in

IDS = (
    *("id", "_id", "id_", "doc_id", "docid", "document_id", "chunk_id", "node_id", "passage_id"),
    "uuid",
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
_HOLDERS = ("node", "document", "kwargs", "payload", "text_resource")
# Documents of one retrieval that are looked at.
MOST = 1_000

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
    if len(value) == 1 and isinstance(value[0], list) and not _is_pair(value[0]):
        return documents_in(value[0], deep - 1)
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
        return None if inner is None else replace(inner, score=_number(value[1]))
    if not isinstance(value, dict):
        return None
    by_name = _flat(value)
    texts = (text_in(by_name.get(squash(name))) for name in TEXTS)
    text = next(filter(None, texts), None)
    scores = (_number(by_name.get(squash(score))) for score in SCORES)
    score = next((score for score in scores if score is not None), None)
    metadata = opened(by_name.get("metadata"))
    about = metadata if isinstance(metadata, dict) else {}
    source = _id({squash(name): item for name, item in about.items()}, IN_METADATA)
    return Document(_id(by_name, IDS), text, score, source)


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in document.items():
        if name in _HOLDERS and isinstance(value, dict):
            for inner, item in _flat(value).items():
                fields.setdefault(inner, item)
        else:
            fields[squash(name.removeprefix("document."))] = value
    if "kwargs" in document:
        # The id of what LangChain writes down is that of a class.
        inner = document["kwargs"]
        fields["id"] = inner.get("id") if isinstance(inner, dict) else None
    return fields


def _id(by_name: Mapping[str, Any], names: Iterable[str]) -> str | None:
    ids = (id_text(by_name.get(squash(name))) for name in names)
    return next((id[:1000] for id in ids if id and id.strip()), None)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


ID_FIELDS = ("_id", "id", "doc_id", "document_id")
TEXT_FIELDS = ("text", "contents", "content", "page_content")
SHOWN = 20
# Passages whose texts are kept, for the same ones are found again and again.
REMEMBERED = 512


class Corpus:
    """Passages in a file of JSON lines with ``_id`` or ``id``, ``title`` and ``text``, as BEIR has
    them.

    In memory are 16 bytes a passage, which say where it lies; its text is read when it is asked
    for. A file that is replaced meanwhile has to be opened anew; until then no wrong text is given.

    Raises:
        InputError: It cannot be opened.
        DataError: Lines have no id or no text; with the first of them.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        try:
            with self.path.open("rb") as file:
                self._keys, self._starts = _index(file, self.path)
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}.") from None
        self._remembered = lru_cache(REMEMBERED)(self._read)

    def __len__(self) -> int:
        return len(self._keys)

    def text(self, id: str) -> str | None:
        """Title and text of the passage with this id; None if there is none."""
        return self._remembered(id)

    def _read(self, id: str) -> str | None:
        key = _key(id)
        first, behind = np.searchsorted(self._keys, key), np.searchsorted(self._keys, key, "right")
        if first == behind:
            return None
        try:
            with self.path.open("rb") as file:
                for start in self._starts[first:behind]:
                    file.seek(int(start))
                    passage = _passage(file.readline())
                    if passage is not None and passage[0] == id:
                        return passage[1]
        except OSError:
            return None
        return None


def _index(file: Any, path: Path) -> tuple[np.ndarray, np.ndarray]:
    keys, starts, faults, at = [], [], [], 0
    for number, line in enumerate(file, 1):
        if line.strip():
            passage = _passage(line)
            if passage is None:
                expected = "an object with _id or id, and text"
                faults.append(Fault(str(path), number, "", expected, repr(line[:60])))
                if len(faults) > SHOWN:
                    break
            else:
                keys.append(_key(passage[0]))
                starts.append(at)
        at += len(line)
    if faults:
        raise DataError(faults, hint="A corpus is a file of JSON lines, one passage each.")
    order = np.argsort(np.array(keys, np.uint64), kind="stable")
    return np.array(keys, np.uint64)[order], np.array(starts, np.uint64)[order]


def _key(id: str) -> int:
    return int.from_bytes(blake2b(id.encode("utf-8", "replace"), digest_size=8).digest())


def _passage(line: bytes) -> tuple[str, str] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    ids = (id_text(record.get(name)) for name in ID_FIELDS)
    id = next((id for id in ids if id is not None), None)
    text = next((record[name] for name in TEXT_FIELDS if isinstance(record.get(name), str)), None)
    if text is None or id is None:
        return None
    title = record.get("title")
    return id, f"{title}\n{text}" if isinstance(title, str) and title else text
