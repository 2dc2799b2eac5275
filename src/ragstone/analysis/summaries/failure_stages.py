"""Failure stages: the stage of the pipeline at which each answer first failed, and the counts.

An answer falls short where its outcome is not correct, or its faithfulness or its coverage of the
reference is below ``HALF``. It counts once, at the first stage that fails, in the order of
``STAGES``. A stage whose metric has no value for the example is unknown and does not fail.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.analysis.comparison.comparability import SelfReference
from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import UnknownName
from ragstone.core.messages import Displayable, reason
from ragstone.run import Run
from ragstone.run.estimates.groups import groups_of, rows_of
from ragstone.stats import mean_interval

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


LEVEL = 0.95
CODES = (*(one.code for one in STAGES), OTHER)

Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of the judged answers, with the interval of the share.

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
        stage: Its code; ``other`` where an answer fell short and no stage holds.
        first: Answers that fell short and failed here first, as a share of all judged answers;
            None if it is not known.
        why: The reason why it is not known, which ``ragstone.explain`` puts into words.
        untold: Answers laid to a later stage, or to none, of which it is not known whether they
            failed here: so many more there may be in ``first``.
        later: Those that failed here too, after an earlier stage.
        survived: Answers without a fault that failed here all the same.
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
        judged: Answers of which a metric tells whether they fell short.
        clusters: Questions, or what else groups dependent answers.
        short: Those that fell short.
        no_fault: The others.
        survived: Of the others those that failed at a stage of retrieval all the same.
        stages: In the order of the pipeline, then ``other``.
    """

    group: Mapping[str, str]
    judged: int
    clusters: int
    short: Rate
    no_fault: int
    survived: int
    stages: tuple[StageFailures, ...]

    @property
    def fine(self) -> Rate:
        """The others as a share, which is what ``short`` leaves."""
        one = self.short
        share, low, high = (
            None if end is None else 1 - end for end in (one.share, one.high, one.low)
        )
        return Rate(self.no_fault, share, low, high, one.method)

    @property
    def faults(self) -> Faults:
        """The same in short."""
        counts = {one.stage: one.first.n for one in self.stages if one.first is not None}
        return Faults.of({**counts, NO_FAULT: self.no_fault})


@dataclass(frozen=True, slots=True)
class FailureGroups:
    """How many answers of a run went wrong at which stage.

    Attributes:
        run: The folder.
        groups: All answers, each system, each slice, and each system within it.
        themselves: Systems whose answers are the references; they count in none but their own.
        by: The fields of the slices.
        cluster: What groups dependent answers.
        level: Of the intervals.
    """

    run: Path
    groups: tuple[GroupFailures, ...]
    themselves: tuple[str, ...]
    by: tuple[str, ...]
    cluster: str
    level: float

    def of(self, **group: str) -> GroupFailures:
        """The failures of a group: ``of()``, ``of(system="a")``, ``of(system="a", topic="sea")``.

        Raises:
            UnknownName: There is no such group.
        """
        found = next((one for one in self.groups if dict(one.group) == group), None)
        if found is None:
            there = [_named(one.group) for one in self.groups if one.group]
            raise UnknownName("group of these failures", _named(group), there)
        return found


@dataclass(frozen=True, slots=True)
class Failures(FailureGroups, Displayable):
    """The same, and which answers they are.

    Attributes:
        answers: One row an answer: ``example_id``, ``question_id``, ``system``, ``stage`` and, for
            each stage, whether it failed there, null where that is not known.
    """

    answers: pl.DataFrame = field(repr=False, compare=False)

    @property
    def without_answers(self) -> FailureGroups:
        """The counts alone."""
        return FailureGroups(
            self.run, self.groups, self.themselves, self.by, self.cluster, self.level
        )

    def examples(self, stage: str | None = None, system: str | None = None) -> pl.DataFrame:
        """The answers that fell short at a stage, or at any, as rows of ``answers``.

        Args:
            stage: The code of a stage, ``other`` or ``no_fault``; None: all that fell short.
            system: Only its answers.

        Raises:
            UnknownName: There is no such stage or system.
        """
        if stage is not None and stage not in (*CODES, NO_FAULT):
            raise UnknownName("stage", stage, [*CODES, NO_FAULT])
        systems = self.answers["system"].unique(maintain_order=True).to_list()
        if system is not None and system not in systems:
            raise UnknownName("system of this run", system, systems)
        chosen = pl.col("stage") != NO_FAULT if stage is None else pl.col("stage") == stage
        rows = self.answers.filter(chosen)
        if system is None:
            return rows.filter(~pl.col("system").is_in(self.themselves))
        return rows.filter(pl.col("system") == system)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "run": str(self.run),
            "by": list(self.by),
            "cluster": self.cluster,
            "level": self.level,
            "themselves": list(self.themselves),
            "groups": [asdict(one) | {"group": dict(one.group)} for one in self.groups],
        }


def failures(run: Run | str | Path, *, by: Sequence[str] = ()) -> Failures:
    """Where the answers of a run went wrong: each that fell short counts at its first stage.

    Args:
        run: A finished run, or its folder.
        by: Fields to slice by.

    Returns:
        For each system and slice how many answers fell short and, for each stage of the pipeline,
        how many failed there first, with intervals in which dependent answers, such as those to one
        question, are clusters.

    Raises:
        InputError: There is no such run, or no example has a field.
    """
    run = Run.of(run)
    scored = Scored(run, by=by)
    themselves = SelfReference(run).systems
    found = stages(run)
    answers = scored.facets.join(
        found.drop("system"), on="example_id", how="left", maintain_order="left"
    )
    made = group_failures(
        answers, [one.metric for one in run.estimate_list], by=scored.by, themselves=themselves
    )
    shown = answers.select("example_id", "question_id", "system", "stage", *CODES[:-1])
    return Failures(run.path, made, themselves, scored.by, scored.cluster, LEVEL, shown)


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
        metrics: Those of the run.
        by: The fields.
        themselves: Systems whose answers count in none but their own groups.
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
        self.answers, self.metrics = answers, metrics
        self.clusters = answers["cluster"].rank("dense").to_numpy().astype(np.int64)
        self.judged = answers["stage"].is_not_null().to_numpy()
        self.first = {code: _true(answers["stage"] == code) for code in (*CODES, NO_FAULT)}
        self.failed = {one.code: _true(answers[one.code]) for one in STAGES}
        self.known = {one.code: answers[one.code].is_not_null().to_numpy() for one in STAGES}

    def of(self, group: Mapping[str, str], chosen: pl.Expr) -> GroupFailures:
        """The failures of the judged answers among these."""
        rows = self.answers.select(chosen).to_series().to_numpy() & self.judged
        fine = rows & self.first[NO_FAULT]
        short = rows & ~fine
        counts = np.bincount(self.clusters[rows])
        found = [self._stage(one, rows, short, fine, counts) for one in STAGES]
        other = self._rate(rows & self.first[OTHER], counts)
        failed = np.any([self.failed[code] for code in RETRIEVAL], axis=0)
        return GroupFailures(
            group=dict(group),
            judged=int(rows.sum()),
            clusters=int((counts > 0).sum()),
            short=self._rate(short, counts),
            no_fault=int(fine.sum()),
            survived=int((fine & failed).sum()),
            stages=(*found, StageFailures(OTHER, other, "", 0, 0, 0)),
        )

    def _stage(
        self, one: FailureStage, rows: Mask, short: Mask, fine: Mask, counts: Counts
    ) -> StageFailures:
        known, failed, first = (of[one.code] for of in (self.known, self.failed, self.first))
        later = np.any([self.first[code] for code in CODES[CODES.index(one.code) + 1 :]], axis=0)
        why = ""
        if lacking := [name for name in one.metrics if name not in self.metrics]:
            why = reason("metric_not_in_run", metric=lacking[0])
        elif not (known & (short if short.any() else rows)).any():
            why = reason(UNTOLD.get(one.code, "metric_without_value"), metric=_joined(one.metrics))
        return StageFailures(
            stage=one.code,
            first=None if why else self._rate(rows & first, counts),
            why=why,
            untold=int((rows & later & ~known).sum()),
            later=int((short & failed & ~first).sum()),
            survived=int((fine & failed).sum()),
        )

    def _rate(self, failing: Mask, counts: Counts) -> Rate:
        there = counts > 0
        sums = np.bincount(self.clusters[failing], minlength=len(counts))[there]
        mean = mean_interval(sums, counts[there], rate=True, low=0, high=1, level=LEVEL)
        low, high, method = None, None, None
        if mean.interval is not None:
            low, high, method = mean.interval.low, mean.interval.high, mean.interval.method
        return Rate(int(failing.sum()), mean.value, low, high, method)


UNTOLD = {"not_in_corpus": "corpus_not_told", "nothing_retrieved": "no_context_in_data"}
"""Why a stage is not known where the examples do not tell."""


def _true(values: pl.Series) -> Mask:
    return values.fill_null(value=False).to_numpy()


def _joined(metrics: Sequence[str]) -> str | None:
    return ",".join(metrics) or None


def _named(group: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in group.items())
