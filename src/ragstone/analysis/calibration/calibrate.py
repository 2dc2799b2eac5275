"""Calibration: can the judge be trusted? Compares a run with people's labels of part of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import polars as pl

from ragstone.analysis.scored_run import Quantity
from ragstone.annotation.label_names import Ends
from ragstone.annotation.label_table import LabelTable
from ragstone.core.errors import UnknownName
from ragstone.core.messages import Displayable, plain
from ragstone.run import Run
from ragstone.run.request import checked
from ragstone.stats.judge_quality.confusion import Criterion

from .checked_run import CheckedRun, checked_against_people, checked_by
from .column_checks import JudgeCheck, check_column, compared_units, said_of
from .corrected_means import METHODS, CorrectedEstimate, Method, NotRandom, estimate
from .judge_identity import (
    Passport,
    fingerprint_of_labels,
    flip_rates,
    identity,
    order_sensitivity,
    same_data,
    same_judge,
)
from .labelled_run import LabelledRun, labels_for


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Displayable):
    """The evidence of human labels about a judge and its numbers.

    Attributes:
        estimates: For each labelled metric and group: judge, labels only, corrected.
        checks: The judge compared with people on the same units, for each labelled column.
        passport: What is known of the judge; valid as long as the judge stays the same.
        scores: The corrected score of each example: ``example_id``, ``system``, ``metric``,
            ``judge``, ``people`` (null if not labelled), ``corrected``.
        assume_random: Whether labels that are not a random sample were used to correct.
        units: What people and the judge said of each unit, by label as ``KIND.COLUMN``:
            ``example_id``, ``system``, ``unit``, ``people``, ``judge``; furthest apart first.
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
    units: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    @property
    def not_random(self) -> tuple[NotRandom, ...]:
        """The evidence that labels are no random sample, so that nothing is corrected."""
        return tuple(each.not_random for each in self.estimates if each.not_random is not None)

    def __repr__(self) -> str:
        return f"Calibration({self.run!r}, {len(self.estimates)} estimates)"

    def to_dict(self) -> dict[str, Any]:
        """Everything except the scores and units, as plain data."""
        return {
            "run": self.run,
            "level": self.level,
            "seed": self.seed,
            "not_random": plain(self.not_random),
            "assume_random": self.assume_random,
            "estimates": [estimate.to_dict() for estimate in self.estimates],
            "agreement": [check.to_dict() for check in self.checks],
            "passport": self.passport.to_dict(),
            "notes": plain(self.notes),
        }


@checked
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
    """Check a run's judge against human labels, and correct its numbers with them.

    Combines the judge's verdicts on all examples with human labels on some, and gives each metric's
    mean three ways: from the judge, from the labels alone, and corrected. If human scores are only
    0 and 1, ``method`` makes the correction, otherwise prediction-powered inference. A metric that
    people labelled only through its judgements, such as ``unsupported_claim``, is computed from
    these by its own rule.

    Args:
        run: A finished run that was not judged by the people who gave the labels. What people
            corrected is left out, for it was chosen by looking.
        labels: Label files; if none, the labels in the run's examples.
        scales: Maps a metric to the first and last point of the scale on which people rated it,
            such as (1, 5). Other scales are guessed, with a note.
        method: How rates are corrected: ``ppi_plus_plus``, ``poststratified``, ``rogan_gladen``, or
            ``by_design``, which chooses between the first two before looking at any label (see
            ``favoured``).
        repeats: Runs of the same data judged again by the same judge, to measure how often its
            verdicts change.
        injected: A run of the same data with injected instructions, to measure how often they
            change its verdicts.
        assume_random: Correct with labels of unknown sampling probability even if their verdicts,
            systems or slices show that they are not a random sample.
        anytime: For labels that keep arriving as random draws: the mean of the labels alone, with
            an interval that is valid at every look, in the order of the files. Nothing is
            corrected.

    Raises:
        InputError: No label is for an example of the run, or for anything the run measures.
    """
    way: Method = _known("correction", method, METHODS)
    goal: Criterion = _known("criterion", criterion, get_args(Criterion))
    first = Run.of(run).without_corrections()
    of = LabelledRun(
        first, labels_for(labels, first, columns, scales), metrics=metrics, by=by, cluster=cluster,
        method=way, assume_random=assume_random, anytime=anytime,
    )  # fmt: skip
    again = [Run.of(repeat).without_corrections() for repeat in repeats]
    moved = [] if injected is None else [Run.of(injected).without_corrections()]
    for repeat in again:
        same_data(first, repeat)
    for repeat in [*again, *moved]:
        same_judge(first, repeat)
    estimates = _estimates(of, level)
    units = {(kind, column): rows for kind, column, rows in compared_units(of)}
    checks = tuple(check_column(*key, rows, goal, level, seed) for key, rows in units.items())
    if not estimates and not checks:
        raise of.nothing_in_common()
    whole = (of.labelled(metric, {}, scores) for metric, scores in of.scores.items())
    scores = [part.example_scores() for part in whole if part.n_labels]
    passport = Passport(
        judge=identity(of.run.form),
        date=datetime.now(UTC).date().isoformat(),
        data=of.run.form.settings.data,
        source=of.run.form.data.source,
        labels=fingerprint_of_labels(of.labels),
        annotators=len(of.labels.annotators),
        n_examples=len(of.examples),
        agreement=tuple(check.to_dict() for check in checks),
        estimates=tuple(each.to_dict() for each in estimates),
        flips=tuple(rate for repeat in again for rate in flip_rates(of.run, repeat, level=level)),
        order=order_sensitivity(of.run, level=level),
        injection=tuple(rate for run in moved for rate in flip_rates(of.run, run, level=level)),
    )
    return Calibration(
        str(of.run.path),
        level,
        seed,
        estimates,
        checks,
        passport,
        pl.concat(scores) if scores else pl.DataFrame(),
        tuple(of.notes()),
        of.assume_random,
        {
            f"{check.kind}.{check.column}": said_of(check, units[check.kind, check.column])
            for check in checks
        },
    )


@dataclass(frozen=True, eq=False)
class CorrectedQuantities:
    """The corrected estimates of a run by metric and system, with ``notes`` on the labels."""

    of: LabelledRun
    notes: tuple[str, ...]

    def __call__(self, metric: str, system: str) -> Quantity | None:
        """The estimate for a metric and system; None if people did not label it."""
        scores = self.of.scores.get(metric)
        if scores is None:
            return None
        labelled = self.of.labelled(metric, {"system": system}, scores)
        return labelled.quantity() if labelled.n_labels else None

    def checked(self) -> CheckedRun:
        """Check the judges by the labels; on metrics without labels, by a passport.

        Labels that are looked at as they come correct nothing: their mean is people's own.
        """
        run = self.of.run
        before = checked_against_people(run.path, run.form)
        if self.of.anytime:
            return before
        estimates = [row.to_dict() for row in _estimates(self.of, 0.95)]
        now = checked_by(estimates, run.path, run.form, labels=len(self.of.examples))
        labelled = {name: metric for name, metric in now.metrics.items() if metric.labels}
        return replace(now, metrics={**before.metrics, **labelled})


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
    """The corrected estimates of a run, as quantities on which decisions can be made."""
    of = LabelledRun(
        run, labels_for(labels, run, columns, scales), cluster=cluster, assume_random=assume_random,
        anytime=anytime,
    )  # fmt: skip
    return CorrectedQuantities(of, tuple(of.notes()))


def _estimates(of: LabelledRun, level: float) -> tuple[CorrectedEstimate, ...]:
    parts = (
        of.labelled(metric, group, scores)
        for metric, scores in of.scores.items()
        for group in of.groups()
    )
    return tuple(estimate(part, level=level) for part in parts if part.judged.height)


def _known(noun: str, name: str, names: Sequence[str]) -> Any:
    if name not in names:
        raise UnknownName(noun, name, names, hint=f"There are {', '.join(names)}.")
    return name
