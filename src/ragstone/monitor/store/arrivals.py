"""Arrivals: when traces came, and whether what was drawn is judged."""

from ragstone.core.database import Sql


def arrivals(run: Sql, most: int) -> list[float]:
    """When the last requests came that brought something, the latest first, each time once."""
    rows = run("SELECT DISTINCT last_at FROM traces ORDER BY last_at DESC LIMIT ?", most)
    times = {float(at) for (at,) in rows}
    # What was not folded yet came, too.
    newest = run("SELECT at FROM received ORDER BY number DESC LIMIT 1")
    times.update(float(at) for (at,) in newest)
    return sorted(times, reverse=True)


def oldest_due(run: Sql) -> tuple[float | None, int]:
    """Since when the answer is due that waits longest to be judged, and how many wait."""
    ((at, n),) = run("SELECT min(due_at), count(*) FROM draws WHERE state = 'due'")
    return at, int(n)


def last_judged_at(run: Sql) -> float | None:
    """When an answer that was drawn was judged last; None: none ever was."""
    rows = run("SELECT judged_at FROM scores WHERE source = 'sample' ORDER BY number DESC LIMIT 1")
    return float(rows[0][0]) if rows else None


def missing_since(run: Sql, metric: str, since: float) -> tuple[int, str]:
    """How many scores of a metric are missing of answers since then, and the last reason."""
    rows = run(
        "SELECT reason FROM scores WHERE metric = ? AND at >= ? AND status = 'missing' "
        "ORDER BY number DESC LIMIT 1000",
        metric, since,
    )  # fmt: skip
    return len(rows), rows[0][0] if rows else ""


def deploys_before(run: Sql, until: float, since: float) -> list[tuple[str, float]]:
    """Versions that were first seen in between, the latest first."""
    rows = run(
        "SELECT version, first_at FROM versions WHERE first_at <= ? AND first_at >= ? "
        "ORDER BY first_at DESC, version",
        until, since,
    )  # fmt: skip
    return [(version, float(at)) for version, at in rows]
