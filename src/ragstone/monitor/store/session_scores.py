"""Session scores: the scores of the last answers, with the sessions that these belong to."""

from typing import NamedTuple

from ragstone.core.database import Sql


class SessionScore(NamedTuple):
    """A score of an answer; ``session`` is its own id where it has none."""

    at: float
    value: float
    probability: float
    session: str


def last_session_scores(
    run: Sql,
    metric: str,
    since: float,
    until: float,
    facet: tuple[str, str] | None = None,
    most: int = 2_000,
) -> list[SessionScore]:
    """The scores of the last answers in a stretch of time; none if no answer has a session."""
    if not run("SELECT 1 FROM examples WHERE session IS NOT NULL LIMIT 1"):
        return []
    has = (
        ""
        if facet is None
        else "AND EXISTS (SELECT 1 FROM facets f WHERE f.example = s.example AND f.name = ? "
        "AND f.value = ?) "
    )
    rows = run(
        "SELECT s.at, s.value, s.probability, coalesce(e.session, s.example) FROM scores s "
        "JOIN examples e ON e.example = s.example WHERE s.metric = ? AND s.at >= ? AND s.at < ? "
        f"AND s.status = 'value' AND s.source <> 'people' {has}ORDER BY s.at DESC LIMIT ?",
        metric, since, until, *(facet or ()), most,
    )  # fmt: skip
    return [SessionScore(*row) for row in rows]
