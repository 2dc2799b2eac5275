"""Ragstone measures retrieval-augmented generation.

    import ragstone

    run = ragstone.evaluate("answers.jsonl", by=["question_type"])
    run.estimates()

Names are loaded when they are first used, so that importing Ragstone is cheap.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone.decisions import calibrate, compare, decide_gate
    from ragstone.errors import DataError, InputError, RagstoneError
    from ragstone.examples import Context, Example, read, write
    from ragstone.judgements import VIEWS
    from ragstone.metrics import (
        Metric,
        Missing,
        Range,
        Undefined,
        metric,
        parse_metric,
    )
    from ragstone.run import Estimate, Instructions, Limits, Run, aevaluate, evaluate, rescore
    from ragstone.run.forecast import forecast

_ROOMS = {
    "Context": "examples",
    "DataError": "errors",
    "Estimate": "run",
    "Example": "examples",
    "InputError": "errors",
    "Instructions": "run",
    "Limits": "run",
    "Metric": "metrics",
    "Missing": "metrics",
    "RagstoneError": "errors",
    "Range": "metrics",
    "Run": "run",
    "Undefined": "metrics",
    "VIEWS": "judgements",
    "aevaluate": "run",
    "calibrate": "decisions",
    "compare": "decisions",
    "decide_gate": "decisions",
    "evaluate": "run",
    "forecast": "run.forecast",
    "metric": "metrics",
    "parse_metric": "metrics",
    "read": "examples",
    "rescore": "run",
    "write": "examples",
}

__all__ = [
    "VIEWS",
    "Context",
    "DataError",
    "Estimate",
    "Example",
    "InputError",
    "Instructions",
    "Limits",
    "Metric",
    "Missing",
    "RagstoneError",
    "Range",
    "Run",
    "Undefined",
    "aevaluate",
    "calibrate",
    "compare",
    "decide_gate",
    "evaluate",
    "forecast",
    "metric",
    "parse_metric",
    "read",
    "rescore",
    "write",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("ragstone")
    if name in _ROOMS:
        room = import_module(f"ragstone.{_ROOMS[name]}")
        if _ROOMS[name] == "run":
            room.Run.notebook = staticmethod(_notebook)
        return getattr(room, name)
    raise AttributeError(f"module 'ragstone' has no attribute {name!r}")


def _notebook(estimates: "Sequence[Estimate]") -> str:
    from ragstone.report import notebook_html

    return notebook_html(estimates)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
