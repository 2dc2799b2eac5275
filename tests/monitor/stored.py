"""Stored: puts examples and scores into a store, as the worker does."""

import json
from typing import Any

from ragstone.data import read
from ragstone.data.write_examples import as_record
from ragstone.monitor.store.store import MonitorStore


def put_example(
    store: MonitorStore,
    id: str,
    at: float,
    *,
    session: str | None = None,
    trace: str = "",
    span: str = "",
    facets: dict[str, str] | None = None,
    **fields: Any,
) -> None:
    """An example with these fields."""
    (example,) = read([{"id": id, "question": "How long?", "answer": "90 m.", **fields}])
    with store.database.transaction() as run:
        run(
            "INSERT INTO examples VALUES (?, ?, ?, ?, ?, 1, ?, NULL, NULL, ?, ?, '', '{}')",
            id,
            trace,
            span,
            at,
            at,
            session,
            example.system,
            json.dumps(as_record(example)),
        )
        for name, value in (facets or {}).items():
            run("INSERT INTO facets VALUES (?, ?, ?)", id, name, value)


def put_score(
    store: MonitorStore,
    id: str,
    metric: str,
    value: float | None,
    *,
    at: float = 0.0,
    status: str = "value",
    reason: str = "",
    judge: str = "local",
    probability: float = 1.0,
) -> None:
    """A score of an example."""
    with store.database.transaction() as run:
        run(
            "INSERT INTO scores (example, metric, at, judged_at, value, status, reason, label, "
            "judge, probability, version, source, again) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, NULL, 'sample', 0)",
            id,
            metric,
            at,
            at + 5,
            value,
            status,
            reason,
            judge,
            probability,
        )
