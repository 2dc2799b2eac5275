"""Scoring: from judged examples to a score for each example and metric."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from math import isnan
from operator import or_
from typing import NamedTuple, cast

import polars as pl

from ragstone.core.errors import InputError, RagstoneError
from ragstone.judgements import (
    ASKS,
    MISSING,
    NO_ANSWER,
    REQUIREMENTS,
    UNDEFINED,
    VALUE,
    Judged,
    View,
    kind_of,
)

from .composite import Composite, compose
from .metric import SLACK, Metric, Part, Range, Undefined
from .metric_names import read_metric

# Plans of a few steps in memory are carried out as they are: to improve them takes longer.
AS_WRITTEN = pl.QueryOptFlags.none()

YES = pl.Series([True])
ROW = pl.int_range(pl.len(), dtype=pl.UInt32).alias("row")


class _Slot(NamedTuple):
    metric: Metric
    name: str
    part: Part


def aggregate(judged: Judged, metrics: Sequence[Metric]) -> dict[str, pl.DataFrame]:
    """The parts of every metric.

    Returns:
        For each metric's text form, a frame with one line per example or per
        reference: ``row``, ``reference`` (only with one line per reference), and
        for each part ``PART`` (its value), ``PART_rows`` (null if it has none)
        and ``PART_settled``.
    """
    slots: dict[tuple[type[View], bool, str], list[_Slot]] = defaultdict(list)
    needed: dict[type[View], set[str]] = defaultdict(set)
    for metric in metrics:
        for name, part in metric.made_parts.items():
            by_reference = metric.by_reference and "reference" in part.over.columns
            slots[part.over, by_reference, str(part.only)].append(_Slot(metric, name, part))
            needed[part.over] |= part.columns
    frames = {view: judged.view(view, names) for view, names in needed.items()}
    lines = {False: judged.examples.select(ROW)}
    if any(metric.by_reference for metric in metrics):
        # An example without references has one line with a null reference.
        numbers = pl.int_ranges(0, pl.col("reference").list.len(), dtype=pl.UInt32)
        numbered = judged.examples.select(ROW, numbers.alias("reference"))
        lines[True] = numbered.explode("reference", empty_as_null=True)
    columns: dict[str, list[pl.Series]] = {
        str(metric): lines[metric.by_reference].get_columns() for metric in metrics
    }
    for (view, by_reference, _), group in slots.items():
        keys = ["row", "reference"] if by_reference else ["row"]
        only = group[0].part.only
        frame = frames[view] if only is None else frames[view].filter(only)
        aggregated = _evaluate(view, frame, keys, group)
        aligned: dict[bool, pl.DataFrame] = {}
        for number, (metric, name, _) in enumerate(group):
            each_reference = metric.by_reference
            if each_reference not in aligned:
                aligned[each_reference] = _aligned(lines[each_reference], aggregated, keys)
            frame = aligned[each_reference]
            columns[str(metric)] += [
                frame[f"value_{number}"].alias(name),
                frame["rows"].alias(f"{name}_rows"),
                frame[f"settled_{number}"].alias(f"{name}_settled"),
            ]
    return {metric: pl.DataFrame(series) for metric, series in columns.items()}


def _aligned(lines: pl.DataFrame, aggregated: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    by_line = "reference" in keys or "reference" not in lines.columns
    if by_line and lines[keys].equals(aggregated[keys], null_equal=False):
        return aggregated
    return lines.join(aggregated, on=keys, how="left", maintain_order="left")


def _evaluate(
    view: type[View], frame: pl.DataFrame, keys: list[str], slots: Sequence[_Slot]
) -> pl.DataFrame:
    # A null is a gap if the column, or the unit it is about, comes from a judge.
    gaps = {name for _, _, part in slots for name in part.columns
            if (view.columns[name].needs or view.made_by) and frame[name].null_count()}  # fmt: skip
    rules = [pl.len().alias("rows")]
    settled: list[str] = []
    for number, (_, _, part) in enumerate(slots):
        rules.append(part.rule.alias(f"value_{number}"))
        open_columns = sorted(part.columns & gaps)
        if open_columns:
            rules.append(_settled(part, open_columns).alias(f"settled_{number}"))
        else:
            settled.append(f"settled_{number}")
    try:
        aggregated = _by_unit(frame, keys, rules)
    except InputError as error:
        raise InputError(_first_line(error)) from error.__cause__
    except pl.exceptions.PolarsError as error:
        raise InputError(_which_fails(frame, keys, slots) or _first_line(error)) from error
    for number, (metric, _, _) in enumerate(slots):
        dtype = aggregated.schema[f"value_{number}"]
        if dtype.is_nested():
            raise InputError(
                f"{metric} gives several values for one example. Its rule must aggregate them, "
                "as .mean() or .sum() do."
            )
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
            raise InputError(f"{metric} gives {dtype}; a metric must give a number.")
    yes = YES.new_from_index(0, aggregated.height)
    known = [
        _as_numbers(series) if series.name.startswith("value_") else series for series in aggregated
    ]
    return pl.DataFrame([*known, *map(yes.alias, settled)])


def _as_numbers(values: pl.Series) -> pl.Series:
    """A sum tells at once whether there can be any NaN."""
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
    if part.settled is not None:
        return part.settled
    return pl.all_horizontal(pl.col(name).is_not_null() for name in open_columns).all()


def _which_fails(frame: pl.DataFrame, keys: list[str], slots: Sequence[_Slot]) -> str | None:
    for metric, _, part in slots:
        try:
            frame.lazy().group_by(keys).agg(part.rule).collect()
        except pl.exceptions.PolarsError as error:
            return f"{metric} cannot be evaluated: {_first_line(error)}"
    return None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


SCORES = pl.Schema(
    {"value": pl.Float64, "label": pl.String, "status": pl.UInt8, "reason": pl.String}
)

NO_NUMBER = pl.Series("value", [None], dtype=pl.Float64)
NO_WORD = pl.Series([None], dtype=pl.String)
GIVEN = pl.Series("status", [VALUE], dtype=pl.UInt8)
# Columns of one row, to be repeated: twenty times as fast as ``pl.repeat``.
UNDECIDED = pl.Series("decided", [False])


class _Bar(NamedTuple):
    """Rows that have no value, and why."""

    rows: pl.Series
    status: int
    reason: pl.Series


def score(
    judged: Judged, metrics: Iterable[Metric], partly_answered: Collection[str] = ()
) -> dict[str, pl.DataFrame]:
    """Score every example on every metric; ``partly_answered`` systems owe their null answers.

    Returns:
        For each metric's text form, a frame with one row per example, in their
        order: ``value`` (null unless the status is ``VALUE``), ``label``,
        ``status`` and ``reason``; for a value, the reason holds its flags.
        Components of composites are scored too.

    Raises:
        InputError: A rule names unknown columns or gives several values.
    """
    every = _with_components(metrics)
    plain = [metric for metric in every.values() if not isinstance(metric, Composite)]
    parts = aggregate(judged, plain)
    required = {name: REQUIREMENTS[name].holds.fill_null(value=False)
                for metric in plain for name in needed_fields(metric)}  # fmt: skip
    holds = judged.examples.select(**required).to_dict()
    lacks = {name: _Bar(~held, UNDEFINED, _repeated(REQUIREMENTS[name].reason, held.len()))
             for name, held in holds.items() if not held.all()}  # fmt: skip
    unjudged = _unjudged(judged, {ask for metric in plain for ask in metric.asks})
    scores: dict[str, pl.DataFrame] = {}
    for metric in plain:
        bars = [lacks[name] for name in needed_fields(metric) if name in lacks]
        bars += [bar for ask, bar in unjudged if ask in metric.asks]
        scores[str(metric)] = _allowed(judged, metric, parts[str(metric)], bars)
    if partly_answered:
        null = pl.col("answer").is_null() & pl.col("system").is_in(list(partly_answered))
        silent = judged.examples.select(null).to_series()
        for metric in plain:
            scores[str(metric)] = _owed(metric, scores[str(metric)], silent, holds)
    for metric in every.values():
        if isinstance(metric, Composite):
            scores[str(metric)] = within(metric.range, compose(metric, scores))
    return scores


def _owed(
    metric: Metric, scores: pl.DataFrame, silent: pl.Series, holds: Mapping[str, pl.Series]
) -> pl.DataFrame:
    """Make scores of null answers missing where a system answers elsewhere: it owes these.

    They stay undefined where the data lack what a score needs; contexts are the system's own, and a
    system that fails gives none either.
    """
    needed = needed_fields(metric)
    if "answer" not in (*needed, *metric.reads):
        return scores
    for name in needed:
        if not REQUIREMENTS[name].by_system:
            silent = silent & holds[name]
    is_owed = pl.lit(silent) & (pl.col("status") == UNDEFINED)
    return scores.with_columns(
        status=pl.when(is_owed).then(pl.lit(MISSING, pl.UInt8)).otherwise("status"),
        reason=pl.when(is_owed).then(pl.lit(NO_ANSWER)).otherwise("reason"),
    )


def needed_asks(metrics: Iterable[Metric]) -> list[str]:
    """The judgements that these metrics need, each after those it is about."""
    needed = {ask for metric in _with_components(metrics).values() for ask in metric.asks}
    for name in reversed(ASKS):
        if name in needed:
            needed.update(ASKS[name].after)
    return [name for name in ASKS if name in needed]


def asks_of(metric: str) -> frozenset[str]:
    """The judgements that a metric's numbers are made of; all if it is not known here.

    They are those it reads and those that a rule derives these from, without those that are only
    made before, such as the kind of reply before its claims.
    """
    try:
        needed_metrics = _with_components([read_metric(metric)])
    except RagstoneError:
        return frozenset(ASKS)
    asks = frozenset(ask for component in needed_metrics.values() for ask in component.asks)
    return asks.union(*(ASKS[ask].after for ask in asks if kind_of(ask).derived))


def _with_components(metrics: Iterable[Metric]) -> dict[str, Metric]:
    by_form: dict[str, Metric] = {}
    for metric in metrics:
        if isinstance(metric, Composite):
            by_form.update(
                {str(component): component for component in metric.components().values()}
            )
        by_form[str(metric)] = metric
    return by_form


def _valued(judged: Judged, metric: Metric, lines: pl.DataFrame) -> pl.DataFrame:
    frame = _values(metric, lines) if _is_settled(metric, lines) else None
    if frame is None:
        frame = _combined(metric, lines)
    if metric.by_reference:
        frame = _best_reference(metric, frame, judged.examples)
    return within(metric.range, pl.DataFrame(list(map(frame.get_column, (*SCORES, "decided")))))


def _is_settled(metric: Metric, lines: pl.DataFrame) -> bool:
    if type(metric).decided != Metric.decided:
        return False
    for name in metric.made_parts:
        settled = lines[f"{name}_settled"]
        if lines[f"{name}_rows"].null_count() or settled.null_count() or not settled.all():
            return False
    return True


def _values(metric: Metric, lines: pl.DataFrame) -> pl.DataFrame | None:
    """Give the same as ``_combined`` for settled lines; None if the rule gives one of them no
    value.
    """
    kind, n = type(metric), lines.height
    value = lines["value"] if "value" in lines.columns else None
    if value is None or kind.combine != Metric.combine:
        combined = metric.combine().cast(pl.Float64).fill_nan(None).alias("value")
        value = lines.select(combined).to_series()
        value = value.new_from_index(0, n) if value.len() != n else value
    if value.null_count():
        return None
    nothing = NO_WORD.new_from_index(0, n)
    label, flags = nothing, nothing
    if kind.label != Metric.label or kind.flags != Metric.flags:
        word = metric.label()
        words = lines.with_columns(value).select(
            label=pl.lit(None, pl.String) if word is None else word,
            reason=_flags(metric, metric.made_parts),
        )
        label, flags = words["label"], words["reason"]
        if words.height != n:
            return None
    return pl.DataFrame([*(lines[name] for name in ("row", "reference") if name in lines.columns),
                         value, label.alias("label"), GIVEN.new_from_index(0, n),
                         flags.alias("reason"), UNDECIDED.new_from_index(0, n)])  # fmt: skip


def _combined(metric: Metric, lines: pl.DataFrame) -> pl.DataFrame:
    parts = metric.made_parts
    has_value = pl.col("status") == VALUE
    no_value = has_value & pl.col("value").is_null()
    word = metric.label()
    label = pl.lit(None, pl.String) if word is None else pl.when(has_value).then(word)
    outcomes = (
        lines.lazy()
        .with_columns(_filled(parts))
        .with_columns(*_outcome_of_parts(metric, parts), decided=pl.lit(value=False))
    )
    if (decided := metric.decided()) is not None:
        outcomes = outcomes.with_columns(decided=decided.fill_null(value=False)).with_columns(
            status=pl.when("decided").then(pl.lit(VALUE, pl.UInt8)).otherwise("status"),
            reason=pl.when(pl.col("decided").not_()).then("reason"),
        )
    return (
        outcomes.with_columns(
            value=pl.when(has_value).then(metric.combine().cast(pl.Float64).fill_nan(None))
        )
        .with_columns(
            status=pl.when(no_value).then(pl.lit(UNDEFINED, pl.UInt8)).otherwise("status"),
            reason=pl.when(no_value).then(pl.lit(metric.undefined)).otherwise("reason"),
        )
        .with_columns(
            label=label, reason=pl.when(has_value).then(_flags(metric, parts)).otherwise("reason")
        )
        .select("row", *(["reference"] if metric.by_reference else []), *SCORES, "decided")
        .collect(engine="in-memory", optimizations=AS_WRITTEN)
    )


def _filled(parts: Mapping[str, Part]) -> list[pl.Expr]:
    filled = [pl.col(f"{name}_settled").fill_null(value=True) for name in parts]
    for name, part in parts.items():
        if not isinstance(part.empty, Undefined):
            none = pl.col(f"{name}_rows").is_null()
            filled.append(pl.when(none).then(float(part.empty)).otherwise(name).alias(name))
    return filled


def _outcome_of_parts(metric: Metric, parts: Mapping[str, Part]) -> list[pl.Expr]:
    """Missing if a part is unsettled, undefined if a part is empty and has no value for that."""
    unsettled = pl.any_horizontal(pl.col(f"{name}_settled").not_() for name in parts)
    status, reason = pl.lit(VALUE, pl.UInt8), pl.lit(None, pl.String)
    for name, part in reversed(list(parts.items())):
        if isinstance(part.empty, Undefined):
            none = pl.col(f"{name}_rows").is_null()
            status = pl.when(none).then(pl.lit(UNDEFINED, pl.UInt8)).otherwise(status)
            reason = pl.when(none).then(pl.lit(part.empty.reason)).otherwise(reason)
    return [
        pl.when(unsettled).then(pl.lit(MISSING, pl.UInt8)).otherwise(status).alias("status"),
        pl.when(unsettled).then(pl.lit(metric.gap)).otherwise(reason).alias("reason"),
    ]


def _flags(metric: Metric, parts: Mapping[str, Part]) -> pl.Expr:
    """The names of the conditions that hold, separated by commas; null if none does."""
    conditions = {part.empty_flag: pl.col(f"{name}_rows").is_null() for name, part in parts.items()
                  if part.empty_flag}  # fmt: skip
    conditions.update(metric.flags())
    if not conditions:
        return pl.lit(None, pl.String)
    words = pl.concat_str([pl.when(condition.fill_null(value=False)).then(pl.lit(name))
                           for name, condition in conditions.items()], separator=",",
                          ignore_nulls=True)  # fmt: skip
    return pl.when(words != "").then(words)


def _best_reference(metric: Metric, lines: pl.DataFrame, examples: pl.DataFrame) -> pl.DataFrame:
    """The best reference; missing if one that is missing could have been better."""
    if lines.height == examples.height:  # One line an example: there is nothing to choose.
        return lines
    lower = metric.range.better == "-"
    best = -pl.col("value") if lower else pl.col("value")
    end = -metric.range.low if lower else metric.range.high
    unsure = (pl.col("status") == MISSING) & (best.max().over("row") < end).fill_null(value=True)
    noted = pl.concat_str(["reason", pl.format("best_reference={}", pl.col("reference") + 1)],
                          separator=",", ignore_nulls=True)  # fmt: skip
    several = pl.col("reference").max().over("row") > 0
    chosen = (
        lines.lazy()
        .with_columns(
            pl.when(several & (pl.col("status") == VALUE)).then(noted).otherwise("reason").alias(
                "reason"
            )
        )
        .sort(unsure, best, descending=True, nulls_last=True, maintain_order=True)
        .unique(subset="row", keep="first", maintain_order=True)
        .collect(engine="in-memory", optimizations=AS_WRITTEN)
    )  # fmt: skip
    return examples.select(ROW).join(chosen, on="row", how="left", maintain_order="left")


def within(allowed: Range, scores: pl.DataFrame) -> pl.DataFrame:
    """Turn values outside of the metric's range into missing ones, with that reason."""
    low, high = allowed.low - SLACK, allowed.high + SLACK
    least, greatest = scores["value"].min(), scores["value"].max()
    if least is None or (low <= cast(float, least) and cast(float, greatest) <= high):
        return scores
    value = pl.col("value")
    outside = (value < low) | (value > high)
    return scores.with_columns(
        value=pl.when(outside.not_()).then(value),
        status=pl.when(outside).then(pl.lit(MISSING, pl.UInt8)).otherwise("status"),
        reason=pl.when(outside).then(pl.lit("out_of_range")).otherwise("reason"),
    )


def needed_fields(metric: Metric) -> list[str]:
    """Fields that an example must have, for the metric's views and its asks."""
    of_asks = (name for ask in ASKS if ask in metric.asks for name in ASKS[ask].requires)
    return list(dict.fromkeys([*metric.requires, *of_asks]))


def _repeated(word: str | None, height: int) -> pl.Series:
    return pl.Series([word], dtype=pl.String).new_from_index(0, height)


def _unjudged(judged: Judged, asks: Collection[str]) -> list[tuple[str, _Bar]]:
    """The answers that lack a judgement: first those where there is nothing to judge."""
    bars = []
    for code in (UNDEFINED, MISSING):
        for ask in ASKS:
            if ask in asks and (rows := (outcome := judged.outcome(ask))["status"] == code).any():
                bars.append((ask, _Bar(rows, code, outcome["reason"])))
    return bars


def _allowed(
    judged: Judged, metric: Metric, lines: pl.DataFrame, bars: Sequence[_Bar]
) -> pl.DataFrame:
    """The scores, without a value where a bar applies; the first bar gives the reason."""
    n = judged.examples.height
    undecided = type(metric).decided == Metric.decided
    if undecided and bars and reduce(or_, (bar.rows for bar in bars)).all():
        nothing = NO_WORD.new_from_index(0, n)
        scores = pl.DataFrame([NO_NUMBER.new_from_index(0, n), nothing.alias("label"),
                               GIVEN.new_from_index(0, n), nothing.alias("reason")])  # fmt: skip
    else:
        scores = _valued(judged, metric, lines)
    status, reason = scores["status"], scores["reason"]
    for bar in reversed(bars):
        rows = bar.rows if undecided or bar.status == UNDEFINED else bar.rows & ~scores["decided"]
        status = pl.Series([bar.status], dtype=pl.UInt8).new_from_index(0, n).zip_with(rows, status)
        reason = bar.reason.zip_with(rows, reason)
    has_value = status == VALUE
    value = scores["value"].zip_with(has_value, NO_NUMBER.new_from_index(0, n))
    label = scores["label"].zip_with(has_value, NO_WORD.new_from_index(0, n))
    return pl.DataFrame([value, label, status.alias("status"), reason.alias("reason")])
