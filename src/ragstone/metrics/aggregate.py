"""Aggregate: evaluates the parts of metrics over views, one line an example or a reference."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from ragstone.errors import InputError
from ragstone.judgements import Judged, View

from .core import Metric, Part

ROW = pl.int_range(pl.len(), dtype=pl.UInt32).alias("row")


@dataclass(frozen=True, slots=True)
class _Slot:
    """One part of one metric."""

    metric: str
    name: str
    part: Part
    by_reference: bool
    """Whether the metric is evaluated for each reference; the part itself need not be."""


def aggregate(judged: Judged, metrics: Sequence[Metric]) -> dict[str, pl.DataFrame]:
    """Every metric's parts, side by side.

    Returns:
        For each metric's text form a frame with one line an example, or one a
        reference: ``row``, ``reference`` where there are lines a reference, and
        for each part ``PART`` (its value), ``PART_rows`` (null where it has none)
        and ``PART_settled``.
    """
    slots: dict[tuple[type[View], bool], list[_Slot]] = defaultdict(list)
    for metric in metrics:
        for name, part in metric.parts().items():
            own = metric.by_reference and "reference" in part.over.columns
            slots[part.over, own].append(_Slot(str(metric), name, part, metric.by_reference))
    lines = {False: judged.examples.select(ROW)}
    if any(metric.by_reference for metric in metrics):
        lines[True] = _lines_by_reference(judged.examples)
    columns: dict[str, list[pl.Series]] = {
        str(metric): lines[metric.by_reference].get_columns() for metric in metrics
    }
    for (view, by_reference), wanted in slots.items():
        keys = ["row", "reference"] if by_reference else ["row"]
        aggregated = _evaluate(judged, view, keys, wanted)
        aligned: dict[bool, pl.DataFrame] = {}
        for number, slot in enumerate(wanted):
            if slot.by_reference not in aligned:
                aligned[slot.by_reference] = lines[slot.by_reference].join(
                    aggregated, on=keys, how="left", maintain_order="left"
                )
            frame = aligned[slot.by_reference]
            columns[slot.metric] += [
                frame[f"value_{number}"].alias(slot.name),
                frame["rows"].alias(f"{slot.name}_rows"),
                frame[f"settled_{number}"].alias(f"{slot.name}_settled"),
            ]
    return {metric: pl.DataFrame(series) for metric, series in columns.items()}


def _lines_by_reference(examples: pl.DataFrame) -> pl.DataFrame:
    """One line a reference; an example without one has one line, its reference null."""
    numbers = pl.int_ranges(0, pl.col("reference").list.len(), dtype=pl.UInt32)
    return examples.select(ROW, numbers.alias("reference")).explode("reference", empty_as_null=True)


def _evaluate(
    judged: Judged, view: type[View], keys: list[str], slots: Sequence[_Slot]
) -> pl.DataFrame:
    columns = frozenset[str]().union(*(slot.part.columns for slot in slots))
    frame = judged.view(view, columns)
    gaps = {name for name in columns if view.columns[name].needs and frame[name].null_count()}
    rules = [pl.len().alias("rows")]
    for number, slot in enumerate(slots):
        rules.append(slot.part.rule.alias(f"value_{number}"))
        rules.append(_settled(slot.part, gaps).alias(f"settled_{number}"))
    aggregated = frame.lazy().group_by(keys).agg(rules).collect()
    for number, slot in enumerate(slots):
        if aggregated.schema[f"value_{number}"].is_nested():
            raise InputError(
                f"{slot.metric} gives several values for one example. Its rule must aggregate, "
                "as .mean() or .sum() do."
            )
    values = pl.col("^value_.*$").cast(pl.Float64).fill_nan(None)
    return aggregated.with_columns(values)


def _settled(part: Part, gaps: set[str]) -> pl.Expr:
    """Whether no gap could change the value; without gaps nothing need be asked."""
    open_columns = sorted(part.columns & gaps)
    if not open_columns:
        return pl.lit(value=True)
    if part.settled is not None:
        return part.settled
    return pl.all_horizontal(pl.col(name).is_not_null() for name in open_columns).all()
