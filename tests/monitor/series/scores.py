"""Puts scores into a store, as the worker does."""

from collections.abc import Iterable, Mapping

from ragstone.core.database import Sql
from ragstone.monitor.store.store import MonitorStore


def put(
    store: MonitorStore,
    scores: Iterable[tuple[float, float | None]],
    *,
    metric: str = "faithfulness",
    probability: float = 1.0,
    status: str | None = None,
    source: str = "sample",
    facets: Mapping[str, str] | None = None,
    session: str | None = None,
    first: int = 0,
    prefix: str = "e",
) -> list[str]:
    """Scores of answers at these times; the examples' ids."""
    with store.database.transaction() as run:
        return put_in(
            run, scores, metric=metric, probability=probability, status=status, source=source,
            facets=facets, session=session, first=first, prefix=prefix,
        )  # fmt: skip


def put_in(
    run: Sql,
    scores: Iterable[tuple[float, float | None]],
    *,
    metric: str,
    probability: float,
    status: str | None,
    source: str,
    facets: Mapping[str, str] | None,
    session: str | None,
    first: int,
    prefix: str,
) -> list[str]:
    given = list(scores)
    ids = [f"{prefix}{number}" for number in range(first, first + len(given))]
    run.many(
        "INSERT INTO examples (example, trace, span, at, folded_at, settled, session, person, "
        "version, system, record, text_hash, facts) VALUES "
        "(?, ?, 's', ?, ?, 1, ?, NULL, ?, 'rag', '{}', 'h', '{}') "
        "ON CONFLICT (example) DO NOTHING",
        [
            (id, f"t{id}", at, at, session, (facets or {}).get("version"))
            for id, (at, _) in zip(ids, given, strict=True)
        ],
    )
    run.many(
        "INSERT INTO facets VALUES (?, ?, ?) ON CONFLICT (example, name) DO NOTHING",
        [(id, name, text) for id in ids for name, text in (facets or {}).items()],
    )
    run.many(
        "INSERT INTO scores (example, metric, at, judged_at, value, status, reason, label, "
        "judge, probability, version, source, again) "
        "VALUES (?, ?, ?, ?, ?, ?, '', NULL, 'local', ?, NULL, ?, 0)",
        [
            (id, metric, at, at + 10, value,
             status or ("missing" if value is None else "value"), probability, source)
            for id, (at, value) in zip(ids, given, strict=True)
        ],
    )  # fmt: skip
    return ids


def converse(
    store: MonitorStore,
    session: str,
    at: float,
    scores: list[float | None],
    *,
    probability: float = 1.0,
    out: int | None = None,
    abstains: float = 0.0,
    lot: float | None = None,
    version: str = "v1",
) -> None:
    """A session with a turn a minute; the turn ``out`` was not drawn. The last one may abstain."""
    for k, value in enumerate(scores):
        row = [(at + 60 * k, value)]
        name = f"{session}-"
        of = {"session": session, "first": k, "prefix": name, "probability": probability}
        last = abstains if k == len(scores) - 1 else 0.0
        (id,) = put(store, row, facets={"version": version}, **of)  # type: ignore[arg-type]
        put(store, [(at + 60 * k, last)], metric="abstention", **of)  # type: ignore[arg-type]
        with store.database.transaction() as run:
            state = "out" if out == k else "judged"
            run(
                "INSERT INTO draws (example, at, probability, state, due_at, text_hash, source, "
                "tries, lot) VALUES (?, 0, ?, ?, 0, '', 'sample', 0, ?)",
                id, probability, state, lot,
            )  # fmt: skip
            if out == k:
                run("DELETE FROM scores WHERE example = ?", id)
