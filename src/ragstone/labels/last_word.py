"""Last word: whose labels count of a unit, where adjudicators decided.

In labels, an annotator called ``adjudicator:NAME`` is no annotator. What an adjudicator says of a
unit in a column counts alone, whatever the others said; of a unit that one discards, no label of
others counts.
"""

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import polars as pl

ADJUDICATOR = "adjudicator:"


class Word(NamedTuple):
    """Who said something of a column of a unit, or discarded the unit."""

    unit: Hashable
    column: Hashable
    annotator: str
    discarded: bool


def adjudicator(name: str) -> str:
    """Somebody as an adjudicator, in labels."""
    return f"{ADJUDICATOR}{name}"


def adjudicator_named(annotator: str) -> str:
    """The name of an adjudicator in labels."""
    return annotator.removeprefix(ADJUDICATOR)


def is_adjudicator(annotator: str) -> bool:
    """Whether an annotator of labels is an adjudicator.

    >>> is_adjudicator("adjudicator:cleo"), is_adjudicator("cleo")
    (True, False)
    """
    return annotator.startswith(ADJUDICATOR)


def by_adjudicators() -> pl.Expr:
    """The rows of labels that are by adjudicators."""
    return pl.col("annotator").str.starts_with(ADJUDICATOR)


def that_count(words: Iterable[Word]) -> list[bool]:
    """Of each word, whether it counts when they are combined into one."""
    said = list(words)
    decided = {(one.unit, one.column) for one in said if _decides(one) and not one.discarded}
    dropped = {one.unit for one in said if _decides(one) and one.discarded}
    return [
        not one.discarded
        and (_decides(one) if (one.unit, one.column) in decided else one.unit not in dropped)
        for one in said
    ]


def rows_that_count(labels: pl.DataFrame) -> pl.DataFrame:
    """The rows of labels that count when they are combined.

    What was decided stands where annotators first said something of it, for some intervals go by
    the order in which labels came.

    Args:
        labels: The columns of a label table; only adjudicators' rows are discarded, if any.
    """
    if not labels.select(by_adjudicators().any()).item():
        return labels
    columns = ("example_id", "unit", "kind", "column", "annotator", "discarded")
    words = (
        Word((id, unit), (kind, column), annotator, why is not None)
        for id, unit, kind, column, annotator, why in labels.select(columns).iter_rows()
    )
    of_each = ("example_id", "unit", "kind", "column")
    counts = pl.Series("counts", that_count(words), dtype=pl.Boolean)
    rows = labels.with_columns(counts).with_row_index("came")
    rows = rows.with_columns(pl.col("came").min().over(of_each)).sort("came", maintain_order=True)
    return rows.filter("counts").drop("came", "counts")


def _decides(word: Word) -> bool:
    return is_adjudicator(word.annotator)
