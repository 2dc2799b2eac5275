"""Cells: how the reports of other tools write a value, an average and a share."""

from collections.abc import Iterator, Sequence

import polars as pl

from ragstone.analysis.scored_run import by_cluster
from ragstone.run.estimates.estimate import Estimate
from ragstone.stats.cluster_means import mean_of_clusters

from .layout import ReportColumn
from .report_data import ReportData

NOT_RETRIEVED = "no_retrieval"
DECIMALS = {True: 2, False: 6}
"""Of values, in percent and not."""


def values(scores: pl.DataFrame, *, percent: bool) -> pl.Series:
    """Values as text, in percent with two decimals; empty if undefined or missing.

    ``N/A`` where the system does not retrieve and the metric is about contexts.
    """
    number = pl.col("value") * (100 if percent else 1)
    places = DECIMALS[percent]
    text = number.round(places).cast(pl.Decimal(38, places) if percent else pl.Float64)
    there = pl.when(pl.col("status") == "value").then(text.cast(pl.String))
    not_applicable = (pl.col("status") == "undefined") & (pl.col("reason") == NOT_RETRIEVED)
    return scores.select(there.when(not_applicable).then(pl.lit("N/A"))).to_series()


def value_of(estimate: Estimate | None, *, percent: bool) -> str | None:
    """A mean as text, written as ``values`` writes values."""
    if estimate is None:
        return None
    if estimate.value is None:
        return "N/A" if set(estimate.reasons) == {NOT_RETRIEVED} else None
    return number(estimate.value, percent=percent)


def number(value: float | None, *, percent: bool) -> str | None:
    """A number as text.

    >>> number(2 / 3, percent=True), number(0.5, percent=False), number(None, percent=True)
    ('66.67', '0.5', None)
    """
    if value is None:
        return None
    return f"{round(value * 100, 2) + 0.0:.2f}" if percent else repr(round(value, 6) + 0.0)


def not_there(columns: Sequence[ReportColumn], data: ReportData, outcome: str) -> pl.Series:
    """For each example the names of the columns that are ``undefined``, or ``missing``."""
    status = pl.DataFrame({one.name: data.scores(one.metric)["status"] for one in columns})
    names = pl.concat_list(
        pl.when(pl.col(one.name) == outcome).then(pl.lit(one.name)) for one in columns
    )
    joined = names.list.drop_nulls().list.join(", ").replace("", None).alias(outcome)
    return status.select(joined).to_series()


def behind(name: str, one: Estimate | None, *, percent: bool) -> dict[str, str | int | None]:
    """What stands behind a tool's own columns: n, interval, undefined and missing."""
    return {
        f"{name}_n": None if one is None else one.n,
        f"{name}_low": None if one is None else number(one.low, percent=percent),
        f"{name}_high": None if one is None else number(one.high, percent=percent),
        f"{name}_undefined": None if one is None else one.n_undefined,
        f"{name}_missing": None if one is None else one.n_missing,
    }


def shares(
    words: pl.Series, status: pl.Series, cluster: pl.Series, classes: Sequence[str]
) -> Iterator[tuple[int, str | None, dict[str, str | int | None]]]:
    """How often each class was given: count, percentage with one decimal, and what stands behind.

    Args:
        words: The word of each row; null for a row without a value.
        status: ``value``, ``undefined`` or ``missing``.
        cluster: What the rows are clustered by, for the interval of the share.
        classes: All classes; those that were not given stay, with 0.
    """
    frame = pl.DataFrame({"word": words, "status": status, "cluster": cluster})
    given = frame.filter(pl.col("word").is_not_null())
    undefined, missing = (int((status == one).sum()) for one in ("undefined", "missing"))
    for one in classes:
        count = int((given["word"] == one).sum())
        rows = given.select("cluster", value=(pl.col("word") == one).cast(pl.Float64))
        mean = mean_of_clusters(by_cluster(rows).moments, rate=True, low=0, high=1)
        interval = mean.interval
        yield (
            count,
            None if mean.value is None else f"{100 * mean.value:.1f}",
            {
                "n": given.height,
                "low": None if interval is None else f"{100 * interval.low:.1f}",
                "high": None if interval is None else f"{100 * interval.high:.1f}",
                "undefined": undefined,
                "missing": missing,
            },
        )
