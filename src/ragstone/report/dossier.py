"""Dossier: all that a run knows of one example, as plain data."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import polars as pl

from ragstone.errors import UnknownName
from ragstone.judgements import KINDS

from .stored import Readable

NEAR = 5_000
Rows = list[dict[str, Any]]


def dossier(run: Readable, example: str) -> dict[str, Any]:
    """The example, and beside each part of it what was judged.

    ``contexts`` carry their relevance, ``claims`` and ``statements`` their
    support and agreement, ``gold_evidence`` its support; other kinds stand
    under ``judgements``. ``scores`` is one entry a metric, with its status. ``calls`` are the
    questions that were put to models, with the exact prompt, every reply and its cost.

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
    support, agreement = judged.pop("support"), judged.pop("agreement")
    relevance = {row["rank"]: row for row in reversed(judged.pop("relevance"))}
    return {
        "id": record["id"],
        "question_id": record["question_id"],
        "system": record["system"],
        "question": record["question"],
        "history": record["history"],
        "policy": record["policy"],
        "contexts": record["contexts"]
        and [
            {**context, "relevance": relevance.get(context["rank"])}
            for context in sorted(record["contexts"], key=lambda context: int(context["rank"]))
        ],
        "answer": record["answer"],
        "claims": [
            {
                **claim,
                "support": _about(support, "claim", 0, claim),
                "agreement": [row for row in agreement
                              if row["origin"] == "claim" and row["index"] == claim["index"]],
            }
            for claim in judged.pop("claims")
        ],
        "reference": record["reference"],
        "statements": [
            {
                **statement,
                "agreement": _about(agreement, "statement", statement["reference"], statement),
                "support": _about(support, "statement", statement["reference"], statement),
            }
            for statement in judged.pop("statements")
        ],
        "gold_evidence": [
            {"text": text, "support": _about(support, "evidence", 0, {"index": at})}
            for at, text in enumerate(record["evidence"])
        ],
        "reference_contexts": record["reference_contexts"],
        "judgements": {kind: rows for kind, rows in judged.items() if rows},
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


def _about(
    rows: Rows, origin: str, reference: int, unit: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The row about one proposition; None where nobody judged it."""
    for row in rows:
        if (row["origin"], row["reference"], row["index"]) == (origin, reference, unit["index"]):
            return row
    return None
