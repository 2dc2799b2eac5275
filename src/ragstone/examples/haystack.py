"""Haystack: what pipelines give (replies, answers, documents), and results of evaluation runs."""

from collections.abc import Iterator, Mapping
from typing import Any

TEXT_PARTS = ("content", "_content")


def is_haystack(record: Mapping[str, Any]) -> bool:
    """Whether it has replies or answers of a pipeline, beside the question or by component."""
    return _says(record) or any(type(part) is dict and _says(part) for part in record.values())


def flat_haystack(record: Mapping[str, Any]) -> dict[str, Any]:
    """The first answer, its question, its documents and its model, side by side.

    Of several components the last one counts: what it says of documents is what was read.
    """
    components = _components(record)
    flat: dict[str, Any] = {}
    for part in (*components.values(), record):
        flat.update(_said(part))
    used = {name for name, part in components.items() if part.keys() & {"documents", *_SAYS}}
    own = {name: value for name, value in record.items() if name not in used and name not in _SAYS}
    return {**flat, **own}


_SAYS = ("replies", "answers")


def _says(part: Mapping[str, Any]) -> bool:
    if isinstance(part.get("replies"), list):
        return True
    answers = part.get("answers")
    return isinstance(answers, list) and any("data" in one for one in _objects(answers))


def _components(record: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: part for name, part in record.items() if isinstance(part, dict)}


def _said(part: Mapping[str, Any]) -> dict[str, Any]:
    """What one component says."""
    said: dict[str, Any] = {}
    model = None
    if isinstance(part.get("documents"), list):
        said["documents"] = part["documents"]
    if isinstance(replies := part.get("replies"), list):
        reply = replies[0] if replies else None
        said["response"] = _text(reply)
        model = _model(part.get("meta")) or (isinstance(reply, dict) and _model(reply))
    answers = part.get("answers")
    for answer in _objects(answers) if isinstance(answers, list) and _says(part) else ():
        found = {"response": answer.get("data"), "query": answer.get("query"),
                 "documents": answer.get("documents")}  # fmt: skip
        said.update({name: value for name, value in found.items() if value is not None})
        model = _model(answer)
        break
    if model:
        said["system"] = model
    return said


def _objects(values: list[Any]) -> Iterator[dict[str, Any]]:
    """Objects of Haystack, as they are or as ``to_dict`` wraps them."""
    for one in values:
        if isinstance(one, dict):
            inner = one.get("init_parameters")
            yield inner if isinstance(inner, dict) else one


def _text(reply: object) -> object:
    """A reply as text; a chat message is an object with parts of text."""
    if not isinstance(reply, dict):
        return reply
    content = next((reply[name] for name in TEXT_PARTS if name in reply), None)
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))
    return content


def _model(said: object) -> str | None:
    """The model that ``meta`` names, in a list, in an object, or in the object's own meta."""
    if isinstance(said, list):
        said = said[0] if said else None
    if not isinstance(said, dict):
        return None
    meta = next(
        (said[name] for name in ("meta", "_meta") if isinstance(said.get(name), dict)), said
    )
    model = meta.get("model")
    return model if isinstance(model, str) and model else None


def columns_of_run(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """The columns of an ``EvaluationRunResult``: its inputs, and the scores of each metric."""
    inputs, results = document.get("inputs"), document.get("results")
    if not isinstance(inputs, dict) or not isinstance(results, dict):
        return None
    lengths = {len(one) if isinstance(one, list) else -1 for one in inputs.values()}
    if len(lengths) != 1 or lengths == {-1}:
        return None
    scores = {
        metric: found["individual_scores"]
        for metric, found in results.items()
        if isinstance(found, dict) and isinstance(found.get("individual_scores"), list)
    }
    name = document.get("run_name")
    systems = {"system": [name] * lengths.pop()} if isinstance(name, str) and name else {}
    return {**scores, **systems, **inputs}
