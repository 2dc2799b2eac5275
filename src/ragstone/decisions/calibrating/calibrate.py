"""Calibration: can the judge be trusted? A run beside what people said of some of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import polars as pl

from ragstone.argument import Notice
from ragstone.decisions.quantity import Quantity
from ragstone.errors import InputError, UnknownName
from ragstone.labels.rated import Ends
from ragstone.labels.table import LabelTable
from ragstone.run import Run
from ragstone.run.settings import RunSettings
from ragstone.shown import Shown
from ragstone.stats.judging.threshold import Criterion

from .checks import JudgeCheck, check_column
from .correction import METHODS, PEOPLE, CorrectedEstimate, Method, estimate
from .identity import identity
from .labelled_run import LabelledRun, labels_for
from .passport import Passport, fingerprint_of_labels
from .people import METRIC, weights_of
from .random_draw import NotRandom
from .repeats import FlipRate, flip_rates, order_sensitivity, same_data, same_judge
from .units import KEYS, judged_units


@dataclass(frozen=True, eq=False)
class Calibration(Shown):
    """What people's labels say of a judge and of its numbers.

    Attributes:
        estimates: Every metric that people labelled, by group: judge, labels only, corrected.
        checks: The judge against people on the same units, one for each column of labels.
        passport: What is known of the judge, for as long as it stays the same.
        scores: The corrected score of each example: ``example_id``, ``system``, ``metric``,
            ``judge``, ``people`` (null where not labelled), ``corrected``.
        notes: What the reader should know beside it.
        assume_random: Whether labels that are no random sample corrected all the same.
    """

    run: str
    level: float
    seed: int
    estimates: tuple[CorrectedEstimate, ...]
    checks: tuple[JudgeCheck, ...]
    passport: Passport
    scores: pl.DataFrame
    notes: tuple[str, ...]
    assume_random: bool = False

    @property
    def not_random(self) -> tuple[NotRandom, ...]:
        """Where the labelled rows are plainly no random sample, so that nothing is corrected."""
        return tuple(one.not_random for one in self.estimates if one.not_random is not None)

    def to_dict(self) -> dict[str, Any]:
        """All but the scores, as plain data."""
        return {
            "run": self.run,
            "level": self.level,
            "seed": self.seed,
            "not_random": [one.to_dict() for one in self.not_random],
            "assume_random": self.assume_random,
            "estimates": [one.to_dict() for one in self.estimates],
            "agreement": [one.to_dict() for one in self.checks],
            "passport": self.passport.to_dict(),
            "notes": list(self.notes),
        }


def calibrate(
    run: Run | str | Path,
    labels: LabelTable | str | Path | Sequence[str | Path] = (),
    *,
    metrics: Sequence[str] = (),
    by: Sequence[str] = (),
    cluster: str | None = None,
    columns: Mapping[str, str] | None = None,
    scales: Mapping[str, Ends] | None = None,
    method: str = "by_design",
    criterion: str = "youden",
    repeats: Sequence[Run | str | Path] = (),
    injected: Run | str | Path | None = None,
    assume_random: bool = False,
    anytime: bool = False,
    level: float = 0.95,
    seed: int = 0,
) -> Calibration:
    """Hold a run's judge against people, and correct its numbers by what they said.

    The judge's word on every example, and people's on some, give each metric's mean three ways:
    by the judge, by labels alone, and corrected. Where people's scores are 0 and 1 the correction
    is ``method``, else prediction-powered. A metric that people labelled only through its
    judgements, such as ``unsupported_claim``, is scored on these by its own rule.

    Args:
        run: A finished run, judged by anybody but the people whose labels these are.
        labels: Label files; none: the labels that the run's examples carry.
        metrics: Only these of the run.
        by: Fields to correct by, beside the system.
        cluster: Field whose rows are not independent; by default the run's own.
        columns: Column of the label files, by the label or metric that it is.
        scales: Metric to the ends of the scale on which people rated it, such as (1, 5); that
            of others is guessed, and a note says so.
        method: How rates are corrected: ``by_design`` chooses between ``ppi_plus_plus`` and
            ``poststratified`` before it sees a label (``favoured``); or one of these, or
            ``rogan_gladen``.
        criterion: What the best threshold of a score is to maximise.
        repeats: Runs of the same data and judge, asked anew: how often does it change its word?
        injected: A run of the same data with injected instructions: how often is it moved?
        assume_random: Correct by labels without known chances even where their verdicts,
            systems or slices show that they are no random sample of what was judged.
        anytime: Labels keep coming in, drawn at random, and are looked at each time: the mean of
            the labels has an interval that holds at every look, in the order of the files, and
            nothing is corrected.
        level: Of the intervals.
        seed: Of everything redrawn.

    Raises:
        DataError: Label files that cannot be read, with every fault.
        InputError: No label is of an example of the run, or none of anything the run has.
        UnknownName: A metric that the run does not have.
    """
    way, goal = _method(method), _criterion(criterion)
    first = Run.of(run)
    of = LabelledRun(
        first,
        labels_for(labels, first, columns, scales),
        metrics=metrics,
        by=by,
        cluster=cluster,
        method=way,
        assume_random=assume_random,
        anytime=anytime,
    )
    again = [Run.of(one) for one in repeats]
    moved = None if injected is None else Run.of(injected)
    for one in again:
        same_data(first, one)
    for one in [*again, *([] if moved is None else [moved])]:
        same_judge(first, one)
    return _calibration(of, goal, again, moved, level, seed)


@dataclass(frozen=True, eq=False)
class CorrectedQuantities:
    """The corrected estimates of a run, one by one; ``notes`` on the labels behind them."""

    of: LabelledRun
    notes: tuple[str, ...]

    def __call__(self, metric: str, system: str) -> Quantity | None:
        """Of a metric and system; None where people said nothing of it."""
        scores = self.of.scores.get(metric)
        if scores is None:
            return None
        labelled = self.of.labelled(metric, {"system": system}, scores)
        return labelled.quantity() if labelled.n_labels else None


def corrected_quantities(
    run: Run,
    labels: Sequence[str | Path] | LabelTable,
    *,
    cluster: str | None = None,
    columns: Mapping[str, str] | None = None,
    scales: Mapping[str, Ends] | None = None,
    assume_random: bool = False,
    anytime: bool = False,
) -> CorrectedQuantities:
    """The corrected estimates of a run, for whatever decides over them.

    Raises:
        DataError: Label files that cannot be read, with every fault.
        InputError: No label is of an example of the run.
    """
    of = LabelledRun(
        run,
        labels_for(labels, run, columns, scales),
        cluster=cluster,
        assume_random=assume_random,
        anytime=anytime,
    )
    return CorrectedQuantities(of, tuple(map(Notice, of.notes())))


def _calibration(
    of: LabelledRun,
    criterion: Criterion,
    repeats: Sequence[Run],
    injected: Run | None,
    level: float,
    seed: int,
) -> Calibration:
    parts = [
        of.labelled(metric, group, scores)
        for metric, scores in of.scores.items()
        for group in of.groups()
    ]
    estimates = tuple(estimate(part, level=level) for part in parts if part.judged.height)
    checks = tuple(_checks(of, criterion, level, seed))
    if not estimates and not checks:
        raise InputError(of.nothing_in_common())
    whole = [part for part in parts if not part.group and part.n_labels]
    scores = [part.example_scores() for part in whole]
    return Calibration(
        str(of.run.path),
        level,
        seed,
        estimates,
        checks,
        _passport(of, checks, estimates, repeats, injected, level),
        pl.concat(scores) if scores else pl.DataFrame(),
        tuple(map(Notice, of.notes())),
        of.assume_random,
    )


def _checks(of: LabelledRun, criterion: Criterion, level: float, seed: int) -> Iterator[JudgeCheck]:
    """The judge against people, by unit; and by example for the values of metrics."""
    facts = of.facts().join(weights_of(of.labels), on="example_id")
    judged = judged_units(of.run)
    people = of.labels.adjudicated().filter(pl.col("value").is_not_null())
    both = people.select(*KEYS, people="value", people_number="number").join(
        judged, on=KEYS, how="inner", nulls_equal=True, maintain_order="left"
    )
    for (kind, column), rows in both.group_by("kind", "column", maintain_order=True):
        joined = rows.join(facts, on="example_id", maintain_order="left")
        yield check_column(str(kind), str(column), joined, criterion, level, seed)
    given = people.filter(pl.col("kind") == METRIC)
    for metric, scores in of.scores.items():
        if given.filter(pl.col("column") == metric).is_empty():
            continue
        rows = scores.filter((pl.col("status") == "value") & pl.col(PEOPLE).is_not_null())
        words = rows.select(
            "example_id",
            pl.lit(None, pl.String).alias("unit"),
            people=pl.col(PEOPLE).cast(pl.String),
            people_number=pl.col(PEOPLE),
            value=pl.col("value").cast(pl.String),
            number=pl.col("value"),
            probability=pl.lit(None, pl.Float64),
        )
        joined = words.join(facts, on="example_id", maintain_order="left")
        if joined.height:
            yield check_column(METRIC, metric, joined, criterion, level, seed)


def _passport(
    of: LabelledRun,
    checks: Sequence[JudgeCheck],
    estimates: Sequence[CorrectedEstimate],
    repeats: Sequence[Run],
    injected: Run | None,
    level: float,
) -> Passport:
    flips: list[FlipRate] = [
        rate for one in repeats for rate in flip_rates(of.run, one, level=level)
    ]
    moved = [] if injected is None else flip_rates(of.run, injected, level=level)
    return Passport(
        judge=identity(of.run),
        date=datetime.now(UTC).date().isoformat(),
        data=RunSettings.of(of.run.manifest).data,
        source=str(of.run.manifest.get("data", {}).get("source", "")),
        labels=fingerprint_of_labels(of.labels),
        annotators=len(of.labels.annotators),
        n_examples=len(of.examples),
        agreement=tuple(one.to_dict() for one in checks),
        estimates=tuple(one.to_dict() for one in estimates if not one.group),
        flips=tuple(one.to_dict() for one in flips),
        order=None if (rate := order_sensitivity(of.run, level=level)) is None else rate.to_dict(),
        injection=tuple(one.to_dict() for one in moved),
    )


def _method(name: str) -> Method:
    for known in METHODS:
        if name == known:
            return known
    raise UnknownName("correction", name, METHODS, hint=f"There are {', '.join(METHODS)}.")


def _criterion(name: str) -> Criterion:
    criteria: tuple[Criterion, ...] = get_args(Criterion)
    for known in criteria:
        if name == known:
            return known
    raise UnknownName("criterion", name, criteria, hint=f"There are {', '.join(criteria)}.")
