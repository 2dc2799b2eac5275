"""Prometheus: figures in its text format, for what scrapes them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ragstone.core.database import Database, Sql
from ragstone.core.errors import StoreAway
from ragstone.monitor.following.sign_of_life import DEAD, SILENT, last_sign
from ragstone.monitor.store.counts import counted
from ragstone.monitor.store.parts import unfolded
from ragstone.monitor.store.raised import raised_alarms
from ragstone.monitor.store.to_do import ASSESS, waiting_for

HOUR = 3_600
PREFIX = "ragstone_monitor"
MOST_ALARMS = 10_000

TAKEN = (
    "received",
    "kept",
    "spans",
    "logs",
    "examples",
    "malformed",
    "ignored",
    "unreadable",
    "dropped",
)


@dataclass(frozen=True, slots=True)
class IntakeFigures:
    """What came since the process began, and what waits now.

    Attributes:
        taken: How much of what was written, as it is counted in the store.
        replies: Requests by the status they were answered with.
        waiting: Requests that wait to be written.
        waiting_bytes: That they hold.
        is_writable: Whether the store could be written to when that was last tried.
    """

    taken: Mapping[str, int]
    replies: Mapping[int, int]
    waiting: int
    waiting_bytes: int
    is_writable: bool


def exposition(figures: IntakeFigures, database: Database, now: float) -> str:
    """All figures, as text. Those of the store are left out where it is away."""
    lines = [*_intake(figures)]
    try:
        with database.reading() as run:
            lines += [*_lags(run, now), *_judging(run, now), *_alarms(run)]
    except StoreAway:
        pass
    return "\n".join([*lines, ""])


def _intake(figures: IntakeFigures) -> Iterator[str]:
    yield from _head(
        "items_total", "counter", "Spans, log records and examples by what became of them."
    )
    for what in TAKEN:
        yield _line("items_total", figures.taken.get(what, 0), what=what)
    yield from _head("replies_total", "counter", "Requests by the status of their reply.")
    for status, n in sorted(figures.replies.items()):
        yield _line("replies_total", n, status=status)
    yield from _head("refused_total", "counter", "Requests that were not taken in.")
    yield _line("refused_total", figures.taken.get("refused", 0))
    yield from _head("queue_requests", "gauge", "Requests that wait to be written.")
    yield _line("queue_requests", figures.waiting)
    yield from _head("queue_bytes", "gauge", "Bytes that they hold.")
    yield _line("queue_bytes", figures.waiting_bytes)
    yield from _head("store_up", "gauge", "1 if the store could be written to.")
    yield _line("store_up", int(figures.is_writable))


def _lags(run: Sql, now: float) -> Iterator[str]:
    parts, since = unfolded(run)
    guard = waiting_for(run, ASSESS)
    yield from _head("waiting", "gauge", "What came and waits for the worker.")
    yield _line("waiting", parts, step="fold")
    yield _line("waiting", guard.n, step="guard")
    yield from _head("lag_seconds", "gauge", "For how long the first of those has waited.")
    yield _line("lag_seconds", _age(since, now), step="fold")
    yield _line("lag_seconds", _age(guard.since, now), step="guard")


def _judging(run: Sql, now: float) -> Iterator[str]:
    yield from _head("last_hour", "gauge", "How much came, was due and was done in an hour.")
    for what, n in sorted({"judged": 0, "due": 0, **counted(run, now - HOUR)}.items()):
        yield _line("last_hour", n, what=what)
    sign = last_sign(run)
    if sign is not None:
        words = (
            "Since the worker's last sign of life: "
            f"from {SILENT:g} on it is silent, from {DEAD:g} on dead."
        )
        yield from _head("worker_silent_seconds", "gauge", words)
        yield _line("worker_silent_seconds", _age(sign, now))


def _alarms(run: Sql) -> Iterator[str]:
    """The dead-man's switch is one of them: judging that stopped, or no data."""
    firing = Counter(one.kind for one in raised_alarms(run, MOST_ALARMS) if one.firing)
    yield from _head("alarms_firing", "gauge", "Alarms that are firing.")
    yield _line("alarms_firing", firing.total())
    yield from _head("alarms_firing_by_kind", "gauge", "Those by what is wrong.")
    for kind, n in sorted(firing.items()):
        yield _line("alarms_firing_by_kind", n, kind=kind)


def _age(since: float | None, now: float) -> float:
    return 0.0 if since is None else max(0.0, now - since)


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP {PREFIX}_{name} {words}"
    yield f"# TYPE {PREFIX}_{name} {kind}"


def _line(name: str, value: float, **labels: object) -> str:
    said = ",".join(f'{label}="{_escaped(str(of))}"' for label, of in labels.items())
    return f"{PREFIX}_{name}{f'{{{said}}}' if said else ''} {value:.10g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
