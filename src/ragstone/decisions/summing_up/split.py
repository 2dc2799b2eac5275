"""Split: the estimates of a finished run over sets of examples that are known only now."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

import polars as pl

from ragstone.decisions.gating.over_means import over_means
from ragstone.decisions.scored import Scored, mean_of
from ragstone.run import Estimate, Run


def split_estimates(run: Run, field: str, sets: Mapping[str, Collection[str]]) -> list[Estimate]:
    """The estimates of each metric over each set, of all systems together.

    A composite of dataset means, which no example has a score of, is left out. They have no
    signature, no bounds and no counts of words and flags.

    Args:
        run: A finished run.
        field: What the sets are called together.
        sets: The ids of the examples in each, by its name.
    """
    scored = Scored(run)
    whole = {one.metric: one for one in run.estimate_list if not one.group}
    found: list[Estimate] = []
    for name, one in whole.items():
        if over_means(scored, name) is None:
            scores = scored.of(name)
            found += [
                _estimate(
                    scored,
                    one,
                    scores.filter(pl.col("example_id").is_in(list(ids))),
                    {field: value},
                )
                for value, ids in sets.items()
            ]
    return found


def _estimate(
    scored: Scored, whole: Estimate, scores: pl.DataFrame, group: Mapping[str, str]
) -> Estimate:
    mean = mean_of(scores, scored.scale(whole.metric), level=whole.level)
    statuses = Counter(scores["status"])
    reasons = Counter(scores.filter(pl.col("status") != "value")["reason"].drop_nulls())
    return replace(
        whole,
        group=group,
        value=mean.value,
        low=None if mean.interval is None else mean.interval.low,
        high=None if mean.interval is None else mean.interval.high,
        method=None if mean.interval is None else mean.interval.method,
        n=statuses["value"],
        n_undefined=statuses["undefined"],
        n_missing=statuses["missing"],
        worst=None,
        best=None,
        clusters=mean.clusters,
        labels={},
        flags={},
        reasons=dict(reasons),
        signature="",
    )
