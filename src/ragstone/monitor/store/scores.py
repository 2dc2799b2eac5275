"""Scores: stored scores of answers, people's labels beside them, and sums by time.

Sums that are ready are read, and the others are made during the read. A reader therefore always
gets right sums, and only the slots of the last minutes are summed up repeatedly.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, NamedTuple

from ragstone.core.database import Sql

from .rows import Facet, column, keep, marks, remembered, rows_of, single, with_facet
from .store import WIDTH, slot_of

# The name under which it is remembered up to which score all were sent elsewhere.
WRITTEN_BACK = "written_back"


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
    """Return the scores that were given after one of this number, the oldest first."""
    rows = run(
        "SELECT s.number, s.example, e.trace, e.span, s.metric, s.judged_at, s.value, s.status, "
        "s.reason, s.label, s.judge, s.probability, s.source FROM scores s "
        "JOIN examples e ON e.example = s.example WHERE s.number > ? ORDER BY s.number LIMIT ?",
        number, most,
    )  # fmt: skip
    return [ScoredAnswer(*row) for row in rows]


def last_score(run: Sql) -> int:
    """Return the number of the last score; 0 if there is none."""
    return int(single(run, "SELECT coalesce(max(number), 0) FROM scores"))


def scored_metrics(run: Sql) -> list[str]:
    """Return the metrics that have a score; each is found in the index by the one before."""
    metrics = column(
        run,
        "WITH RECURSIVE found (metric) AS (SELECT min(metric) FROM scores UNION ALL "
        "SELECT (SELECT min(s.metric) FROM scores s WHERE s.metric > f.metric) FROM found f "
        "WHERE f.metric IS NOT NULL) SELECT metric FROM found WHERE metric IS NOT NULL",
    )
    return sorted(metrics)


# Names that can be sliced by, those of the fewest values first: what has a value for each answer
# is no slice.
MOST_NAMES = 12


def facet_values(run: Sql, since: float, most: int) -> dict[str, list[str]]:
    """Return the names that scores can be sliced by, with the most frequent values of each."""
    rows = run(
        "SELECT name, value, sum(n) FROM score_sums WHERE name <> '' AND slot >= ? AND metric = "
        "(SELECT min(metric) FROM scores) GROUP BY name, value ORDER BY name, sum(n) DESC, value",
        int(since // WIDTH),
    )
    values: dict[str, list[str]] = {}
    for name, value, _ in rows:
        values.setdefault(name, []).append(value)
    few = sorted(values, key=lambda name: (len(values[name]), name))[:MOST_NAMES]
    return {name: values[name][:most] for name in sorted(few)}


def labelled_scores(
    run: Sql, metric: str, since: float, until: float, facet: Facet | None = None
) -> list[tuple[float, ...]]:
    """Return score and label, each with its probability, of answers that were judged and labelled.

    They are those of a window, in the order of labels: score, probability, label, probability.
    """
    return run(
        "SELECT s.value, s.probability, p.value, p.probability FROM scores p "
        "JOIN scores s ON s.example = p.example AND s.metric = p.metric AND s.source <> 'people' "
        "AND s.status = 'value' WHERE p.source = 'people' AND p.metric = ? AND p.at >= ? "
        f"AND p.at < ? AND p.status = 'value' {with_facet(facet, 'p')} "
        "ORDER BY p.judged_at, p.number",
        metric, since, until, *(facet or ()),
    )  # fmt: skip


# Of the scores of a metric in a slot: ``n`` have a value x, each with the weight w, one over the
# probability with which its example was drawn; ``most`` is the largest w. ``missing_w`` is the
# weight of those whose judgement failed.
SUMS = "n, w, wx, ww, wwx, wwxx, most, undefined, missing, missing_w"

_VALUED = "s.status = 'value'"
_WEIGHT = "1.0 / s.probability"


def _over(condition: str, what: str) -> str:
    return f"coalesce(sum(CASE WHEN {condition} THEN {what} END), 0)"


_MADE = ", ".join(
    [
        f"count(CASE WHEN {_VALUED} THEN 1 END)",
        _over(_VALUED, _WEIGHT),
        _over(_VALUED, f"{_WEIGHT} * s.value"),
        _over(_VALUED, f"{_WEIGHT} * {_WEIGHT}"),
        _over(_VALUED, f"{_WEIGHT} * {_WEIGHT} * s.value"),
        _over(_VALUED, f"{_WEIGHT} * {_WEIGHT} * s.value * s.value"),
        f"coalesce(max(CASE WHEN {_VALUED} THEN {_WEIGHT} END), 0)",
        "count(CASE WHEN s.status = 'undefined' THEN 1 END)",
        "count(CASE WHEN s.status = 'missing' THEN 1 END)",
        _over("s.status = 'missing'", _WEIGHT),
    ]
)
_BY_JUDGES = "s.source <> 'people'"
_IN_SLOT = f"s.at >= ? AND s.at < ? AND {_BY_JUDGES}"


def slot_sums(
    run: Sql, metric: str, first: int, end: int, facet: Facet | None = None
) -> list[tuple[float, ...]]:
    """Return each slot from ``first`` on and before ``end`` that has a score, with its sums."""
    name, value = facet or ("", "")
    open_slots = run(
        "SELECT slot FROM to_sum WHERE metric = ? AND slot >= ? AND slot < ? ORDER BY slot",
        metric, first, end,
    )  # fmt: skip
    ready = run(
        f"SELECT slot, {SUMS} FROM score_sums r WHERE metric = ? AND name = ? AND value = ? "
        "AND slot >= ? AND slot < ? AND NOT EXISTS "
        "(SELECT 1 FROM to_sum t WHERE t.metric = r.metric AND t.slot = r.slot)",
        metric, name, value, first, end,
    )  # fmt: skip
    in_a_row: list[tuple[int, int]] = []
    for (slot,) in open_slots:
        begin = in_a_row.pop()[0] if in_a_row and in_a_row[-1][1] == slot else slot
        in_a_row.append((begin, slot + 1))
    fresh = [
        row
        for begin, behind in in_a_row
        for row in run(
            f"SELECT {slot_of('s.at')} AS slot, {_MADE} FROM scores s WHERE s.metric = ? "
            f"AND {_IN_SLOT} {with_facet(facet)} GROUP BY 1",
            metric, begin * WIDTH, behind * WIDTH, *(facet or ()),
        )
    ]  # fmt: skip
    return sorted([*ready, *fresh])


def sum_up(run: Sql, most: int = 500) -> int:
    """Make the sums of slots whose scores changed, the oldest first; returns how many were made."""
    slots = run("SELECT metric, slot FROM to_sum ORDER BY slot, metric LIMIT ?", most)
    for metric, slot in slots:
        within = (metric, slot * WIDTH, (slot + 1) * WIDTH)
        run("DELETE FROM score_sums WHERE metric = ? AND slot = ?", metric, slot)
        run(
            f"INSERT INTO score_sums (metric, name, value, slot, {SUMS}) "
            f"SELECT s.metric, '', '', CAST(? AS BIGINT), {_MADE} FROM scores s "
            f"WHERE s.metric = ? AND {_IN_SLOT} GROUP BY s.metric",
            slot, *within,
        )  # fmt: skip
        run(
            f"INSERT INTO score_sums (metric, name, value, slot, {SUMS}) "
            f"SELECT s.metric, f.name, f.value, CAST(? AS BIGINT), {_MADE} FROM scores s "
            f"JOIN facets f ON f.example = s.example WHERE s.metric = ? AND {_IN_SLOT} "
            "AND f.name <> '' GROUP BY s.metric, f.name, f.value",
            slot, *within,
        )  # fmt: skip
        run("DELETE FROM to_sum WHERE metric = ? AND slot = ?", metric, slot)
    return len(slots)


def last_session_scores(
    run: Sql, metric: str, since: float, until: float, facet: Facet | None = None, most: int = 2_000
) -> list[tuple[float, float, str]]:
    """Return value, probability and session of the scores of the last answers in a window.

    An answer without a session has its own id there; no score is given if none has one.
    """
    if not run("SELECT 1 FROM examples WHERE session IS NOT NULL LIMIT 1"):
        return []
    return run(
        "SELECT s.value, s.probability, coalesce(e.session, s.example) FROM scores s "
        "JOIN examples e ON e.example = s.example WHERE s.metric = ? AND s.at >= ? AND s.at < ? "
        f"AND s.status = 'value' AND s.source <> 'people' {with_facet(facet)} "
        "ORDER BY s.at DESC LIMIT ?",
        metric, since, until, *(facet or ()), most,
    )  # fmt: skip


ScoreSource = Literal["guard", "sample", "backfill", "people"]

REPLACED = "replaced "


class NewScore(NamedTuple):
    """A score that is to be kept. ``value`` is None unless ``status`` is ``value``."""

    example: str
    metric: str
    value: float | None
    status: str
    reason: str
    label: str | None
    judge: str


def missing_score(example: str, metric: str, why: str, judge: str = "") -> NewScore:
    """Return the score of an example that could not be judged."""
    return NewScore(example, metric, None, "missing", why, None, judge)


# When an answer that is scored was given, its version, and the probability of its being drawn.
ScoredExample = tuple[float, str | None, float]


def write_scores(
    run: Sql,
    now: float,
    source: ScoreSource,
    scores: Iterable[NewScore],
    examples: dict[str, ScoredExample],
    sources: Collection[str],
) -> None:
    """Put scores in the place of earlier ones of the same examples from any of ``sources``.

    Each gets a number behind all others, and says whether the example had been judged before.
    """
    ids = list(examples)
    rows = rows_of(
        run,
        "SELECT example, metric FROM scores WHERE example IN (...) "
        f"AND source IN ({marks(sources)}) AND (status = 'value' OR again = 1)",
        ids,
        *sources,
    )
    had = set(rows)
    # They go when the new ones are there: SQLite gives the number of a last row again.
    which = f"WHERE example IN (...) AND source IN ({marks(sources)})"
    rows_of(run, f"UPDATE scores SET source = '{REPLACED}' || source {which}", ids, *sources)
    run.many(
        "INSERT INTO scores (example, metric, at, judged_at, value, status, reason, label, judge, "
        "probability, version, source, again) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(score.example, score.metric, at, now, score.value, score.status, score.reason),
                *(score.label, score.judge, probability, version, source),
                int((score.example, score.metric) in had),
            )
            for score in scores
            for at, version, probability in [examples[score.example]]
        ],
    )
    rows_of(run, f"DELETE FROM scores {which}", ids, *(f"{REPLACED}{name}" for name in sources))


def last_judged_at(run: Sql) -> float | None:
    """Return when an answer that was drawn was judged last; None: none ever was."""
    rows = run("SELECT judged_at FROM scores WHERE source = 'sample' ORDER BY number DESC LIMIT 1")
    return float(rows[0][0]) if rows else None


def missing_since(run: Sql, metric: str, since: float) -> tuple[int, str]:
    """Return how many scores of a metric are missing of answers since then, and the last reason."""
    rows = run(
        "SELECT reason FROM scores WHERE metric = ? AND at >= ? AND status = 'missing' "
        "ORDER BY number DESC LIMIT 1000",
        metric, since,
    )  # fmt: skip
    return len(rows), rows[0][0] if rows else ""


TOGETHER = "answers_together"
# Judged answers a session, on average, from which on they are not taken as independent.
MOST_TOGETHER = 1.2

# Judged answers that are counted.
LAST = 2_000

# Seconds between two counts.
COUNT_EVERY = 600.0


def count_answers_together(
    run: Sql, now: float, rules: Mapping[str, tuple[str, Facet | None]]
) -> None:
    """Remember, for each rule by name, how many judged answers a session had lately on average.

    They are counted now and then, for the metric and the facet of each rule.
    """
    if 0 <= now - float(remembered(run, TOGETHER, {"at": 0.0})["at"]) < COUNT_EVERY:
        return
    answers = {}
    for name, (metric, facet) in rules.items():
        rows = last_session_scores(run, metric, 0.0, now + 1, facet, LAST)
        answers[name] = len(rows) / len({session for *_, session in rows}) if rows else 1.0
    keep(run, TOGETHER, {"at": now, "of": answers})


def answers_together(run: Sql) -> dict[str, float]:
    """Return the rules that look at answers which come in sessions, with how many a session has."""
    counts = remembered(run, TOGETHER, {"of": {}})["of"]
    return {name: n for name, n in counts.items() if n > MOST_TOGETHER}
