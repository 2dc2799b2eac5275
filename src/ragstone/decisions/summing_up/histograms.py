"""Histograms: how the single scores of a metric lie between its ends, for each system."""

from collections.abc import Mapping
from math import isfinite

import polars as pl

from ragstone.core.errors import RagstoneError
from ragstone.metrics import read_metric

BINS = 16

Histograms = Mapping[tuple[str, str], tuple[int, ...]]
"""By metric and system: how many scores are in each of ``BINS`` parts of the metric's range."""


def histograms(scores: pl.DataFrame) -> Histograms:
    """How the single scores lie, by metric and system.

    Args:
        scores: ``metric``, ``system``, ``value`` and ``status``, a row a score.

    Returns:
        The upper end is in the last bin. Without metrics whose range has an open end, and without
        groups all of whose scores are at an end of it, of which the mean tells all.
    """
    ends = _ends(scores["metric"].unique().to_list())
    place = (pl.col("value") - pl.col("low")) / (pl.col("high") - pl.col("low"))
    found = (
        scores.lazy()
        .filter(pl.col("status") == "value")
        .join(ends.lazy(), on="metric")
        .select(
            "metric",
            "system",
            bin=(place * BINS).floor().clip(0, BINS - 1).cast(pl.Int64),
            inside=(place > 0) & (place < 1),
        )
        .group_by("metric", "system", "bin", maintain_order=True)
        .agg(pl.len(), pl.col("inside").any())
        .collect()
    )
    counts: dict[tuple[str, str], list[int]] = {}
    varied = set()
    for metric, system, at, count, inside in found.iter_rows():
        counts.setdefault((metric, system), [0] * BINS)[at] = count
        if inside:
            varied.add((metric, system))
    return {key: tuple(bins) for key, bins in counts.items() if key in varied}


def _ends(metrics: list[str]) -> pl.DataFrame:
    """The range of each metric that is known and has two ends."""
    rows = []
    for name in metrics:
        try:
            found = read_metric(name).range
        except RagstoneError:
            continue
        if isfinite(found.low) and isfinite(found.high) and found.high > found.low:
            rows.append((name, float(found.low), float(found.high)))
    schema = {"metric": pl.String, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")
