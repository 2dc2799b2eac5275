"""Compared units: what both people and the judge gave a verdict or a value."""

from collections.abc import Iterator

import polars as pl

from .checks import JudgeCheck
from .correction import MIDDLE, PEOPLE
from .labelled_run import LabelledRun
from .people import METRIC, weights_of
from .units import KEYS, judged_units

YES_NO = {"true": "yes", "1.0": "yes", "1": "yes", "false": "no", "0.0": "no", "0": "no"}


def compared_units(of: LabelledRun) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """The judge beside people by unit, and by example for the values of metrics.

    Yields:
        Kind, column, and the rows that ``check_column`` takes, with ``example_id``.
    """
    facts = of.facts().join(weights_of(of.labels), on="example_id")
    judged = judged_units(of.judged)
    people = of.labels.adjudicated().filter(pl.col("value").is_not_null())
    both = people.select(*KEYS, people="value", people_number="number").join(
        judged, on=KEYS, how="inner", nulls_equal=True, maintain_order="left"
    )
    for (kind, column), rows in both.group_by("kind", "column", maintain_order=True):
        yield str(kind), str(column), rows.join(facts, on="example_id", maintain_order="left")
    given = people.filter(pl.col("kind") == METRIC)
    for metric, scores in of.scores.items():
        if given.filter(pl.col("column") == metric).is_empty():
            continue
        rows = scores.filter((pl.col("status") == "value") & pl.col(PEOPLE).is_not_null())
        words = rows.select(
            "example_id",
            pl.lit(None, pl.String).alias("unit"),
            people=pl.col(PEOPLE).cast(pl.String),
            people_number=pl.col(PEOPLE),
            value=pl.col("value").cast(pl.String),
            number=pl.col("value"),
            probability=pl.lit(None, pl.Float64),
        )
        joined = words.join(facts, on="example_id", maintain_order="left")
        if joined.height:
            yield METRIC, metric, joined


def said_of(check: JudgeCheck, rows: pl.DataFrame) -> pl.DataFrame:
    """What both said of each unit, in the words of the confusion matrix, furthest apart first.

    A judge's score beside people's yes or no is a yes from the middle on, as in the matrix.
    """
    people, judge = (pl.col(name) for name in ("people_number", "number"))
    numbers = rows.select(people, judge).null_count().sum_horizontal().item() == 0
    if not numbers:
        people, judge = pl.col("people"), pl.col("value")
        apart = (people != judge).cast(pl.Float64)
    else:
        apart = (people - judge).abs()
    verdicts = numbers and check.words is None and check.yes is not None
    said = rows.select(
        "example_id",
        "system",
        "unit",
        people=people.cast(pl.String),
        judge=(judge >= MIDDLE).cast(pl.String) if verdicts else judge.cast(pl.String),
        apart=apart,
    )
    both = pl.concat([said["people"], said["judge"]]).unique()
    if both.is_in(list(YES_NO)).all():
        said = said.with_columns(pl.col("people", "judge").replace(YES_NO))
    return said.sort("apart", descending=True, maintain_order=True).drop("apart")


def label_words(labels: list[str]) -> list[str]:
    """The labels of a confusion matrix, as ``said_of`` has them."""
    return [YES_NO[one] for one in labels] if set(labels) <= set(YES_NO) else labels
