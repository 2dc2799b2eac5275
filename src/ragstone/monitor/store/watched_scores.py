"""Watched scores: the scores of answers and ended sessions that detectors look at, in order.

Scores that fill a past window are not watched, nor are those of an answer that was judged before.
A rule looks at the scores of answers, or at a single score of each session. A session has the
facets of its last turn.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from ragstone.core.database import Sql

from .rows import Facet, column, in_pages, keep, marks, remembered, single, upsert, with_facet

# By metric: through which score of an answer its session was taken note of.
TAKEN = "sessions_taken"

# How many sessions were ever over. No number is given again, also where some were erased.
NUMBERED = "sessions_numbered"

SessionStatus = Literal["value", "undefined", "missing", "out"]


class WatchedTurn(NamedTuple):
    """A turn of a session, or an answer without one, which is a session by itself.

    Attributes:
        session: Its id; that of the answer where it has none.
        settled: No more of it is waited for, and nothing is to be done before it is judged.
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
        soon: Seconds; a session that is to be looked at later than that stays where it is. It
            still goes on, and to look at each of its scores reads all its turns each time.
    """
    through: dict[str, int] = remembered(run, TAKEN, {})
    if metric not in through:
        keep(run, TAKEN, {**through, metric: last})
        return False
    if through[metric] == last:
        return False
    rows = run(
        "SELECT s.number, coalesce(e.session, e.example) FROM scores s "
        "LEFT JOIN examples e ON e.example = s.example WHERE s.metric = ? AND s.number > ? "
        "AND s.source IN ('guard', 'sample') ORDER BY s.number LIMIT ?",
        metric, through[metric], most,
    )  # fmt: skip
    sessions = sorted({session for _, session in rows if session is not None})
    for page in in_pages(sessions):
        others = set(column(
            run,
            "SELECT session FROM watched_sessions WHERE metric = ? "
            f"AND session IN ({marks(page)}) UNION "
            "SELECT session FROM open_sessions WHERE metric = ? AND due_at > ? "
            f"AND session IN ({marks(page)})",
            metric, *page, metric, now + soon, *page,
        ))  # fmt: skip
        wait_for(run, metric, [(item, now) for item in page if item not in others])
    more = len(rows) == most
    keep(run, TAKEN, {**through, metric: rows[-1][0] if more else last})
    return more


def take_again_after(run: Sql, last: int) -> None:
    """Scores behind this one were erased, and their numbers may be given again."""
    through: dict[str, int] = remembered(run, TAKEN, {})
    if any(number > last for number in through.values()):
        keep(run, TAKEN, {metric: min(number, last) for metric, number in through.items()})


def stop_noting(run: Sql, metrics: Collection[str]) -> None:
    """Forget what goes on of all metrics but these."""
    through: dict[str, int] = remembered(run, TAKEN, {})
    gone = [metric for metric in through if metric not in metrics]
    for metric in gone:
        run("DELETE FROM open_sessions WHERE metric = ?", metric)
    if gone:
        keep(run, TAKEN, {metric: through[metric] for metric in through if metric in metrics})


def sessions_to_look_at(run: Sql, metric: str, now: float, most: int) -> list[str]:
    """Return the sessions that may be over, the longest waiting first."""
    return column(
        run,
        "SELECT session FROM open_sessions WHERE metric = ? AND due_at <= ? "
        "ORDER BY due_at, session LIMIT ?",
        metric, now, most,
    )  # fmt: skip


def watched_turns(
    run: Sql, metric: str, sessions: Sequence[str], *, guard: bool
) -> dict[str, list[WatchedTurn]]:
    """Return the turns of some sessions, each in order; one of which all was erased has none."""
    source = "s.source = 'guard'" if guard else "s.source IN ('sample', 'backfill')"
    turns: dict[str, list[WatchedTurn]] = {session: [] for session in sessions}
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
            turns[turn.session].append(turn)
    return turns


def end_sessions(run: Sql, metric: str, over: Sequence[SessionOver]) -> None:
    """Keep the scores of sessions that are over, in this order; none is kept twice."""
    first = int(remembered(run, NUMBERED, 0)) + 1
    run.many(
        "INSERT INTO watched_sessions (number, session, example, metric, at, judged_at, value, "
        "status, probability, version, judge) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(number, *alarm) for number, alarm in enumerate(over, first)],
    )
    keep(run, NUMBERED, first + len(over) - 1)
    drop_open(run, metric, [alarm.session for alarm in over])


def drop_open(run: Sql, metric: str, sessions: Iterable[str]) -> None:
    """Wait for no more of these."""
    run.many(
        "DELETE FROM open_sessions WHERE metric = ? AND session = ?",
        [(metric, session) for session in sessions],
    )


def erase_open_sessions(run: Sql, sessions: Sequence[str]) -> None:
    """Remove those of these sessions of which no answer is left."""
    for page in in_pages(sessions):
        run(
            f"DELETE FROM open_sessions WHERE session IN ({marks(page)}) AND NOT EXISTS "
            "(SELECT 1 FROM examples e WHERE e.session = open_sessions.session) AND NOT EXISTS "
            "(SELECT 1 FROM examples e WHERE e.example = open_sessions.session)",
            *page,
        )


def wait_for(run: Sql, metric: str, waiting: Iterable[tuple[str, float]]) -> None:
    """Look at sessions again then."""
    rows = [(metric, session, due_at) for session, due_at in waiting]
    upsert(run, "open_sessions", "metric, session", "due_at", rows)


# Of what each score is looked at by itself.
Unit = Literal["answers", "sessions"]

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
    run: Sql, metric: str, facet: Facet | None, after: int, most: int, unit: Unit = "answers"
) -> list[WatchedScore]:
    """Return the scores of a metric that were given after one of this number, the oldest first."""
    which = f"s.number > ? AND {COUNTED[unit]} {with_facet(facet)} ORDER BY s.number"
    return _scores(run, unit, which, metric, after, *(facet or ()), most)


def scores_through(
    run: Sql, metric: str, facet: Facet | None, last: int, most: int, unit: Unit = "answers"
) -> list[WatchedScore]:
    """Return the last scores of a metric through a number, by when their answers were given."""
    which = f"s.number <= ? AND {COUNTED[unit]} {with_facet(facet)} ORDER BY s.number DESC"
    scores = _scores(run, unit, which, metric, last, *(facet or ()), most)
    return sorted(scores, key=lambda score: (score.at, score.number))


def _scores(run: Sql, unit: Unit, which: str, *values: object) -> list[WatchedScore]:
    select = f"SELECT {COLUMNS} FROM {TABLES[unit]} s WHERE s.metric = ? AND {which} LIMIT ?"
    return [WatchedScore(*row) for row in run(select, *values)]


def last_watched(run: Sql, unit: Unit) -> int:
    """Return the number of the last score of answers, or of sessions; 0 if there is none."""
    return int(single(run, f"SELECT coalesce(max(number), 0) FROM {TABLES[unit]}"))


def new_values(run: Sql, metric: str, facet: str, after: int, unit: Unit = "answers") -> list[str]:
    """Return the values of a facet in scores behind a number, in the order of their first."""
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
    """Return when the last answers were judged of which something is known, the latest first.

    A metric that is undefined for an answer is known to be so; a missing score is no data.
    """
    joined = "JOIN facets f ON f.example = s.example AND f.name = ? AND f.value = ?"
    rows = run(
        f"SELECT s.judged_at FROM {TABLES[unit]} s {joined if facet else ''} WHERE s.metric = ? "
        f"AND {KNOWN[unit]} ORDER BY s.at DESC LIMIT ?",
        *(facet or ()), metric, most,
    )  # fmt: skip
    return sorted({float(at) for (at,) in rows}, reverse=True)


class KeptDetector(NamedTuple):
    """A detector of one rule in one slice; ``state`` is JSON that is good for ``identity`` alone,
    ``through`` the number of a score of answers or of sessions, as ``unit`` says.
    """

    rule: str
    slice: str
    identity: str
    state: str
    through: int
    unit: str


def kept_detectors(run: Sql) -> dict[tuple[str, str], KeptDetector]:
    """Return all detectors, by rule and slice."""
    rows = run("SELECT rule, slice, identity, state, through, unit FROM detectors")
    return {(row[0], row[1]): KeptDetector(*row) for row in rows}


def keep_detectors(run: Sql, detectors: Iterable[KeptDetector]) -> None:
    """Keep the states of detectors in the place of earlier ones."""
    upsert(run, "detectors", "rule, slice", "identity, state, through, unit", detectors)


def drop_detectors(run: Sql, detectors: Collection[tuple[str, str]]) -> None:
    """Remove detectors by rule and slice."""
    run.many("DELETE FROM detectors WHERE rule = ? AND slice = ?", detectors)


def judged_window(
    run: Sql, metric: str, facet: Facet | None, first: int, last: int, unit: Unit = "answers"
) -> tuple[int, float, float]:
    """Return how many watched scores lie between two numbers, their mean, and their start.

    The mean is weighted by one over the probabilities, on the metric's own scale; the start is
    when the first of these answers was given.

    Args:
        first: Number of a score; where it is there no more, the next one counts.
    """
    of = (
        f"FROM {TABLES[unit]} s WHERE s.metric = ? AND s.number BETWEEN ? AND ? "
        f"AND {COUNTED[unit]} {with_facet(facet)}"
    )
    values = (metric, first, last, *(facet or ()))
    ((n, weights, weighted),) = run(
        f"SELECT count(*), sum(1 / s.probability), sum(s.value / s.probability) {of}", *values
    )
    begun = single(run, f"SELECT s.at {of} ORDER BY s.number LIMIT 1", *values)
    return int(n), weighted / weights, float(begun)
