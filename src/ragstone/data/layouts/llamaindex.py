"""LlamaIndex: results of its evaluators, and responses with their nodes."""

from collections.abc import Mapping
from typing import Any

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
