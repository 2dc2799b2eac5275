"""Evaluation results: promptfoo, InspectorRAGet and MLflow files, and nested records laid flat.

In promptfoo's results, a provider with a prompt is a system. Both versions of InspectorRAGet's
schema are read: 1, with ``evaluations`` of ``annotations``, and 2, with ``results`` of
``scores``; names may be in snake or camel case. Ratings by people become labels by annotator,
scores of algorithms go to ``meta``.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from ragstone.data.example import spelled_out
from ragstone.data.fields import NAMES, squash
from ragstone.data.sources import Row

from .frameworks import (
    SPAN,
    TRACE,
    flat_haystack,
    flat_llama_index,
    flat_phoenix,
    is_haystack,
    is_llama_index,
    is_phoenix,
    traces,
)

LONGEST_LABEL = 40
# Assertions whose value is a reference answer.
GOLD = ("factuality", "equals", "iequals", "similar", "model-graded-factuality")

_ANSWERS = frozenset(map(squash, NAMES["answer"]))
_REFERENCES = frozenset(map(squash, NAMES["reference"]))
_CONTEXTS = frozenset(map(squash, (*NAMES["contexts"], "context")))
_QUESTIONS = frozenset(map(squash, NAMES["question"]))
_NOT_OF_VARS = _ANSWERS | frozenset(map(squash, (*NAMES["system"], *NAMES["id"], "meta", "labels")))
_OTHER_REFERENCES = ("expected", "answer", "answers")
_SAID = ("gradingResult", "namedScores", "error")


def is_promptfoo(record: Mapping[str, Any]) -> bool:
    """Return True if the record is a result of one test with one provider and prompt."""
    return "provider" in record and isinstance(_vars(record), dict) and (
        "promptIdx" in record or "testCase" in record or {"prompt", "response"} <= record.keys()
    )  # fmt: skip


def with_systems(rows: Iterator[Row]) -> Iterator[Row]:
    """Name the system of each row: the provider, with the prompt if it had several.

    All rows are read first.
    """
    all_rows = list(rows)
    prompts: dict[str, set[str]] = {}
    for _, record in all_rows:
        if isinstance(record, Mapping) and is_promptfoo(record):
            prompts.setdefault(_provider(record), set()).add(_prompt(record))
    for line, record in all_rows:
        if isinstance(record, Mapping) and is_promptfoo(record):
            name = provider = _provider(record)
            if len(prompts[provider]) > 1:
                name = f"{provider}, {_prompt(record)}"
            record = {"system": name, **record}
        yield line, record


def flat_promptfoo(record: Mapping[str, Any]) -> dict[str, Any]:
    """Put variables, output and system side by side; grades go to ``meta``."""
    test = record.get("testCase")
    test = test if isinstance(test, dict) else {}
    variables = _vars(record) or {}
    flat = {name: value for name, value in variables.items() if squash(name) not in _NOT_OF_VARS}
    meta = {name: value for name, value in variables.items() if name not in flat}
    reference = next((meta.pop(name) for name in _OTHER_REFERENCES if name in meta), None)
    reference = flat.pop("expected", reference)
    answer, contexts = _output(record)
    columns = set(map(squash, flat))
    if not columns & _REFERENCES:
        flat["reference"] = _asserted(test) if reference is None else reference
    if not columns & _CONTEXTS and contexts is not None:
        flat["contexts"] = contexts
    if not columns & _QUESTIONS and isinstance(record.get("testIdx"), int):
        flat["question_id"] = str(record["testIdx"])
    for name in ("description", "metadata"):
        about = test.get(name)
        meta.update(about if isinstance(about, dict) else {name: about} if about else {})
    meta.update({name: record[name] for name in _SAID if record.get(name)})
    for name in ("success", "score", "latencyMs", "cost"):
        if isinstance(record.get(name), (int, float)):
            flat.setdefault(name, record[name])
    flat.update(answer=answer, system=record.get("system") or _provider(record), meta=meta)
    if (id := _id(record)) is not None:
        flat["id"] = id
    return flat


def _vars(record: Mapping[str, Any]) -> dict[str, Any] | None:
    test = record.get("testCase")
    inner = test.get("vars") if isinstance(test, dict) else None
    variables = record.get("vars", inner)
    if isinstance(variables, dict) and all(isinstance(name, str) for name in variables):
        return variables
    return None


def _id(record: Mapping[str, Any]) -> str | None:
    if isinstance(record.get("id"), str):
        return str(record["id"])
    position = (record.get("testIdx"), record.get("promptIdx"))
    return f"{position[0]}-{position[1]}" if None not in position else None


def _provider(record: Mapping[str, Any]) -> str:
    provider = record.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return str(provider or "promptfoo")


def _prompt(record: Mapping[str, Any]) -> str:
    prompt = record.get("prompt")
    label = prompt.get("label") if isinstance(prompt, dict) else None
    label = " ".join(str(label or "").split())
    if label and len(label) <= LONGEST_LABEL:
        return label
    id = str(record.get("promptId") or record.get("promptIdx", ""))[:6]
    return f"{label[: LONGEST_LABEL - 1]}… ({id})" if label else f"prompt {id}"


def _output(record: Mapping[str, Any]) -> tuple[object, object]:
    response = record.get("response")
    if not isinstance(response, dict):
        response = {"output": record.get("output") if response is None else response}
    output, contexts = response.get("output"), None
    for holder in (response.get("metadata"), record.get("metadata"), output):
        if isinstance(holder, dict):
            contexts = _first(holder, _CONTEXTS, contexts)
    if isinstance(output, dict):
        output = _first(output, _ANSWERS, output)
    if output in ("", {}, []) and (response.get("error") or record.get("failureReason") == 2):
        output = None  # A provider failed.
    output = spelled_out(output)
    if output is not None and not isinstance(output, str):
        output = json.dumps(output, ensure_ascii=False)
    return output, contexts


def _first(holder: dict[str, Any], names: frozenset[str], otherwise: object) -> object:
    return next((value for name, value in holder.items() if squash(name) in names), otherwise)


def _asserted(test: Mapping[str, Any]) -> str | None:
    asserted = test.get("assert")
    for assertion in asserted if isinstance(asserted, list) else ():
        if isinstance(assertion, dict) and assertion.get("type") in GOLD:
            value = assertion.get("value")
            if isinstance(value, str) and "{{" not in value:
                return value
    return None


def folded(rows: Iterator[Row]) -> Iterator[Row]:
    """Fold spans into traces, and name the systems of promptfoo's tests; keep other rows."""
    head: list[Row] = []
    for row in rows:
        head.append(row)
        if isinstance(row[1], Mapping):
            fold = fold_of(row[1])
            return chain(head, rows) if fold is None else fold(chain(head, rows))
    return iter(head)


def fold_of(record: Mapping[str, Any]) -> Callable[[Iterator[Row]], Iterator[Row]] | None:
    """Return what reads rows such as this together; None if each is an example by itself."""
    return traces if is_phoenix(record) else with_systems if is_promptfoo(record) else None


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
    documents = _objects(document.get("documents"))
    texts = {_text(document_, "document_id"): document_ for document_ in documents}
    metrics = {str(metric.get("name")): metric for metric in _objects(document.get("metrics"))}
    filters = [name for name in _list(document.get("filters")) if isinstance(name, str)]
    return [_row(result, tasks.get(_text(result, "task_id"), {}), texts, metrics, filters)
            for result in results]  # fmt: skip


def _row(
    result: Record, task: Record, texts: Record, metrics: Record, filters: Sequence[str]
) -> dict[str, Any]:
    task_id, model = _text(result, "task_id"), _text(result, "model_id")
    labels, meta = _said(result.get("scores", result.get("annotations")), metrics)
    contexts = result.get("contexts", task.get("contexts"))
    slices = {name: task[name] for name in filters if name in task and name not in OWN}
    passages = [_context(context, texts) for context in _list(contexts)]
    targets = _objects(task.get("targets"))
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
        for turn in _objects(turns_or_text)
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
    for name, by_annotator in scores.items() if isinstance(scores, dict) else ():
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
        for value_ in _objects(metric.get("values"))
    }
    for annotator, vote in by_annotator.items() if isinstance(by_annotator, dict) else ():
        value = vote.get("value") if isinstance(vote, dict) else vote
        if value is not None:
            number = numbers.get(str(value))
            yield str(annotator), number if str(number) == str(value) else value


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(record: Record, name: str) -> str:
    head, _, tail = name.partition("_")
    value = record.get(name, record.get(f"{head}{tail.capitalize()}"))
    return "" if value is None else str(value)


def is_mlflow(record: Mapping[str, Any]) -> bool:
    """Return True if the record keeps its fields apart as inputs, outputs and expectations."""
    return "inputs" in record and ("outputs" in record or "expectations" in record)


def unfold_mlflow(record: Mapping[str, Any]) -> dict[str, Any]:
    """Put inputs, outputs and expectations of an MLflow row side by side."""
    flat = {k: v for k, v in record.items() if k not in ("inputs", "outputs", "expectations")}
    for part, name in (("inputs", "question"), ("outputs", "response")):
        value = record.get(part)
        if isinstance(value, dict):
            if part == "outputs" and "content" in value and isinstance(value["content"], str):
                value = {**value, "response": value["content"]}
            flat.update(value)
        elif value is not None:
            flat[name] = value
    expectations = record.get("expectations")
    if isinstance(expectations, dict):
        flat.update(expectations)
    elif expectations is not None:
        flat["expected_response"] = expectations
    return flat


class NestedLayout(NamedTuple):
    """A layout whose records are nested; ``fits`` says that a record is in it."""

    name: str
    fits: Callable[[Record], bool]
    laid_flat: Callable[[Record], dict[str, Any]]


NESTED = (
    NestedLayout("mlflow", is_mlflow, unfold_mlflow),
    NestedLayout("promptfoo", is_promptfoo, flat_promptfoo),
    NestedLayout("phoenix", is_phoenix, flat_phoenix),
    NestedLayout("llamaindex", is_llama_index, flat_llama_index),
    NestedLayout("haystack", is_haystack, flat_haystack),
)

# Columns of which a nested record has at least one, unless one of its values is an object.
MARKS = frozenset(("inputs", "provider", "attributes", SPAN, TRACE, "source_nodes", "response",
                   "passing", "replies", "answers"))  # fmt: skip


def nested_layout(record: Record) -> NestedLayout | None:
    """Return the nested layout that a record is in, if any."""
    if MARKS.isdisjoint(record) and dict not in map(type, record.values()):
        return None
    return next((layout for layout in NESTED if layout.fits(record)), None)


def laid_flat(record: Record) -> Record:
    """Return the record with its fields side by side, whatever its layout."""
    nested = nested_layout(record)
    return record if nested is None else nested.laid_flat(record)
