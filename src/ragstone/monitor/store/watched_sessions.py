"""Watched sessions: those that are still going on, and the scores of those that are over."""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from ragstone.core.database import Sql

from .kept import keep, remembered
from .rows import in_pages, marks

TAKEN = "sessions_taken"
"""By metric: through which score of an answer its session was taken note of."""

NUMBERED = "sessions_numbered"
"""How many sessions were ever over. No number is given again, also where some were erased."""

SessionStatus = Literal["value", "undefined", "missing", "out"]


class WatchedTurn(NamedTuple):
    """A turn of a session, or an answer without one, which is a session by itself.

    Attributes:
        session: Its id; that of the answer where it has none.
        alone: It has none.
        example: Its own id.
        at: When it was answered, in seconds since the epoch.
        folded_at: When it was last heard of.
        settled: No more of it is waited for, and nothing is to be done before it is judged.
        version: Of the system.
        state: Of its draw; None where it is not drawn or passed over yet.
        probability: With which it was drawn.
        lot: Of its draw.
        source: Of its draw.
        value: Of the metric; None where it has none.
        status: ``value``, ``undefined`` or ``missing``; None where there is no score.
        judge: Who gave it.
    """

    session: str
    alone: bool
    example: str
    at: float
    folded_at: float
    settled: bool
    version: str | None
    state: str | None
    probability: float | None
    lot: float | None
    source: str | None
    value: float | None
    status: str | None
    judge: str | None


class SessionOver(NamedTuple):
    """A session to which nothing is added any more, with its one score of a metric."""

    session: str
    example: str
    metric: str
    at: float
    judged_at: float
    value: float | None
    status: SessionStatus
    probability: float
    version: str | None
    judge: str


def take_note(run: Sql, metric: str, now: float, last: int, most: int, soon: float) -> bool:
    """Take note of the sessions of scores that came; gives whether there are more.

    What came before a metric was first watched is left alone.

    Args:
        run: Within a transaction.
        metric: Its text form.
        now: Seconds since the epoch.
        last: Number of the last score of all.
        most: Scores that are looked at.
        soon: Seconds; a session that is to be looked at later than that stays where it is. It
            still goes on, and to look at each of its scores reads all its turns each time.
    """
    taken: dict[str, int] = remembered(run, TAKEN, {})
    if metric not in taken:
        keep(run, TAKEN, {**taken, metric: last})
        return False
    if taken[metric] == last:
        return False
    rows = run(
        "SELECT s.number, coalesce(e.session, e.example) FROM scores s "
        "LEFT JOIN examples e ON e.example = s.example WHERE s.metric = ? AND s.number > ? "
        "AND s.source IN ('guard', 'sample') ORDER BY s.number LIMIT ?",
        metric, taken[metric], most,
    )  # fmt: skip
    sessions = sorted({session for _, session in rows if session is not None})
    for page in in_pages(sessions):
        others = {
            session
            for (session,) in run(
                "SELECT session FROM watched_sessions WHERE metric = ? "
                f"AND session IN ({marks(page)}) UNION "
                "SELECT session FROM open_sessions WHERE metric = ? AND due_at > ? "
                f"AND session IN ({marks(page)})",
                metric, *page, metric, now + soon, *page,
            )
        }  # fmt: skip
        _wait(run, metric, [(one, now) for one in page if one not in others])
    more = len(rows) == most
    keep(run, TAKEN, {**taken, metric: rows[-1][0] if more else last})
    return more


def take_again_after(run: Sql, last: int) -> None:
    """Scores behind this one were erased, and their numbers may be given again."""
    taken: dict[str, int] = remembered(run, TAKEN, {})
    if any(number > last for number in taken.values()):
        keep(run, TAKEN, {metric: min(number, last) for metric, number in taken.items()})


def stop_noting(run: Sql, metrics: Collection[str]) -> None:
    """Forget what goes on of all metrics but these."""
    taken: dict[str, int] = remembered(run, TAKEN, {})
    gone = [metric for metric in taken if metric not in metrics]
    for metric in gone:
        run("DELETE FROM open_sessions WHERE metric = ?", metric)
    if gone:
        keep(run, TAKEN, {metric: taken[metric] for metric in taken if metric in metrics})


def sessions_to_look_at(run: Sql, metric: str, now: float, most: int) -> list[str]:
    """The sessions that may be over, the longest waiting first."""
    rows = run(
        "SELECT session FROM open_sessions WHERE metric = ? AND due_at <= ? "
        "ORDER BY due_at, session LIMIT ?",
        metric, now, most,
    )  # fmt: skip
    return [session for (session,) in rows]


def watched_turns(
    run: Sql, metric: str, sessions: Sequence[str], *, guard: bool
) -> dict[str, list[WatchedTurn]]:
    """The turns of some sessions, each in order; one of which all was erased has none.

    Args:
        run: Within a transaction.
        metric: Its text form.
        sessions: Their ids.
        guard: Whether it is the guard's, of every answer.
    """
    source = "s.source = 'guard'" if guard else "s.source IN ('sample', 'backfill')"
    found: dict[str, list[WatchedTurn]] = {one: [] for one in sessions}
    for page in in_pages(sessions):
        listed = marks(page)
        rows = run(
            "SELECT coalesce(e.session, e.example), e.session IS NULL, e.example, e.at, "
            "e.folded_at, e.settled = 1 AND NOT EXISTS "
            "(SELECT 1 FROM to_do t WHERE t.example = e.example), e.version, d.state, "
            "d.probability, d.lot, d.source, s.value, s.status, s.judge FROM examples e "
            "LEFT JOIN draws d ON d.example = e.example "
            f"LEFT JOIN scores s ON s.example = e.example AND s.metric = ? AND {source} "
            f"WHERE e.session IN ({listed}) OR (e.session IS NULL AND e.example IN ({listed})) "
            "ORDER BY e.at, e.example",
            metric, *page, *page,
        )  # fmt: skip
        for row in rows:
            turn = WatchedTurn(*row)
            found[turn.session].append(turn)
    return found


def wait_for(run: Sql, metric: str, waiting: Iterable[tuple[str, float]]) -> None:
    """Look at sessions again then."""
    _wait(run, metric, list(waiting))


def end_sessions(run: Sql, metric: str, over: Sequence[SessionOver]) -> None:
    """Keep the scores of sessions that are over, in this order; none is kept twice."""
    first = int(remembered(run, NUMBERED, 0)) + 1
    run.many(
        "INSERT INTO watched_sessions (number, session, example, metric, at, judged_at, value, "
        "status, probability, version, judge) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(number, *one) for number, one in enumerate(over, first)],
    )
    keep(run, NUMBERED, first + len(over) - 1)
    drop_open(run, metric, [one.session for one in over])


def drop_open(run: Sql, metric: str, sessions: Iterable[str]) -> None:
    """Wait for no more of these."""
    run.many(
        "DELETE FROM open_sessions WHERE metric = ? AND session = ?",
        [(metric, one) for one in sessions],
    )


def forget_open(run: Sql, sessions: Sequence[str]) -> None:
    """Forget those of these sessions of which no answer is left."""
    for page in in_pages(sessions):
        run(
            f"DELETE FROM open_sessions WHERE session IN ({marks(page)}) AND NOT EXISTS "
            "(SELECT 1 FROM examples e WHERE e.session = open_sessions.session) AND NOT EXISTS "
            "(SELECT 1 FROM examples e WHERE e.example = open_sessions.session)",
            *page,
        )


def _wait(run: Sql, metric: str, waiting: Sequence[tuple[str, float]]) -> None:
    run.many(
        "INSERT INTO open_sessions VALUES (?, ?, ?) ON CONFLICT (metric, session) DO UPDATE SET "
        "due_at = excluded.due_at",
        [(metric, session, due_at) for session, due_at in waiting],
    )
