"""InspectorRAGet: documents of results of models for tasks.

Both versions of its schema are read: 1, with ``evaluations`` of ``annotations``, and 2, with
``results`` of ``scores``; names may be in snake or camel case. Ratings by people become labels by
annotator, scores of algorithms go to ``meta``.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragstone.data.json_text import list_or_empty, object_or_empty, objects_in

Record = Mapping[str, Any]

# Behind the name of a label where a metric of the same name is beside it.
HUMAN = " (human)"

# The fields of a task that are no slices.
OWN = frozenset(("task_id", "task_type", "contexts", "input", "targets", "question_id"))


def has_its_head(document: Record) -> bool:
    """Return True if the models and tasks of such a document have been read."""
    return isinstance(document.get("models"), list) and isinstance(document.get("tasks"), list)


def rows_of_inspectorraget(document: Record) -> list[dict[str, Any]] | None:
    """Return a row a result of a model for a task; None if the document is something else."""
    results = document.get("results", document.get("evaluations"))
    if not has_its_head(document) or not isinstance(results, list):
        return None
    if not all(isinstance(item, dict) for item in (*results, *document["tasks"])):
        return None
    tasks = {_text(task, "task_id"): task for task in document["tasks"]}
    documents = objects_in(document.get("documents"))
    texts = {_text(document_, "document_id"): document_ for document_ in documents}
    metrics = {str(metric.get("name")): metric for metric in objects_in(document.get("metrics"))}
    filters = [name for name in list_or_empty(document.get("filters")) if isinstance(name, str)]
    return [_row(result, tasks.get(_text(result, "task_id"), {}), texts, metrics, filters)
            for result in results]  # fmt: skip


def _row(
    result: Record, task: Record, texts: Record, metrics: Record, filters: Sequence[str]
) -> dict[str, Any]:
    task_id, model = _text(result, "task_id"), _text(result, "model_id")
    labels, meta = _said(result.get("scores", result.get("annotations")), metrics)
    contexts = result.get("contexts", task.get("contexts"))
    slices = {name: task[name] for name in filters if name in task and name not in OWN}
    passages = [_context(context, texts) for context in list_or_empty(contexts)]
    targets = objects_in(task.get("targets"))
    references = [target.get("value", target.get("text")) for target in targets]
    return {
        "id": result.get("example_id") or f"{task_id}::{model}",
        "question_id": task.get("question_id") or task_id,
        "system": model,
        **_asked(task.get("input")),
        "contexts": None if contexts is None else passages,
        "answer": _answer(result),
        "reference": [text for text in references if text],
        "slices": result.get("slices", slices),
        "labels": labels,
        "meta": meta,
    }


def _asked(turns_or_text: object) -> dict[str, Any]:
    if not isinstance(turns_or_text, list):
        return {"question": turns_or_text}
    turns = [
        {"role": turn.get("role", turn.get("speaker", "user")),
         "content": turn.get("content", turn.get("text"))}
        for turn in objects_in(turns_or_text)
    ]  # fmt: skip
    question = turns.pop()["content"] if turns else None
    return {"question": question, "history": turns} if turns else {"question": question}


def _context(context: object, texts: Record) -> dict[str, Any]:
    fields = context if isinstance(context, dict) else {"document_id": context}
    id = _text(fields, "document_id")
    document = texts.get(id, {})
    text = fields.get("text", document.get("text"))
    facts = {"id": fields.get("context_id", id), "text": text, "score": fields.get("score")}
    return {name: value for name, value in facts.items() if value is not None}


def _answer(result: Record) -> object:
    output = result.get("output")
    if isinstance(output, dict):
        return output.get("value")
    return result.get("model_response", result.get("modelResponse", output))


def _said(scores: object, metrics: Record) -> tuple[dict[str, Any], dict[str, Any]]:
    labels: dict[str, Any] = {}
    meta: dict[str, dict[str, Any]] = {}
    for name, by_annotator in object_or_empty(scores).items():
        metric = metrics.get(name, {})
        votes = dict(_votes(by_annotator, metric))
        if not votes:
            continue
        words = all(isinstance(vote, str) for vote in votes.values())
        if metric.get("type") == "text" and words and not metric.get("values"):
            meta.setdefault("comments", {})[name] = votes
        elif metric.get("author") == "human":
            labels[name.removesuffix(HUMAN)] = votes
        else:
            value = next(iter(votes.values()))
            meta.setdefault("scores", {})[name] = value if len(votes) == 1 else votes
    return labels, dict(meta)


def _votes(by_annotator: object, metric: Record) -> Iterator[tuple[str, Any]]:
    numbers = {
        str(value_.get("value")): value_.get("numeric_value", value_.get("numericValue"))
        for value_ in objects_in(metric.get("values"))
    }
    for annotator, vote in object_or_empty(by_annotator).items():
        value = vote.get("value") if isinstance(vote, dict) else vote
        if value is not None:
            number = numbers.get(str(value))
            yield str(annotator), number if str(number) == str(value) else value


def _text(record: Record, name: str) -> str:
    head, _, tail = name.partition("_")
    value = record.get(name, record.get(f"{head}{tail.capitalize()}"))
    return "" if value is None else str(value)
