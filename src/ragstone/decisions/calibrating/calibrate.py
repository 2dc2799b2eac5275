"""Calibration: can the judge be trusted? A run beside what people said of some of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import polars as pl

from ragstone.decisions.known import known_metric
from ragstone.decisions.quantity import Quantity
from ragstone.decisions.scored import Scored
from ragstone.errors import InputError, UnknownName
from ragstone.examples import Example, from_frame
from ragstone.labels.read import labels_of, read_label_table
from ragstone.labels.table import LabelTable
from ragstone.metrics import Metric
from ragstone.run import Run
from ragstone.stats.judging.threshold import Criterion

from .checks import JudgeCheck, check_column
from .correction import (
    METHODS,
    PEOPLE,
    CorrectedEstimate,
    LabelledScores,
    Method,
    estimate,
    is_rate,
)
from .identity import identity
from .passport import Passport, fingerprint_of_labels
from .people import (
    METRIC,
    Units,
    judged_by_people,
    labelled_in_part,
    people_scores,
    units_of,
    weights_of,
)
from .repeats import FlipRate, flip_rates, order_sensitivity, same_data, same_judge
from .units import KEYS, judged_units

SHOWN = 5


@dataclass(frozen=True, eq=False)
class Calibration:
    """What people's labels say of a judge and of its numbers.

    Attributes:
        estimates: Every metric that people labelled, by group: judge, labels only, corrected.
        checks: The judge against people on the same units, one for each column of labels.
        passport: What is known of the judge, for as long as it stays the same.
        scores: The corrected score of each example: ``example_id``, ``system``, ``metric``,
            ``judge``, ``people`` (null where not labelled), ``corrected``.
        notes: What the reader should know beside it.
    """

    run: str
    level: float
    seed: int
    estimates: tuple[CorrectedEstimate, ...]
    checks: tuple[JudgeCheck, ...]
    passport: Passport
    scores: pl.DataFrame
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """What ``ragstone calibrate --json`` prints."""
        return {
            "run": self.run,
            "level": self.level,
            "seed": self.seed,
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
    method: str = "poststratified",
    criterion: str = "youden",
    repeats: Sequence[Run | str | Path] = (),
    injected: Run | str | Path | None = None,
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
        cluster: The field whose equal values share their fate; by default the run's own.
        columns: Column of the label files for a label or metric, as ``--map`` gives them.
        method: How rates are corrected: ``poststratified``, ``ppi_plus_plus`` or
            ``rogan_gladen``.
        criterion: What the best threshold of a score is to maximise.
        repeats: Runs of the same data and judge, asked anew: how often does it change its word?
        injected: A run of the same data with injected instructions: how often is it moved?
        level: Of the intervals.
        seed: Of everything redrawn.

    Raises:
        DataError: Label files that cannot be read, with every fault.
        InputError: No label is of an example of the run, or none of anything the run has.
        UnknownName: A metric that the run does not have.
    """
    way, goal = _method(method), _criterion(criterion)
    first = Run.of(run)
    state = _Calibrating(first, _table(labels, first, columns), metrics, by, cluster, way, level)
    again = [Run.of(one) for one in repeats]
    moved = None if injected is None else Run.of(injected)
    for one in again:
        same_data(first, one)
    for one in [*again, *([] if moved is None else [moved])]:
        same_judge(first, one)
    return state.calibration(goal, again, moved, seed)


@dataclass(frozen=True, eq=False)
class CorrectedQuantities:
    """The corrected estimates of a run, one by one; ``notes`` on the labels behind them."""

    state: "_Calibrating"
    notes: tuple[str, ...]

    def __call__(self, metric: str, system: str) -> Quantity | None:
        """Of a metric and system; None where people said nothing of it."""
        scores = self.state.scores.get(metric)
        if scores is None:
            return None
        labelled = self.state.labelled(metric, {"system": system}, scores)
        return labelled.quantity() if labelled.n_labels else None


def corrected_quantities(
    run: Run,
    labels: Sequence[str | Path] | LabelTable,
    *,
    cluster: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> CorrectedQuantities:
    """The corrected estimates of a run, for whatever decides over them.

    Raises:
        DataError: Label files that cannot be read, with every fault.
        InputError: No label is of an example of the run.
    """
    state = _Calibrating(run, _table(labels, run, columns), (), (), cluster, "poststratified", 0.95)
    return CorrectedQuantities(state, tuple(state.notes()))


class _Calibrating:
    def __init__(
        self,
        run: Run,
        labels: LabelTable,
        metrics: Sequence[str],
        by: Sequence[str],
        cluster: str | None,
        method: Method,
        level: float,
    ) -> None:
        self.run, self.method, self.level = run, method, level
        self.scored = Scored(run, cluster=cluster, by=by)
        self.given = labels
        self.names = self._named(metrics)
        if not self.examples:
            some = ", ".join(sorted(set(labels.frame["example_id"]))[:SHOWN])
            raise InputError(
                f"{labels.source}: no label is of an example of {run.path}. They name {some}; "
                f"the run has {', '.join(self.scored.facets['example_id'][:SHOWN])}."
            )

    @cached_property
    def examples(self) -> list[Example]:
        """The examples of the run that people labelled."""
        wanted = self.given.frame["example_id"].unique()
        return from_frame(self.run.examples().filter(pl.col("id").is_in(wanted.implode())))

    @cached_property
    def labels(self) -> LabelTable:
        """The labels, with contexts named by their rank."""
        return self.given.on(self.examples)

    @cached_property
    def metrics(self) -> list[Metric | str]:
        """Those of the run; the name of one that is not loaded."""
        return [self.scored.metric(name) or name for name in self.names]

    @cached_property
    def units(self) -> Units:
        """How many claims and statements the run's judges found in each example."""
        return units_of(self.run)

    @cached_property
    def scores(self) -> dict[str, pl.DataFrame]:
        """By metric: the run's scores with people's beside them, where there are any."""
        values = people_scores(self.examples, self.labels, self.metrics, self.units)
        weights = weights_of(self.labels)
        found = {}
        for metric in self.metrics:
            own = values.filter(pl.col("metric") == str(metric)).select(
                "example_id", people="value"
            )
            if isinstance(metric, Metric):
                own = own.filter(
                    ~pl.col("example_id").is_in(list(judged_by_people(self.run, metric)))
                )
            if own.height:
                joined = self.scored.of(str(metric)).join(
                    own, on="example_id", how="left", maintain_order="left"
                )
                found[str(metric)] = joined.join(
                    weights, on="example_id", how="left", maintain_order="left"
                )
        return found

    def labelled(
        self, metric: str, group: Mapping[str, str], scores: pl.DataFrame
    ) -> LabelledScores:
        """One group's part of a metric's scores."""
        for name, value in group.items():
            column = "system" if name == "system" else f"by {name}"
            scores = scores.filter(pl.col(column) == value)
        scale = self.scored.scale(metric)
        rate = is_rate(self.scores[metric], scale)
        return LabelledScores(metric, group, scores, scale, rate, self.method)

    def groups(self) -> Iterator[Mapping[str, str]]:
        """All, each system where there are several, each value of each field."""
        yield {}
        if len(self.scored.systems) > 1:
            yield from ({"system": name} for name in self.scored.systems)
        for name in self.scored.by:
            for value in self.scored.facets[f"by {name}"].unique().sort():
                yield {name: value}

    def calibration(
        self, criterion: Criterion, repeats: Sequence[Run], injected: Run | None, seed: int
    ) -> Calibration:
        parts = [
            self.labelled(metric, group, scores)
            for metric, scores in self.scores.items()
            for group in self.groups()
        ]
        estimates = tuple(estimate(part, level=self.level) for part in parts if part.judged.height)
        checks = tuple(self._checks(criterion, seed))
        if not estimates and not checks:
            raise InputError(self._nothing_in_common())
        whole = [part for part in parts if not part.group and part.n_labels]
        scores = [part.example_scores() for part in whole]
        return Calibration(
            str(self.run.path),
            self.level,
            seed,
            estimates,
            checks,
            self._passport(checks, estimates, repeats, injected),
            pl.concat(scores) if scores else pl.DataFrame(),
            tuple(self.notes()),
        )

    def _checks(self, criterion: Criterion, seed: int) -> Iterator[JudgeCheck]:
        """The judge against people, by unit; and by example for the values of metrics."""
        facts = self._facts()
        judged = judged_units(self.run)
        people = self.labels.adjudicated().filter(pl.col("value").is_not_null())
        both = people.select(*KEYS, people="value", people_number="number").join(
            judged, on=KEYS, how="inner", nulls_equal=True, maintain_order="left"
        )
        for (kind, column), rows in both.group_by("kind", "column", maintain_order=True):
            joined = rows.join(facts, on="example_id", how="left", maintain_order="left")
            yield check_column(str(kind), str(column), joined, criterion, self.level, seed)
        given = people.filter(pl.col("kind") == METRIC)
        for metric, scores in self.scores.items():
            if given.filter(pl.col("column") == metric).is_empty():
                continue
            rows = scores.filter((pl.col("status") == "value") & pl.col(PEOPLE).is_not_null())
            words = rows.select(
                "example_id",
                pl.lit(METRIC).alias("kind"),
                pl.lit(metric).alias("column"),
                pl.lit(None, pl.String).alias("unit"),
                people=pl.col(PEOPLE).cast(pl.String),
                people_number=pl.col(PEOPLE),
                value=pl.col("value").cast(pl.String),
                number=pl.col("value"),
                probability=pl.lit(None, pl.Float64),
            )
            joined = words.join(facts, on="example_id", how="left", maintain_order="left")
            if joined.height:
                yield check_column(METRIC, metric, joined, criterion, self.level, seed)

    def _facts(self) -> pl.DataFrame:
        """What a bias may go with: cluster, system, fields, and the length of the answer."""
        lengths = self.run.examples().select(
            example_id="id", length=pl.col("answer").str.count_matches(r"\S+")
        )
        return self.scored.facets.drop("question_id").join(lengths, on="example_id")

    def _named(self, metrics: Sequence[str]) -> list[str]:
        chosen = dict.fromkeys(known_metric(self.scored, text) for text in metrics)
        return list(chosen or self.scored.metrics)

    def _passport(
        self,
        checks: Sequence[JudgeCheck],
        estimates: Sequence[CorrectedEstimate],
        repeats: Sequence[Run],
        injected: Run | None,
    ) -> Passport:
        flips: list[FlipRate] = [
            rate for one in repeats for rate in flip_rates(self.run, one, level=self.level)
        ]
        moved = [] if injected is None else flip_rates(self.run, injected, level=self.level)
        return Passport(
            judge=identity(self.run),
            date=datetime.now(UTC).date().isoformat(),
            data=str(self.run.manifest["settings"]["data"]),
            source=str(self.run.manifest.get("data", {}).get("source", "")),
            labels=fingerprint_of_labels(self.labels),
            annotators=len(self.labels.annotators),
            n_examples=len(self.examples),
            agreement=tuple(one.to_dict() for one in checks),
            estimates=tuple(one.to_dict() for one in estimates if not one.group),
            flips=tuple(one.to_dict() for one in flips),
            order=None
            if (rate := order_sensitivity(self.run, level=self.level)) is None
            else rate.to_dict(),
            injection=tuple(one.to_dict() for one in moved),
        )

    def notes(self) -> Iterator[str]:
        """What the reader should know of the labels."""
        yield from self.scored.remarks
        yield from self.labels.notes
        if broken := len(self.labels.broken_rules()):
            yield f"Hard rules that labels break: {broken:,}; they are used as given."
        if ties := int(self.labels.adjudicated()["tie"].sum()):
            yield f"Ties between annotators: {ties:,}; they count for nobody."
        if discarded := self.labels.n_discarded:
            yield f"Labels that people discarded: {discarded:,}; they are not used."
        partly = [labelled_in_part(self.labels.join(one), self.units) for one in self.examples]
        if count := sum(map(bool, partly)):
            yield (
                f"Labelled in part: {count:,} of {len(partly):,} examples. What rests on every "
                "unit of an example, such as faithfulness, leaves these out; fill in all rows."
            )
        yield from self._own_words()
        for metric, scores in self.scores.items():
            lost = scores.filter((pl.col("status") != "value") & pl.col(PEOPLE).is_not_null())
            if lost.height:
                yield f"{metric}: no score of the judge for {lost.height:,} labelled examples."

    def _own_words(self) -> Iterator[str]:
        """Where people are the run's own judge."""
        for metric in (one for one in self.metrics if isinstance(one, Metric)):
            labelled = {one.id for one in self.examples}
            if mine := judged_by_people(self.run, metric) & labelled:
                yield (
                    f"{metric}: people judged {len(mine):,} of the labelled examples in the run "
                    "itself, which tells nothing of a judge. Evaluate with --judge local, or a "
                    "model."
                )

    def _nothing_in_common(self) -> str:
        """Why no label is about anything that a judge of the run said."""
        source, run = self.labels.source, self.run.path
        valued = [column for kind, column in self.labels.columns if kind == METRIC]
        left_out = [one for one in valued if one in self.scored.metrics and one not in self.names]
        if left_out:
            asked = ", ".join(self.names)
            return f"{source} has labels of {', '.join(left_out)}, and --metric asks for {asked}."
        if own := list(self._own_words()):
            return f"{source}: {' '.join(own[:1])}"
        there = ", ".join(dict.fromkeys(column for _, column in self.labels.columns))
        notes = "".join(f"\n  {note}" for note in self.labels.notes)
        return (
            f"{source} has {there or 'no label that counts'}, which no judgement and no metric of "
            f"{run} answers. Name the metric that a column is the value of: "
            f"--map METRIC=COLUMN.{notes}"
        )


def _table(
    labels: LabelTable | str | Path | Sequence[str | Path],
    run: Run,
    columns: Mapping[str, str] | None,
) -> LabelTable:
    if isinstance(labels, LabelTable):
        return labels
    paths = [labels] if isinstance(labels, str | Path) else list(labels)
    if paths:
        return read_label_table(paths, columns=columns)
    labelled = [example for example in from_frame(run.examples()) if example.labels]
    if not labelled:
        raise InputError(
            f"The examples of {run.path} carry no labels. Name a file of them: --labels FILE. "
            f"ragstone sample {run.path} makes one to fill in."
        )
    return labels_of(labelled, columns=columns, source=f"the data of {run.path}")


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
