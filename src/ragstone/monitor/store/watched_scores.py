"""Watched scores: those that alarms are raised by, in the order in which they were given.

Scores that fill a past window are none of them, nor those of an answer that was judged before.
A rule looks at those of answers, or at one score a session. A session has the facets of its last
turn.
"""

from typing import Literal, NamedTuple

from ragstone.core.database import Sql

Facet = tuple[str, str]
"""A name that can be sliced by, and a value."""

Unit = Literal["answers", "sessions"]
"""Of what each score is looked at by itself."""

COLUMNS = "s.number, s.example, s.at, s.judged_at, s.value, s.probability, s.version, s.judge"
TABLES: dict[Unit, str] = {"answers": "scores", "sessions": "watched_sessions"}
COUNTED: dict[Unit, str] = {
    "answers": "s.status = 'value' AND s.again = 0 AND s.source IN ('guard', 'sample')",
    "sessions": "s.status = 'value'",
}
KNOWN: dict[Unit, str] = {
    "answers": "s.status <> 'missing' AND s.source IN ('guard', 'sample')",
    "sessions": "s.status IN ('value', 'undefined')",
}


class WatchedScore(NamedTuple):
    """A score with a value, and when its answer was given and judged; of a session, its last."""

    number: int
    example: str
    at: float
    judged_at: float
    value: float
    probability: float
    version: str | None
    judge: str


def watched_scores(
    run: Sql,
    metric: str,
    facet: Facet | None,
    after: int,
    most: int,
    unit: Unit = "answers",
) -> list[WatchedScore]:
    """The scores of a metric that were given after one of this number, the oldest first.

    Args:
        run: Within a transaction or a reading.
        metric: Its text form.
        facet: Only answers with this value of it; None: all.
        after: Number of a score.
        most: At most so many.
        unit: Whose scores.
    """
    return [
        WatchedScore(*row)
        for row in run(
            f"SELECT {COLUMNS} FROM {TABLES[unit]} s WHERE s.metric = ? AND s.number > ? "
            f"AND {COUNTED[unit]} {within(facet)} ORDER BY s.number LIMIT ?",
            metric, after, *(facet or ()), most,
        )
    ]  # fmt: skip


def within(facet: Facet | None) -> str:
    """What keeps to answers with a facet's value, where one is asked for; takes facet and value.

    It is asked of each score, so that those behind a number are not looked for among all answers
    with this value.
    """
    if facet is None:
        return ""
    return (
        "AND EXISTS (SELECT 1 FROM facets f "
        "WHERE f.example = s.example AND f.name = ? AND f.value = ?)"
    )


def last_watched(run: Sql, unit: Unit) -> int:
    """The number of the last score of answers, or of sessions; 0 if there is none."""
    ((number,),) = run(f"SELECT coalesce(max(number), 0) FROM {TABLES[unit]}")
    return int(number)


def new_values(run: Sql, metric: str, facet: str, after: int, unit: Unit = "answers") -> list[str]:
    """The values of a facet in scores after one of this number, in the order of their first."""
    rows = run(
        f"SELECT f.value, min(s.number) FROM {TABLES[unit]} s JOIN facets f "
        f"ON f.example = s.example AND f.name = ? WHERE s.metric = ? AND {COUNTED[unit]} "
        "AND s.number > ? GROUP BY f.value ORDER BY min(s.number)",
        facet, metric, after,
    )  # fmt: skip
    return [value for value, _ in rows]


def last_judged(
    run: Sql, metric: str, facet: Facet | None, most: int, unit: Unit = "answers"
) -> list[float]:
    """When the last answers were judged of which something is known, the latest first.

    A metric that is undefined for an answer is known to be so; a missing score is no data.
    """
    rows = run(
        f"SELECT s.judged_at FROM {TABLES[unit]} s {joined(facet)} WHERE s.metric = ? "
        f"AND {KNOWN[unit]} ORDER BY s.at DESC LIMIT ?",
        *(facet or ()), metric, most,
    )  # fmt: skip
    return sorted({float(at) for (at,) in rows}, reverse=True)


def joined(facet: Facet | None) -> str:
    """What joins the facets of scores ``s``, where one is asked for; takes facet and value."""
    if facet is None:
        return ""
    return "JOIN facets f ON f.example = s.example AND f.name = ? AND f.value = ?"
