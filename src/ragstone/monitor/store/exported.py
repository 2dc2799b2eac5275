"""Exported: the examples of a window, as they are written to a data set or sent elsewhere."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragstone.core.database import Database, Sql

PAGE = 500
"""Examples that are read at a time, so that memory is flat."""


@dataclass(frozen=True, slots=True)
class StoredExample:
    """An example as it is kept.

    Attributes:
        record: As JSON, in Ragstone's own field names.
        facets: What it can be sliced by.
    """

    id: str
    at: float
    trace: str
    span: str
    session: str | None
    version: str | None
    record: dict[str, Any]
    facets: dict[str, str]


def stored_between(database: Database, since: float, until: float) -> Iterator[StoredExample]:
    """The examples of a window, the oldest first."""
    at, last = since, ""
    while True:
        with database.reading() as run:
            rows = run(
                "SELECT example, at, trace, span, session, version, record FROM examples "
                "WHERE at < ? AND (at > ? OR (at = ? AND example > ?)) "
                "ORDER BY at, example LIMIT ?",
                until, at, at, last, PAGE,
            )  # fmt: skip
            facets = _facets(run, [row[0] for row in rows])
        for id, when, trace, span, session, version, record in rows:
            yield StoredExample(
                id, when, trace, span, session, version, json.loads(record), facets.get(id, {})
            )
            at, last = when, id
        if len(rows) < PAGE:
            return


def _facets(run: Sql, examples: list[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    if examples:
        marks = ", ".join("?" * len(examples))
        for id, name, value in run(
            f"SELECT example, name, value FROM facets WHERE example IN ({marks}) "
            "ORDER BY example, name",
            *examples,
        ):
            found.setdefault(id, {})[name] = value
    return found
