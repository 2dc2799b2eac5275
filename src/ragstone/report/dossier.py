"""Dossier: all that a run knows of one example, as plain data."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import polars as pl

from ragstone.errors import UnknownName
from ragstone.examples.labels import FIELDS, Unit
from ragstone.judgements import ASKS, KINDS, Ask, Claims, Statements, View

from .stored import Readable

NEAR = 5_000
Rows = list[dict[str, Any]]

PLACES: Mapping[Unit, str] = {
    "claim": FIELDS["claim"],
    "statement": FIELDS["statement"],
    "evidence": "gold_evidence",
    "context": FIELDS["context"],
}
"""Where the units of which there are several stand."""


def dossier(run: Readable, example: str) -> dict[str, Any]:
    """The example, and beside each part of it what was judged.

    ``contexts`` carry their relevance, ``claims`` and ``statements`` their
    support and agreement, ``gold_evidence`` its support, each also what a kind of a user's own says
    of it; other kinds stand under ``judgements``. ``scores`` is one entry a metric, with its
    status. ``calls`` are the questions that were put to models, with the exact prompt, every reply
    and its cost.

    Raises:
        UnknownName: The run has no such example; names that are near.
    """
    frame = run.examples()
    found = frame.filter(pl.col("id") == example)
    if found.is_empty():
        ids = frame["id"]
        near = ids.filter(ids.str.starts_with(example[:2])).head(NEAR).to_list()
        known = near or ids.head(NEAR).to_list()
        raise UnknownName("example", example, known, hint="ragstone show RUN lists some.")
    record = found.row(0, named=True)
    judged = {kind: _rows(run.judgements(kind), example) for kind in KINDS}
    claims, statements = (_made(judged, view) for view in (Claims, Statements))
    placed = {ask.kind for unit in PLACES for ask in asks_about(unit)}
    made = {*Claims.made_by, *Statements.made_by}
    return {
        "id": record["id"],
        "question_id": record["question_id"],
        "system": record["system"],
        "question": record["question"],
        "history": record["history"],
        "policy": record["policy"],
        "contexts": record["contexts"]
        and [
            {**context, **_beside(judged, "context", context)}
            for context in sorted(record["contexts"], key=lambda context: int(context["rank"]))
        ],
        "answer": record["answer"],
        PLACES["claim"]: [{**one, **_beside(judged, "claim", one)} for one in claims],
        "reference": record["reference"],
        PLACES["statement"]: [{**one, **_beside(judged, "statement", one)} for one in statements],
        PLACES["evidence"]: [
            {"text": text, **_beside(judged, "evidence", {"index": at})}
            for at, text in enumerate(record["evidence"])
        ],
        "reference_contexts": record["reference_contexts"],
        "judgements": {
            kind: rows for kind, rows in judged.items() if rows and kind not in placed | made
        },
        "scores": run.scores()
        .filter(pl.col("example_id") == example)
        .select("metric", "status", "value", "label", "reason")
        .with_columns(pl.col("metric", "status").cast(pl.String))
        .to_dicts(),
        "calls": [asdict(call) for call in run.calls(example)],
        "slices": json.loads(record["slices"]),
        "labels": json.loads(record["labels"]),
        "meta": json.loads(record["meta"]),
    }  # fmt: skip


def _rows(frame: pl.DataFrame, example: str) -> Rows:
    """One example's rows in their order, without the columns that are the same in all.

    Of a panel its own word; ``export`` has those of its members.
    """
    rows = frame.filter(pl.col("example_id") == example)
    panels = [judge for judge in rows["judge"].unique() if "," in (judge or "")]
    members = [member for panel in panels for member in panel.split(",")]
    rows = rows.filter(pl.col("judge").is_in(members).fill_null(value=False).not_())
    return rows.drop("example_id", "subject", strict=False).unique(maintain_order=True).to_dicts()


def asks_about(unit: Unit) -> list[Ask]:
    """What is asked about units of one sort."""
    return [ask for ask in ASKS.values() if ask.over is not None and ask.over.unit == unit]


def _made(judged: Mapping[str, Rows], view: type[View]) -> Rows:
    return [row for maker in view.made_by for row in judged[maker]]


def _beside(judged: Mapping[str, Rows], unit: Unit, one: Mapping[str, Any]) -> dict[str, Any]:
    """By kind what was said of one unit, None where nothing was; where that is held against every
    reference, a list."""
    found: dict[str, Any] = {}
    for ask in asks_about(unit):
        keys = ask.over.keys if ask.over else ()
        known = [key for key in keys if key in one]
        rows = [
            row
            for row in judged[ask.kind]
            if row.get("origin", unit) == unit and all(row[key] == one[key] for key in known)
        ]
        found[ask.kind] = rows if len(known) < len(keys) else next(iter(rows), None)
    return found
