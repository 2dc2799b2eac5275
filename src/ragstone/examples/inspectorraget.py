"""InspectorRAGet: its JSON of models, tasks and results, where a result is an example.

Both versions of its schema: 1, with ``evaluations`` of ``annotations``, and 2, with ``results`` of
``scores``; names in snake or camel case. What people said becomes labels by annotator, what
algorithms computed goes to ``meta``.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]

HUMAN = " (human)"
"""Behind the name of a label where a metric of the same name is beside it."""

OWN = frozenset(("task_id", "task_type", "contexts", "input", "targets", "question_id"))
"""The fields of a task that are no slices."""


def has_its_head(document: Record) -> bool:
    """Whether the models and tasks of such a document have been read."""
    return isinstance(document.get("models"), list) and isinstance(document.get("tasks"), list)


def rows_of_inspectorraget(document: Record) -> list[dict[str, Any]] | None:
    """A row a result of a model for a task; None if the document is something else."""
    results = document.get("results", document.get("evaluations"))
    if not has_its_head(document) or not isinstance(results, list):
        return None
    if not all(isinstance(one, dict) for one in (*results, *document["tasks"])):
        return None
    tasks = {_text(one, "task_id"): one for one in document["tasks"]}
    texts = {_text(one, "document_id"): one for one in _objects(document.get("documents"))}
    metrics = {str(one.get("name")): one for one in _objects(document.get("metrics"))}
    filters = [name for name in _list(document.get("filters")) if isinstance(name, str)]
    return [_row(one, tasks.get(_text(one, "task_id"), {}), texts, metrics, filters)
            for one in results]  # fmt: skip


def _row(
    result: Record, task: Record, texts: Record, metrics: Record, filters: Sequence[str]
) -> dict[str, Any]:
    task_id, model = _text(result, "task_id"), _text(result, "model_id")
    labels, meta = _said(result.get("scores", result.get("annotations")), metrics)
    contexts = result.get("contexts", task.get("contexts"))
    slices = {name: task[name] for name in filters if name in task and name not in OWN}
    return {
        "id": result.get("example_id") or f"{task_id}::{model}",
        "question_id": task.get("question_id") or task_id,
        "system": model,
        **_asked(task.get("input")),
        "contexts": None if contexts is None else [_context(one, texts) for one in _list(contexts)],
        "answer": _answer(result),
        "reference": [text for one in _objects(task.get("targets")) if (text := _target(one))],
        "slices": result.get("slices", slices),
        "labels": labels,
        "meta": meta,
    }


def _asked(given: object) -> dict[str, Any]:
    """The question, and what was said before it."""
    if not isinstance(given, list):
        return {"question": given}
    turns = [
        {"role": one.get("role", one.get("speaker", "user")),
         "content": one.get("content", one.get("text"))}
        for one in _objects(given)
    ]  # fmt: skip
    if not turns:
        return {"question": None}
    *before, last = turns
    return {"question": last["content"], "history": before} if before else {
        "question": last["content"]
    }  # fmt: skip


def _context(given: object, texts: Record) -> dict[str, Any]:
    """A context, with its text from the documents where it does not hold it itself."""
    own = given if isinstance(given, dict) else {"document_id": given}
    id = _text(own, "document_id")
    document = texts.get(id, {})
    text = own.get("text", document.get("text"))
    found = {"id": own.get("context_id", id), "text": text, "score": own.get("score")}
    return {name: value for name, value in found.items() if value is not None}


def _answer(result: Record) -> object:
    output = result.get("output")
    if isinstance(output, dict):
        return output.get("value")
    return result.get("model_response", result.get("modelResponse", output))


def _target(target: Record) -> object:
    return target.get("value", target.get("text"))


def _said(scores: object, metrics: Record) -> tuple[dict[str, Any], dict[str, Any]]:
    """Labels by annotator, and what goes to ``meta``: scores of algorithms and comments."""
    labels: dict[str, Any] = {}
    meta: dict[str, dict[str, Any]] = {}
    for name, by_annotator in scores.items() if isinstance(scores, dict) else ():
        metric = metrics.get(name, {})
        votes = dict(_votes(by_annotator, metric))
        if not votes:
            continue
        words = all(isinstance(one, str) for one in votes.values())
        if metric.get("type") == "text" and words and not metric.get("values"):
            meta.setdefault("comments", {})[name] = votes
        elif metric.get("author") == "human":
            labels[name.removesuffix(HUMAN)] = votes
        else:
            value = next(iter(votes.values()))
            meta.setdefault("scores", {})[name] = value if len(votes) == 1 else votes
    return labels, dict(meta)


def _votes(by_annotator: object, metric: Record) -> Iterator[tuple[str, Any]]:
    """What each annotator said; a word that is the number behind it is that number."""
    numbers = {
        str(one.get("value")): one.get("numeric_value", one.get("numericValue"))
        for one in _objects(metric.get("values"))
    }
    for annotator, vote in by_annotator.items() if isinstance(by_annotator, dict) else ():
        value = vote.get("value") if isinstance(vote, dict) else vote
        if value is not None:
            number = numbers.get(str(value))
            yield str(annotator), number if str(number) == str(value) else value


def _objects(given: object) -> list[dict[str, Any]]:
    return [one for one in _list(given) if isinstance(one, dict)]


def _list(given: object) -> list[Any]:
    return given if isinstance(given, list) else []


def _text(record: Record, name: str) -> str:
    head, _, tail = name.partition("_")
    found = record.get(name, record.get(f"{head}{tail.capitalize()}"))
    return "" if found is None else str(found)
