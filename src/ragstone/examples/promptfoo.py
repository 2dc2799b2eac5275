"""promptfoo: results of ``promptfoo eval``, where a provider with a prompt is a system."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.examples.fields import NAMES, squash
from ragstone.examples.source import Row
from ragstone.examples.values import spelled_out

LONGEST_LABEL = 40
GOLD = ("factuality", "equals", "iequals", "similar", "model-graded-factuality")
"""Assertions whose value is a reference answer."""

_ANSWERS = frozenset(map(squash, NAMES["answer"]))
_REFERENCES = frozenset(map(squash, NAMES["reference"]))
_CONTEXTS = frozenset(map(squash, (*NAMES["contexts"], "context")))
_QUESTIONS = frozenset(map(squash, NAMES["question"]))
_NOT_OF_VARS = _ANSWERS | frozenset(map(squash, (*NAMES["system"], *NAMES["id"], "meta", "labels")))
_OTHER_REFERENCES = ("expected", "answer", "answers")
_SAID = ("gradingResult", "namedScores", "error")


def is_promptfoo(record: Mapping[str, Any]) -> bool:
    """Whether it is the result of one test with one provider and prompt."""
    return "provider" in record and isinstance(_vars(record), dict) and (
        "promptIdx" in record or "testCase" in record or {"prompt", "response"} <= record.keys()
    )  # fmt: skip


def with_systems(rows: Iterator[Row]) -> Iterator[Row]:
    """The rows, each with its system: the provider, and the prompt where one had several.

    Which had, is known when all rows have been read.
    """
    kept = list(rows)
    prompts: dict[str, set[str]] = {}
    for _, record in kept:
        if isinstance(record, Mapping) and is_promptfoo(record):
            prompts.setdefault(_provider(record), set()).add(_prompt(record))
    for line, record in kept:
        if isinstance(record, Mapping) and is_promptfoo(record):
            name = provider = _provider(record)
            if len(prompts[provider]) > 1:
                name = f"{provider}, {_prompt(record)}"
            record = {"system": name, **record}
        yield line, record


def flat_promptfoo(record: Mapping[str, Any]) -> dict[str, Any]:
    """Variables, output and system side by side; what was graded goes to ``meta``."""
    test = record.get("testCase")
    test = test if isinstance(test, dict) else {}
    given = _vars(record) or {}
    flat = {name: value for name, value in given.items() if squash(name) not in _NOT_OF_VARS}
    meta = {name: value for name, value in given.items() if name not in flat}
    reference = next((meta.pop(name) for name in _OTHER_REFERENCES if name in meta), None)
    reference = flat.pop("expected", reference)
    answer, contexts = _output(record)
    there = set(map(squash, flat))
    if not there & _REFERENCES:
        flat["reference"] = _asserted(test) if reference is None else reference
    if not there & _CONTEXTS and contexts is not None:
        flat["contexts"] = contexts
    if not there & _QUESTIONS and isinstance(record.get("testIdx"), int):
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
    found = record.get("vars", inner)
    return found if isinstance(found, dict) and all(isinstance(k, str) for k in found) else None


def _id(record: Mapping[str, Any]) -> str | None:
    if isinstance(record.get("id"), str):
        return str(record["id"])
    place = (record.get("testIdx"), record.get("promptIdx"))
    return f"{place[0]}-{place[1]}" if None not in place else None


def _provider(record: Mapping[str, Any]) -> str:
    provider = record.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return str(provider or "promptfoo")


def _prompt(record: Mapping[str, Any]) -> str:
    """What a prompt is called; one without a label of its own by how it begins and by its id."""
    prompt = record.get("prompt")
    label = prompt.get("label") if isinstance(prompt, dict) else None
    label = " ".join(str(label or "").split())
    if label and len(label) <= LONGEST_LABEL:
        return label
    id = str(record.get("promptId") or record.get("promptIdx", ""))[:6]
    return f"{label[: LONGEST_LABEL - 1]}… ({id})" if label else f"prompt {id}"


def _output(record: Mapping[str, Any]) -> tuple[object, object]:
    """The answer, and the contexts if the provider gave them."""
    response = record.get("response")
    response = (
        response if isinstance(response, dict) else {"output": response or record.get("output")}
    )
    output, contexts = response.get("output"), None
    for place in (response.get("metadata"), record.get("metadata"), output):
        if isinstance(place, dict):
            contexts = _first(place, _CONTEXTS, contexts)
    if isinstance(output, dict):
        output = _first(output, _ANSWERS, output)
    output = spelled_out(output)
    if output is not None and not isinstance(output, str):
        output = json.dumps(output, ensure_ascii=False)
    return output, contexts


def _first(place: dict[str, Any], names: frozenset[str], otherwise: object) -> object:
    return next((value for name, value in place.items() if squash(name) in names), otherwise)


def _asserted(test: Mapping[str, Any]) -> str | None:
    """The reference that an assertion holds, if it is no template."""
    asserted = test.get("assert")
    for one in asserted if isinstance(asserted, list) else ():
        if isinstance(one, dict) and one.get("type") in GOLD:
            value = one.get("value")
            if isinstance(value, str) and "{{" not in value:
                return value
    return None
