"""Worker status: whether the monitor's worker is alive, and how much of its work is done."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.core.database import Sql
from ragstone.monitor.store.batches import last_judgement_at
from ragstone.monitor.store.draws import oldest_due
from ragstone.monitor.store.incoming import trace_times, unfolded
from ragstone.monitor.store.rows import (
    ASSESS,
    WorkerState,
    counted,
    last_heartbeat,
    waiting_for,
    worker_state,
)
from ragstone.monitor.store.scores import answers_together
from ragstone.monitor.store.stored_alarms import firing_alarms

HOUR, DAY = 3_600, 86_400

CONTENTS = ("there", "ids_only", "none")
# The variable to set in the app that answers if its traces come without texts.
CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT"

COUNTED = (
    *("received", "kept", "malformed", "folded", "answers", "assessed", "due", "judged", "shed"),
    "set_aside",
)
MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class MonitorStatus:
    """The state of a monitor. Times are seconds since the epoch, counts are of the last 24 hours
    unless a name says otherwise.

    Attributes:
        malformed: Of these, those that could not be read; they are kept aside.
        folded: Traces that were put together; one counts again when more of it comes.
        shed: Examples that waited too long to be judged, and were given up.
        waiting_to_assess: Examples that the guard's checks have not looked at yet.
        lag: Seconds for which the first of those to fold or to assess has waited; 0 for none.
        usual_gap: Seconds between two traces, in the mean of the last day; None if not known.
        worker: By that, ``alive``, ``silent`` for a minute, ``dead`` for five, or ``not_begun``.
        content: Of the traces of answers, the share whose texts are there, that have only ids of
            passages, and that have no texts; empty where none came.
        answers_together: The rules that look at answers which come in conversations, whose promise
            is broken by that: by name, with how many judged answers a conversation has.
        set_variable: The environment variable that brings the texts, where most traces have none;
            empty otherwise.
    """

    received: int
    kept: int
    malformed: int
    folded: int
    answers: int
    assessed: int
    due: int
    judged: int
    shed: int
    set_aside: int
    due_last_hour: int
    judged_last_hour: int
    waiting_to_fold: int
    waiting_to_assess: int
    waiting_to_be_judged: int
    lag: float
    last_trace_at: float | None
    usual_gap: float | None
    last_judged_at: float | None
    worker_at: float | None
    worker: WorkerState
    alarms: int
    content: Mapping[str, float]
    answers_together: Mapping[str, float]
    set_variable: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def monitor_status(run: Sql, now: float) -> MonitorStatus:
    """Read the state of a monitor."""
    day, hour = counted(run, now - DAY), counted(run, now - HOUR)
    parts, first_part = unfolded(run)
    to_assess, first_to_assess = waiting_for(run, ASSESS)
    waiting = [at for at in (first_part, first_to_assess) if at is not None]
    last_trace, usual_gap = trace_times(run)
    sign = last_heartbeat(run)
    contents = {name: day.get(f"content_{name}", 0) for name in CONTENTS}
    total = sum(contents.values())
    content = {name: n / total for name, n in contents.items()} if total else {}
    return MonitorStatus(
        **{name: day.get(name, 0) for name in COUNTED}, due_last_hour=hour.get("due", 0),
        judged_last_hour=hour.get("judged", 0), waiting_to_fold=parts, waiting_to_assess=to_assess,
        waiting_to_be_judged=oldest_due(run)[1],
        lag=max(0.0, now - min(waiting)) if waiting else 0.0, last_trace_at=last_trace,
        usual_gap=usual_gap, last_judged_at=last_judgement_at(run), worker_at=sign,
        worker=worker_state(sign, now), alarms=len(firing_alarms(run)), content=content,
        answers_together=answers_together(run),
        set_variable=CONTENT_VARIABLE if content.get("none", 0.0) >= MOSTLY else "",
    )  # fmt: skip
