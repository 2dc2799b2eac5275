"""Alike scores: what a quick run is likely to leave out is one line a shard, instead of a table.

A quick run tries many metrics, and reports those that the data allow, which is known at its end. Of
the others, mostly no example has a score, for one and the same reason. So a shard keeps them out of
its table, and puts them back in the rare case that its run reports them.
"""

from collections.abc import Sequence

import polars as pl

from ragstone.judgements import VALUE
from ragstone.metrics import QUICK

from .forms import STATUS_NAMES, AlikeScores
from .quick import CITED
from .spec import RunSpec


def parted(spec: RunSpec, scores: pl.DataFrame) -> tuple[pl.DataFrame, list[AlikeScores]]:
    """The scores of a shard without those that are alike, and these.

    Args:
        spec: Of the run; if it is no quick one, all are kept.
        scores: Of the shard.
    """
    asked = {str(metric) for metric in (*spec.requested.metrics, *spec.added)}
    tried = {str(metric) for metric in spec.metrics} - asked
    if QUICK not in spec.requested.suites or not tried:
        return scores, []
    same = ["value", "status", "reason"]
    metrics = scores.group_by("metric", maintain_order=True).agg(
        pl.col(same).first(),
        alike=pl.all_horizontal(pl.col(one).eq_missing(pl.col(one).first()) for one in same).all()
        & pl.col("label").is_null().all(),
    )
    nothing = pl.col("status") != STATUS_NAMES[VALUE]
    uncited = (pl.col("metric") == CITED) & (pl.col("value") == 0)
    found = metrics.filter(pl.col("alike"), nothing | uncited, pl.col("metric").is_in(tried))
    alike = [AlikeScores(**row) for row in found.select("metric", *same).iter_rows(named=True)]
    return scores.filter(~pl.col("metric").is_in(found["metric"].implode())), alike


def put_back(
    scores: pl.LazyFrame, alike: Sequence[AlikeScores], examples: pl.LazyFrame, order: Sequence[str]
) -> pl.LazyFrame:
    """The scores of a shard with those that are alike, metric by metric.

    Args:
        scores: The others.
        alike: To be put back.
        examples: The examples of the shard.
        order: All its metrics, in order.
    """
    ids = examples.select("question_id", "system", "shard", example_id="id")
    more = [
        ids.select(
            "example_id",
            "question_id",
            "system",
            metric=pl.lit(one.metric),
            value=pl.lit(one.value, pl.Float64),
            label=pl.lit(None, pl.String),
            status=pl.lit(one.status),
            reason=pl.lit(one.reason, pl.String),
            shard="shard",
        )
        for one in alike
    ]
    place = pl.col("metric").cast(pl.Enum(order))
    return pl.concat([scores, *more]).sort(place, maintain_order=True)
