"""Aggregate: evaluates the parts of metrics over views, one line per example or reference."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import polars as pl

from ragstone.core.errors import InputError
from ragstone.judgements import Judged, View

from .core import Metric, Part

AS_WRITTEN = pl.QueryOptFlags.none()
"""Plans of a few steps in memory are carried out as they are: to improve them takes longer."""
YES = pl.Series([True])
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
    """The parts of every metric.

    Returns:
        For each metric's text form, a frame with one line per example or per
        reference: ``row``, ``reference`` (only with one line per reference), and
        for each part ``PART`` (its value), ``PART_rows`` (null if it has none)
        and ``PART_settled``.
    """
    slots: dict[tuple[type[View], bool, str], list[_Slot]] = defaultdict(list)
    wanted_of: dict[type[View], set[str]] = defaultdict(set)
    for metric in metrics:
        for name, part in metric.made_parts.items():
            own = metric.by_reference and "reference" in part.over.columns
            slots[part.over, own, str(part.only)].append(
                _Slot(str(metric), name, part, metric.by_reference)
            )
            wanted_of[part.over] |= part.columns
    frames = {view: judged.view(view, wanted) for view, wanted in wanted_of.items()}
    lines = {False: judged.examples.select(ROW)}
    if any(metric.by_reference for metric in metrics):
        lines[True] = _lines_by_reference(judged.examples)
    columns: dict[str, list[pl.Series]] = {
        str(metric): lines[metric.by_reference].get_columns() for metric in metrics
    }
    for (view, by_reference, _), wanted in slots.items():
        keys = ["row", "reference"] if by_reference else ["row"]
        only = wanted[0].part.only
        frame = frames[view] if only is None else frames[view].filter(only)
        aggregated = _evaluate(view, frame, keys, wanted)
        aligned: dict[bool, pl.DataFrame] = {}
        for number, slot in enumerate(wanted):
            if slot.by_reference not in aligned:
                aligned[slot.by_reference] = _aligned(lines[slot.by_reference], aggregated, keys)
            beside = aligned[slot.by_reference]
            columns[slot.metric] += [
                beside[f"value_{number}"].alias(slot.name),
                beside["rows"].alias(f"{slot.name}_rows"),
                beside[f"settled_{number}"].alias(f"{slot.name}_settled"),
            ]
    return {metric: pl.DataFrame(series) for metric, series in columns.items()}


def _aligned(lines: pl.DataFrame, aggregated: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """The aggregates of each line; null where it has none."""
    if "reference" in keys or "reference" not in lines.columns:
        same = all(lines[key].equals(aggregated[key], null_equal=False) for key in keys)
        if same and lines.height == aggregated.height:
            return aggregated
    return lines.join(aggregated, on=keys, how="left", maintain_order="left")


def _lines_by_reference(examples: pl.DataFrame) -> pl.DataFrame:
    """One line per reference; an example without references has one line with a null reference."""
    numbers = pl.int_ranges(0, pl.col("reference").list.len(), dtype=pl.UInt32)
    return examples.select(ROW, numbers.alias("reference")).explode("reference", empty_as_null=True)


def _evaluate(
    view: type[View], frame: pl.DataFrame, keys: list[str], slots: Sequence[_Slot]
) -> pl.DataFrame:
    columns = frozenset[str]().union(*(slot.part.columns for slot in slots))
    gaps = {name for name in columns if _is_judged(view, name) and frame[name].null_count()}
    rules = [pl.len().alias("rows")]
    settled = {f"settled_{number}" for number in range(len(slots))}
    for number, slot in enumerate(slots):
        rules.append(slot.part.rule.alias(f"value_{number}"))
        open_columns = sorted(slot.part.columns & gaps)
        if open_columns:
            rules.append(_settled(slot.part, open_columns).alias(f"settled_{number}"))
            settled.remove(f"settled_{number}")
    try:
        aggregated = _by_unit(frame, keys, rules)
    except InputError as error:
        raise InputError(_first_line(error)) from error.__cause__
    except pl.exceptions.PolarsError as error:
        raise InputError(_which_fails(frame, keys, slots) or _first_line(error)) from error
    for number, slot in enumerate(slots):
        dtype = aggregated.schema[f"value_{number}"]
        if dtype.is_nested():
            raise InputError(
                f"{slot.metric} gives several values for one example. Its rule must aggregate "
                "them, "
                "as .mean() or .sum() do."
            )
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            raise InputError(f"{slot.metric} gives {dtype}; a metric must give a number.")
    yes = YES.new_from_index(0, aggregated.height)
    known = [_as_numbers(one) if one.name.startswith("value_") else one for one in aggregated]
    return pl.DataFrame([*known, *(yes.alias(name) for name in sorted(settled))])


def _as_numbers(values: pl.Series) -> pl.Series:
    """As Float64, without NaN; a sum tells at once whether there can be any."""
    numbers = values.cast(pl.Float64)
    return numbers.fill_nan(None) if isnan(numbers.sum() or 0.0) else numbers


def _by_unit(frame: pl.DataFrame, keys: list[str], rules: Sequence[pl.Expr]) -> pl.DataFrame:
    """One row per group, with the same last digits in every run.

    Polars adds up a group's rows in their order only in memory and by one key: its streaming engine
    adds up the parts that it was handed, and several keys it shares out among its threads.
    """
    key = pl.col(keys[0]) if len(keys) == 1 else pl.struct(keys)
    grouped = frame.lazy().group_by(key.alias("group"), maintain_order=True)
    return grouped.agg(pl.col(keys).first(), *rules).collect(
        engine="in-memory", optimizations=AS_WRITTEN
    )


def _settled(part: Part, open_columns: Sequence[str]) -> pl.Expr:
    """Whether no gap in these columns could change the value."""
    if part.settled is not None:
        return part.settled
    return pl.all_horizontal(pl.col(name).is_not_null() for name in open_columns).all()


def _is_judged(view: type[View], column: str) -> bool:
    """Whether a null is a gap: the column, or the unit it is about, comes from a judge."""
    return bool(view.columns[column].needs or view.made_by)


def _which_fails(frame: pl.DataFrame, keys: list[str], slots: Sequence[_Slot]) -> str | None:
    """A message about the first rule that cannot be evaluated."""
    for slot in slots:
        try:
            frame.lazy().group_by(keys).agg(slot.part.rule).collect()
        except pl.exceptions.PolarsError as error:
            return f"{slot.metric} cannot be evaluated: {_first_line(error)}"
    return None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
