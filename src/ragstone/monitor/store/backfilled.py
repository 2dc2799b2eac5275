"""Backfilled: draws over a past window, beside those that were made as answers came."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragstone.core.database import Sql

from .counts import count
from .rows import marks


class WindowDraws(NamedTuple):
    """Of the answers of a window, how many were drawn before, and the others."""

    drawn: int
    others: list["PassedOver"]


class PassedOver(NamedTuple):
    """An answer that was not drawn. ``lot`` is not less than ``probability``; None where it is not
    kept."""

    example: str
    probability: float
    lot: float | None


def draws_between(run: Sql, since: float, until: float) -> WindowDraws:
    """What was drawn of a window."""
    rows = run(
        "SELECT d.example, d.state, d.probability, d.lot FROM examples e "
        "JOIN draws d ON d.example = e.example "
        "WHERE e.at >= ? AND e.at < ? AND e.settled = 1 ORDER BY d.example",
        since, until,
    )  # fmt: skip
    others = [
        PassedOver(example, probability, lot)
        for example, state, probability, lot in rows
        if state == "out"
    ]
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
    run: Sql,
    now: float,
    since: float,
    until: float,
    rate: float,
    drawn: Callable[[PassedOver], bool],
) -> int:
    """Draw more of the answers of a window; gives how many more are due.

    The probability of every answer of the window rises to that of being in one of two draws, and so
    does that of the scores that some have already.
    """
    due = [one.example for one in draws_between(run, since, until).others if drawn(one)]
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
