"""InspectorRAGet: a run as the JSON that IBM's InspectorRAGet opens (its schema 2).

A question is a task, a system is a model, an example is a result. A score that is undefined or
missing is not in it. InspectorRAGet shows no task in which a model lacks a score that it plots. So
what many answers lack is declared as a text, which it shows and does not ask for; a note says so.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from operator import attrgetter
from typing import Any, NamedTuple

import polars as pl

from ragstone.analysis.scored_run import Scored
from ragstone.annotation.read_labels import rows_of
from ragstone.data import Example
from ragstone.data.layouts.inspectorraget import HUMAN, OWN
from ragstone.data.write_examples import from_frame
from ragstone.judgements import ASKS
from ragstone.report.number_format import counted
from ragstone.run import Run

from .layout import OtherFile, Report

VERSION = 2
UNKNOWN = "unknown"
# From so many different values on, what people said is no label but a comment.
FREE = 20

# Share of the answers beyond which a score that they lack is declared as a text.
MOST_LACKING = 0.1

# What annotators said, by label and annotator.
Votes = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Task:
    id: str
    example: Example
    results: dict[str, Example]

    def takes(self, example: Example) -> bool:
        question = attrgetter("question", "history", "reference")
        return example.system not in self.results and question(example) == question(self.example)


def as_inspectorraget(run: Run) -> Report:
    """One file with models, metrics, documents, tasks and results."""
    examples = from_frame(run.examples())
    answered = [example for example in examples if example.answer is not None]
    scored = Scored(run)
    metrics = [metric for metric in _metrics(run, scored) if metric.values]
    labels = {example.id: _labels(example) for example in answered}
    of_metrics = {metric.name for metric in metrics}
    names = {name: f"{name}{HUMAN}" if name in of_metrics else name
             for votes in labels.values() for name in votes}  # fmt: skip
    tasks = _tasks(answered)
    documents = _documents(answered)
    results = [
        _result(task, result, metrics, labels[result.id], names, documents)
        for task in tasks
        for result in task.results.values()
    ]
    declared = [
        *({"name": metric.name, "display_name": metric.name, "author": "algorithm", **metric.about}
          for metric in metrics),
        *_of_people(labels.values(), names),
    ]  # fmt: skip
    for metric in declared:
        if _lacking(metric["name"], results) > MOST_LACKING * len(results):
            metric.pop("aggregator", None)
            metric["type"] = "text"
    content = {
        "schema_version": VERSION,
        "name": run.path.name,
        "models": [
            {"model_id": system, "name": system, "owner": UNKNOWN} for system in scored.systems
        ],
        "metrics": declared,
        "filters": sorted({name for example in answered for name in example.slices} - {*OWN}),
        "documents": [
            {"document_id": id, "text": text}
            for (_, text), id in documents.items()
            if text is not None  # A context whose document is not there is shown as one.
        ],
        "tasks": [_task(task, documents) for task in tasks],
        "results": results,
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    file = OtherFile("inspectorraget.json", text.encode())
    notes = _notes(len(examples) - len(answered), tasks, results, declared, len(scored.systems))
    return Report((file,), tuple(notes))


class _Metric(NamedTuple):
    name: str
    about: Mapping[str, Any]
    judge: str
    values: Mapping[str, float | str]


def _metrics(run: Run, scored: Scored) -> Iterator[_Metric]:
    for name in scored.metrics:
        rows = scored.of(name).filter(pl.col("status") == "value")
        words, metric, scale = _words(rows), scored.metric(name), scored.scale(name)
        about: dict[str, Any] = {"type": "numerical", "aggregator": "average"}
        if words:
            values = [{"value": word, "numeric_value": number} for word, number in words.items()]
            about = {"type": "categorical", "aggregator": "majority", "values": values}
        elif scale.low is not None and scale.high is not None:
            about["range"] = [scale.low, scale.high]
        better = {"+": "higher is better", "-": "lower is better"}.get(scale.better)
        about |= {"description": better} if better else {}
        kinds = {ASKS[ask].kind for ask in metric.asks} if metric is not None else set()
        judges = [judge.name for judge in run.form.judges if kinds & {*judge.kinds}]
        scores = rows["label"].cast(pl.String) if words else rows["value"]
        by_example = dict(zip(rows["example_id"], scores, strict=True))
        yield _Metric(name, about, "+".join(judges) or "ragstone", by_example)


def _words(rows: pl.DataFrame) -> dict[str, float]:
    if not rows.height or rows["label"].null_count():
        return {}
    pairs = rows.select(pl.col("label").cast(pl.String), "value").unique().sort("value", "label")
    words = dict(pairs.iter_rows())
    return words if len(words) == pairs.height else {}


def _labels(example: Example) -> Votes:
    votes: Votes = {}
    for row in rows_of(example.id, example.labels, "", None, {}):
        for name, value in row.labels.items() if row.unit is None else ():
            if isinstance(value, str) or (isinstance(value, (int, float)) and isfinite(value)):
                vote = int(value) if isinstance(value, bool) else value
                votes.setdefault(name, {})[row.annotator] = vote
    return votes


def _of_people(labels: Any, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for label, name in names.items():
        values = [vote for of in labels for vote in of.get(label, {}).values()]
        entry: dict[str, Any] = {"name": name, "display_name": label, "author": "human"}
        if all(isinstance(value, (int, float)) for value in values):
            low, high = min(values), max(values)
            yes_no = low >= 0 and high <= 1
            entry |= {"type": "numerical", "aggregator": "average",
                      "range": [0, 1] if yes_no else [low, high]}  # fmt: skip
        else:
            words = sorted(set(map(str, values)))
            entry["type"] = "text"
            entry |= {"values": [{"value": word} for word in words]} if len(words) < FREE else {}
        yield entry


def _lacking(name: str, results: Sequence[Mapping[str, Any]]) -> int:
    return sum(name not in result["scores"] for result in results)


def _tasks(examples: Sequence[Example]) -> list[_Task]:
    """A task a question; an answer again by the same system is one to a task of its own."""
    by_question: dict[str, list[_Task]] = {}
    for example in examples:
        tasks = by_question.setdefault(example.question_id, [])
        task = next((task for task in tasks if task.takes(example)), None)
        if task is None:
            again = f" ({len(tasks) + 1})" if tasks else ""
            task = _Task(f"{example.question_id}{again}", example, {})
            tasks.append(task)
        task.results[example.system] = example
    return [task for tasks in by_question.values() for task in tasks]


def _task(task: _Task, documents: Mapping[tuple[str, str | None], str]) -> dict[str, Any]:
    example, results = task.example, task.results.values()
    retrieved = any(result.contexts is not None for result in results)
    kind = "qa" if retrieved else "generation"
    turns_shown: Any = example.question or ""
    if example.history:
        turns = [*((turn.role, turn.text) for turn in example.history), ("user", turns_shown)]
        # What it calls rag is a conversation shown without its contexts.
        role_name, text_name = ("speaker", "text") if retrieved else ("role", "content")
        kind = kind if retrieved else "rag"
        turns_shown = [{role_name: role, text_name: text} for role, text in turns]
    contexts = (context for result in results for context in result.contexts or ())
    listed = dict.fromkeys(documents[context.id, context.text] for context in contexts)
    return {
        **{name: value for name, value in example.slices.items() if name not in OWN},
        "task_id": task.id,
        "question_id": example.question_id,
        "task_type": kind,
        "input": turns_shown,
        "contexts": [{"document_id": id} for id in listed],
        "targets": [{"type": "text", "value": text} for text in example.reference],
    }


def _result(
    task: _Task,
    example: Example,
    metrics: Sequence[_Metric],
    labels: Votes,
    names: Mapping[str, str],
    documents: Mapping[tuple[str, str | None], str],
) -> dict[str, Any]:
    scores: dict[str, dict[str, Any]] = {
        metric.name: {metric.judge: {"value": metric.values[example.id]}}
        for metric in metrics
        if example.id in metric.values
    }
    for label, votes in labels.items():
        scores[names[label]] = {who: {"value": vote} for who, vote in votes.items()}
    result: dict[str, Any] = {
        "task_id": task.id,
        "model_id": example.system,
        "example_id": example.id,
        "output": {"type": "text", "value": example.answer},
        "scores": scores,
    }
    if example.contexts is not None:
        result["contexts"] = listed = []
        for context in example.contexts:
            document = documents[context.id, context.text]
            score = {} if context.score is None else {"score": context.score}
            own_id = {} if document == context.id else {"context_id": context.id}
            listed.append({"document_id": document, **score, **own_id})
    if example.slices != task.example.slices:
        result["slices"] = dict(example.slices)
    return result


def _documents(examples: Sequence[Example]) -> dict[tuple[str, str | None], str]:
    """The id of each text: its own, or where several texts have it, one with a number behind."""
    ids: dict[tuple[str, str | None], str] = {}
    texts: dict[str, int] = {}
    for example in examples:
        for context in example.contexts or ():
            if (context.id, context.text) not in ids:
                texts[context.id] = count = texts.get(context.id, 0) + 1
                again = f" ({count})" if count > 1 else ""
                ids[context.id, context.text] = f"{context.id}{again}"
    return ids


def _notes(
    unanswered: int,
    tasks: Sequence[_Task],
    results: Sequence[Mapping[str, Any]],
    metrics: Sequence[Mapping[str, Any]],
    systems: int,
) -> Iterator[str]:
    if unanswered:
        yield f"{counted(unanswered, 'example')} without an answer left out."
    texts = [metric["name"] for metric in metrics if _lacking(metric["name"], results)
             and metric["type"] == "text"]  # fmt: skip
    if texts:
        yield (
            f"many answers lack {', '.join(texts)}: InspectorRAGet shows these beside an answer "
            "and does not plot them."
        )
    required = [metric["name"] for metric in metrics if metric["type"] != "text"]
    lacking = {
        result["task_id"] for result in results if any(n not in result["scores"] for n in required)
    }
    if hidden := sum(task.id in lacking or len(task.results) < systems for task in tasks):
        yield (
            f"InspectorRAGet leaves out {counted(hidden, 'task')} of {len(tasks):,}: it shows only "
            "those in which every model has every score that it plots."
        )
