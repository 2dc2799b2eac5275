"""Judged run: what a run over a batch says of each of its examples."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from ragstone.judgements import KINDS
from ragstone.monitor.store.batches import JudgedExample
from ragstone.monitor.store.scores import NewScore
from ragstone.run import Run
from ragstone.run.folder.finished_run import UNANSWERED

OF_THE_BATCH = ("data:", "cluster:")
"""Parts of a run's signature that do not say how it was judged."""

FAILED = (
    pl.col("status").is_in(["failed", "truncated"]) & (pl.col("requests").list.len() > 0)
) | UNANSWERED
"""Rows of the ledger where a model may answer if it is asked again."""


def judge_signature(run: Run) -> str:
    """Who judged, with versions; the same for all batches that are judged alike."""
    parts = run.signature.split("|")
    return "|".join(part for part in parts if not part.startswith(OF_THE_BATCH))


def judged_examples(
    run: Run, examples: Iterable[str], metrics: Sequence[str]
) -> list[JudgedExample]:
    """What came of each example.

    Args:
        run: Over the batch.
        examples: Their ids; one that the run could not read has missing scores.
        metrics: That were asked for.
    """
    judge = judge_signature(run)
    scores: defaultdict[str, list[NewScore]] = defaultdict(list)
    for row in run.scores().iter_rows(named=True):
        example = row["example_id"]
        scores[example].append(
            NewScore(
                *(example, row["metric"], row["value"], row["status"], row["reason"] or ""),
                *(row["label"], judge),
            )
        )
    rows = _judgements(run)
    failed = set(run.ledger().filter(FAILED)["example_id"])
    found = []
    for example in examples:
        given = scores.get(example) or [
            NewScore(example, metric, None, "missing", "example_not_readable", None, judge)
            for metric in metrics
        ]
        lacks = any(one.status == "missing" for one in given)
        found.append(
            JudgedExample(
                example,
                given,
                json.dumps(rows.get(example, {}), default=str),
                lacks and example in failed,
            )
        )
    return found


def _judgements(run: Run) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The rows about each example, by kind."""
    found: defaultdict[str, dict[str, list[dict[str, Any]]]] = defaultdict(dict)
    for kind in KINDS:
        if run.folder.has(kind):
            for row in run.judgements(kind).iter_rows(named=True):
                example = row.pop("example_id")
                found[example].setdefault(kind, []).append(row)
    return found
