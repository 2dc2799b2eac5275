"""Files in the shapes of other tools are read as people mean them, and never wrong in silence.

Beside each file in ``shapes`` stands its right reading: what it does not name is free.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import DataError
from ragstone.data import Example, read

SHAPES = Path(__file__).parent / "shapes"
FILES = sorted(file for file in SHAPES.iterdir() if not file.name.endswith(".expected.json"))


def expected(file: Path) -> list[dict[str, Any]]:
    text = file.with_name(f"{file.name}.expected.json").read_text(encoding="utf-8")
    examples: list[dict[str, Any]] = json.loads(text)["examples"]
    return examples


def fields(example: Example) -> dict[str, Any]:
    contexts = example.contexts
    return {
        "question": example.question,
        "answer": example.answer,
        "contexts": None if contexts is None else [context.text for context in contexts],
        "context_ids": None if contexts is None else [context.id for context in contexts],
        "reference": [*example.reference],
        "history": [turn.text for turn in example.history],
        "evidence": [*example.evidence],
        "reference_contexts": example.reference_contexts and dict(example.reference_contexts),
        "system": example.system,
        "meta": dict(example.meta),
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_of_another_tool_is_read_as_it_is_meant(file: Path) -> None:
    examples = [fields(example) for example in read(file)]
    for example, right in zip(examples, expected(file), strict=True):
        example["meta"] = {name: example["meta"].get(name) for name in right.get("meta", {})}
        assert {name: example[name] for name in right} == right


def records_of(file: Path) -> list[Any]:
    """Return the records of a JSON file."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    records = json.loads(text)
    return records if isinstance(records, list) else [records]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values inside."""
    names = list(value) if isinstance(value, dict) else []
    for name in range(len(value)) if isinstance(value, list) else names:
        yield (*path, name)
        yield from places(value[name], (*path, name))


def mutated(record: Any, random_: random.Random) -> Any:
    """Return a record with one change: a field gone, renamed, of another type, or as text."""
    record = json.loads(json.dumps(record))
    *path, last = random_.choice(list(places(record)))
    holder = record
    for name in path:
        holder = holder[name]
    value = holder[last]
    match random_.randrange(6):
        case 0:
            del holder[last]
        case 1 if isinstance(holder, dict):
            holder[f"{last}_2"] = holder.pop(last)
        case 2 if isinstance(value, (dict, list)):
            holder[last] = json.dumps(value)
        case 3:
            holder[last] = {"inner": value}
        case 4:
            holder[last] = [value]
        case _:
            holder[last] = random_.choice([None, 5, True, float("nan"), [], [5], {}])
    return record


TEXTS = ("question", "answer", "contexts", "reference", "history", "evidence")


def texts_of(example: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for field in TEXTS:
        texts = example.get(field)
        for text in [texts] if isinstance(texts, str) else texts or ():
            yield field, text or ""


def wrong_in_silence(record: Any, right: dict[str, Any]) -> list[str]:
    """Return texts that stand in a field where they do not belong, of a reading without a note."""
    examples = read([record])
    try:
        readings = [fields(example) for example in examples]
    except DataError:
        return []
    if examples.notes:
        return []
    known = {text: field for field, text in texts_of(right)}
    return [
        f"{field}: {text[:80]}"
        for example in readings
        for field, text in texts_of(example)
        if known.get(text.strip('"'), "") != field and text
    ]


JSON_FILES = [file for file in FILES if file.suffix != ".csv" and file.name != "columns-json.json"]


@pytest.mark.parametrize("file", JSON_FILES, ids=lambda file: file.stem)
def test_nothing_is_read_wrong_in_silence(file: Path) -> None:
    random_ = random.Random(file.name)
    (record, *_), (right, *_) = records_of(file), expected(file)
    for _ in range(MUTATIONS):
        changed = mutated(record, random_)
        assert not wrong_in_silence(changed, right), json.dumps(changed, ensure_ascii=False)


MUTATIONS = 40
