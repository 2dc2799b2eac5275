"""Stored examples: lists, sessions and samples of examples, with their scores and judgements."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragstone.core.database import Database, Sql

from .draws import facets_of
from .rows import (
    ASSESS,
    DRAW,
    Facet,
    column,
    count,
    done,
    marks,
    rows_of,
    single,
    to_do,
    upsert,
    with_facet,
)
from .scores import NewScore, ScoredExample, write_scores


def next_to_assess(run: Sql, most: int) -> list[tuple[str, ...]]:
    """Return the examples that wait longest: id, record and hash of the texts."""
    return run(
        "SELECT e.example, e.record, e.text_hash FROM to_do t JOIN examples e "
        "ON e.example = t.example WHERE t.step = ? ORDER BY t.at, t.example LIMIT ?",
        ASSESS, most,
    )  # fmt: skip


class NewAssessment(NamedTuple):
    """The assessment of an example; ``assessment`` is JSON, ``ok`` 1 or 0."""

    example: str
    text_hash: str
    ok: int | None
    confidence: float | None
    assessment: str


def write_assessed(
    run: Sql, now: float, assessments: Sequence[NewAssessment], scores: Iterable[NewScore]
) -> None:
    """Keep assessments of examples that are as they were; whether they are drawn comes next.

    An example whose text changed meanwhile waits until it is settled again, or goes on waiting.
    """
    ids = [row.example for row in assessments]
    rows = run(
        "SELECT example, text_hash, at, version FROM examples WHERE settled = 1 "
        f"AND example IN ({marks(ids)})",
        *ids,
    )
    stored = {id: (text_hash, (at, version, 1.0)) for id, text_hash, at, version in rows}
    unchanged = [row for row in assessments if stored.get(row.example, ("",))[0] == row.text_hash]
    columns = "at, text_hash, ok, confidence, assessment"
    upsert(run, "assessed", "example", columns, [(id, now, *row) for id, *row in unchanged])
    examples: dict[str, ScoredExample] = {row.example: stored[row.example][1] for row in unchanged}
    of_unchanged = [score for score in scores if score.example in examples]
    write_scores(run, now, "guard", of_unchanged, examples, ("guard",))
    changed = {id for id in ids if id in stored} - examples.keys()
    done(run, ASSESS, [id for id in ids if id not in changed])
    to_do(run, now, DRAW, sorted(examples))
    count(run, now, {"assessed": len(unchanged)})


COLUMNS = "e.example, e.trace, e.span, e.at, e.session, e.version, e.system, e.record, e.facts"


class ListedExample(NamedTuple):
    """An example.

    ``record`` has Ragstone's own field names; ``facts`` are those of its trace.
    """

    id: str
    trace: str
    span: str
    at: float
    session: str | None
    version: str | None
    system: str
    record: dict[str, Any]
    facts: dict[str, Any]


class ListedScore(NamedTuple):
    """A score of an example; ``probability`` is that of its having been drawn."""

    metric: str
    value: float | None
    status: str
    reason: str
    label: str | None
    judge: str
    probability: float
    source: str
    judged_at: float


@dataclass(frozen=True, slots=True)
class ListedWhere:
    """The conditions by which examples are listed."""

    since: float | None = None
    until: float | None = None
    metric: str = ""
    low: float | None = None
    high: float | None = None
    facets: tuple[tuple[str, str], ...] = ()
    version: str = ""
    session: str = ""
    downwards: bool = False

    def sql(self) -> tuple[str, list[object]]:
        """Return what stands behind SELECT, with its values."""
        values: list[object] = []
        joined = ""
        conditions = []
        if self.metric:
            joined = " JOIN scores s ON s.example = e.example AND s.metric = ? AND s.number = ("
            joined += "SELECT max(number) FROM scores WHERE example = e.example AND metric = ?)"
            values += [self.metric, self.metric]
        for at, (name, value) in enumerate(self.facets):
            joined += f" JOIN facets f{at} ON f{at}.example = e.example AND f{at}.name = ? "
            joined += f"AND f{at}.value = ?"
            values += [name, value]
        for condition, limit in (
            ("e.at >= ?", self.since),
            ("e.at < ?", self.until),
            ("e.version = ?", self.version or None),
            ("e.session = ?", self.session or None),
            ("s.value >= ?", self.low if self.metric else None),
            ("s.value <= ?", self.high if self.metric else None),
        ):
            if limit is not None:
                conditions.append(condition)
                values.append(limit)
        if self.metric and self.low is None and self.high is None:
            conditions.append("s.value IS NOT NULL")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f" FROM examples e{joined}{where}", values

    @property
    def order(self) -> str:
        """Return the clause by which they are sorted."""
        way = "DESC" if self.downwards else "ASC"
        first = f"s.value {way}, " if self.metric else ""
        return f" ORDER BY {first}e.at DESC, e.example"


def count_listed(run: Sql, where: ListedWhere) -> int:
    """Return how many examples there are."""
    behind, values = where.sql()
    return int(single(run, f"SELECT count(*){behind}", *values))


def listed(run: Sql, where: ListedWhere, most: int, start: int = 0) -> list[ListedExample]:
    """Return the examples, from one place on."""
    behind, values = where.sql()
    rows = run(f"SELECT {COLUMNS}{behind}{where.order} LIMIT ? OFFSET ?", *values, most, start)
    return list(map(_example, rows))


def listed_ids(run: Sql, where: ListedWhere, most: int) -> list[str]:
    """Return their ids alone."""
    behind, values = where.sql()
    return column(run, f"SELECT e.example{behind}{where.order} LIMIT ?", *values, most)


def one_listed(run: Sql, example: str) -> ListedExample | None:
    """Return the example of an id."""
    rows = run(f"SELECT {COLUMNS} FROM examples e WHERE e.example = ?", example)
    return _example(rows[0]) if rows else None


def listed_by_ids(run: Sql, examples: Sequence[str]) -> list[ListedExample]:
    """Return the examples of these ids, in their order."""
    rows = rows_of(run, f"SELECT {COLUMNS} FROM examples e WHERE e.example IN (...)", examples)
    by_id = {row[0]: _example(row) for row in rows}
    return [by_id[id] for id in dict.fromkeys(examples) if id in by_id]


def turns_of(run: Sql, session: str, most: int) -> list[ListedExample]:
    """Return the answers of a conversation, the first first."""
    rows = run(
        f"SELECT {COLUMNS} FROM examples e WHERE e.session = ? ORDER BY e.at, e.example LIMIT ?",
        session, most,
    )  # fmt: skip
    return [_example(row) for row in rows]


def scores_listed(run: Sql, examples: Sequence[str]) -> dict[str, list[ListedScore]]:
    """Return the scores of examples, by example; the newest of each metric and source."""
    scores: dict[str, list[ListedScore]] = {example: [] for example in examples}
    if examples:
        for id, *row in run(
            "SELECT example, metric, value, status, reason, label, judge, probability, source, "
            f"judged_at FROM scores WHERE example IN ({marks(examples)}) ORDER BY metric, source",
            *examples,
        ):
            scores[id].append(ListedScore(*row))
    return scores


def facet_values(run: Sql, most: int) -> list[tuple[str, str]]:
    """Names with their values, those of most examples first."""
    return run(
        "SELECT name, value FROM facets GROUP BY name, value "
        "ORDER BY count(*) DESC, name, value LIMIT ?",
        most,
    )


def judged_answer(
    run: Sql, example: str
) -> tuple[dict[str, Any] | None, Any, tuple[float, str] | None]:
    """Return what is known of a stored example; None for each step that was not done yet.

    The guard's assessment, the judgements, and the probability of being drawn with the draw's
    state.
    """
    ((assessment, judgements, probability, state),) = run(
        "SELECT a.assessment, j.judgements, d.probability, d.state FROM examples e "
        "LEFT JOIN assessed a ON a.example = e.example "
        "LEFT JOIN judged j ON j.example = e.example "
        "LEFT JOIN draws d ON d.example = e.example WHERE e.example = ?",
        example,
    )
    return (
        None if assessment is None else json.loads(assessment),
        None if judgements is None else json.loads(judgements),
        None if state is None else (float(probability), state),
    )


def judgements_of(run: Sql, examples: Sequence[str]) -> dict[str, Any]:
    """Return what judges said of each example, as rows by kind; those that were not judged are left
    out.

    What was said of another text than the example has now does not count.
    """
    rows = rows_of(
        run,
        "SELECT j.example, j.judgements FROM judged j JOIN examples e ON e.example = j.example "
        "AND e.text_hash = j.text_hash WHERE j.example IN (...)",
        examples,
    )
    return {id: json.loads(judgements) for id, judgements in rows}


def judged_probabilities(run: Sql, examples: Sequence[str]) -> dict[str, float]:
    """Return the probability of each example; those that were not judged are left out."""
    judged = "SELECT example, probability FROM draws WHERE example IN (...) AND state = 'judged'"
    return {id: float(probability) for id, probability in rows_of(run, judged, examples)}


def count_window(run: Sql, since: float, facet: Facet | None) -> tuple[int, int]:
    """Count the answers given and judged from then on, of all traffic or one facet and value."""
    joined = " JOIN facets f ON f.example = e.example AND f.name = ? AND f.value = ?"
    ((answers, judged),) = run(
        "SELECT count(*), sum(CASE WHEN d.state = 'judged' THEN 1 ELSE 0 END) FROM examples e "
        f"LEFT JOIN draws d ON d.example = e.example{joined if facet else ''} WHERE e.at >= ?",
        *(facet or ()), since,
    )  # fmt: skip
    return int(answers), int(judged or 0)


def _example(row: tuple[Any, ...]) -> ListedExample:
    *columns, record, facts = row
    return ListedExample._make((*columns, json.loads(record), json.loads(facts)))


def examples_to_score(run: Sql, ids: Sequence[str]) -> list[tuple[str, float, str | None, str]]:
    """Return the examples of these ids that are still kept: id, time, version, record as JSON."""
    columns = "SELECT example, at, version, record FROM examples"
    return rows_of(run, f"{columns} WHERE example IN (...) ORDER BY example", ids)


class ScoredTurn(NamedTuple):
    """A turn of a session."""

    session: str
    example: str
    at: float
    value: float | None
    status: str | None
    probability: float | None
    state: str | None
    lot: float | None


def session_turns(
    run: Sql, metric: str, since: float, until: float, facet: Facet | None = None
) -> list[ScoredTurn]:
    """Return all turns, until then, of the sessions that have one in a window, in their order."""
    rows = run(
        "SELECT e.session, e.example, e.at, s.value, s.status, d.probability, d.state, "
        "d.lot FROM examples e LEFT JOIN scores s ON s.example = e.example AND s.metric = ? "
        "AND s.source <> 'people' LEFT JOIN draws d ON d.example = e.example "
        "WHERE e.at < ? AND e.session IN (SELECT o.session FROM examples o WHERE o.at >= ? "
        f"AND o.at < ? AND o.session IS NOT NULL {with_facet(facet, 'o')}) "
        "ORDER BY e.session, e.at, e.example",
        metric, until, since, until, *(facet or ()),
    )  # fmt: skip
    return [ScoredTurn(*row) for row in rows]


def sampled_examples(
    run: Sql, since: float, until: float, most: int
) -> list[tuple[str, float | None]]:
    """Return a sample as good as random, by the hash of the texts; of a session at most one.

    Each is a record with the guard's confidence; None where it was not assessed.
    """
    rows = run(
        "SELECT e.record, a.confidence, coalesce(e.session, e.example) FROM examples e "
        "LEFT JOIN assessed a ON a.example = e.example WHERE e.at >= ? AND e.at < ? "
        "ORDER BY e.text_hash, e.example LIMIT ?",
        since, until, most,
    )  # fmt: skip
    sampled: dict[str, tuple[str, float | None]] = {}
    for record, confidence, session in rows:
        sampled.setdefault(session, (record, confidence))
    return list(sampled.values())


def first_example_at(run: Sql) -> float | None:
    """Return when the first answer that is kept was given; None without any."""
    ((at,),) = run("SELECT min(at) FROM examples")
    return None if at is None else float(at)


# Examples that are read at a time, so that memory is flat.
PAGE = 500


def stored_between(
    database: Database, since: float, until: float
) -> Iterator[tuple[ListedExample, dict[str, str]]]:
    """Give the examples of a window with their facets, the oldest first."""
    at, last = since, ""
    while True:
        with database.reading() as run:
            rows = run(
                f"SELECT {COLUMNS} FROM examples e "
                "WHERE at < ? AND (at > ? OR (at = ? AND example > ?)) "
                "ORDER BY at, example LIMIT ?",
                until, at, at, last, PAGE,
            )  # fmt: skip
            facets = facets_of(run, [row[0] for row in rows])
        for example in map(_example, rows):
            yield example, facets.get(example.id, {})
            at, last = example.at, example.id
        if len(rows) < PAGE:
            return
