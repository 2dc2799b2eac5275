"""Store basics: remembered values, the worker's heartbeat, counts, the log, steps, SQL helpers.

The log holds no text of a trace and no secret.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from ragstone.core.database import Sql
from ragstone.core.escape import single_line

One = TypeVar("One")

# Values in one statement; SQLite takes a few thousand, PostgreSQL more.
MOST_MARKS = 500


def marks(values: Collection[object]) -> str:
    """Return a question mark for each value; NULL, which equals nothing, for none."""
    return ", ".join("?" * len(values)) or "NULL"


def in_pages(values: Sequence[One], most: int = MOST_MARKS) -> Iterator[Sequence[One]]:
    """Give the values, as many at a time as one statement takes."""
    for start in range(0, len(values), most):
        yield values[start : start + most]


def rows_of(run: Sql, sql: str, values: Iterable[str], *more: object) -> list[tuple[Any, ...]]:
    """Return the rows of a statement in which ``...`` stands for many values, before all others."""
    return [
        row
        for page in in_pages(list(values))
        for row in run(sql.replace("...", marks(page)), *page, *more)
    ]


def column(run: Sql, sql: str, *values: object) -> list[Any]:
    """Return the values of the one column that a query gives."""
    return [value for (value,) in run(sql, *values)]


def single(run: Sql, sql: str, *values: object) -> Any:
    """Return the one value of the one row that a query gives."""
    ((value,),) = run(sql, *values)
    return value


def upsert(run: Sql, table: str, key: str, columns: str, rows: Iterable[Sequence[object]]) -> None:
    """Insert rows, each in place of one that has its key; values of the key come first."""
    values = marks(f"{key}, {columns}".split(", "))
    changed = ", ".join(f"{name} = excluded.{name}" for name in columns.split(", "))
    run.many(
        f"INSERT INTO {table} ({key}, {columns}) VALUES ({values}) "
        f"ON CONFLICT ({key}) DO UPDATE SET {changed}",
        rows,
    )


# A name and a value that traffic can be sliced by, such as ``version`` and ``v42``.
Facet = tuple[str, str]


def with_facet(facet: Facet | None, table: str = "s") -> str:
    """Return the condition that keeps to answers with a facet's value; it takes facet and value.

    It is asked of each row, so that those behind a number are not looked for among all answers
    with this value.
    """
    if facet is None:
        return ""
    return (
        f"AND EXISTS (SELECT 1 FROM facets f WHERE f.example = {table}.example AND f.name = ? "
        "AND f.value = ?)"
    )


def keep(run: Sql, name: str, value: object) -> None:
    """Remember a value, which JSON can hold, in the place of an earlier one."""
    upsert(run, "kept", "name", "value", [(name, json.dumps(value))])


def remembered(run: Sql, name: str, default: Any = None) -> Any:
    """Return the value of this name."""
    rows = run("SELECT value FROM kept WHERE name = ?", name)
    return json.loads(rows[0][0]) if rows else default


def drop(run: Sql, name: str) -> None:
    """Remember no value of this name any more."""
    run("DELETE FROM kept WHERE name = ?", name)


HEARTBEAT = "worker_alive"

# Seconds without a sign of life after which the worker is silent; it gives one every few, but a
# machine that is busy may hold it up.
SILENT = 60.0

# Seconds without one after which it is dead, which is an alarm.
DEAD = 300.0

WorkerState = Literal["not_begun", "alive", "silent", "dead"]


def last_heartbeat(run: Sql) -> float | None:
    """Return when the worker gave its last sign of life; None: never."""
    beat = remembered(run, HEARTBEAT)
    return None if beat is None else float(beat["at"])


def worker_state(last: float | None, now: float) -> WorkerState:
    """Return the state of the worker.

    >>> worker_state(None, 0), worker_state(0, 59), worker_state(0, 60), worker_state(0, 300)
    ('not_begun', 'alive', 'silent', 'dead')
    """
    if last is None:
        return "not_begun"
    if now - last >= DEAD:
        return "dead"
    return "silent" if now - last >= SILENT else "alive"


MINUTE = 60


def count(run: Sql, now: float, counted: Mapping[str, int]) -> None:
    """Add to the counts of this minute."""
    run.many(
        "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT (minute, what) "
        "DO UPDATE SET n = counts.n + excluded.n",
        [(int(now // MINUTE), what, n) for what, n in sorted(counted.items()) if n],
    )


def counted(run: Sql, since: float, until: float | None = None) -> dict[str, int]:
    """Return how much of what was counted from a minute on, and before another."""
    rows = run(
        "SELECT what, sum(n) FROM counts WHERE minute >= ? AND minute < ? GROUP BY what",
        int(since // MINUTE),
        2**62 if until is None else int(until // MINUTE),
    )
    return {what: int(n) for what, n in rows}


Level = Literal["info", "warning", "error"]

LONGEST_LINE = 2_000
MOST_LINES = 100_000


def log(run: Sql, now: float, level: Level, text: str) -> None:
    """Write a line; of very many, the oldest are forgotten."""
    line = single_line(text)[:LONGEST_LINE]
    run("INSERT INTO lines (at, level, text) VALUES (?, ?, ?)", now, level, line)
    run("DELETE FROM lines WHERE number <= (SELECT max(number) FROM lines) - ?", MOST_LINES)


def last_lines(run: Sql, n: int = 100) -> list[tuple[float, Level, str]]:
    """Return time, level and text of the last lines, the newest first."""
    return run("SELECT at, level, text FROM lines ORDER BY number DESC LIMIT ?", n)


Step = Literal["assess", "draw"]
ASSESS: Step = "assess"
DRAW: Step = "draw"


def to_do(run: Sql, now: float, step: Step, examples: Iterable[str]) -> None:
    """Say that this step comes next for these examples; who waits already keeps the place."""
    run.many(
        "INSERT INTO to_do VALUES (?, ?, ?) ON CONFLICT (example, step) DO NOTHING",
        [(example, step, now) for example in examples],
    )


def done(run: Sql, step: Step, examples: Collection[str]) -> None:
    """Say that this step is done."""
    run(f"DELETE FROM to_do WHERE step = ? AND example IN ({marks(examples)})", step, *examples)


def waiting_for(run: Sql, step: Step) -> tuple[int, float | None]:
    """Return how many examples wait for a step, and since when the first of them does."""
    ((n, since),) = run("SELECT count(*), min(at) FROM to_do WHERE step = ?", step)
    return int(n), since
