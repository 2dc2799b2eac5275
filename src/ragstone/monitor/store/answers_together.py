"""Answers together: how many judged answers a session has, of the rules that look at answers."""

from ragstone.core.database import Sql

from .kept import keep, remembered
from .session_scores import last_session_scores
from .watched_scores import Facet

TOGETHER = "answers_together"
MOST_TOGETHER = 1.2
"""Judged answers a session, on average, from which on they are not taken as independent."""

LAST = 2_000
"""Judged answers that are counted."""


def answers_a_session(run: Sql, metric: str, facet: Facet | None, now: float) -> float:
    """Judged answers a session in the mean of the last ones; 1 without sessions."""
    rows = last_session_scores(run, metric, 0.0, now + 1, facet, LAST)
    return len(rows) / len({one.session for one in rows}) if rows else 1.0


def keep_answers_together(run: Sql, now: float, found: dict[str, float]) -> None:
    """Remember how many each of some rules has, by their names."""
    keep(run, TOGETHER, {"at": now, "of": found})


def answers_together_at(run: Sql) -> float:
    """When that was counted last, in seconds since the epoch."""
    return float(remembered(run, TOGETHER, {"at": 0.0})["at"])


def answers_together(run: Sql) -> dict[str, float]:
    """The rules that look at answers which come in sessions, with how many a session has."""
    kept = remembered(run, TOGETHER, {"of": {}})["of"]
    return {name: n for name, n in kept.items() if n > MOST_TOGETHER}
