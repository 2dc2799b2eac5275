"""Session turns: what was measured of each turn of the sessions of a stretch of time."""

from typing import NamedTuple

from ragstone.core.database import Sql


class ScoredTurn(NamedTuple):
    """A turn of a session.

    Attributes:
        session: Its id.
        example: Its own.
        at: When it was answered, in seconds since the epoch.
        value: Of the metric; None where it has none.
        status: ``value``, ``undefined`` or ``missing``; None where it was not judged.
        probability: With which it was drawn to be judged; None where that is not settled yet.
        state: Of its draw.
        lot: Which decided that, of its session or its own; None where it is not kept.
    """

    session: str
    example: str
    at: float
    value: float | None
    status: str | None
    probability: float | None
    state: str | None
    lot: float | None


def session_turns(
    run: Sql, metric: str, since: float, until: float, facet: tuple[str, str] | None = None
) -> list[ScoredTurn]:
    """All turns, until then, of the sessions that have one in a stretch of time, in their order.

    Args:
        run: A reading of the store.
        metric: Whose scores.
        since: In seconds since the epoch.
        until: The same.
        facet: That some turn of a session has; None: all sessions.
    """
    has = (
        ""
        if facet is None
        else " AND EXISTS (SELECT 1 FROM facets f WHERE f.example = o.example AND f.name = ? "
        "AND f.value = ?)"
    )
    rows = run(
        "SELECT e.session, e.example, e.at, s.value, s.status, d.probability, d.state, "
        "d.lot FROM examples e LEFT JOIN scores s ON s.example = e.example AND s.metric = ? "
        "AND s.source <> 'people' LEFT JOIN draws d ON d.example = e.example "
        "WHERE e.at < ? AND e.session IN (SELECT o.session FROM examples o WHERE o.at >= ? "
        f"AND o.at < ? AND o.session IS NOT NULL{has}) ORDER BY e.session, e.at, e.example",
        metric, until, since, until, *(facet or ()),
    )  # fmt: skip
    return [ScoredTurn(*row) for row in rows]
