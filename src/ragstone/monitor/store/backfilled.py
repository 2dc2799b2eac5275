"""Backfilled: draws over a past window, beside those that were made as answers came."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragstone.database.database import Sql

from .counts import count
from .rows import marks


class WindowDraws(NamedTuple):
    """Of the answers of a window, how many were drawn before, and the ids of the others."""

    drawn: int
    others: list[str]


def draws_between(run: Sql, since: float, until: float) -> WindowDraws:
    """What was drawn of a window."""
    rows = run(
        "SELECT d.example, d.state FROM examples e JOIN draws d ON d.example = e.example "
        "WHERE e.at >= ? AND e.at < ? AND e.settled = 1 ORDER BY d.example",
        since, until,
    )  # fmt: skip
    others = [example for example, state in rows if state == "out"]
    return WindowDraws(len(rows) - len(others), others)


class PlannedExample(NamedTuple):
    """An answer that is going to be judged; ``record`` is JSON."""

    example: str
    record: str


def some_records(run: Sql, examples: Sequence[str]) -> list[PlannedExample]:
    """The records of a few examples."""
    rows = run(
        f"SELECT example, record FROM examples WHERE example IN ({marks(examples)}) "
        "ORDER BY example",
        *examples,
    )
    return [PlannedExample(*row) for row in rows]


def draw_between(
    run: Sql, now: float, since: float, until: float, rate: float, drawn: Callable[[str], bool]
) -> int:
    """Draw again among the answers of a window; gives how many more are due.

    An answer is in the sample if either draw has it, and that is the probability that is kept of
    every answer of the window, and of the scores that some have already.
    """
    due = [one for one in draws_between(run, since, until).others if drawn(one)]
    window = "(SELECT example FROM examples WHERE at >= ? AND at < ? AND settled = 1)"
    run(
        f"UPDATE draws SET probability = 1 - (1 - probability) * (1 - ?) WHERE example IN {window}",
        rate, since, until,
    )  # fmt: skip
    run(
        "UPDATE scores SET probability = 1 - (1 - probability) * (1 - ?) "
        f"WHERE source IN ('sample', 'backfill') AND example IN {window}",
        rate, since, until,
    )  # fmt: skip
    run.many(
        "UPDATE draws SET state = 'due', source = 'backfill', due_at = ?, tries = 0 "
        "WHERE example = ?",
        [(now, one) for one in due],
    )
    count(run, now, {"due": len(due)})
    return len(due)
