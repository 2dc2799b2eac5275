"""Incoming traces: received parts, folded examples, first uses of versions, and erasure."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ragstone.core.database import Sql

from .rows import ASSESS, MINUTE, count, in_pages, keep, marks, remembered, rows_of, single, to_do
from .scores import WRITTEN_BACK, last_score
from .watched_scores import erase_open_sessions, take_again_after


def arrivals(run: Sql, most: int) -> list[float]:
    """Return when the last requests came that brought something, the latest first, each once."""
    rows = run("SELECT DISTINCT last_at FROM traces ORDER BY last_at DESC LIMIT ?", most)
    # What was not folded yet came, too.
    newest = run("SELECT at FROM received ORDER BY number DESC LIMIT 1")
    return sorted({float(at) for (at,) in [*rows, *newest]}, reverse=True)


# Malformed spans that are kept aside; the oldest go first. All are counted.
MOST_MALFORMED = 1_000


def insert_received(run: Sql, now: float, parts: Iterable[tuple[str, str, bytes]]) -> None:
    """Add what came of traces: for each the trace, the kind and the body."""
    run.many(
        "INSERT INTO received (trace, kind, at, body) VALUES (?, ?, ?, ?)",
        [(trace, kind, now, body) for trace, kind, body in parts],
    )


def insert_malformed(run: Sql, now: float, faults: Iterable[tuple[str, bytes]]) -> None:
    """Keep aside what could not be taken in: for each why, and the body."""
    rows = [(now, why, body) for why, body in faults][-MOST_MALFORMED:]
    if rows:
        run.many("INSERT INTO malformed (at, why, body) VALUES (?, ?, ?)", rows)
        run(
            "DELETE FROM malformed WHERE number <= (SELECT max(number) FROM malformed) - ?",
            MOST_MALFORMED,
        )


def last_malformed(run: Sql, n: int = 100) -> list[tuple[float, str, bytes]]:
    """Return the last that was kept aside, the newest first: when it came, why, its beginning."""
    rows = run("SELECT at, why, body FROM malformed ORDER BY number DESC LIMIT ?", n)
    return [(at, why, bytes(body)) for at, why, body in rows]


CURSOR = "folded_through"


class PendingPart(NamedTuple):
    """The part of a trace that one request brought."""

    number: int
    trace: str
    kind: Literal["spans", "logs", "example"]
    at: float
    body: bytes


def folded_through(run: Sql) -> int:
    """Return the number of the last part that was folded; 0 if none was."""
    return int(remembered(run, CURSOR, 0))


def folded(run: Sql, through: int) -> None:
    """Remember that all parts are folded up to this one."""
    keep(run, CURSOR, through)


def parts_after(run: Sql, number: int, most: int) -> list[tuple[int, str]]:
    """Number and trace of the parts behind one, in the order in which they came."""
    rows = run(
        "SELECT number, trace FROM received WHERE number > ? ORDER BY number LIMIT ?", number, most
    )
    return [(int(number), trace) for number, trace in rows]


def parts_of(run: Sql, traces: Collection[str]) -> dict[str, list[PendingPart]]:
    """Return all parts of some traces, in the order in which they came."""
    parts: dict[str, list[PendingPart]] = {}
    for number, trace, kind, at, body in run(
        f"SELECT number, trace, kind, at, body FROM received WHERE trace IN ({marks(traces)}) "
        "ORDER BY trace, number",
        *traces,
    ):
        parts.setdefault(trace, []).append(PendingPart(int(number), trace, kind, at, bytes(body)))
    return parts


def unfolded(run: Sql) -> tuple[int, float | None]:
    """Return how many parts are not folded, and when the first of them came."""
    ((n, at),) = run("SELECT count(*), min(at) FROM received WHERE number > ?", folded_through(run))
    return int(n), at


HANGS_ON_AN_EXAMPLE = (
    *("facets", "to_do", "assessed", "draws", "scores", "judged", "anchors", "anchor_scores"),
    *("watched_sessions", "examples"),
)
ERASURES = "erasures"


def erase_examples(run: Sql, examples: Sequence[str]) -> None:
    """Remove examples from every table."""
    for page in in_pages(examples):
        which = f"WHERE example IN ({marks(page)})"
        rows = run(f"SELECT DISTINCT coalesce(session, example) FROM examples {which}", *page)
        for table in HANGS_ON_AN_EXAMPLE:
            run(f"DELETE FROM {table} {which}", *page)
        erase_open_sessions(run, [session for (session,) in rows])
    if examples:
        last = last_score(run)
        # SQLite gives the numbers of last rows again: who read them must not pass over new ones.
        run("UPDATE detectors SET through = ? WHERE through > ? AND unit = 'answers'", last, last)
        take_again_after(run, last)
        if int(remembered(run, WRITTEN_BACK, 0)) > last:
            keep(run, WRITTEN_BACK, last)


def erase_traces(run: Sql, traces: Sequence[str]) -> list[str]:
    """Remove traces with what came of them and their examples; gives the ids of these."""
    examples: list[str] = []
    for page in in_pages(traces):
        ids = "SELECT example FROM examples WHERE trace IN (...) ORDER BY example"
        examples += [example for (example,) in rows_of(run, ids, page)]
        for table in ("received", "traces"):
            run(f"DELETE FROM {table} WHERE trace IN ({marks(page)})", *page)
    erase_examples(run, examples)
    last = int(single(run, "SELECT coalesce(max(number), 0) FROM received"))
    folded(run, min(folded_through(run), last))
    return examples


def oldest_traces(run: Sql, most: int, *, before: float = float("inf")) -> list[str]:
    """Return the traces that are silent for longest, of those silent since before a time."""
    rows = run(
        "SELECT trace FROM traces WHERE last_at < ? ORDER BY last_at, trace LIMIT ?", before, most
    )
    return [trace for (trace,) in rows]


def count_traces(run: Sql) -> int:
    """Return how many traces there are."""
    return int(single(run, "SELECT count(*) FROM traces"))


def trim_before(run: Sql, at: float) -> None:
    """Let go of counts and of what was put aside before a time."""
    run("DELETE FROM counts WHERE minute < ?", int(at // MINUTE))
    run("DELETE FROM malformed WHERE at < ?", at)


def traces_of(run: Sql, *, sessions: Collection[str], people: Collection[str]) -> list[str]:
    """Return the traces with an answer in one of the sessions, or to one of the people."""
    traces = set[str]()
    for column, names in (("session", sessions), ("person", people)):
        for name in names:
            rows = run(f"SELECT DISTINCT trace FROM examples WHERE {column} = ?", name)
            traces.update(trace for (trace,) in rows)
    return sorted(traces)


def erase_malformed(run: Sql, names: Iterable[str]) -> int:
    """Remove what was put aside and has one of these names in it; gives how much."""
    texts = [name.encode() for name in names if name]
    rows = run("SELECT number, body FROM malformed ORDER BY number")
    gone = [(number,) for number, body in rows if any(name in bytes(body) for name in texts)]
    run.many("DELETE FROM malformed WHERE number = ?", gone)
    return len(gone)


def unlink_alarms(run: Sql, examples: Collection[str]) -> None:
    """Take examples out of what alarms link to."""
    names = set(examples)
    for number, facts in run("SELECT number, facts FROM alarms ORDER BY number"):
        linked = json.loads(facts)
        left = _without(linked, names)
        if left != linked:
            run("UPDATE alarms SET facts = ? WHERE number = ?", json.dumps(left), number)


def _without(linked: Any, names: set[str]) -> Any:
    if isinstance(linked, list):
        return [_without(item, names) for item in linked if not _is_of(item, names)]
    if isinstance(linked, dict):
        return {
            name: _without(item, names)
            for name, item in linked.items()
            if name not in names and not (isinstance(item, str) and item in names)
        }
    return linked


def _is_of(item: Any, names: set[str]) -> bool:
    if isinstance(item, dict):
        item = item.get("example", item.get("id"))
    return isinstance(item, str) and item in names


def erasures(run: Sql) -> int:
    """Return how often something was erased: who read texts before must not write them after."""
    return int(remembered(run, ERASURES, 0))


def erased(run: Sql) -> None:
    """Say that something was erased."""
    keep(run, ERASURES, erasures(run) + 1)


class StoredTrace(NamedTuple):
    """A trace with its progress; ``content`` is empty for one that is not about answers.

    ``rooted`` is 1 if its root came, ``through`` the last part that was folded.
    """

    trace: str
    first_at: float
    last_at: float
    rooted: int
    through: int
    content: str


class FoldedExample(NamedTuple):
    """An example as a row; ``record``, ``facts`` are JSON."""

    example: str
    trace: str
    span: str
    at: float
    session: str | None
    person: str | None
    version: str | None
    system: str
    record: str
    text_hash: str
    facts: str
    facets: Mapping[str, str]


def write_folded(
    run: Sql, now: float, traces: Sequence[StoredTrace], examples: Sequence[FoldedExample]
) -> None:
    """Put traces and their examples in the place of what was known of them before.

    An example whose text is as it was stays settled. One that its trace no longer has is gone with
    all that hangs on it.
    """
    names = [row.trace for row in traces]
    which = f"trace IN ({marks(names)})"
    rows = run(f"SELECT example, at, version FROM examples WHERE {which}", *names)
    known = {example: (at, version) for example, at, version in rows}
    new = {example.example for example in examples}
    erase_examples(run, sorted(known.keys() - new))
    run.many(
        "INSERT INTO traces VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT (trace) DO UPDATE SET "
        "first_at = excluded.first_at, last_at = excluded.last_at, rooted = excluded.rooted, "
        "waiting = 1, through = excluded.through, content = excluded.content",
        traces,
    )
    run.many(
        "INSERT INTO examples VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (example) DO UPDATE SET trace = excluded.trace, span = excluded.span, "
        "at = excluded.at, folded_at = excluded.folded_at, settled = CASE WHEN "
        "examples.text_hash = excluded.text_hash THEN examples.settled ELSE 0 END, "
        "session = excluded.session, person = excluded.person, version = excluded.version, "
        "system = excluded.system, record = excluded.record, text_hash = excluded.text_hash, "
        "facts = excluded.facts",
        [(*example[:4], now, *example[4:-1]) for example in examples],
    )
    run.many("DELETE FROM facets WHERE example = ?", [(id,) for id in new & known.keys()])
    run.many(
        "INSERT INTO facets VALUES (?, ?, ?)",
        [(row.example, name, value) for row in examples for name, value in row.facets.items()],
    )
    _write_versions(run, examples)
    run.many(
        "UPDATE scores SET at = ?, version = ? WHERE example = ?",
        [
            (example.at, example.version, example.example)
            for example in examples
            if example.example in known and known[example.example] != (example.at, example.version)
        ],
    )
    count(run, now, {"folded": len(traces), "answers": len(new - known.keys())})


def _write_versions(run: Sql, examples: Sequence[FoldedExample]) -> None:
    first: dict[str, float] = {}
    for example in examples:
        if example.version is not None:
            first[example.version] = min(example.at, first.get(example.version, example.at))
    run.many(
        "INSERT INTO versions VALUES (?, ?) ON CONFLICT (version) DO UPDATE SET first_at = "
        "CASE WHEN excluded.first_at < versions.first_at THEN excluded.first_at "
        "ELSE versions.first_at END",
        sorted(first.items()),
    )


def traces_to_settle(run: Sql, rooted: float, unrooted: float, most: int) -> list[str]:
    """Return the traces of which nothing more is waited for, the longest silent first."""
    rows = run(
        "SELECT trace FROM traces t WHERE waiting = 1 AND last_at <= ? AND "
        "(rooted = 1 OR first_at <= ?) AND NOT EXISTS "
        "(SELECT 1 FROM received r WHERE r.trace = t.trace AND r.number > t.through) "
        "ORDER BY last_at, trace LIMIT ?",
        rooted, unrooted, most,
    )  # fmt: skip
    return [trace for (trace,) in rows]


def settle(run: Sql, now: float, traces: Collection[str]) -> None:
    """Take these traces for complete: their examples are assessed next."""
    listed = marks(traces)
    contents = run(
        f"SELECT content, count(*) FROM traces WHERE waiting = 1 AND trace IN ({listed}) "
        "GROUP BY content ORDER BY content",
        *traces,
    )
    run(f"UPDATE traces SET waiting = 0 WHERE trace IN ({listed})", *traces)
    rows = run(
        f"UPDATE examples SET settled = 1 WHERE settled = 0 AND trace IN ({listed}) "
        "RETURNING example",
        *traces,
    )
    to_do(run, now, ASSESS, sorted(example for (example,) in rows))
    by_content = {f"content_{content}": int(n) for content, n in contents if content}
    count(run, now, {"settled": len(rows), **by_content})


def deployed(run: Sql, since: float, until: float) -> list[tuple[str, float]]:
    """Return the versions that were first seen in a window, the oldest first, each with when."""
    rows = run(
        "SELECT version, first_at FROM versions WHERE first_at >= ? AND first_at < ? "
        "ORDER BY first_at, version",
        since, until,
    )  # fmt: skip
    return [(version, float(at)) for version, at in rows]


def versions_listed(run: Sql, most: int) -> list[tuple[str, float]]:
    """Return the versions that were deployed, the newest first, with when each came first."""
    rows = run("SELECT version, first_at FROM versions ORDER BY first_at DESC LIMIT ?", most)
    return [(version, float(at)) for version, at in rows]


DAY = 86_400


def trace_times(run: Sql) -> tuple[float | None, float | None]:
    """Return the time of the last trace, and the mean seconds between two in the day before."""
    newest = run("SELECT at FROM received ORDER BY number DESC LIMIT 1")
    folded = single(run, "SELECT max(last_at) FROM traces")
    times = [at for at in (newest[0][0] if newest else None, folded) if at is not None]
    if not times:
        return None, None
    last = max(times)
    ((n, first, end),) = run(
        "SELECT count(*), min(last_at), max(last_at) FROM traces WHERE last_at > ?", last - DAY
    )
    return last, (end - first) / (n - 1) if n > 1 else None
