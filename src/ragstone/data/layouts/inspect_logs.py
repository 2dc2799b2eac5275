"""Inspect: logs of evaluations as JSON, each epoch of a sample an answer."""

from collections.abc import Mapping
from typing import Any


def rows_of_inspect(document: Mapping[str, Any]) -> list[Any] | None:
    """Return one row per sample; None if the document is not a log."""
    about, samples = document.get("eval"), document.get("samples")
    if not isinstance(about, dict) or not isinstance(samples, list):
        return None
    return [_row(sample, about) if isinstance(sample, dict) else sample for sample in samples]


def _row(sample: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    output = sample.get("output")
    messages = sample.get("messages")
    return {
        "id": f"{sample.get('id')}.{sample.get('epoch', 1)}",
        "question_id": sample.get("id"),
        "system": about.get("model"),
        "question": messages if isinstance(messages, list) and messages else sample.get("input"),
        "answer": output.get("completion") if isinstance(output, dict) else output,
        "reference": sample.get("target"),
        "meta": sample.get("metadata"),
    }
