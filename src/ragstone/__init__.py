"""Ragstone measures retrieval-augmented generation.

    import ragstone

    run = ragstone.evaluate("answers.jsonl", by=["question_type"])
    run.estimates()

Everything else is in a package of its own: metrics in ``ragstone.metrics``, kinds of judgement in
``ragstone.judgements``, errors in ``ragstone.core.errors``. Names are loaded when they are first
used, so importing Ragstone is fast.
"""

from importlib import import_module
from typing import Any, cast

from ragstone.core.lazy_package import lazy_names
from ragstone.core.messages import reported_by, warn_renamed

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

_load, _, __all__ = lazy_names(__name__)

reported_by(
    lambda: cast("Any", import_module("ragstone.report.notebook")),
    lambda: import_module("ragstone.report.reason_words").words,
)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("ragstone")
    if name == "open":  # Not in ``__all__``, for it would hide Python's own.
        return import_module("ragstone.run").Run.open
    if name in _MOVED:
        room = f"ragstone.{_MOVED[name]}"
        warn_renamed(f"ragstone.{name}", f"{room}.{name}")
        return getattr(import_module(room), name)
    return _load(name)
