"""Monitor standing: how far everything is, in words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.monitor import MonitorStatus

LENGTHS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"))


def standing(found: "MonitorStatus", now: float) -> Iterator[tuple[str, str]]:
    """Each fact with its name.

    Args:
        found: The status.
        now: Seconds since the epoch.
    """
    yield (
        "last 24 hours",
        (
            f"{found.received:,} came, {found.kept:,} kept, {found.malformed:,} malformed; "
            f"{found.answers:,} answers, {found.assessed:,} checked, {found.judged:,} judged"
        ),
    )
    if found.shed or found.set_aside:
        yield "given up", f"{found.shed:,} waited too long, {found.set_aside:,} failed every time"
    yield "last hour", f"{found.judged_last_hour:,} judged, {found.due_last_hour:,} came due"
    waiting = (
        f"{found.waiting_to_fold:,} parts to put together, {found.waiting_to_assess:,} answers to "
        f"check, {found.waiting_to_be_judged:,} to judge"
    )
    yield "waiting", waiting + (f"; the first for {length(found.lag)}" if found.lag else "")
    yield "worker", _worker(found, now)
    yield "last trace", _last_trace(found, now)
    there = found.content
    if there and (there["ids_only"] or there["none"]):
        some = f"{there['there']:.0%} of traces have texts, {there['ids_only']:.0%} only ids of"
        yield "content", f"{some} passages, {there['none']:.0%} none"
    if found.set_variable:
        yield "", f"Set {found.set_variable} where the answers come from."
    for name, n in found.answers_together.items():
        yield (
            "rule",
            (
                f"{name} takes answers as independent, but {n:.1f} of each conversation are "
                "judged, so false alarms may come more often than promised. "
                'Write of = "sessions" in the rule.'
            ),
        )
    yield "alarms", f"{found.alarms:,} firing" if found.alarms else "none firing"


def length(seconds: float) -> str:
    """A length of time in its largest unit.

    >>> length(42.4), length(7_300)
    ('42 s', '2.0 h')
    """
    for one, unit in LENGTHS:
        if seconds >= one:
            return f"{seconds / one:.1f} {unit}"
    return f"{max(seconds, 0.0):.0f} s"


def _worker(found: "MonitorStatus", now: float) -> str:
    if found.worker_at is None:
        return "never ran; ragstone monitor serve starts it"
    seen = f"last seen {length(now - found.worker_at)} ago"
    return f"{found.worker}, {seen}"


def _last_trace(found: "MonitorStatus", now: float) -> str:
    if found.last_trace_at is None:
        return "none yet"
    usual = "" if found.usual_gap is None else f"; usually one every {length(found.usual_gap)}"
    return f"{length(now - found.last_trace_at)} ago{usual}"
