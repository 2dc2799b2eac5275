"""Scale: whether the labels of a column are nominal, ordinal or interval data."""

from typing import Literal, get_args

import polars as pl

from ragstone.judgements import KINDS

Scale = Literal["nominal", "ordinal", "interval"]
SCALES: tuple[Scale, ...] = get_args(Scale)

MOST_RANKS = 10
"""Numbers with more distinct values than this are on an interval scale."""


def scale_of(kind: str, column: str, numbers: pl.Series) -> Scale:
    """The scale of a column.

    Nominal: words, yes and no, and columns with no more than two distinct numbers; for a metric,
    only 0 and 1. Ordinal: grades of a context, and whole numbers with at most ten distinct values,
    such as 1 to 5. Interval: other numbers, such as values of a metric.

    Args:
        kind: The kind of the judgement.
        column: The column of the judgement.
        numbers: The labels as numbers, null for a label that is not a number.
    """
    known = KINDS.get(kind)
    if known is not None and not known.having("topic") and known.columns[column].role == "grade":
        return "ordinal"
    rated = known is not None and known.columns[known.decides].role == "number"
    if not (rated or kind in ("own", "metric")) or numbers.null_count() or numbers.is_empty():
        return "nominal"
    if kind == "metric" and column == "answer_outcome":
        return "nominal"
    distinct = numbers.unique()
    if kind == "metric":
        return "nominal" if distinct.is_in([0.0, 1.0]).all() else "interval"
    if kind == "own" and len(distinct) <= 2:
        return "nominal"
    whole = bool((distinct == distinct.round()).all())
    return "ordinal" if whole and len(distinct) <= MOST_RANKS else "interval"
