"""Folded: traces and their examples, as the worker writes them."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ragstone.core.database import Sql

from .counts import count
from .erased import erase_examples
from .rows import marks
from .to_do import ASSESS, to_do


class StoredTrace(NamedTuple):
    """How far a trace is. ``content`` is empty for one that is not about answers."""

    trace: str
    first_at: float
    last_at: float
    rooted: bool
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
    known = _known(run, [one.trace for one in traces])
    new = {one.example for one in examples}
    erase_examples(run, sorted(known.keys() - new))
    run.many(
        "INSERT INTO traces VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT (trace) DO UPDATE SET "
        "first_at = excluded.first_at, last_at = excluded.last_at, rooted = excluded.rooted, "
        "waiting = 1, through = excluded.through, content = excluded.content",
        [
            (one.trace, one.first_at, one.last_at, int(one.rooted), one.through, one.content)
            for one in traces
        ],
    )
    run.many(
        "INSERT INTO examples VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (example) DO UPDATE SET trace = excluded.trace, span = excluded.span, "
        "at = excluded.at, folded_at = excluded.folded_at, settled = CASE WHEN "
        "examples.text_hash = excluded.text_hash THEN examples.settled ELSE 0 END, "
        "session = excluded.session, person = excluded.person, version = excluded.version, "
        "system = excluded.system, record = excluded.record, text_hash = excluded.text_hash, "
        "facts = excluded.facts",
        [
            (
                *(one.example, one.trace, one.span, one.at, now, one.session, one.person),
                *(one.version, one.system, one.record, one.text_hash, one.facts),
            )
            for one in examples
        ],
    )
    _write_facets(run, examples, [one.example for one in examples if one.example in known])
    _write_versions(run, examples)
    run.many(
        "UPDATE scores SET at = ?, version = ? WHERE example = ?",
        [
            (one.at, one.version, one.example)
            for one in examples
            if one.example in known and known[one.example] != (one.at, one.version)
        ],
    )
    count(run, now, {"folded": len(traces), "answers": len(new - known.keys())})


def _known(run: Sql, traces: Collection[str]) -> dict[str, tuple[float, str | None]]:
    """When the examples of these traces were given, and by which version."""
    rows = run(
        f"SELECT example, at, version FROM examples WHERE trace IN ({marks(traces)})", *traces
    )
    return {example: (at, version) for example, at, version in rows}


def _write_facets(run: Sql, examples: Sequence[FoldedExample], known: Sequence[str]) -> None:
    run.many("DELETE FROM facets WHERE example = ?", [(one,) for one in known])
    run.many(
        "INSERT INTO facets VALUES (?, ?, ?)",
        [(one.example, name, value) for one in examples for name, value in one.facets.items()],
    )


def _write_versions(run: Sql, examples: Sequence[FoldedExample]) -> None:
    first: dict[str, float] = {}
    for one in examples:
        if one.version is not None:
            first[one.version] = min(one.at, first.get(one.version, one.at))
    run.many(
        "INSERT INTO versions VALUES (?, ?) ON CONFLICT (version) DO UPDATE SET first_at = "
        "CASE WHEN excluded.first_at < versions.first_at THEN excluded.first_at "
        "ELSE versions.first_at END",
        sorted(first.items()),
    )


def traces_to_settle(run: Sql, rooted: float, unrooted: float, most: int) -> list[str]:
    """The traces of which nothing more is waited for, the longest silent first.

    Args:
        run: The store.
        rooted: Those with a root are silent since then.
        unrooted: Those without one began before.
        most: How many at most.
    """
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
    told = {f"content_{content}": int(n) for content, n in contents if content}
    count(run, now, {"settled": len(rows), **told})
