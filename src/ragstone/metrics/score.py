"""Score: evaluates metrics over a block of judged examples."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from ragstone.errors import InputError
from ragstone.judgements import (
    ASKS,
    MISSING,
    REQUIREMENTS,
    UNDEFINED,
    VALUE,
    Fact,
    Judged,
    View,
    same_outcome,
)

from .composite import Composite
from .core import Metric, Part
from .names import parse_metric
from .outcome import Range, Undefined

SCORES = pl.Schema(
    {"value": pl.Float64, "label": pl.String, "status": pl.UInt8, "reason": pl.String}
)


def score(tables: Judged, metrics: Iterable[Metric]) -> dict[str, pl.DataFrame]:
    """Score every example on every metric.

    Returns:
        For each metric's text form a frame with one row an example, in the
        order of the tables: ``value`` (null unless the status is ``VALUE``),
        ``label``, ``status`` and ``reason``; beside a value the reason holds its
        flags. Components of composites are scored too.

    Raises:
        InputError: A rule that names unknown columns or gives several values.
    """
    wanted = _with_components(metrics)
    plain = [metric for metric in wanted.values() if not isinstance(metric, Composite)]
    parts = _evaluate_parts(tables, plain)
    scores: dict[str, pl.DataFrame] = {}
    for metric in plain:
        scores[str(metric)] = _finish(tables, metric, parts[str(metric)])
    for metric in wanted.values():
        if isinstance(metric, Composite):
            scores[str(metric)] = _compose(metric, scores)
    return scores


def needed_asks(metrics: Iterable[Metric]) -> list[str]:
    """The judgements that these metrics need, each behind what it is about."""
    needed = {ask for metric in _with_components(metrics).values() for ask in metric.asks}
    for name in reversed(ASKS):
        if name in needed:
            needed.update(ASKS[name].after)
    return [name for name in ASKS if name in needed]


def _with_components(metrics: Iterable[Metric]) -> dict[str, Metric]:
    """The metrics and their components, components first."""
    found: dict[str, Metric] = {}
    for metric in metrics:
        if isinstance(metric, Composite):
            components = [parse_metric(name) for name, _ in metric.terms]
            if any(isinstance(component, Composite) for component in components):
                raise InputError(f"{metric}: a composite cannot be a component.")
            found.update({str(component): component for component in components})
        found[str(metric)] = metric
    return found


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where a part's aggregate stands in the frame of its view."""

    metric: str
    part: str
    rule: pl.Expr
    settled: pl.Expr | None
    columns: frozenset[str]


def _evaluate_parts(
    tables: Judged, metrics: Sequence[Metric]
) -> dict[str, dict[str, pl.DataFrame]]:
    """For each metric and part a frame with the keys, ``value``, ``rows`` and ``settled``."""
    slots: dict[tuple[type[View], bool], list[_Slot]] = defaultdict(list)
    for metric in metrics:
        for name, part in metric.parts().items():
            by_reference = metric.by_reference and "reference" in part.over.columns
            slots[part.over, by_reference].append(
                _Slot(str(metric), name, part.rule, part.settled, part.columns)
            )
    results: dict[str, dict[str, pl.DataFrame]] = defaultdict(dict)
    for (view, by_reference), wanted in slots.items():
        keys = ["row", "reference"] if by_reference else ["row"]
        columns = frozenset[str]().union(*(slot.columns for slot in wanted))
        frame = tables.view(view, columns)
        aggregated = _aggregate(view, frame, keys, wanted)
        for number, slot in enumerate(wanted):
            results[slot.metric][slot.part] = aggregated.select(
                *keys,
                pl.col(f"value_{number}").cast(pl.Float64).fill_nan(None).alias("value"),
                pl.col("rows"),
                (
                    pl.col(f"settled_{number}")
                    if f"settled_{number}" in aggregated.columns
                    else pl.lit(value=True)
                ).alias("settled"),
            )
    return results


def _aggregate(
    view: type[View], frame: pl.DataFrame, keys: list[str], slots: Sequence[_Slot]
) -> pl.DataFrame:
    exprs = [pl.len().alias("rows")]
    for number, slot in enumerate(slots):
        exprs.append(slot.rule.alias(f"value_{number}"))
        judged = [name for name in sorted(slot.columns) if _is_judged(view.columns[name])]
        if any(frame[name].null_count() for name in judged if name in frame.columns):
            settled = slot.settled
            if settled is None:
                settled = pl.all_horizontal(pl.col(name).is_not_null() for name in judged).all()
            exprs.append(settled.alias(f"settled_{number}"))
    aggregated = frame.lazy().group_by(keys).agg(exprs).collect()
    for number, slot in enumerate(slots):
        dtype = aggregated.schema[f"value_{number}"]
        if dtype.is_nested():
            raise InputError(
                f"{slot.metric} gives several values for one example. Its rule must aggregate, "
                "as .mean() or .sum() do."
            )
    return aggregated


def _is_judged(fact: Fact) -> bool:
    return bool(fact.needs)


def _finish(tables: Judged, metric: Metric, parts: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Combine a metric's parts, choose the best reference, and say how it came out."""
    declared = metric.parts()
    rows = tables.examples.select(pl.int_range(pl.len(), dtype=pl.UInt32).alias("row"))
    base = rows
    if metric.by_reference:
        references = tables.examples.select(
            pl.int_range(pl.len(), dtype=pl.UInt32).alias("row"),
            pl.int_ranges(0, pl.col("reference").list.len(), dtype=pl.UInt32).alias("reference"),
        )
        base = references.explode("reference", empty_as_null=True)
    for name, part in declared.items():
        frame = parts[name]
        keys = [key for key in ("row", "reference") if key in frame.columns]
        base = base.join(
            frame.rename({"value": name, "rows": f"{name}_rows", "settled": f"{name}_settled"}),
            on=keys,
            how="left",
            maintain_order="left",
        ).with_columns(_filled(name, part))
    base = base.with_columns(_outcome_of_parts(metric, declared))
    value = metric.combine().cast(pl.Float64)
    whole = pl.col("part_status") == VALUE
    base = base.with_columns(value=pl.when(whole).then(value))
    base = base.with_columns(
        part_status=pl.when(whole & pl.col("value").is_null())
        .then(UNDEFINED)
        .otherwise("part_status")
        .cast(pl.UInt8),
        part_reason=pl.when(whole & pl.col("value").is_null())
        .then(pl.lit(metric.undefined))
        .otherwise("part_reason"),
    )
    label = metric.label()
    valued = pl.col("value").is_not_null()
    base = base.with_columns(
        label=pl.lit(None, pl.String) if label is None else pl.when(valued).then(label),
        flags=pl.when(valued).then(_flags(metric, declared)),
    )
    if metric.by_reference:
        base = _best_reference(metric, base, rows)
    return _with_requirements(tables, metric, _within_range(metric.range, base))


def _filled(name: str, part: Part) -> list[pl.Expr]:
    """The part where it has no rows: its empty value, or the reason why it has none."""
    none = pl.col(f"{name}_rows").is_null()
    if isinstance(part.empty, Undefined):
        return [pl.col(f"{name}_settled").fill_null(value=True)]
    return [
        pl.when(none).then(pl.lit(float(part.empty))).otherwise(name).alias(name),
        pl.col(f"{name}_settled").fill_null(value=True),
    ]


def _outcome_of_parts(metric: Metric, parts: Mapping[str, Part]) -> list[pl.Expr]:
    """Missing where a part is unsettled, undefined where it is empty without a value."""
    unsettled = pl.any_horizontal(pl.col(f"{name}_settled").not_() for name in parts)
    status, reason = pl.lit(VALUE), pl.lit(None, pl.String)
    for name, part in reversed(list(parts.items())):
        if isinstance(part.empty, Undefined):
            none = pl.col(f"{name}_rows").is_null()
            status = pl.when(none).then(UNDEFINED).otherwise(status)
            reason = pl.when(none).then(pl.lit(part.empty.reason)).otherwise(reason)
    return [
        pl.when(unsettled).then(MISSING).otherwise(status).cast(pl.UInt8).alias("part_status"),
        pl.when(unsettled).then(pl.lit(metric.gap)).otherwise(reason).alias("part_reason"),
    ]


def _flags(metric: Metric, parts: Mapping[str, Part]) -> pl.Expr:
    """The names of the conditions that hold, separated by commas; null if none does."""
    conditions = [
        (part.empty_flag, pl.col(f"{name}_rows").is_null())
        for name, part in parts.items()
        if part.empty_flag
    ]
    conditions += [(name, condition) for name, condition in metric.flags().items()]
    seen = {name: condition for name, condition in reversed(conditions) if name}
    if not seen:
        return pl.lit(None, pl.String)
    words = pl.concat_str(
        [pl.when(condition.fill_null(value=False)).then(pl.lit(name)) for name, condition in
         reversed(seen.items())],
        separator=",",
        ignore_nulls=True,
    )  # fmt: skip
    return pl.when(words != "").then(words)


def _best_reference(metric: Metric, base: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The best reference; one that is missing could have been better, so it makes it missing."""
    best = pl.col("value") if metric.range.better != "-" else -pl.col("value")
    several = pl.col("reference").max().over("row") > 0
    chosen = (
        base.with_columns(
            flags=pl.when(several & pl.col("value").is_not_null())
            .then(
                pl.concat_str(
                    ["flags", pl.format("best_reference={}", pl.col("reference") + 1)],
                    separator=",",
                    ignore_nulls=True,
                )
            )
            .otherwise("flags"),
            _missing=(pl.col("part_status") == MISSING) & (pl.col("value").is_null()),
        )
        .sort(
            ["row", "_missing", best, "reference"],
            descending=[False, True, True, False],
            nulls_last=True,
        )
        .unique(subset="row", keep="first", maintain_order=True)
    )
    return rows.join(chosen, on="row", how="left", maintain_order="left")


def _within_range(allowed: Range, base: pl.DataFrame) -> pl.DataFrame:
    """A value that lies outside of the metric's range is missing, and says so."""
    slack = 1e-9
    value = pl.col("value")
    outside = (value < allowed.low - slack) | (value > allowed.high + slack)
    if not base.select(outside.any()).item():
        return base
    said = pl.format("out_of_range: {} is not from {} to {}", value, allowed.low, allowed.high)
    return base.with_columns(
        value=pl.when(outside.not_()).then(value),
        part_status=pl.when(outside).then(MISSING).otherwise("part_status").cast(pl.UInt8),
        part_reason=pl.when(outside).then(said).otherwise("part_reason"),
    )


def _with_requirements(tables: Judged, metric: Metric, base: pl.DataFrame) -> pl.DataFrame:
    """Undefined where the example lacks what is needed, missing where a judge failed."""
    frame = base.select("value", "label", "flags", "part_status", "part_reason")
    required = dict.fromkeys(metric.requires)
    for ask in sorted(metric.asks, key=list(ASKS).index):
        required.update(dict.fromkeys(ASKS[ask].requires))
    holds = tables.examples.select(
        REQUIREMENTS[name].holds.fill_null(value=False).alias(f"has_{name}") for name in required
    )
    outcomes = {ask: tables.outcome(ask) for ask in sorted(metric.asks, key=list(ASKS).index)}
    frame = pl.concat(
        [
            frame,
            holds,
            *(
                outcome.select(
                    pl.col("status").alias(f"status_{ask}"), pl.col("reason").alias(f"reason_{ask}")
                )
                for ask, outcome in outcomes.items()
            ),
        ],
        how="horizontal",
    )
    branches: list[tuple[pl.Expr, int, pl.Expr]] = []
    for name in required:
        lacks = pl.col(f"has_{name}").not_()
        branches.append((lacks, UNDEFINED, pl.lit(REQUIREMENTS[name].reason)))
    for code in (UNDEFINED, MISSING):
        for ask in outcomes:
            failed = pl.col(f"status_{ask}") == code
            branches.append((failed, code, pl.col(f"reason_{ask}")))
    status, reason = pl.col("part_status"), pl.col("part_reason")
    for condition, code, why in reversed(branches):
        status = pl.when(condition).then(pl.lit(code, pl.UInt8)).otherwise(status)
        reason = pl.when(condition).then(why).otherwise(reason)
    valued = status == VALUE
    return frame.select(
        pl.when(valued).then("value").alias("value"),
        pl.when(valued).then("label").alias("label"),
        status.alias("status"),
        pl.when(valued).then("flags").otherwise(reason).alias("reason"),
    )


def _compose(metric: Composite, scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """A composite from its components' scores."""
    if metric.over_means:
        height = scores[str(parse_metric(metric.terms[0][0]))].height
        return same_outcome(UNDEFINED, "over_data_set_means", height).select(
            pl.lit(None, pl.Float64).alias("value"), pl.lit(None, pl.String).alias("label"),
            "status", "reason",
        )  # fmt: skip
    names = [name for name, _ in metric.terms]
    numbered = {name: str(number) for number, name in enumerate(names)}
    frame = pl.concat(
        [
            scores[str(parse_metric(name))].select(pl.all().name.suffix(f"_{n}"))
            for name, n in numbered.items()
        ],
        how="horizontal",
    )
    value, coverage = metric.of({name: pl.col(f"value_{n}") for name, n in numbered.items()})
    present = pl.sum_horizontal(
        (pl.col(f"status_{n}") == VALUE).cast(pl.UInt32) for n in numbered.values()
    )
    if metric.missing == "renormalise":
        undefined = present == 0
        why = pl.lit("no_component_defined")
    else:
        undefined = pl.any_horizontal(pl.col(f"status_{n}") == UNDEFINED for n in numbered.values())
        why = _first_reason(numbered, UNDEFINED)
    absent = pl.any_horizontal(pl.col(f"status_{n}") == MISSING for n in numbered.values())
    missing_first = metric.missing == "renormalise"
    first, second = (
        ((absent, MISSING, _first_reason(numbered, MISSING)), (undefined, UNDEFINED, why))
        if missing_first
        else ((undefined, UNDEFINED, why), (absent, MISSING, _first_reason(numbered, MISSING)))
    )
    status = (
        pl.when(first[0]).then(first[1]).when(second[0]).then(second[1]).otherwise(VALUE)
    ).cast(pl.UInt8)
    reason = pl.when(first[0]).then(first[2]).when(second[0]).then(second[2])
    note = pl.when(present < len(names)).then(
        pl.format(
            "components={}/{},weight_coverage={}", present, pl.lit(len(names)), coverage.round(4)
        )
    )
    return frame.select(
        pl.when(status == VALUE).then(value).alias("value"),
        pl.lit(None, pl.String).alias("label"),
        status.alias("status"),
        pl.when(status == VALUE).then(note).otherwise(reason).alias("reason"),
    )


def _first_reason(numbered: Mapping[str, str], code: int) -> pl.Expr:
    return pl.coalesce(
        pl.when(pl.col(f"status_{n}") == code).then(
            pl.format("{}: {}", pl.lit(name), pl.col(f"reason_{n}"))
        )
        for name, n in numbered.items()
    )
