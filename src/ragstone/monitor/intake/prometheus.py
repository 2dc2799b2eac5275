"""Prometheus: figures in its text format, for what scrapes them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ragstone.database.database import Database
from ragstone.errors import StoreAway
from ragstone.monitor.store.counts import counted

HOUR = 3_600
PREFIX = "ragstone_monitor"

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
            lines += _judging(counted(run, now - HOUR))
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


def _judging(last_hour: Mapping[str, int]) -> Iterator[str]:
    yield from _head("hour", "gauge", "How much of what was done in the last hour.")
    for what in ("judged", "due", "assessed", "folded", "shed"):
        yield _line("hour", last_hour.get(what, 0), what=what)


def _head(name: str, kind: str, words: str) -> Iterator[str]:
    yield f"# HELP {PREFIX}_{name} {words}"
    yield f"# TYPE {PREFIX}_{name} {kind}"


def _line(name: str, value: float, **labels: object) -> str:
    said = ",".join(f'{label}="{_escaped(str(of))}"' for label, of in labels.items())
    return f"{PREFIX}_{name}{f'{{{said}}}' if said else ''} {value:.10g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
