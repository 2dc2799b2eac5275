"""Resembling: unused columns whose names suggest that they were meant for a field.

``retrieved_ctx``, ``source_nodes`` and ``retrieved_contxts`` all look like contexts. They are never
read as such, because a wrong guess would give wrong scores; they are only reported.
"""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache

from ragstone.examples.fields import NAMES, squash

GUESSED = ("question", "contexts", "answer", "reference", "evidence", "history",
           "context_ids", "reference_contexts", "system", "question_id")  # fmt: skip
"""The fields that a column may have been meant for."""

NOUNS: Mapping[str, frozenset[str]] = {
    "question": frozenset({"question", "questions", "query", "queries", "input", "prompt",
                           "instruction"}),
    "contexts": frozenset({"context", "contexts", "ctx", "ctxs", "chunk", "chunks", "passage",
                           "passages", "document", "documents", "doc", "docs", "node", "nodes",
                           "snippet", "snippets", "paragraph", "paragraphs", "excerpt", "excerpts",
                           "retrieved", "retrieval", "results", "hits", "knowledge"}),
    "answer": frozenset({"answer", "response", "responses", "output", "prediction", "predictions",
                         "completion", "generation", "reply"}),
    "reference": frozenset({"answers"}),
}  # fmt: skip
"""Words that mean the field, if no others are in the column's name but those below."""

GOLD = frozenset({"gold", "golden", "correct", "expected", "ideal", "right", "true", "truth",
                  "ground", "target", "reference", "gt", "supporting"})  # fmt: skip
OF_GOLD = {"answer": "reference", "contexts": "evidence"}
"""What a field is called if it is right by definition."""

FILLING = frozenset({"source", "sources", "relevant", "top", "k", "search", "used", "rag", "final",
                     "text", "texts", "content", "contents", "list", "all", "raw", "generated",
                     "model", "llm", "ai", "bot", "assistant", "predicted", "candidate", "user",
                     "my", "original", "given", "the", "full", "string", "str",
                     "json"})  # fmt: skip

CLOSE = 0.85
LONGEST = 60

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_KNOWN = {squash(name): field for field in GUESSED for name in NAMES[field]}
_SORTED = {"".join(sorted(name)): field for name, field in _KNOWN.items()}


@lru_cache(maxsize=4096)
def resembled(column: str) -> str | None:
    """The field that a column's name resembles; None if it resembles none.

    >>> resembled("retrieved_ctx"), resembled("correctAnswer"), resembled("doc_title")
    ('contexts', 'reference', None)
    """
    if len(column) > LONGEST:
        return None
    words = {word.lower() for word in _WORD.findall(column)} - FILLING
    if words and words <= GOLD:
        return "reference"
    for field, nouns in NOUNS.items():
        if (left := words - GOLD) and left <= nouns:
            return field if left == words else OF_GOLD.get(field, field)
    name = squash(column)
    if swapped := _SORTED.get("".join(sorted(name))):
        return swapped
    close = get_close_matches(name, _KNOWN, n=1, cutoff=CLOSE)
    return _KNOWN[close[0]] if close else None


def could_be(field: str, value: object) -> bool:
    """Whether a value is of the kind that the field has, so that the column may be meant for it."""
    if field in ("contexts", "reference", "evidence", "history"):
        return isinstance(value, (str, list, dict)) and bool(value)
    if field in ("context_ids", "reference_contexts"):
        return isinstance(value, (list, dict)) and bool(value)
    return isinstance(value, str) or (field in ("system", "question_id") and type(value) is int)
