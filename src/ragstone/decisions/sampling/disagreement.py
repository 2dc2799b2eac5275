"""Disagreement: how much runs, or the votes inside one run, differ on each example."""

from collections.abc import Sequence

import polars as pl

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import argument
from ragstone.decisions.scored import Scored
from ragstone.judgements import ASKS, KINDS, Kind
from ragstone.metrics import needed_asks


def between_runs(scored: Scored, others: Sequence[Scored], metric: str) -> pl.Series:
    """The range of each example's scores over the runs; null if fewer than two have one.

    Raises:
        UnknownName: A run lacks the metric.
        InputError: A run has none of these examples.
    """
    wide = scored.of(metric).select("example_id", pl.col("value").alias("0"))
    for number, other in enumerate(others, start=1):
        if metric not in other.metrics:
            raise UnknownName(f"metric of {other.run.path}", metric, other.metrics)
        theirs = other.of(metric).select("example_id", pl.col("value").alias(str(number)))
        if wide.join(theirs, on="example_id", how="semi").is_empty():
            raise InputError(f"{other.run.path} has none of the examples of {scored.run.path}.")
        wide = wide.join(theirs, on="example_id", how="left", maintain_order="left")
    values = [pl.col(str(number)) for number in range(len(others) + 1)]
    said = pl.sum_horizontal(value.is_not_null() for value in values)
    spread = pl.max_horizontal(values) - pl.min_horizontal(values)
    return wide.select(pl.when(said > 1).then(spread).alias("spread"))["spread"]


def among_votes(scored: Scored, metric: str) -> pl.Series:
    """The share of minority votes for each example, over the judgements that the metric uses.

    Votes are those of a panel's members, repeats of a critique, both orders of a preference. Of
    ratings it is the greatest minus the least. Null where nobody voted.

    Raises:
        InputError: No votes in this run, or a metric that is not loaded.
    """
    known = scored.metric(metric)
    if known is None:
        other = argument("others", "RUN")
        raise InputError(
            f"{metric} is not loaded, so the judgements it needs are not known. Use {other}."
        )
    asks = needed_asks([known])
    kinds = [KINDS[name] for name in dict.fromkeys(ASKS[ask].kind for ask in asks)]
    parts = [_outvoted(scored, kind, asks) for kind in kinds if _decided(kind)]
    votes = pl.concat([pl.DataFrame(schema={"example_id": pl.String, "out": pl.Float64}), *parts])
    if votes.is_empty():
        raise InputError(
            f"{scored.run.path} holds no votes on {metric}: it was judged once. Name a run of "
            f"another judge with {argument('others', 'RUN')}, or judge by a panel "
            f"({argument('judge', 'openai:A,openai:B')})."
        )
    each = votes.group_by("example_id").agg(pl.col("out").mean())
    return scored.facets.join(each, on="example_id", how="left", maintain_order="left")["out"]


def _decided(kind: type[Kind]) -> list[str]:
    """The columns that are voted on: verdicts, or the numbers of a kind that has none."""
    return [] if kind.made else kind.having("verdict") or kind.having("number")


def _outvoted(scored: Scored, kind: type[Kind], asks: Sequence[str]) -> pl.DataFrame:
    """One row per unit and column with two votes or more."""
    unit = kind.having("unit", "topic")
    one_judge_votes = kind.having("vote")
    statuses = ["vote", "ok"] if one_judge_votes else ["vote"]
    voters = scored.run.ledger().filter(
        pl.col("ask").is_in(list(asks)) & pl.col("status").is_in(statuses)
    )
    rows = scored.run.judgements(kind.name).join(
        voters.select("example_id", "judge", "subject").unique(),
        on=["example_id", "judge", "subject"],
        how="semi",
    )
    frames = []
    for column in _decided(kind):
        said = pl.col(column).drop_nulls()
        numbers = rows.schema[column].is_float()
        most = said.value_counts().struct.field("count").max()
        out = said.max() - said.min() if numbers else 1 - most / said.len()
        frames.append(
            rows.filter(pl.col(column).is_not_null())
            .group_by("example_id", *unit)
            .agg(out=out.cast(pl.Float64), votes=pl.len())
            .filter(pl.col("votes") > 1)
            .select("example_id", "out")
        )
    return pl.concat(frames)
