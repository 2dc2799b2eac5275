"""Stages: where in the pipeline an answer that fell short first went wrong.

An answer fell short where its outcome is not correct, or its faithfulness or its coverage of the
reference is below ``HALF``. It counts once, at the first stage that holds, in the order of
``STAGES``. A stage whose metric has no value for the example is not known there and does not hold.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import polars as pl

from ragstone.run import Run

HALF = 0.5
RETRIEVED = pl.col("contexts").list.len()
"""How many contexts an example has, null if its system does not retrieve."""


@dataclass(frozen=True, slots=True)
class FailureStage:
    """A stage of the pipeline.

    Attributes:
        code: Its name for programs.
        metrics: Those that tell; none where the example itself tells.
        fails: Whether an answer fails at this stage, null where that is not known.
    """

    code: str
    metrics: tuple[str, ...]
    fails: pl.Expr


STAGES: tuple[FailureStage, ...] = (
    FailureStage("not_in_corpus", (), pl.col("best_grade") < 1),
    FailureStage("nothing_retrieved", (), pl.col("retrieved") == 0),
    FailureStage("not_retrieved", ("context_recall",), pl.col("context_recall") < HALF),
    FailureStage("retrieved_too_low", ("mrr",), pl.col("mrr") < 1),
    FailureStage("not_used", ("context_utilization",), pl.col("context_utilization") == 0),
    FailureStage("contradicted", ("contradiction",), pl.col("contradiction") == 1),
    FailureStage("unsupported", ("faithfulness",), pl.col("faithfulness") < HALF),
    FailureStage("incomplete", ("answer_coverage",), pl.col("answer_coverage") < HALF),
    FailureStage(
        "bad_reference",
        ("reference_contradiction", "faithfulness"),
        # The contexts bear out all of the answer and not the reference: one of these is wrong.
        pl.col("reference_contradiction") * pl.col("faithfulness") == 1,
    ),
)
RETRIEVAL = ("not_in_corpus", "nothing_retrieved", "not_retrieved", "retrieved_too_low")
"""The stages before the answer, whose faults a good answer survives."""

OTHER, NO_FAULT = "other", "no_fault"

OUTCOME = "answer_outcome"
JUDGED_BY = (OUTCOME, "faithfulness", "answer_coverage")
"""The metrics that tell whether an answer fell short."""

SCORE = ("example_id", "metric", "value", "label")
"""The columns of scores that are looked at."""

METRICS = tuple(dict.fromkeys([*(name for one in STAGES for name in one.metrics), *JUDGED_BY]))


@dataclass(frozen=True, slots=True)
class Faults:
    """How many answers fell short, and at which stage most of them first failed.

    Attributes:
        judged: Answers of which a metric tells whether they fell short.
        short: Those that did.
        staged: Those of which the stage is known.
        stage: The stage at which most of these failed, the earliest of several; empty if there
            are none.
        at_stage: How many failed there.
    """

    judged: int
    short: int
    staged: int
    stage: str
    at_stage: int

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> "Faults":
        """From how many answers each stage has, ``other`` and ``no_fault`` among them."""
        judged = sum(counts.values())
        short = judged - counts.get(NO_FAULT, 0)
        known = {one.code: counts.get(one.code, 0) for one in STAGES}
        most = max(known, key=known.__getitem__)
        return cls(judged, short, sum(known.values()), most if known[most] else "", known[most])


def stages(run: Run) -> pl.DataFrame:
    """The first stage at which each example failed, as ``laid`` gives it."""
    return laid(retrieval(run), run.scores(METRICS))


def stage_counts(run: Run, leaving_out: Collection[str] = ()) -> Counter[str]:
    """How many answers have which ``stage``, counted a shard at a time, to bound memory.

    Args:
        run: A finished run.
        leaving_out: Systems that are not counted.
    """
    counts: Counter[str] = Counter()
    if set(JUDGED_BY).isdisjoint(run.form.metrics):
        return counts  # No metric tells whether an answer fell short.
    some = bool(run.examples([(RETRIEVED > 0).any().alias("some")])["some"].any())
    for shard in run.shards:
        here = [shard]
        known = retrieval(run, here)
        if not some:
            known = known.with_columns(retrieved=None)
        found = _laid(known, run.scores(METRICS, shards=here, columns=SCORE)).filter(
            pl.col("stage").is_not_null() & ~pl.col("system").is_in(list(leaving_out))
        )
        counts.update(dict(found["stage"].value_counts(name="n").iter_rows()))
    return counts


def retrieval(run: Run, shards: Collection[int] | None = None) -> pl.DataFrame:
    """What the examples, or those of some shards, tell of their retrieval, as ``laid`` takes it."""
    grades = pl.col("reference_contexts").list.eval(pl.element().struct.field("grade"))
    columns: list[str | pl.Expr] = [
        "id",
        "system",
        RETRIEVED.alias("retrieved"),
        grades.list.max().alias("best_grade"),
    ]
    return run.examples(columns, shards=shards).rename({"id": "example_id"})


def laid(examples: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """The first stage at which each example failed, and whether it failed at the others.

    Args:
        examples: ``example_id``, ``system``, how many contexts were ``retrieved``, null if it does
            not retrieve, and the ``best_grade`` of its judged context ids, null if there are none.
        scores: Of the metrics that tell.

    Returns:
        One row an example, in order: ``example_id``, ``system``, a column for each stage: whether
        it failed there, null where that is not known; and ``stage``: the code of the first, or
        ``other`` where it fell short and none holds, ``no_fault`` where it did not fall short, null
        where no metric tells. Data without a single context tell nothing of retrieval.
    """
    retrieved = pl.when((pl.col("retrieved") > 0).any()).then("retrieved")
    return _laid(examples.with_columns(retrieved=retrieved), scores)


def _laid(rows: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    for name in METRICS:
        own = scores.filter(pl.col("metric") == name)
        said = pl.col("label").cast(pl.String) if name == OUTCOME else pl.col("value")
        shown = own.select("example_id", said.alias(name))
        rows = rows.join(shown, on="example_id", how="left", maintain_order="left")
    short = pl.any_horizontal(
        pl.col(OUTCOME) != "correct",
        pl.col("faithfulness") < HALF,
        pl.col("answer_coverage") < HALF,
    )
    stage = pl.lit(OTHER)
    for one in reversed(STAGES):
        stage = pl.when(one.fails).then(pl.lit(one.code)).otherwise(stage)
    judged = pl.any_horizontal(pl.col(name).is_not_null() for name in JUDGED_BY)
    first = pl.when(short).then(stage).otherwise(pl.lit(NO_FAULT))
    return rows.select(
        "example_id",
        "system",
        *(one.fails.alias(one.code) for one in STAGES),
        stage=pl.when(judged).then(first),
    )
