"""Rows: hand-made views, one list of rows per example."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ragstone.judgements import (
    MISSING,
    UNDEFINED,
    VALUE,
    Claims,
    Contexts,
    KnownContexts,
    View,
    same_outcome,
)
from ragstone.metrics import Metric, Missing, Score, Undefined, score


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one example in one view, column by column."""

    view: type[View]
    columns: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return max((len(values) for values in self.columns.values()), default=0)


def rows(view: type[View], **columns: Sequence[Any]) -> Rows:
    """Rows of any view: ``rows(Statements, support=["supported"], reference=[0])``."""
    return Rows(view, columns)


def claims(**columns: Sequence[Any]) -> Rows:
    """Rows of the claims view: ``claims(support=["supported", "absent"])``."""
    return Rows(Claims, columns)


def contexts(**columns: Sequence[Any]) -> Rows:
    """Rows of the contexts view, in rank order: ``contexts(relevant=[True, None])``."""
    return Rows(Contexts, columns)


def known_contexts(**columns: Sequence[Any]) -> Rows:
    """Rows of contexts known by id: ``known_contexts(grade=[2, 1], rank=[1, None])``."""
    return Rows(KnownContexts, columns)


def score_one(metric: Metric, *given: Rows) -> Score:
    """The score of one example with these rows."""
    return score_all(metric, [given])[0]


def score_all(metric: Metric, examples: Sequence[Sequence[Rows]]) -> list[Score]:
    """The score of each example; its rows may come from several views."""
    frame = score_frame(metric, examples)
    return [
        _score(value, status, reason)
        for value, status, reason in frame.select("value", "status", "reason").iter_rows()
    ]


def score_frame(metric: Metric, examples: Sequence[Sequence[Rows]]) -> pl.DataFrame:
    """The value, label, status and reason of each example, as ``score_all`` scores it."""
    return score(Given(examples), [metric])[str(metric)]


def _score(value: float | None, status: int, reason: str) -> Score:
    if status == MISSING:
        return Missing(reason)
    if status == UNDEFINED or value is None:
        return Undefined(reason)
    return value


class Given:
    """Examples whose views are given instead of joined; every judge did its work.

    What ``ragstone.metrics.score`` takes.
    """

    def __init__(self, given: Sequence[Sequence[Rows]]) -> None:
        self.given = given
        references = [1 + max(_references(example), default=0) for example in given]
        self.examples = pl.DataFrame(
            {
                "question": [""] * len(given),
                "answer": ["an answer"] * len(given),
                "contexts": [[""]] * len(given),
                "reference": [[""] * count for count in references],
                "evidence": [[""]] * len(given),
                "reference_contexts": [[""]] * len(given),
                "criteria": [[""]] * len(given),
                "history": [[""]] * len(given),
            }
        )

    def outcome(self, ask: str) -> pl.DataFrame:  # noqa: ARG002
        return same_outcome(VALUE, None, len(self.given))

    def view(self, view: type[View], wanted: object) -> pl.DataFrame:  # noqa: ARG002
        schema = {"row": pl.UInt32, **{name: fact.dtype for name, fact in view.columns.items()}}
        columns: dict[str, list[Any]] = {name: [] for name in schema}
        for number, example in enumerate(self.given):
            for rows in example:
                if rows.view is view:
                    given = {"row": [number] * len(rows), **_whole(rows)}
                    for name, cells in columns.items():
                        cells.extend(given.get(name, [None] * len(rows)))
        return pl.DataFrame(columns, schema=schema)


def _references(example: Sequence[Rows]) -> list[int]:
    return [number for rows in example for number in rows.columns.get("reference", ())]


def _whole(rows: Rows) -> dict[str, Sequence[Any]]:
    """The columns, and those that follow from their length."""
    lengths = {name: len(values) for name, values in rows.columns.items()}
    unknown = [name for name in lengths if name not in rows.view.columns]
    if unknown or len(set(lengths.values())) > 1:
        raise ValueError(
            f"Rows of {rows.view.__name__}: columns {lengths}, expected of one length, each among "
            f"{', '.join(rows.view.columns)}."
        )
    defaults = {
        "rank": range(1, len(rows) + 1),
        "index": range(len(rows)),
        "reference": [0] * len(rows),
    }
    return {**defaults, **rows.columns}
