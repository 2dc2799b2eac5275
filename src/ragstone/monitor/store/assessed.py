"""Assessed: what the guard's checks say of each example."""

from collections.abc import Sequence
from typing import NamedTuple

from ragstone.core.database import Sql

from .counts import count
from .rows import marks
from .scores import NewScore, ScoredExample, write_scores
from .to_do import ASSESS, DRAW, done, to_do


class ToAssess(NamedTuple):
    """An example to be assessed; ``record`` is JSON."""

    example: str
    record: str
    text_hash: str


class NewAssessment(NamedTuple):
    """What came of it; ``assessment`` is JSON."""

    example: str
    text_hash: str
    ok: bool | None
    confidence: float | None
    assessment: str
    scores: Sequence[NewScore]


def next_to_assess(run: Sql, most: int) -> list[ToAssess]:
    """The examples that wait longest."""
    rows = run(
        "SELECT e.example, e.record, e.text_hash FROM to_do t JOIN examples e "
        "ON e.example = t.example WHERE t.step = ? ORDER BY t.at, t.example LIMIT ?",
        ASSESS, most,
    )  # fmt: skip
    return [ToAssess(*row) for row in rows]


def write_assessed(run: Sql, now: float, assessments: Sequence[NewAssessment]) -> None:
    """Keep assessments of examples that are as they were; whether they are drawn comes next.

    An example whose text changed meanwhile waits until it is settled again, or goes on waiting.
    """
    ids = [one.example for one in assessments]
    stored = {
        example: (text_hash, ScoredExample(at, version, 1.0))
        for example, text_hash, at, version in run(
            "SELECT example, text_hash, at, version FROM examples WHERE settled = 1 "
            f"AND example IN ({marks(ids)})",
            *ids,
        )
    }
    kept = [one for one in assessments if stored.get(one.example, ("",))[0] == one.text_hash]
    run.many(
        "INSERT INTO assessed VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (example) DO UPDATE SET "
        "at = excluded.at, text_hash = excluded.text_hash, ok = excluded.ok, "
        "confidence = excluded.confidence, assessment = excluded.assessment",
        [
            (
                *(one.example, now, one.text_hash, None if one.ok is None else int(one.ok)),
                *(one.confidence, one.assessment),
            )
            for one in kept
        ],
    )
    examples = {one.example: stored[one.example][1] for one in kept}
    scores = [score for one in kept for score in one.scores]
    write_scores(run, now, "guard", scores, examples, ("guard",))
    changed = {id for id in ids if id in stored} - examples.keys()
    done(run, ASSESS, [id for id in ids if id not in changed])
    to_do(run, now, DRAW, sorted(examples))
    count(run, now, {"assessed": len(kept)})
