"""Deployed: when answers of each version were first seen."""

from ragstone.core.database import Sql


def deployed(run: Sql, since: float, until: float) -> list[tuple[str, float]]:
    """The versions that were first seen in a stretch of time, the oldest first, each with when."""
    rows = run(
        "SELECT version, first_at FROM versions WHERE first_at >= ? AND first_at < ? "
        "ORDER BY first_at, version",
        since, until,
    )  # fmt: skip
    return [(version, float(at)) for version, at in rows]


def first_seen(run: Sql, version: str) -> float | None:
    """When answers of a version were first seen; None if none was."""
    rows = run("SELECT first_at FROM versions WHERE version = ?", version)
    return float(rows[0][0]) if rows else None
