"""Ragstone measures retrieval-augmented generation.

    import ragstone

    run = ragstone.evaluate("answers.jsonl", by=["question_type"])
    run.estimates()

Names are loaded when they are first used, so that importing Ragstone is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from ragstone.core.messages import register_messages, rendered_by

if TYPE_CHECKING:
    from ragstone import guard, monitor
    from ragstone.analysis import calibrate, compare, conversations, failures, gate
    from ragstone.annotation import agreement
    from ragstone.core.errors import BatchesWaiting, DataError, InputError, RagstoneError
    from ragstone.data import Context, Example, read, write
    from ragstone.judgements import VIEWS
    from ragstone.metrics import (
        Metric,
        Missing,
        Range,
        Undefined,
        metric,
        parse_metric,
    )
    from ragstone.report.chart_files import write_charts
    from ragstone.report.reason_words import explain
    from ragstone.run import Estimate, Instructions, Limits, Run
    from ragstone.run.batches.batch_follower import batches
    from ragstone.run.evaluate import aevaluate, evaluate
    from ragstone.run.evaluate_one import evaluate_one
    from ragstone.run.forecast import forecast
    from ragstone.run.rescore import rescore
    from ragstone.web.entry_points import write_report

    __version__: str

_ROOMS = {
    "BatchesWaiting": "core.errors",
    "Context": "data",
    "DataError": "core.errors",
    "Estimate": "run",
    "Example": "data",
    "InputError": "core.errors",
    "Instructions": "run",
    "Limits": "run",
    "Metric": "metrics",
    "Missing": "metrics",
    "RagstoneError": "core.errors",
    "Range": "metrics",
    "Run": "run",
    "Undefined": "metrics",
    "VIEWS": "judgements",
    "aevaluate": "run.evaluate",
    "agreement": "annotation",
    "batches": "run.batches.batch_follower",
    "calibrate": "analysis",
    "compare": "analysis",
    "conversations": "analysis",
    "evaluate": "run.evaluate",
    "evaluate_one": "run.evaluate_one",
    "explain": "report.reason_words",
    "failures": "analysis",
    "forecast": "run.forecast",
    "gate": "analysis",
    "metric": "metrics",
    "parse_metric": "metrics",
    "read": "data",
    "rescore": "run.rescore",
    "write": "data",
    "write_charts": "report.chart_files",
    "write_report": "web.entry_points",
}

__all__ = [
    "VIEWS",
    "BatchesWaiting",
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
    "agreement",
    "batches",
    "calibrate",
    "compare",
    "conversations",
    "evaluate",
    "evaluate_one",
    "explain",
    "failures",
    "forecast",
    "gate",
    "guard",
    "metric",
    "monitor",
    "parse_metric",
    "read",
    "rescore",
    "write",
    "write_charts",
    "write_report",
]


rendered_by(lambda: cast("Any", import_module("ragstone.report.notebook")))
register_messages(lambda: getattr(import_module("ragstone.report.reason_words"), "words"))  # noqa: B009


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if not TYPE_CHECKING:  # or a type checker would believe that every name is there

    def __getattr__(name):
        if name == "__version__":
            from importlib.metadata import version

            return version("ragstone")
        if name in ("guard", "monitor"):
            return import_module(f"ragstone.{name}")
        if name in _ROOMS:
            return getattr(import_module(f"ragstone.{_ROOMS[name]}"), name)
        raise AttributeError(f"module 'ragstone' has no attribute {name!r}")
