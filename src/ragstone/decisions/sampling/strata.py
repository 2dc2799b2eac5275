"""Strata: the parts of a run that are sampled by themselves, by field or by the judge's verdict."""

from collections.abc import Sequence
from math import inf, isfinite

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.decisions.scored import Scored

VERDICT = "verdict"
NEYMAN = argument("allocation", "neyman")

Whole = NDArray[np.int64]


def stratum_names(
    scored: Scored, metric: str | None, threshold: float, strata: Sequence[str]
) -> list[str]:
    """The name of each example's stratum, such as ``system=a, verdict=1``.

    Args:
        scored: The run, made with ``by=`` the fields.
        metric: Whose verdict.
        threshold: Where its scores turn from no to yes.
        strata: Fields, and ``verdict``.
    """
    columns = []
    for name in dict.fromkeys(strata):
        if name == VERDICT:
            assert metric is not None
            values = verdicts(scored, metric, threshold)
        elif name == "system":
            values = scored.facets["system"]
        else:
            values = scored.facets[f"by {name}"]
        columns.append([f"{name}={value}" for value in values])
    return [", ".join(parts) for parts in zip(*columns, strict=True)]


def check_threshold(scored: Scored, metric: str, threshold: float) -> None:
    """Refuse a threshold that no score can lie on both sides of.

    Raises:
        InputError: It lies outside of the metric's range, or is no number.
    """
    scale = scored.scale(metric)
    low = -inf if scale.low is None else scale.low
    high = inf if scale.high is None else scale.high
    if isfinite(threshold) and low <= threshold <= high:
        return
    raise InputError(
        f"The scores of {metric} lie from {low:g} to {high:g}, so none turns from no to yes at "
        f"{threshold:g}: {argument('threshold', 'X')} says where they do."
    )


def verdicts(scored: Scored, metric: str, threshold: float) -> pl.Series:
    """What the judge said of each example, as a word: a label, 0 or 1, or a side of the threshold.

    ``undefined`` and ``missing`` are words of their own.

    Raises:
        InputError: The threshold is needed and lies outside of the metric's range.
    """
    scores, cut = scored.of(metric), f"{threshold:g}"
    value = pl.col("value")
    binary = scores.select(value.is_in([0.0, 1.0]).all() | value.is_null().all()).item()
    side = (
        pl.when(value == 1).then(pl.lit("1")).otherwise(pl.lit("0"))
        if binary
        else pl.when(value >= threshold).then(pl.lit(f"≥{cut}")).otherwise(pl.lit(f"<{cut}"))
    )
    if not binary and scores.select((value.is_not_null() & pl.col("label").is_null()).any()).item():
        check_threshold(scored, metric, threshold)
    word = pl.when(pl.col("status") == "value").then(pl.coalesce("label", side)).otherwise("status")
    return scores.select(word.fill_null("missing").alias(VERDICT))[VERDICT]


def deviations(
    scored: Scored, metric: str | None, units: Whole, place: Whole, strata: int
) -> NDArray[np.float64]:
    """How much the judge's scores vary in each stratum, between its units.

    Args:
        scored: The run.
        metric: Whose scores.
        units: Shape (rows,). The unit that each example belongs to.
        place: Shape (units,). The stratum of each unit.
        strata: How many there are.

    Raises:
        InputError: No metric, or one that does not vary inside any stratum.
    """
    if metric is None:
        needed = argument("metric", "METRIC")
        raise InputError(f"{NEYMAN} needs {needed}: whose scores vary how much.")
    values = scored.of(metric)["value"]
    known = values.is_not_null().to_numpy()
    at = units[known]
    counts = np.bincount(at, minlength=len(place))
    sums = np.bincount(at, weights=values.drop_nulls().to_numpy(), minlength=len(place))
    means, there = sums[counts > 0] / counts[counts > 0], place[counts > 0]
    found = np.array([
        float(means[there == one].std()) if (there == one).any() else 0.0 for one in range(strata)
    ])  # fmt: skip
    if not found.any():
        raise InputError(
            f"{metric} does not vary inside the strata, so {NEYMAN} has nothing to go "
            "by. Take equal, or proportional."
        )
    return found
