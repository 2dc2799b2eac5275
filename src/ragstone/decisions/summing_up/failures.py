"""Failures: how many answers fell short, and at which stage of the pipeline they first failed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.core.errors import UnknownName
from ragstone.core.messages import HasPage, reason
from ragstone.decisions.comparing.self_reference import SelfReference
from ragstone.decisions.scored import Scored
from ragstone.run import Run
from ragstone.run.groups import groups_of, rows_of
from ragstone.stats import mean_interval

from .stages import NO_FAULT, OTHER, RETRIEVAL, STAGES, FailureStage, Faults, stages

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
class Failures(FailureGroups, HasPage):
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
