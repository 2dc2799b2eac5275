"""Standing: how far everything in a store is."""

from typing import NamedTuple

from ragstone.core.database import Sql

DAY = 86_400


class TraceTimes(NamedTuple):
    """When the last trace came, and the mean seconds between two in the day before; None: none."""

    last: float | None
    gap: float | None


def trace_times(run: Sql) -> TraceTimes:
    """When traces came of late."""
    newest = run("SELECT at FROM received ORDER BY number DESC LIMIT 1")
    ((folded,),) = run("SELECT max(last_at) FROM traces")
    times = [at for at in (newest[0][0] if newest else None, folded) if at is not None]
    if not times:
        return TraceTimes(None, None)
    last = max(times)
    ((n, first, end),) = run(
        "SELECT count(*), min(last_at), max(last_at) FROM traces WHERE last_at > ?", last - DAY
    )
    return TraceTimes(last, (end - first) / (n - 1) if n > 1 else None)


def last_judged(run: Sql) -> float | None:
    """When something was last judged."""
    ((at,),) = run("SELECT max(at) FROM judged")
    return None if at is None else float(at)


def waiting_to_be_judged(run: Sql) -> int:
    """How many are due."""
    ((n,),) = run("SELECT count(*) FROM draws WHERE state = 'due'")
    return int(n)


def alarms_firing(run: Sql) -> int:
    """How many alarms are firing."""
    ((n,),) = run("SELECT count(*) FROM alarms WHERE state = 'firing'")
    return int(n)
