"""TruLens: tables of records, whose calls say what was retrieved."""

from collections.abc import Mapping
from typing import Any

from ragstone.data.json_text import list_or_empty, object_or_empty, opened
from ragstone.data.tool_results import SEARCHES


def is_trulens(record: Mapping[str, Any]) -> bool:
    """Return True if the record has the calls of an app, as JSON or as an object, or their cost."""
    if "record_json" not in record:
        return record.keys() >= {"record_id", "input", "output", "cost_json"}
    calls = opened(record["record_json"])
    return isinstance(calls, dict) and isinstance(calls.get("calls"), list)


def flat_trulens(record: Mapping[str, Any]) -> dict[str, Any]:
    """Put question, answer and what the last retriever gave back side by side."""
    inner = opened(record.get("record_json")) or {"calls": []}
    flat = {name: value for name, value in record.items() if name not in ("record_json", *_NAMES)}
    flat.setdefault("id", flat.pop("record_id", None))
    flat["input"] = opened(record.get("input", inner.get("main_input")))
    flat["output"] = opened(record.get("output", inner.get("main_output")))
    retrieved = [call.get("rets") for call in inner["calls"] if SEARCHES.search(_method(call))]
    if retrieved:
        flat["contexts"] = retrieved[-1]
    if names := [str(record[name]) for name in _NAMES if record.get(name) not in (None, "")]:
        flat["system"] = " ".join(names)
    return flat


_NAMES = ("app_name", "app_version")


def _method(call: Any) -> str:
    last = list_or_empty(object_or_empty(call).get("stack"))[-1:]
    method = object_or_empty(object_or_empty(*last or [None]).get("method"))
    return str(method.get("name", ""))
