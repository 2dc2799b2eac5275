"""Promptfoo: results of its tests, in which a provider with a prompt is a system."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ragstone.data.example import spelled_out
from ragstone.data.fields import NAMES, squash
from ragstone.data.json_text import object_or_empty, objects_in
from ragstone.data.sources import Row

LONGEST_LABEL = 40
# Assertions whose value is a reference answer.
GOLD = ("factuality", "equals", "iequals", "similar", "model-graded-factuality")
# Assertions whose value is a criterion.
RUBRICS = ("llm-rubric",)

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
    test = object_or_empty(record.get("testCase"))
    variables = _vars(record) or {}
    flat = {name: value for name, value in variables.items() if squash(name) not in _NOT_OF_VARS}
    meta = {name: value for name, value in variables.items() if name not in flat}
    reference = next((meta.pop(name) for name in _OTHER_REFERENCES if name in meta), None)
    reference = flat.pop("expected", reference)
    answer, contexts = _output(record)
    columns = set(map(squash, flat))
    if not columns & _REFERENCES:
        gold = reference is None and _asserted(test, GOLD)
        flat["reference"] = gold[0] if gold else reference
    if criteria := _asserted(test, RUBRICS):
        flat.setdefault("criteria", list(dict.fromkeys(criteria)))
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
    variables = record.get("vars", object_or_empty(record.get("testCase")).get("vars"))
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
    label = object_or_empty(record.get("prompt")).get("label")
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


def _asserted(test: Mapping[str, Any], types: Collection[str]) -> list[str]:
    """Return the values of assertions of these types, without those that name variables."""
    asserted = objects_in(test.get("assert"))
    values = [item.get("value") for item in asserted if item.get("type") in types]
    return [value for value in values if isinstance(value, str) and "{{" not in value]
