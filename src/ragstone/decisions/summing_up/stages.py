"""Stages: where in the pipeline an answer that fell short first went wrong.

An answer fell short where its outcome is not correct, or its faithfulness or its coverage of the
reference is below ``HALF``. It counts once, at the first stage that holds, in the order of
``STAGES``. A stage whose metric has no value for the example does not hold. Data without a single
context tell nothing of retrieval.
"""

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from ragstone.run import Run

HALF = 0.5


@dataclass(frozen=True, slots=True)
class FailureStage:
    """A stage of the pipeline.

    Attributes:
        code: Its name for programs.
        metric: The metric that tells; empty where the example itself tells.
        fails: Where an answer that fell short failed at this stage.
    """

    code: str
    metric: str
    fails: pl.Expr


STAGES: tuple[FailureStage, ...] = (
    FailureStage("nothing_retrieved", "", pl.col("contexts") == 0),
    FailureStage("not_retrieved", "context_recall", pl.col("context_recall") < HALF),
    FailureStage("retrieved_too_low", "mrr", pl.col("mrr") < 1),
    FailureStage("not_used", "context_utilization", pl.col("context_utilization") == 0),
    FailureStage("contradicted", "contradiction", pl.col("contradiction") == 1),
    FailureStage("unsupported", "faithfulness", pl.col("faithfulness") < HALF),
    FailureStage("incomplete", "answer_coverage", pl.col("answer_coverage") < HALF),
)
OTHER, NO_FAULT = "other", "no_fault"

OUTCOME = "answer_outcome"
JUDGED_BY = (OUTCOME, "faithfulness", "answer_coverage")
"""The metrics that tell whether an answer fell short."""


def stages(run: Run) -> pl.DataFrame:
    """The first stage at which each example failed.

    Returns:
        One row an example, in order: ``example_id``, ``system`` and ``stage``: the code of a
        stage, ``other`` where it fell short and none holds, ``no_fault`` where it did not fall
        short, null where no metric tells.
    """
    there = {one.metric for one in run.estimate_list}
    named = {one.metric for one in STAGES if one.metric} | {*JUDGED_BY}
    retrieved = pl.col("contexts").list.len()
    rows = run.examples(["id", "system", "contexts"]).select(
        "system", example_id="id", contexts=pl.when((retrieved > 0).any()).then(retrieved)
    )
    scores = run.scores().filter(
        pl.col("metric").is_in(list(named)) & (pl.col("status") == "value")
    )
    for name in sorted(named):
        own = scores.filter(pl.col("metric") == name)
        shown = own.select("example_id", pl.col("value").alias(name))
        if name == OUTCOME:
            shown = own.select("example_id", pl.col("label").cast(pl.String).alias(name))
        rows = rows.join(shown, on="example_id", how="left", maintain_order="left")
    short = _short(there & {*JUDGED_BY})
    stage = pl.lit(OTHER)
    for one in reversed(STAGES):
        stage = pl.when(one.fails).then(pl.lit(one.code)).otherwise(stage)
    judged = pl.any_horizontal(pl.col(name).is_not_null() for name in JUDGED_BY)
    found = pl.when(judged).then(pl.when(short).then(stage).otherwise(pl.lit(NO_FAULT)))
    return rows.select("example_id", "system", stage=found)


def _short(there: Collection[str]) -> pl.Expr:
    """Whether an answer fell short by one of these metrics."""
    tells = {
        OUTCOME: pl.col(OUTCOME) != "correct",
        "faithfulness": pl.col("faithfulness") < HALF,
        "answer_coverage": pl.col("answer_coverage") < HALF,
    }
    return pl.any_horizontal(
        [pl.lit(False), *(tells[name].fill_null(value=False) for name in there)]
    )
