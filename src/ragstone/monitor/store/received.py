"""Received: what came, as it was acknowledged, and what could not be taken in."""

from collections.abc import Iterable
from typing import NamedTuple

from ragstone.core.database import Sql

MOST_MALFORMED = 1_000
"""Malformed spans that are kept aside; the oldest go first. All are counted."""


class KeptAside(NamedTuple):
    """Something that could not be taken in: when it came, why, and the beginning of it."""

    at: float
    why: str
    body: bytes


def insert_received(run: Sql, now: float, parts: Iterable[tuple[str, str, bytes]]) -> None:
    """Add what came of traces: for each the trace, the kind and the body."""
    run.many(
        "INSERT INTO received (trace, kind, at, body) VALUES (?, ?, ?, ?)",
        [(trace, kind, now, body) for trace, kind, body in parts],
    )


def insert_malformed(run: Sql, now: float, faults: Iterable[tuple[str, bytes]]) -> None:
    """Keep aside what could not be taken in: for each why, and the body."""
    rows = [(now, why, body) for why, body in faults][-MOST_MALFORMED:]
    if rows:
        run.many("INSERT INTO malformed (at, why, body) VALUES (?, ?, ?)", rows)
        run(
            "DELETE FROM malformed WHERE number <= (SELECT max(number) FROM malformed) - ?",
            MOST_MALFORMED,
        )


def last_malformed(run: Sql, n: int = 100) -> list[KeptAside]:
    """The last that was kept aside, the newest first."""
    rows = run("SELECT at, why, body FROM malformed ORDER BY number DESC LIMIT ?", n)
    return [KeptAside(at, why, bytes(body)) for at, why, body in rows]
