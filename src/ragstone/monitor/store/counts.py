"""Counts: how much of what came, and what was done with it, by minute."""

from collections.abc import Mapping

from ragstone.core.database import Sql

MINUTE = 60


def count(run: Sql, now: float, counted: Mapping[str, int]) -> None:
    """Add to the counts of this minute."""
    run.many(
        "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT (minute, what) "
        "DO UPDATE SET n = counts.n + excluded.n",
        [(int(now // MINUTE), what, n) for what, n in sorted(counted.items()) if n],
    )


def counted(run: Sql, since: float, until: float | None = None) -> dict[str, int]:
    """How much of what was counted from a minute on, and before another."""
    rows = run(
        "SELECT what, sum(n) FROM counts WHERE minute >= ? AND minute < ? GROUP BY what",
        int(since // MINUTE),
        2**62 if until is None else int(until // MINUTE),
    )
    return {what: int(n) for what, n in rows}
