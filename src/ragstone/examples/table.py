"""Examples as a table and back, without loss: the form they have in a run folder."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from ragstone.examples.example import NOTHING, Context, Example, Turn

CONTEXT = pl.Struct({"id": pl.String, "text": pl.String, "rank": pl.Int64, "score": pl.Float64})
TURN = pl.Struct({"role": pl.String, "text": pl.String})
GRADE = pl.Struct({"id": pl.String, "grade": pl.Int64})
SCHEMA = {
    "id": pl.String(),
    "question_id": pl.String(),
    "system": pl.String(),
    "question": pl.String(),
    "answer": pl.String(),
    "reference": pl.List(pl.String),
    "contexts": pl.List(CONTEXT),
    "history": pl.List(TURN),
    "policy": pl.String(),
    "evidence": pl.List(pl.String),
    "reference_contexts": pl.List(GRADE),
    "slices": pl.String(),
    "labels": pl.String(),
    "meta": pl.String(),
}
"""``contexts`` and ``reference_contexts`` are null where an example has none; the last three
columns are JSON text."""


def to_frame(examples: Sequence[Example]) -> pl.DataFrame:
    """One row an example, in order."""
    columns: dict[str, Any] = {
        "id": [one.id for one in examples],
        "question_id": [one.question_id for one in examples],
        "system": [one.system for one in examples],
        "question": [one.question for one in examples],
        "answer": [one.answer for one in examples],
        "reference": [one.reference for one in examples],
        "contexts": _lists(
            [one.contexts for one in examples],
            CONTEXT,
            lambda one: (one.id, one.text, one.rank, one.score),
        ),
        "history": _lists(
            [one.history for one in examples], TURN, lambda turn: (turn.role, turn.text)
        ),
        "policy": [one.policy for one in examples],
        "evidence": [one.evidence for one in examples],
        "reference_contexts": _lists([_grades(one) for one in examples], GRADE, tuple),
        "slices": [_json(one.slices) for one in examples],
        "labels": [_json(one.labels) for one in examples],
        "meta": [_json(one.meta) for one in examples],
    }
    return pl.DataFrame(columns, schema=SCHEMA)


def from_frame(frame: pl.DataFrame) -> list[Example]:
    """The examples of a table that ``to_frame`` made."""
    return [
        Example(
            id=id,
            question_id=question_id,
            system=system,
            question=question,
            answer=answer,
            reference=tuple(reference),
            contexts=None
            if contexts is None
            else tuple(Context(c["id"], c["text"], c["rank"], c["score"]) for c in contexts),
            history=tuple(Turn(turn["role"], turn["text"]) for turn in history),
            policy=policy,
            evidence=tuple(evidence),
            reference_contexts=None
            if grades is None
            else {grade["id"]: grade["grade"] for grade in grades},
            slices=json.loads(slices) or NOTHING,
            labels=json.loads(labels) or NOTHING,
            meta=json.loads(meta) or NOTHING,
        )
        for (
            id,
            question_id,
            system,
            question,
            answer,
            reference,
            contexts,
            history,
            policy,
            evidence,
            grades,
            slices,
            labels,
            meta,
        ) in frame.select(*SCHEMA).iter_rows()
    ]


def _lists(
    lists: Sequence[Sequence[Any] | None],
    item: pl.Struct,
    values: Callable[[Any], tuple[Any, ...]],
) -> pl.Series:
    """A column of lists of records, built flat: one Series for all lists, not one for each."""
    flat = [values(one) for items in lists for one in items or ()]
    if not flat:
        return pl.Series([None if items is None else [] for items in lists], dtype=pl.List(item))
    records = pl.DataFrame(
        [
            pl.Series(field.name, column, dtype=field.dtype)
            for field, column in zip(item.fields, zip(*flat, strict=True), strict=True)
        ]
    ).to_struct()
    if len(lists) == 1:  # A single example is scored while somebody waits.
        return records.implode()
    rows = [row for row, items in enumerate(lists) for _ in items or ()]
    items = pl.DataFrame({"row": pl.Series(rows, dtype=pl.UInt32), "item": records})
    gathered = items.group_by("row", maintain_order=True).agg("item")
    given = pl.DataFrame(
        {
            "row": pl.Series(range(len(lists)), dtype=pl.UInt32),
            "given": pl.Series([items is not None for items in lists], dtype=pl.Boolean),
        }
    )
    empty = pl.lit(pl.Series([[]], dtype=pl.List(item))).first()
    return (
        given.join(gathered, on="row", how="left", maintain_order="left")
        .select(pl.when("given").then(pl.col("item").fill_null(empty)))
        .to_series()
        .rechunk()
    )


def _grades(example: Example) -> list[tuple[str, int]] | None:
    known = example.reference_contexts
    return None if known is None else list(known.items())


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(dict(values), ensure_ascii=False) if values else "{}"
