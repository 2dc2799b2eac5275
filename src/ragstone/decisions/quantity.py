"""Quantity: an estimate that can give an interval at any level, as input of decisions."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from ragstone.stats import Interval
from ragstone.stats.rate_bounds import ExactRate, exact_rate

from .scored import ValueRange, mean_at, valued_by_cluster

End = Literal["low", "high"]


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """A mean, a difference or a corrected estimate, on which the gate decides.

    Attributes:
        value: None if no row has a value.
        at: Its interval at a level in (0, 1); None where there is none. The ends never move
            inwards as the level rises.
        n: Rows it rests on, of the sort that ``counted`` names.
        n_undefined: Rows for which the metric is undefined.
        n_missing: Rows whose value is missing.
        clusters: Number of independent units among the ``n`` rows.
        low: The least value it can have; None for no end.
        high: The greatest.
        filled: The quantity with every missing row at the end that makes it lowest or highest;
            None where the range has no such end. Not asked for where nothing is missing.
        least_p: A p below it cannot be told from it, as in a bootstrap of so many draws.
        exact: The binomial tails of a plain rate, which ``at`` is read off too; None for all else.
        counted: What ``n`` counts.
        n_scored: Rows that have a score, where ``n`` counts something else.
        reasons: Why rows have no value, and how many.
        not_random: What speaks against a random draw of labelled rows; there is no value then,
            unless they were to be taken as one.
    """

    value: float | None
    at: Callable[[float], Interval | None]
    n: int
    n_undefined: int = 0
    n_missing: int = 0
    clusters: int = 0
    low: float | None = None
    high: float | None = None
    filled: "Callable[[End], Quantity | None] | None" = None
    least_p: float = 0.0
    exact: ExactRate | None = None
    counted: Literal["examples", "pairs", "labels"] = "examples"
    n_scored: int | None = None
    reasons: Mapping[str, int] = field(default_factory=dict)
    not_random: str | None = None

    @property
    def n_possible(self) -> int:
        """The number of rows with a score or a missing one."""
        return (self.n if self.n_scored is None else self.n_scored) + self.n_missing

    @property
    def missing_share(self) -> float:
        """The share of missing scores among the possible ones; 0 if none is possible."""
        return self.n_missing / self.n_possible if self.n_possible else 0.0


def mean_quantity(scores: pl.DataFrame, scale: ValueRange) -> Quantity:
    """The mean of the scores that have a value; of a rate with exact tails.

    Args:
        scores: Rows of ``Scored.of``.
        scale: Of the metric.
    """
    tally = dict(scores["status"].value_counts().iter_rows())
    clusters = valued_by_cluster(scores)
    mean = mean_at(clusters.moments, scale)
    usual = mean(0.95)
    exact = exact_rate(clusters.sums, clusters.counts) if scale.rate else None

    def filled(end: End) -> Quantity | None:
        to = scale.low if end == "low" else scale.high
        return None if to is None else mean_quantity(with_missing_at(scores, to), scale)

    return Quantity(
        value=usual.value,
        at=(lambda level: mean(level).interval) if exact is None else exact.interval,
        n=int(tally.get("value", 0)),
        n_undefined=int(tally.get("undefined", 0)),
        n_missing=int(tally.get("missing", 0)),
        clusters=usual.clusters,
        low=scale.low,
        high=scale.high,
        filled=filled,
        exact=exact,
        reasons=reasons_of(scores),
    )


def owing(corrected: Quantity, plain: Quantity) -> Quantity:
    """A corrected estimate of the scored rows, combined with the rows whose score is missing.

    Were these all at one end of the range, value and interval would be

        (scored · what they are + missing · end) / (scored + missing)

    Args:
        corrected: Of the rows that have a score.
        plain: The mean of the scores, which knows how many are missing.
    """

    def filled(end: End) -> Quantity | None:
        to = plain.low if end == "low" else plain.high
        return None if to is None or not plain.n else _moved(corrected, plain, to)

    return replace(
        corrected,
        n_undefined=plain.n_undefined,
        n_missing=plain.n_missing,
        n_scored=plain.n,
        low=plain.low,
        high=plain.high,
        filled=filled,
        reasons=corrected.reasons or plain.reasons,
    )


def _moved(corrected: Quantity, plain: Quantity, to: float) -> Quantity:
    scored, rows = plain.n, plain.n + plain.n_missing

    def moved(value: float) -> float:
        return (scored * value + plain.n_missing * to) / rows

    def at(level: float) -> Interval | None:
        one = corrected.at(level)
        return one and Interval(moved(one.low), moved(one.high), level, one.method)

    value = None if corrected.value is None else moved(corrected.value)
    return replace(corrected, value=value, at=at, n_missing=0, filled=None)


def with_missing_at(scores: pl.DataFrame, to: float) -> pl.DataFrame:
    """The scores with every missing one set to a value."""
    missing = pl.col("status") == "missing"
    return scores.with_columns(
        pl.when(missing).then(pl.lit(to)).otherwise("value").alias("value"),
        pl.when(missing).then(pl.lit("value")).otherwise(pl.col("status").cast(pl.String))
        .alias("status"),
    )  # fmt: skip


def reasons_of(scores: pl.DataFrame) -> dict[str, int]:
    """The reasons why scores are undefined or missing, the most frequent first."""
    return dict(Counter(scores.filter(pl.col("status") != "value")["reason"].drop_nulls())
                .most_common())  # fmt: skip
