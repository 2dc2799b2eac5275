"""Scored: scores in the order in which they were given, with where their answer came from."""

from typing import NamedTuple

from ragstone.core.database import Sql

WRITTEN_BACK = "written_back"
"""The name under which it is remembered up to which score all were sent elsewhere."""


class ScoredAnswer(NamedTuple):
    """A score of an answer, with the span that gave the answer.

    ``value`` is None where ``status`` is ``undefined`` or ``missing``.
    """

    number: int
    example: str
    trace: str
    span: str
    metric: str
    judged_at: float
    value: float | None
    status: str
    reason: str
    label: str | None
    judge: str
    probability: float
    source: str


def scored_after(run: Sql, number: int, most: int) -> list[ScoredAnswer]:
    """The scores that were given after one of this number, the oldest first."""
    rows = run(
        "SELECT s.number, s.example, e.trace, e.span, s.metric, s.judged_at, s.value, s.status, "
        "s.reason, s.label, s.judge, s.probability, s.source FROM scores s "
        "JOIN examples e ON e.example = s.example WHERE s.number > ? ORDER BY s.number LIMIT ?",
        number, most,
    )  # fmt: skip
    return [ScoredAnswer(*row) for row in rows]


def last_score(run: Sql) -> int:
    """The number of the last score; 0 if there is none."""
    ((number,),) = run("SELECT coalesce(max(number), 0) FROM scores")
    return int(number)
