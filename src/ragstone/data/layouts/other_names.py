"""Other names: flat records of tools, with field names that mean something else elsewhere."""

from collections.abc import Callable, Mapping
from typing import Any

from ragstone.data.fields import NAMES, squash

from .inputs_and_outputs import leave_out_state

Record = Mapping[str, Any]

# By layout, the columns that identify it and their fields.
OTHER_NAMES: Mapping[str, Mapping[str, str]] = {
    "retrievalqa": {"query": "question", "result": "answer", "source_documents": "contexts"},
    "autorag": {"query": "question", "retrieval_gt": "reference_context_ids",
                "generation_gt": "reference"},
    "yourbench": {"question": "question", "self_answer": "reference", "citations": "evidence"},
    "flowise": {"question": "question", "text": "answer", "chatId": "session"},
    "alpaca": {"instruction": "question", "input": "contexts", "output": "answer"},
    "vertex": {"prompt": "question", "response": "answer"},
    "prompt-and-completion": {"prompt": "question", "completion": "answer"},
    "braintrust": {"input": "question", "output": "answer", "expected": "reference"},
}  # fmt: skip


def having(*names: str) -> Callable[[Record], bool]:
    """Return a function that says whether a record has all of these columns."""
    return lambda record: record.keys() >= set(names)


def in_layout(layout: str) -> Callable[[Record], bool]:
    """Return a function that says whether a record has the columns of a layout.

    One that has a field by its own name as well is read as it is.
    """
    names = OTHER_NAMES[layout]
    own = {squash(name) for field in names.values() for name in NAMES.get(field, (field,))}
    own -= set(map(squash, names))

    def fits(record: Record) -> bool:
        return record.keys() >= names.keys() and own.isdisjoint(map(squash, record))

    return fits


def renamed(layout: str) -> Callable[[Record], dict[str, Any]]:
    """Return a function that gives the columns of a layout the names of the fields."""
    names = OTHER_NAMES[layout]

    def rename(record: Record) -> dict[str, Any]:
        flat = {names.get(name, name): value for name, value in record.items()}
        if isinstance(ids := flat.get("reference_context_ids"), list) and layout == "autorag":
            # Each inner list holds alternatives; one of them is enough.
            flat["reference_context_ids"] = [id for part in ids for id in _listed(part)]
        if layout == "alpaca" and not flat["contexts"]:
            del flat["contexts"]  # A task without an input.
        leave_out_state(flat)
        return flat

    return rename


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
