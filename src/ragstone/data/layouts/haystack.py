"""Haystack: outputs of pipelines and components, and runs of its evaluators."""

from collections.abc import Iterator, Mapping
from typing import Any

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
_ANSWER = {"data", "query", "documents"}


def _says(part: Mapping[str, Any]) -> bool:
    if isinstance(part.get("replies"), list) or part.keys() >= _ANSWER:
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
    answers = [part] if part.keys() >= _ANSWER else part.get("answers")
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
