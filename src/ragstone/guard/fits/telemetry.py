"""Telemetry: an event on the current span of OpenTelemetry, where that is installed."""

from collections.abc import Mapping
from functools import cache
from typing import Any

SPAN_EVENT = "gen_ai.evaluation.result"


def to_span(event: Mapping[str, Any]) -> None:
    """Add what came of an assessment to the current span, without any text of the request.

    Whatever guards requests calls it by itself; for ``assess`` it is a listener:
    ``Guard(listener=to_span)``. It does nothing where ``opentelemetry-api`` is not installed or no
    span is recorded. The name and the attributes ``gen_ai.evaluation.*`` are those of
    OpenTelemetry's semantic conventions for generative AI.

    Args:
        event: The structured event of an assessment.
    """
    trace = _trace()
    if trace is not None:
        span = trace.get_current_span()
        if span.is_recording():
            span.add_event(SPAN_EVENT, attributes(event))


def attributes(event: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of the span's event; what is not known is left out."""
    known = {
        "gen_ai.evaluation.name": "ragstone.guard",
        "gen_ai.evaluation.score.value": event["confidence"],
        "gen_ai.evaluation.score.label": event["decision"],
        "gen_ai.evaluation.explanation": " ".join(event["issues"]) or None,
        "ragstone.guard.ok": event["ok"],
        "ragstone.guard.issues": list(event["issues"]),
        "ragstone.guard.run_id": event["run_id"],
        "ragstone.guard.judge": event["judge"] or None,
        "ragstone.guard.late": event["late"],
        "ragstone.guard.seconds": event["seconds"],
        "ragstone.guard.held": event.get("held"),
        "ragstone.guard.not_judged": event.get("not_judged"),
    }
    return {name: value for name, value in known.items() if value is not None}


@cache
def _trace() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace
