"""Rows: a report with a row an example and a row a system, whose columns are metrics."""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from ragstone.metrics import Composite, Limit, read_metric

from .cells import behind, not_there, value_of, values
from .layout import Layout, ReportColumn, ReportFile
from .report_data import ReportData


def files(layout: Layout, data: ReportData) -> Sequence[ReportFile]:
    """The rows, and the means by system."""
    return ReportFile("rows.csv", (_rows(layout, data),)), ReportFile(
        "by_system.csv", (_by_system(layout, data),)
    )


def _rows(layout: Layout, data: ReportData) -> pl.DataFrame:
    """The tool's columns; behind them ours, the advice, and which example it is."""
    own = [*layout.columns, *layout.reasons, *layout.behind]
    cells = pl.DataFrame({one.name: _cells(one, data) for one in own})
    shown = [*layout.columns, *layout.behind]
    coverage = [data.coverage(name) for name in layout.metrics if _renormalises(name)][:1]
    advice = pl.Series("advice", list(_advice(layout, data)), pl.String)
    return cells.with_columns(
        *([advice] if layout.limits else []),
        *data.table.select(
            "example_id", "question_id", "question", pl.col("method").alias("system")
        ),
        *(not_there(shown, data, outcome) for outcome in ("undefined", "missing")),
        *coverage,
    )


def _cells(column: ReportColumn, data: ReportData) -> pl.Series:
    if column.shows == "reason":
        return data.reasons(column.metric).alias(column.name)
    return values(data.scores(column.metric), percent=False).alias(column.name)


def _by_system(layout: Layout, data: ReportData) -> pl.DataFrame:
    """The system and its means; behind them n, interval, undefined and missing of each."""
    shown = [*layout.columns, *layout.behind]
    rows = []
    for system in data.methods:
        found = {one: data.estimate(one.metric, system) for one in shown}
        row: dict[str, Any] = {"system": system}
        row |= {one.name: value_of(found[one], percent=False) for one in shown}
        for one in shown:
            row |= behind(one.name, found[one], percent=False)
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _advice(layout: Layout, data: ReportData) -> Iterator[str | None]:
    """For each example the advice of every limit that a value is beyond."""
    limits: list[tuple[Limit, pl.Series]] = [
        (limit, data.scores(limit.metric)["value"]) for limit in layout.limits
    ]
    for at in range(data.table.height):
        said = [
            f"{limit.name}: {limit.advice}"
            for limit, found in limits
            if found[at] is not None and limit.exceeded(found[at])
        ]
        yield ". ".join(said) or None


def _renormalises(metric: str) -> bool:
    made = read_metric(metric)
    return isinstance(made, Composite) and made.missing == "renormalise"
