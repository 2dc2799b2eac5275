"""Listed: the examples that screens show, with everything that was said of each."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragstone.core.database import Sql

from .rows import in_pages, marks

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
    """Which examples are listed.

    Attributes:
        since: The first moment.
        until: The first that is not.
        metric: The examples that have a score of it, the lowest first; empty: the newest first.
        low: The lowest value.
        high: The highest value.
        facets: Names with their values.
        version: Of the deploy.
        session: Of the conversation.
        downwards: Whether the highest value comes first.
    """

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
        """What stands behind SELECT."""
        values: list[object] = []
        joined = ""
        wanted = []
        if self.metric:
            joined = " JOIN scores s ON s.example = e.example AND s.metric = ? AND s.number = ("
            joined += "SELECT max(number) FROM scores WHERE example = e.example AND metric = ?)"
            values += [self.metric, self.metric]
        for at, (name, value) in enumerate(self.facets):
            joined += f" JOIN facets f{at} ON f{at}.example = e.example AND f{at}.name = ? "
            joined += f"AND f{at}.value = ?"
            values += [name, value]
        for condition, given in (
            ("e.at >= ?", self.since),
            ("e.at < ?", self.until),
            ("e.version = ?", self.version or None),
            ("e.session = ?", self.session or None),
            ("s.value >= ?", self.low if self.metric else None),
            ("s.value <= ?", self.high if self.metric else None),
        ):
            if given is not None:
                wanted.append(condition)
                values.append(given)
        if self.metric and self.low is None and self.high is None:
            wanted.append("s.value IS NOT NULL")
        where = f" WHERE {' AND '.join(wanted)}" if wanted else ""
        return f" FROM examples e{joined}{where}", values

    @property
    def order(self) -> str:
        """How they are sorted."""
        way = "DESC" if self.downwards else "ASC"
        first = f"s.value {way}, " if self.metric else ""
        return f" ORDER BY {first}e.at DESC, e.example"


def count_listed(run: Sql, where: ListedWhere) -> int:
    """How many examples there are."""
    behind, values = where.sql()
    ((found,),) = run(f"SELECT count(*){behind}", *values)
    return int(found)


def listed(run: Sql, where: ListedWhere, most: int, start: int = 0) -> list[ListedExample]:
    """The examples, from one place on."""
    behind, values = where.sql()
    rows = run(f"SELECT {COLUMNS}{behind}{where.order} LIMIT ? OFFSET ?", *values, most, start)
    return [_example(row) for row in rows]


def listed_ids(run: Sql, where: ListedWhere, most: int) -> list[str]:
    """Their ids alone."""
    behind, values = where.sql()
    rows = run(f"SELECT e.example{behind}{where.order} LIMIT ?", *values, most)
    return [id for (id,) in rows]


def one_listed(run: Sql, example: str) -> ListedExample | None:
    """The example of an id."""
    rows = run(f"SELECT {COLUMNS} FROM examples e WHERE e.example = ?", example)
    return _example(rows[0]) if rows else None


def listed_by_ids(run: Sql, examples: Sequence[str]) -> list[ListedExample]:
    """The examples of these ids, in their order."""
    found = {
        row[0]: _example(row)
        for page in in_pages(examples)
        for row in run(
            f"SELECT {COLUMNS} FROM examples e WHERE e.example IN ({marks(page)})", *page
        )
    }
    return [found[id] for id in dict.fromkeys(examples) if id in found]


def turns_of(run: Sql, session: str, most: int) -> list[ListedExample]:
    """The answers of a conversation, the first first."""
    rows = run(
        f"SELECT {COLUMNS} FROM examples e WHERE e.session = ? ORDER BY e.at, e.example LIMIT ?",
        session, most,
    )  # fmt: skip
    return [_example(row) for row in rows]


def scores_listed(run: Sql, examples: Sequence[str]) -> dict[str, list[ListedScore]]:
    """The scores of examples, by example; the newest of each metric and source."""
    found: dict[str, list[ListedScore]] = {one: [] for one in examples}
    if examples:
        for id, *row in run(
            "SELECT example, metric, value, status, reason, label, judge, probability, source, "
            f"judged_at FROM scores WHERE example IN ({marks(examples)}) ORDER BY metric, source",
            *examples,
        ):
            found[id].append(ListedScore(*row))
    return found


def facets_listed(run: Sql, example: str) -> list[tuple[str, str]]:
    """What an example can be sliced by."""
    rows = run("SELECT name, value FROM facets WHERE example = ? ORDER BY name", example)
    return [(name, value) for name, value in rows]


def facet_values(run: Sql, most: int) -> list[tuple[str, str]]:
    """Names with their values, those of most examples first."""
    rows = run(
        "SELECT name, value, count(*) AS n FROM facets GROUP BY name, value "
        "ORDER BY n DESC, name, value LIMIT ?",
        most,
    )
    return [(name, value) for name, value, _ in rows]


def assessment_listed(run: Sql, example: str) -> dict[str, Any] | None:
    """What the guard said of an example; None if it did not look at it yet."""
    rows = run("SELECT assessment FROM assessed WHERE example = ?", example)
    found: dict[str, Any] | None = json.loads(rows[0][0]) if rows else None
    return found


def judgements_listed(run: Sql, example: str) -> Any:
    """What a judge said of an example; None if it was not judged."""
    rows = run("SELECT judgements FROM judged WHERE example = ?", example)
    return json.loads(rows[0][0]) if rows else None


def judgements_of(run: Sql, examples: Sequence[str]) -> dict[str, Any]:
    """What judges said of each example, as rows by kind; those that were not judged are left out.

    What was said of another text than the example has now does not count.
    """
    return {
        id: json.loads(judgements)
        for page in in_pages(examples)
        for id, judgements in run(
            "SELECT j.example, j.judgements FROM judged j JOIN examples e ON e.example = j.example "
            f"AND e.text_hash = j.text_hash WHERE j.example IN ({marks(page)})",
            *page,
        )
    }


def draw_listed(run: Sql, example: str) -> tuple[float, str] | None:
    """With which probability an example was drawn to be judged, and how far that is."""
    rows = run("SELECT probability, state FROM draws WHERE example = ?", example)
    return (float(rows[0][0]), str(rows[0][1])) if rows else None


def judged_probabilities(run: Sql, examples: Sequence[str]) -> dict[str, float]:
    """With which probability each example was drawn; those that were not judged are left out."""
    return {
        id: float(probability)
        for page in in_pages(examples)
        for id, probability in run(
            "SELECT example, probability FROM draws "
            f"WHERE example IN ({marks(page)}) AND state = 'judged'",
            *page,
        )
    }


def versions_listed(run: Sql, most: int) -> list[tuple[str, float]]:
    """The versions that were deployed, the newest first, with when each came first."""
    rows = run("SELECT version, first_at FROM versions ORDER BY first_at DESC LIMIT ?", most)
    return [(version, float(at)) for version, at in rows]


class AnswersInWindow(NamedTuple):
    """How many answers were given, and how many of them were judged."""

    given: int
    judged: int


def count_window(run: Sql, since: float, facet: tuple[str, str] | None) -> AnswersInWindow:
    """How many answers were given from then on, of all traffic or of one facet and value."""
    joined = " JOIN facets f ON f.example = e.example AND f.name = ? AND f.value = ?"
    ((given, judged),) = run(
        "SELECT count(*), sum(CASE WHEN d.state = 'judged' THEN 1 ELSE 0 END) FROM examples e "
        f"LEFT JOIN draws d ON d.example = e.example{joined if facet else ''} WHERE e.at >= ?",
        *(facet or ()), since,
    )  # fmt: skip
    return AnswersInWindow(int(given), int(judged or 0))


def _example(row: tuple[Any, ...]) -> ListedExample:
    id, trace, span, at, session, version, system, record, facts = row
    return ListedExample(
        id, trace, span, at, session, version, system, json.loads(record), json.loads(facts)
    )
