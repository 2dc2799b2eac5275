"""People: the scores that metrics have where people take the judge's place."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.errors import InputError
from ragstone.examples import Example
from ragstone.judgements import VALUE
from ragstone.judges import HumanJudge, RulesJudge
from ragstone.labels.table import LabelTable
from ragstone.metrics import Metric, needed_asks, score
from ragstone.run import Run, judge_block

WEIGHT = "weight"

METRIC = "metric"
"""The kind of labels that are the value of a metric themselves."""

SCHEMA = {"example_id": pl.String, "metric": pl.String, "value": pl.Float64}


def people_scores(
    examples: Sequence[Example], labels: LabelTable, metrics: Sequence[Metric | str]
) -> pl.DataFrame:
    """The value of each metric by what people said; one row an example and metric that has one.

    A value that a person gave of the metric itself goes first. Else the metric's own rule is
    evaluated over the majority of people's judgements, of which it needs at least one; what
    follows from these by logic is derived as in any run.

    Args:
        examples: Those that people labelled.
        labels: What people said.
        metrics: Metrics; the name alone of one that is not loaded, which has only values given.
    """
    names = [str(metric) for metric in metrics]
    given = (
        labels.adjudicated()
        .filter((pl.col("kind") == METRIC) & pl.col("column").is_in(names))
        .filter(pl.col("number").is_not_null())
        .select("example_id", metric="column", value="number")
    )
    ruled = [one for one in metrics if isinstance(one, Metric) and not _over_means(one)]
    joined = [labels.join(example) for example in examples]
    frames = [pl.DataFrame(schema=SCHEMA), given]
    if joined and ruled:
        frames += _by_rule(joined, ruled)
    return pl.concat(frames).unique(["example_id", "metric"], keep="first", maintain_order=True)


def _by_rule(examples: Sequence[Example], metrics: Sequence[Metric]) -> list[pl.DataFrame]:
    judged = judge_block(examples, [HumanJudge(), RulesJudge()], needed_asks(metrics))
    scores = score(judged.tables, metrics)
    ids = judged.tables.examples.select(
        row=pl.int_range(pl.len(), dtype=pl.UInt32), example_id="id"
    )
    human = judged.ledger.filter((pl.col("judge") == "human") & (pl.col("status") == "ok"))
    frames = []
    for metric in metrics:
        needed = needed_asks([metric])
        rows = human.filter(pl.col("ask").is_in(needed))["row"].unique()
        found = pl.concat([ids, scores[str(metric)]], how="horizontal").filter(
            pl.col("row").is_in(rows.implode()) & (pl.col("status") == VALUE)
        )
        frames.append(found.select("example_id", pl.lit(str(metric)).alias("metric"), "value"))
    return frames


def weights_of(labels: LabelTable) -> pl.DataFrame:
    """``weight`` of each labelled example: one over its chance of being drawn; null if unknown."""
    chance = pl.col("inclusion_probability").drop_nulls().first()
    return labels.used.group_by("example_id").agg((1 / chance).alias(WEIGHT))


def known_weights(rows: pl.DataFrame) -> NDArray[np.float64] | None:
    """The weights of rows that have a label; None where no chance is known.

    Raises:
        InputError: It is known of some and not of others.
    """
    unknown = rows[WEIGHT].null_count()
    if unknown == rows.height:
        return None
    if unknown:
        raise InputError(
            f"{unknown} of {rows.height} labelled examples have no inclusion_probability, the "
            "others do. Give it for all of them, as ragstone sample writes it, or for none."
        )
    return rows[WEIGHT].to_numpy().astype(np.float64)


def judged_by_people(run: Run, metric: Metric) -> set[str]:
    """Examples of a run for which people, not a judge, gave what the metric needs."""
    ledger = run.ledger().filter(
        pl.col("ask").is_in(needed_asks([metric]))
        & (pl.col("status") == "ok")
        & pl.col("judge").str.starts_with("human")
    )
    return set(ledger["example_id"])


def _over_means(metric: Metric) -> bool:
    return bool(getattr(metric, "over_means", False))
