"""Ragstone measures retrieval-augmented generation.

    import ragstone

    run = ragstone.evaluate("answers.jsonl", by=["question_type"])
    run.estimates()

Everything else is in a package of its own: metrics in ``ragstone.metrics``, kinds of judgement in
``ragstone.judgements``, errors in ``ragstone.core.errors``. Names are loaded when they are first
used, so importing Ragstone is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from ragstone.core.messages import reported_by, warn_renamed

if TYPE_CHECKING:
    from ragstone import guard, monitor
    from ragstone.analysis import calibrate, compare, gate
    from ragstone.annotation import agreement
    from ragstone.core.errors import InputError, RagstoneError
    from ragstone.data import Context, Example, read, write
    from ragstone.metrics import metric
    from ragstone.report.reason_words import explain
    from ragstone.run import Instructions, Limits, Run
    from ragstone.run.batches.batch_follower import batches
    from ragstone.run.evaluate import aevaluate, evaluate
    from ragstone.run.evaluate_one import evaluate_one
    from ragstone.run.forecast import forecast
    from ragstone.run.rescore import rescore
    from ragstone.web.entry_points import write_report

    __version__: str
    open = Run.open

_ROOMS = {
    "Context": "data",
    "Example": "data",
    "InputError": "core.errors",
    "Instructions": "run",
    "Limits": "run",
    "RagstoneError": "core.errors",
    "Run": "run",
    "aevaluate": "run.evaluate",
    "agreement": "annotation",
    "batches": "run.batches.batch_follower",
    "calibrate": "analysis",
    "compare": "analysis",
    "evaluate": "run.evaluate",
    "evaluate_one": "run.evaluate_one",
    "explain": "report.reason_words",
    "forecast": "run.forecast",
    "gate": "analysis",
    "metric": "metrics",
    "read": "data",
    "rescore": "run.rescore",
    "write": "data",
    "write_report": "web.entry_points",
}

# Names that were at the root once, with the packages and modules that have them now.
_MOVED = {
    "BatchesWaiting": "core.errors",
    "DataError": "core.errors",
    "Estimate": "run",
    "Metric": "metrics",
    "Missing": "metrics",
    "Range": "metrics",
    "Undefined": "metrics",
    "VIEWS": "judgements",
    "conversations": "analysis",
    "failures": "analysis",
    "parse_metric": "metrics",
    "write_charts": "report.chart_files",
}

__all__ = [
    "Context",
    "Example",
    "InputError",
    "Instructions",
    "Limits",
    "RagstoneError",
    "Run",
    "aevaluate",
    "agreement",
    "batches",
    "calibrate",
    "compare",
    "evaluate",
    "evaluate_one",
    "explain",
    "forecast",
    "gate",
    "guard",
    "metric",
    "monitor",
    "read",
    "rescore",
    "write",
    "write_report",
]


reported_by(
    lambda: cast("Any", import_module("ragstone.report.notebook")),
    lambda: import_module("ragstone.report.reason_words").words,
)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if not TYPE_CHECKING:  # or a type checker would believe that every name is there

    def __getattr__(name):
        if name == "__version__":
            from importlib.metadata import version

            return version("ragstone")
        if name == "open":  # Not in ``__all__``, for it would hide Python's own.
            return import_module("ragstone.run").Run.open
        if name in ("guard", "monitor"):
            return import_module(f"ragstone.{name}")
        if name in _MOVED:
            room = f"ragstone.{_MOVED[name]}"
            warn_renamed(f"ragstone.{name}", f"{room}.{name}")
            return getattr(import_module(room), name)
        if name in _ROOMS:
            return getattr(import_module(f"ragstone.{_ROOMS[name]}"), name)
        raise AttributeError(f"module 'ragstone' has no attribute {name!r}")
