"""MLflow: rows whose fields are nested under inputs, outputs and expectations."""

from collections.abc import Mapping
from typing import Any


def is_mlflow(record: Mapping[str, Any]) -> bool:
    """Whether the record keeps its fields apart as inputs, outputs and expectations."""
    return "inputs" in record and ("outputs" in record or "expectations" in record)


def unfold_mlflow(record: Mapping[str, Any]) -> dict[str, Any]:
    """An MLflow row as a flat record: its inputs, outputs and expectations side by side."""
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
