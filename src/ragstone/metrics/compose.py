"""Compose: the scores of a composite from the scores of its components."""

from collections.abc import Mapping

import polars as pl

from ragstone.judgements import MISSING, UNDEFINED, VALUE, same_outcome

from .composite import Composite

OVER_MEANS = "over_data_set_means"
"""The code for why a composite of dataset means has no score for a single example."""


def weight_coverage() -> pl.Expr:
    """The share of a composite's weight that a score with a value is made of."""
    noted = pl.col("reason").str.extract(r"weight_coverage=([0-9.]+)").cast(pl.Float64)
    return noted.fill_null(1.0)


def compose(metric: Composite, scores: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """One row per example: value, label, status and reason; see ``Composite``.

    Args:
        metric: The composite.
        scores: The scores of its components, by their text forms.
    """
    names = {name: str(component) for name, component in metric.components().items()}
    parts = {str(number): scores[full] for number, full in enumerate(names.values())}
    if metric.over_means:
        outcome = same_outcome(UNDEFINED, OVER_MEANS, parts["0"].height)
        nothing = pl.lit(None, pl.Float64).alias("value"), pl.lit(None, pl.String).alias("label")
        return outcome.select(*nothing, "status", "reason")
    frame = pl.concat(
        [part.select(pl.all().name.suffix(f"_{number}")) for number, part in parts.items()],
        how="horizontal",
    )
    numbers = dict(zip(names, parts, strict=True))
    value, coverage = metric.of({name: pl.col(f"value_{n}") for name, n in numbers.items()})
    present = pl.sum_horizontal(
        (pl.col(f"status_{n}") == VALUE).cast(pl.UInt32) for n in numbers.values()
    )
    undefined, missing = _any(numbers, UNDEFINED), _any(numbers, MISSING)
    if metric.missing == "renormalise":
        none = present == 0
        no_part = pl.lit("no_component_defined")
        first, second = (none & missing[0], MISSING, missing[1]), (none, UNDEFINED, no_part)
    else:
        first, second = (undefined[0], UNDEFINED, undefined[1]), (missing[0], MISSING, missing[1])
    status = (
        pl.when(first[0]).then(first[1]).when(second[0]).then(second[1]).otherwise(VALUE)
    ).cast(pl.UInt8)
    reason = pl.when(first[0]).then(first[2]).when(second[0]).then(second[2])
    note = pl.when(present < len(numbers)).then(
        pl.format(
            "components={}/{},weight_coverage={}", present, pl.lit(len(numbers)), coverage.round(4)
        )
    )
    return frame.select(
        pl.when(status == VALUE).then(value).alias("value"),
        pl.lit(None, pl.String).alias("label"),
        status.alias("status"),
        pl.when(status == VALUE).then(note).otherwise(reason).alias("reason"),
    )


def _any(numbers: Mapping[str, str], code: int) -> tuple[pl.Expr, pl.Expr]:
    """Whether a component has this outcome, and the reason of the first that has it."""
    conditions = {name: pl.col(f"status_{n}") == code for name, n in numbers.items()}
    reason = pl.coalesce(
        pl.when(condition).then(pl.format("{}: {}", pl.lit(name), f"reason_{numbers[name]}"))
        for name, condition in conditions.items()
    )
    return pl.any_horizontal(conditions.values()), reason
