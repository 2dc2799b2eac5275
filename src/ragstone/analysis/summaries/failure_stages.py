"""Failure stages: which answers look bad, and the stage of the pipeline that failed them first.

An answer looks bad if it says nothing of the reference, or gives no answer where the reference has
one, or if its claims are probably not supported: their mean probability is below ``.4 +
.2/claims``. The rule and its numbers were fitted to people's ratings of answers and checked on
other ratings; on summaries of news it finds few of the bad ones. An answer that looks bad counts
once, at the first stage that failed, in the order of ``STAGES``. A stage whose metric has no value
for the example is unknown and does not fail.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ragstone.analysis.calibration.checked_run import CheckedRun, checked_against_people
from ragstone.analysis.comparison.comparability import systems_as_references
from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import UnknownName
from ragstone.core.messages import Displayable, plain, reason
from ragstone.judges.local.response_type import response_type
from ragstone.run import Run
from ragstone.run.estimates.groups import groups_of, rows_of
from ragstone.stats import ends_of, mean_interval
from ragstone.stats.weights_and_groups import Bools, Ints

HALF = 0.5
# How many contexts an example has, null if its system does not retrieve.
RETRIEVED = pl.col("contexts").list.len()

OUTCOME = "answer_outcome"
# The mean probability that a claim is supported, or, in a run without, the share that is.
SUPPORT = ("expected_faithfulness", "faithfulness")

COVERAGE = "answer_coverage"
# The metrics that tell whether an answer looks bad: the outcome, or the coverage in a run without
# it, and the first of ``SUPPORT`` that has a value.
JUDGED_BY = (OUTCOME, COVERAGE, *SUPPORT)

# From which probability on claims look supported: a single one has to be more certain.
BOUND = 0.4 + 0.2 / pl.col("n_claims")


@dataclass(frozen=True, slots=True)
class FailureStage:
    """A stage of the pipeline.

    Attributes:
        metrics: Those that tell; none where the example itself tells.
        fails: Whether an answer fails at this stage, null where that is not known.
        bad: Whether an answer that fails here looks bad.
    """

    code: str
    metrics: tuple[str, ...]
    fails: pl.Expr
    bad: bool = False


STAGES: tuple[FailureStage, ...] = (
    FailureStage("not_in_corpus", (), pl.col("best_grade") < 1),
    FailureStage("nothing_retrieved", (), pl.col("retrieved") == 0),
    FailureStage("not_retrieved", ("context_recall",), pl.col("context_recall") < HALF),
    FailureStage("retrieved_too_low", ("mrr",), pl.col("mrr") < 1),
    FailureStage(
        # Before what can be wrong with an answer: who gives none uses no context either.
        "no_answer",
        (OUTCOME,),
        (pl.col(OUTCOME) == "dont_know") & pl.col("reference_answers"),
        bad=True,
    ),
    FailureStage("not_used", ("context_utilization",), pl.col("context_utilization") == 0),
    FailureStage("contradicted", ("contradiction",), pl.col("contradiction") == 1),
    FailureStage("unsupported", ("faithfulness",), pl.col("supported") < BOUND, bad=True),
    FailureStage(
        "bad_reference",
        ("reference_contradiction", "faithfulness"),
        # The contexts bear out all of the answer and not the reference: one of these is wrong.
        pl.col("reference_contradiction") * pl.col("faithfulness") == 1,
    ),
    FailureStage("wrong", (OUTCOME,), pl.col(OUTCOME) == "wrong", bad=True),
)
# The stages before the answer, whose faults a good answer survives.
RETRIEVAL = ("not_in_corpus", "nothing_retrieved", "not_retrieved", "retrieved_too_low")

# Where an answer is that does not look bad: it says part of the reference, or all is well.
PARTIAL, NO_FAULT = "partial", "no_fault"

UNSUPPORTED_CLAIM = "unsupported_claim"
# The metrics of which the sentence on faults tells.
TOLD = (*JUDGED_BY, UNSUPPORTED_CLAIM)

# The columns of scores that are looked at.
SCORE = ("example_id", "metric", "value", "label")

METRICS = tuple(dict.fromkeys([*(name for stage in STAGES for name in stage.metrics), *TOLD]))


@dataclass(frozen=True, slots=True)
class Faults:
    """The number of answers that look bad, and the stage at which most of them first failed.

    Attributes:
        judged: Answers of which a metric tells whether they look bad.
        partial: Those of the others that say only part of the reference.
        unsupported: Answers, bad or not, with a claim that is not supported; None if no metric
            tells.
        stage: The stage at which most of those that look bad failed first, the earliest of several;
            empty if there are none.
    """

    judged: int
    bad: int
    partial: int
    unsupported: int | None
    stage: str
    at_stage: int

    @classmethod
    def of(cls, counts: Mapping[str, int], unsupported: int | None) -> "Faults":
        """From how many answers each stage has, ``partial`` and ``no_fault`` among them."""
        failed = {stage.code: counts.get(stage.code, 0) for stage in STAGES}
        most = max(failed, key=failed.__getitem__)
        return cls(
            sum(counts.values()), sum(failed.values()), counts.get(PARTIAL, 0), unsupported,
            most if failed[most] else "", failed[most],
        )  # fmt: skip


def stages(run: Run) -> pl.DataFrame:
    """The first stage at which each example failed, as ``laid`` gives it."""
    return laid(retrieval(run), run.scores(METRICS))


def faults_of(run: Run, leaving_out: Collection[str] = ()) -> Faults | None:
    """Count the answers that look bad, a shard at a time, to bound memory."""
    if set(JUDGED_BY).isdisjoint(run.form.metrics):
        return None
    counts, unsupported = Counter[str](), Counter[bool]()
    some = bool(run.examples([(RETRIEVED > 0).any().alias("some")])["some"].any())
    for shard in run.shards:
        here = [shard]
        known = retrieval(run, here)
        if not some:
            known = known.with_columns(retrieved=None)
        answers = _laid(known, run.scores(METRICS, shards=here, columns=SCORE)).filter(
            pl.col("stage").is_not_null() & ~pl.col("system").is_in(list(leaving_out))
        )
        counts.update(dict(answers["stage"].value_counts(name="n").iter_rows()))
        unsupported.update(answers["unsupported_claim"].drop_nulls())
    if not counts:
        return None
    return Faults.of(counts, unsupported[True] if unsupported else None)


def retrieval(run: Run, shards: Collection[int] | None = None) -> pl.DataFrame:
    """Return what the examples, or those of some shards, tell beside their scores, for ``laid``."""
    grades = pl.col("reference_contexts").list.eval(pl.element().struct.field("grade"))
    columns: list[str | pl.Expr] = [
        "id",
        "system",
        RETRIEVED.alias("retrieved"),
        grades.list.max().alias("best_grade"),
        pl.col("reference").list.first().alias("first_reference"),
    ]
    examples = run.examples(columns, shards=shards).rename({"id": "example_id"})
    claims = run.claim_counts(shards)
    return examples.join(claims, on="example_id", how="left", maintain_order="left")


def laid(examples: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Return the first stage at which each example failed, and whether it failed at the others.

    The result has one row an example, in order: ``example_id``, ``system``, a column for each
    stage: whether it failed there, null where that is not known; ``stage``: the code of the first,
    if it looks bad, else ``partial`` or ``no_fault``, null where no metric tells; ``doubt``: how
    doubtful the answer is, higher is worse, null where no metric tells; and ``unsupported_claim``.
    Data without a single context tell nothing of retrieval.

    Args:
        examples: The rows of ``retrieval``: ``example_id``, ``system``, how many contexts were
            ``retrieved``, null if it does not retrieve, the ``best_grade`` of its judged context
            ids, null if there are none, the ``first_reference``, and the number of the answer's
            claims, ``n_claims``.
    """
    retrieved = pl.when((pl.col("retrieved") > 0).any()).then("retrieved")
    return _laid(examples.with_columns(retrieved=retrieved), scores)


def _laid(rows: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    for name in METRICS:
        of_metric = scores.filter(pl.col("metric") == name)
        value = pl.col("label").cast(pl.String) if name == OUTCOME else pl.col("value")
        column = of_metric.select("example_id", value.alias(name))
        rows = rows.join(column, on="example_id", how="left", maintain_order="left")
    coverage = pl.col(COVERAGE)
    by_coverage = (
        pl.when(coverage == 0).then(pl.lit("wrong")).when(coverage < 1).then(pl.lit("partial"))
        .when(coverage == 1).then(pl.lit("correct"))
    )  # fmt: skip
    rows = rows.with_columns(pl.coalesce(OUTCOME, by_coverage).alias(OUTCOME))
    silent = pl.col(OUTCOME) == "dont_know"
    rows = rows.with_columns(
        supported=pl.when(
            pl.col("n_claims") > 0,
            pl.col("retrieved").is_not_null(),  # Where nobody retrieves, nothing can support.
        ).then(pl.coalesce(SUPPORT)),
        reference_answers=pl.when(silent).then(
            pl.col("first_reference").map_elements(_answers, return_dtype=pl.Boolean)
        ),
    )
    bad = pl.any_horizontal(each.fails.fill_null(value=False) for each in STAGES if each.bad)
    stage = pl.lit("")
    for each in reversed(STAGES):
        stage = pl.when(each.fails).then(pl.lit(each.code)).otherwise(stage)
    good = pl.when(pl.col(OUTCOME) == "partial").then(pl.lit(PARTIAL)).otherwise(pl.lit(NO_FAULT))
    judged = pl.any_horizontal(pl.col(OUTCOME, "supported").is_not_null())
    wrong = pl.when(pl.col(OUTCOME) == "wrong").then(0.6 - 0.1 * coverage.fill_null(0))
    return rows.select(
        "example_id",
        "system",
        *(each.fails.alias(each.code) for each in STAGES),
        stage=pl.when(judged).then(pl.when(bad).then(stage).otherwise(good)),
        doubt=pl.max_horizontal(BOUND - pl.col("supported"), wrong),
        unsupported_claim=pl.coalesce(pl.col(UNSUPPORTED_CLAIM) == 1, pl.col("faithfulness") < 1),
    )


def _answers(reference: str) -> bool:
    return response_type(reference)[0] in ("answer", "partial")


LEVEL = 0.95
CODES = tuple(stage.code for stage in STAGES)
# Where an answer can be.
PLACES = (*CODES, PARTIAL, NO_FAULT)


@dataclass(frozen=True, slots=True)
class Rate:
    """A number of the judged answers, with the interval of the share.

    ``share`` is None if no answer was judged, ``low`` and ``high`` if there is no interval.
    """

    n: int
    share: float | None
    low: float | None
    high: float | None
    method: str | None


@dataclass(frozen=True, slots=True)
class StageFailures:
    """The answers of a group at one stage.

    Attributes:
        first: Answers that look bad and failed here first, as a share of all judged answers; None
            if it is not known.
        why: The reason why it is not known, which ``ragstone.explain`` puts into words.
        untold: Answers laid to a later stage of which it is not known whether they failed here: so
            many more there may be in ``first``.
        later: Those that failed here too, after an earlier stage.
        survived: Answers that do not look bad and failed here all the same.
    """

    stage: str
    first: Rate | None
    why: str
    untold: int
    later: int
    survived: int


@dataclass(frozen=True, slots=True)
class GroupFailures:
    """The failures of a group of answers.

    Attributes:
        group: The system and slice; empty for all answers together.
        judged: Answers of which a metric tells whether they look bad.
        clusters: Questions, or what else groups dependent answers.
        partial: Those of the others that say only part of the reference.
        survived: Answers that do not look bad, though they failed at a stage of retrieval.
        unsupported: Answers with a claim that is not supported; None if no metric tells.
    """

    group: Mapping[str, str]
    judged: int
    clusters: int
    bad: Rate
    partial: Rate
    fine: Rate
    survived: int
    unsupported: int | None
    stages: tuple[StageFailures, ...]

    @property
    def faults(self) -> Faults:
        """The same in short."""
        counts = {stage.stage: stage.first.n for stage in self.stages if stage.first is not None}
        counts |= {PARTIAL: self.partial.n, NO_FAULT: self.fine.n}
        return Faults.of(counts, self.unsupported)


@dataclass(frozen=True, slots=True)
class FailureGroups:
    """The numbers of answers of a run that went wrong at each stage.

    Attributes:
        groups: All answers, each system, each slice, and each system within it.
        themselves: Systems whose answers are the references; they count in none but their own.
        checked: What people's labels show about the judges that tell.
    """

    run: Path
    groups: tuple[GroupFailures, ...]
    themselves: tuple[str, ...]
    by: tuple[str, ...]
    cluster: str
    level: float
    checked: CheckedRun

    def of(self, **group: str) -> GroupFailures:
        """Return the failures of a group: ``of()``, ``of(system="a")``, ``of(topic="sea")``."""
        for each in self.groups:
            if dict(each.group) == group:
                return each
        names = [_named(known.group) for known in self.groups if known.group]
        raise UnknownName("group of these failures", _named(group), names)


@dataclass(frozen=True, slots=True)
class Failures(FailureGroups, Displayable):
    """The same, and which answers they are.

    Attributes:
        answers: One row an answer: ``example_id``, ``question_id``, ``system``, ``stage``,
            ``doubt`` and, for each stage, whether it failed there, null where that is not known.
    """

    answers: pl.DataFrame = field(repr=False, compare=False)

    @property
    def without_answers(self) -> FailureGroups:
        """The counts alone, which can be stored as plain data."""
        return FailureGroups(*(getattr(self, each.name) for each in fields(FailureGroups)))

    def examples(self, stage: str | None = None, system: str | None = None) -> pl.DataFrame:
        """The answers that look bad, the most doubtful first, or those at one stage.

        Args:
            stage: The code of a stage, ``partial`` or ``no_fault``; None: all that look bad.
        """
        if stage is not None and stage not in PLACES:
            raise UnknownName("stage", stage, PLACES, hint=f"There are {', '.join(PLACES)}.")
        systems = self.answers["system"].unique(maintain_order=True).to_list()
        if system is not None and system not in systems:
            raise UnknownName("system of this run", system, systems)
        chosen = pl.col("stage").is_in(CODES if stage is None else [stage])
        rows = self.answers.filter(chosen).sort(
            "doubt", descending=True, nulls_last=True, maintain_order=True
        )
        if system is None:
            return rows.filter(~pl.col("system").is_in(self.themselves))
        return rows.filter(pl.col("system") == system)

    def to_dict(self) -> dict[str, Any]:
        return {
            "run": str(self.run),
            "by": plain(self.by),
            "cluster": self.cluster,
            "level": self.level,
            "checked": self.checked.to_dict(),
            "themselves": plain(self.themselves),
            "groups": plain(self.groups),
        }


def failures(run: Run | str | Path, *, by: Sequence[str] = ()) -> Failures:
    """Find the stage at which each answer of a run that looks bad went wrong first.

    For each system and slice of the fields ``by`` it counts how many answers look bad and, for each
    stage of the pipeline, how many failed there first, with intervals in which dependent answers,
    such as those to one question, are clusters.
    """
    run = Run.of(run)
    scored = Scored(run, by=by)
    themselves = systems_as_references(run)
    failed_at = stages(run).drop("system")
    answers = scored.facets.join(failed_at, on="example_id", how="left", maintain_order="left")
    metrics = [estimate.metric for estimate in run.estimate_list]
    groups = group_failures(answers, metrics, by=scored.by, themselves=themselves)
    columns = answers.select("example_id", "question_id", "system", "stage", "doubt", *CODES)
    checked = checked_against_people(run.path, run.form).resting_on(TOLD)
    return Failures(
        run.path, groups, themselves, scored.by, scored.cluster, LEVEL, checked, columns
    )


def group_failures(
    answers: pl.DataFrame,
    metrics: Collection[str],
    *,
    by: Sequence[str] = (),
    themselves: Collection[str] = (),
) -> tuple[GroupFailures, ...]:
    """The failures of all answers, of each system, and by slice.

    Args:
        answers: One row an answer: ``system``, ``cluster``, a ``by_column`` for each field, and
            what ``laid`` gives.
    """
    laid = _Laid(answers, metrics)
    others = ~pl.col("system").is_in(themselves)
    return tuple(
        laid.of(group, rows_of(group) & (others | (group.get("system") in themselves)))
        for group in groups_of(answers, by)
    )


class _Laid:
    """All answers as arrays, of which each group takes its rows."""

    def __init__(self, answers: pl.DataFrame, metrics: Collection[str]) -> None:
        self.answers = answers
        expected, share = SUPPORT
        self.metrics = {*metrics, share} if expected in metrics else set(metrics)
        self.clusters = answers["cluster"].rank("dense").to_numpy().astype(np.int64)
        self.judged = answers["stage"].is_not_null().to_numpy()
        self.at = {code: _true(answers["stage"] == code) for code in PLACES}
        self.bad = np.any([self.at[code] for code in CODES], axis=0)
        self.failed = {stage.code: _true(answers[stage.code]) for stage in STAGES}
        self.known = {stage.code: answers[stage.code].is_not_null().to_numpy() for stage in STAGES}
        self.unsupported = answers["unsupported_claim"]

    def of(self, group: Mapping[str, str], chosen: pl.Expr) -> GroupFailures:
        rows = self.answers.select(chosen).to_series().to_numpy() & self.judged
        counts = np.bincount(self.clusters[rows])
        failed = np.any([self.failed[code] for code in RETRIEVAL], axis=0)
        unsupported = self.unsupported.filter(rows).drop_nulls()
        return GroupFailures(
            group=dict(group),
            judged=int(rows.sum()),
            clusters=int((counts > 0).sum()),
            bad=self._rate(rows & self.bad, counts),
            partial=self._rate(rows & self.at[PARTIAL], counts),
            fine=self._rate(rows & self.at[NO_FAULT], counts),
            survived=int((rows & ~self.bad & failed).sum()),
            unsupported=int(unsupported.sum()) if len(unsupported) else None,
            stages=tuple(self._stage(stage, rows, counts) for stage in STAGES),
        )

    def _stage(self, stage: FailureStage, rows: Bools, counts: Ints) -> StageFailures:
        known, failed, first = (of[stage.code] for of in (self.known, self.failed, self.at))
        bad = rows & self.bad
        after = [self.at[code] for code in CODES[CODES.index(stage.code) + 1 :]]
        later = np.any([np.zeros_like(rows), *after], axis=0)
        why = ""
        if lacking := [name for name in stage.metrics if name not in self.metrics]:
            why = reason("metric_not_in_run", metric=lacking[0])
        elif not (known & (bad if bad.any() else rows)).any():
            code = UNTOLD.get(stage.code, "metric_without_value")
            why = reason(code, metric=",".join(stage.metrics) or None)
        return StageFailures(
            stage=stage.code, first=None if why else self._rate(rows & first, counts), why=why,
            untold=int((rows & later & ~known).sum()), later=int((bad & failed & ~first).sum()),
            survived=int((rows & ~self.bad & failed).sum()),
        )  # fmt: skip

    def _rate(self, failing: Bools, counts: Ints) -> Rate:
        occupied = counts > 0
        sums = np.bincount(self.clusters[failing], minlength=len(counts))[occupied]
        mean = mean_interval(sums, counts[occupied], rate=True, low=0, high=1, level=LEVEL)
        method = None if mean.interval is None else mean.interval.method
        return Rate(int(failing.sum()), mean.value, **ends_of(mean.interval), method=method)


# Why a stage is not known where the examples do not tell.
UNTOLD = {"not_in_corpus": "corpus_not_told", "nothing_retrieved": "no_context_in_data"}


def _true(values: pl.Series) -> Bools:
    return values.fill_null(value=False).to_numpy()


def _named(group: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in group.items())
