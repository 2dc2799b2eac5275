"""Weight shares: of what share of its weight a composite is made, on average, for each system."""

from collections.abc import Mapping

import polars as pl

from ragstone.core.errors import RagstoneError
from ragstone.metrics import Composite, read_metric
from ragstone.metrics.composite import weight_coverage

WeightShares = Mapping[tuple[str, str], float]
"""By metric and system."""


def weight_shares(scores: pl.DataFrame) -> WeightShares:
    """The mean share of the weight that the scores of each composite are made of.

    Args:
        scores: ``metric``, ``system``, ``status`` and ``reason``, a row a score.
    """
    composites = [name for name in scores["metric"].unique() if _is_composite(name)]
    found = (
        scores.lazy()
        .filter(pl.col("metric").is_in(composites) & (pl.col("status") == "value"))
        .group_by("metric", "system")
        .agg(weight_coverage().mean().alias("share"))
        .collect()
    )
    return {(metric, system): share for metric, system, share in found.iter_rows()}


def _is_composite(name: str) -> bool:
    try:
        return isinstance(read_metric(name), Composite)
    except RagstoneError:
        return False
