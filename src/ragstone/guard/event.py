"""Event: what is told of each assessment, as one structured event and one line of the log.

Neither holds any text of the request: no question, answer, context, quote or key.
"""

from collections.abc import Callable, Mapping
from logging import INFO, WARNING, NullHandler, getLogger
from typing import Any

from ragstone.core.escape import on_one_line

from .assessment import Assessment

LOGGER = getLogger("ragstone.guard")
LOGGER.addHandler(NullHandler())  # Or Python prints warnings that nobody asked for.
NAME = "ragstone.guard.assessment"
LONGEST_ID = 200
"""Characters of a request's name that are told."""


def event_of(found: Assessment, seconds: float) -> dict[str, Any]:
    """The structured event of an assessment that took this long."""
    return {
        "event": NAME,
        "run_id": None if found.run_id is None else on_one_line(str(found.run_id))[:LONGEST_ID],
        "ok": found.ok,
        "decision": found.decision,
        "issues": [issue.code for issue in found.issues],
        "checks": {check.check: check.status for check in found.checks},
        "confidence": found.confidence,
        "n_claims": len(found.judged),
        "judge": found.judge,
        "late": found.late,
        "seconds": round(seconds, 6),
    }


def tell(
    found: Assessment, seconds: float, listener: Callable[[Mapping[str, Any]], object] | None
) -> None:
    """Log an assessment, at WARNING unless it is ok, and tell the listener.

    The log record carries the event as ``record.assessment``. A listener that raises is logged.
    """
    level = INFO if found.ok else WARNING
    if listener is None and not LOGGER.isEnabledFor(level):
        return
    event = event_of(found, seconds)
    LOGGER.log(
        level,
        "run_id=%s ok=%s decision=%s issues=%s confidence=%s judge=%s%s ms=%.1f",
        event["run_id"],
        event["ok"],
        event["decision"],
        ",".join(event["issues"]) or "none",
        "none" if found.confidence is None else f"{found.confidence:.3f}",
        found.judge or "none",
        " late" if found.late else "",
        1000 * seconds,
        extra={"assessment": event},
    )
    if listener is not None:
        try:
            listener(event)
        except Exception as error:
            LOGGER.error("listener failed: %s", type(error).__name__)
