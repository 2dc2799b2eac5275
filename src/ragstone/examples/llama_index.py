"""LlamaIndex: results of its evaluators, alone or by evaluator, and responses with their nodes."""

from collections.abc import Mapping
from typing import Any

RESULT = frozenset(("query", "response", "passing"))
REMARKS = ("feedback", "invalid_result", "invalid_reason", "pairwise_source")


def is_llama_index(record: Mapping[str, Any]) -> bool:
    """Whether it is an ``EvaluationResult``, or a response with ``source_nodes``."""
    if "source_nodes" in record:
        return _are_nodes(record["source_nodes"])
    response = record.get("response")
    if isinstance(response, dict):
        return _are_nodes(response.get("source_nodes"))
    return record.keys() >= RESULT


def flat_llama_index(record: Mapping[str, Any]) -> dict[str, Any]:
    """A response with its nodes as contexts; an evaluator's remarks go to ``meta``."""
    response = record.get("response")
    flat = {**record, **response} if isinstance(response, dict) else dict(record)
    if "source_nodes" in flat and "contexts" not in flat:
        flat["contexts"] = flat.pop("source_nodes")
    remarks = {name: flat.pop(name) for name in REMARKS if record.keys() >= RESULT and name in flat}
    said = {name: remark for name, remark in remarks.items() if remark}
    if said and isinstance(flat.get("meta", {}), dict):
        flat["meta"] = {**flat.get("meta", {}), **said}
    return flat


def rows_of_batch(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of what ``BatchEvalRunner`` gives: for each evaluator a list of the same examples.

    A row is an example, with each evaluator's score under its name. None if it is something else.
    """
    lists = list(document.values())
    if not lists or not all(isinstance(one, list) and len(one) == len(lists[0]) for one in lists):
        return None
    if not all(isinstance(one, dict) and one.keys() >= RESULT for part in lists for one in part):
        return None
    rows = []
    for results in zip(*lists, strict=True):
        row = {name: results[0].get(name) for name in ("query", "response", "contexts")}
        row["meta"] = {
            evaluator: {name: result.get(name) for name in ("passing", *REMARKS)}
            for evaluator, result in zip(document, results, strict=True)
        }
        scores = (result.get("score") for result in results)
        rows.append({**dict(zip(document, scores, strict=True)), **row, "passing": None})
    return rows


def _are_nodes(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict) and isinstance(one.get("node"), dict) for one in value
    )
