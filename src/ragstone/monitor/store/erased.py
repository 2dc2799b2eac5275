"""Erased: traces and examples that go, with all that hangs on them."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ragstone.core.database import Sql

from .counts import MINUTE
from .kept import keep, remembered
from .parts import folded, folded_through
from .rows import in_pages, marks
from .scored import WRITTEN_BACK, last_score
from .watched_sessions import forget_open, take_again_after

HANGS_ON_AN_EXAMPLE = (
    *("facets", "to_do", "assessed", "draws", "scores", "judged", "anchors", "anchor_scores"),
    *("watched_sessions", "examples"),
)
ERASURES = "erasures"


def erase_examples(run: Sql, examples: Sequence[str]) -> None:
    """Remove examples from every table."""
    for page in in_pages(examples):
        of_them = run(
            "SELECT DISTINCT coalesce(session, example) FROM examples "
            f"WHERE example IN ({marks(page)})",
            *page,
        )
        for table in HANGS_ON_AN_EXAMPLE:
            run(f"DELETE FROM {table} WHERE example IN ({marks(page)})", *page)
        forget_open(run, [session for (session,) in of_them])
    if examples:
        last = last_score(run)
        # SQLite gives the numbers of last rows again: who read them must not pass over new ones.
        run("UPDATE detectors SET through = ? WHERE through > ? AND unit = 'answers'", last, last)
        take_again_after(run, last)
        if int(remembered(run, WRITTEN_BACK, 0)) > last:
            keep(run, WRITTEN_BACK, last)


def erase_traces(run: Sql, traces: Sequence[str]) -> list[str]:
    """Remove traces with what came of them and their examples; gives the ids of these."""
    examples: list[str] = []
    for page in in_pages(traces):
        examples += [
            example
            for (example,) in run(
                f"SELECT example FROM examples WHERE trace IN ({marks(page)}) ORDER BY example",
                *page,
            )
        ]
        for table in ("received", "traces"):
            run(f"DELETE FROM {table} WHERE trace IN ({marks(page)})", *page)
    erase_examples(run, examples)
    ((last,),) = run("SELECT coalesce(max(number), 0) FROM received")
    folded(run, min(folded_through(run), int(last)))
    return examples


def oldest_traces(run: Sql, most: int, *, before: float = float("inf")) -> list[str]:
    """The traces that are silent for longest, of those silent since before a time."""
    rows = run(
        "SELECT trace FROM traces WHERE last_at < ? ORDER BY last_at, trace LIMIT ?", before, most
    )
    return [trace for (trace,) in rows]


def count_traces(run: Sql) -> int:
    """How many traces there are."""
    ((n,),) = run("SELECT count(*) FROM traces")
    return int(n)


def trim_before(run: Sql, at: float) -> None:
    """Let go of counts and of what was put aside before a time."""
    run("DELETE FROM counts WHERE minute < ?", int(at // MINUTE))
    run("DELETE FROM malformed WHERE at < ?", at)


def traces_of(run: Sql, *, sessions: Collection[str], people: Collection[str]) -> list[str]:
    """The traces with an answer in one of the sessions, or to one of the people."""
    found = set[str]()
    for column, names in (("session", sessions), ("person", people)):
        for name in names:
            rows = run(f"SELECT DISTINCT trace FROM examples WHERE {column} = ?", name)
            found.update(trace for (trace,) in rows)
    return sorted(found)


def erase_malformed(run: Sql, names: Iterable[str]) -> int:
    """Remove what was put aside and has one of these names in it; gives how much."""
    wanted = [name.encode() for name in names if name]
    rows = run("SELECT number, body FROM malformed ORDER BY number")
    gone = [(number,) for number, body in rows if any(name in bytes(body) for name in wanted)]
    run.many("DELETE FROM malformed WHERE number = ?", gone)
    return len(gone)


def unlink_alarms(run: Sql, examples: Collection[str]) -> None:
    """Take examples out of what alarms link to."""
    names = set(examples)
    for number, facts in run("SELECT number, facts FROM alarms ORDER BY number"):
        told = json.loads(facts)
        left = _without(told, names)
        if left != told:
            run("UPDATE alarms SET facts = ? WHERE number = ?", json.dumps(left), number)


def _without(told: Any, names: set[str]) -> Any:
    if isinstance(told, list):
        return [_without(one, names) for one in told if not _is_of(one, names)]
    if isinstance(told, dict):
        return {
            name: _without(one, names)
            for name, one in told.items()
            if name not in names and not (isinstance(one, str) and one in names)
        }
    return told


def _is_of(one: Any, names: set[str]) -> bool:
    if isinstance(one, dict):
        one = one.get("example", one.get("id"))
    return isinstance(one, str) and one in names


def erasures(run: Sql) -> int:
    """How often something was erased: who read texts before must not write them after."""
    return int(remembered(run, ERASURES, 0))


def erased(run: Sql) -> None:
    """Say that something was erased."""
    keep(run, ERASURES, erasures(run) + 1)
