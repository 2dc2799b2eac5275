"""Parts: what came of traces and is not folded yet, in the order in which it came."""

from collections.abc import Collection
from typing import NamedTuple

from ragstone.core.database import Sql

from .kept import keep, remembered
from .rows import marks

CURSOR = "folded_through"


class KeptPart(NamedTuple):
    """What one request said of one trace."""

    number: int
    trace: str
    kind: str
    at: float
    body: bytes


def folded_through(run: Sql) -> int:
    """The number of the last part that was folded; 0 if none was."""
    return int(remembered(run, CURSOR, 0))


def folded(run: Sql, through: int) -> None:
    """Remember that all parts are folded up to this one."""
    keep(run, CURSOR, through)


def parts_after(run: Sql, number: int, most: int) -> list[tuple[int, str]]:
    """Number and trace of the parts behind one, in the order in which they came."""
    rows = run(
        "SELECT number, trace FROM received WHERE number > ? ORDER BY number LIMIT ?", number, most
    )
    return [(int(one), trace) for one, trace in rows]


def parts_of(run: Sql, traces: Collection[str]) -> dict[str, list[KeptPart]]:
    """All parts of some traces, in the order in which they came."""
    rows = run(
        f"SELECT number, trace, kind, at, body FROM received WHERE trace IN ({marks(traces)}) "
        "ORDER BY trace, number",
        *traces,
    )
    found: dict[str, list[KeptPart]] = {}
    for number, trace, kind, at, body in rows:
        found.setdefault(trace, []).append(KeptPart(int(number), trace, kind, at, bytes(body)))
    return found


def unfolded(run: Sql) -> tuple[int, float | None]:
    """How many parts are not folded, and when the first of them came."""
    ((n, at),) = run("SELECT count(*), min(at) FROM received WHERE number > ?", folded_through(run))
    return int(n), at
