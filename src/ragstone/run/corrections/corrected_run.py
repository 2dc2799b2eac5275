"""Corrected run: a finished run with people's corrections laid over, as they are at one moment."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import polars as pl

from ragstone.core.errors import CorrectionConflict, InputError, UnknownName
from ragstone.core.messages import argument, reason
from ragstone.data import Example, from_frame
from ragstone.judgements import ASKS, KINDS, Ask, Tables, kind_of
from ragstone.metrics import Composite, Metric, needed_asks, read_metric, score
from ragstone.run.folder.schemas import Estimate, Manifest
from ragstone.run.judging.scoring import metric_by_metric
from ragstone.run.judging.sharding import finished_judges

from .apply import (
    ByExample,
    FewExamples,
    JudgedRun,
    applied_kinds,
    apply_corrections,
    derived_from,
    estimated_again,
    read_few,
    sharing,
)
from .correction import DROPPED, Correction, JudgedUnit, Judgement, Row, Stamp, judgement_of, units
from .correction_checks import sayable

KEYS = ("example_id", "metric")
GIVEN = ("value", "label", "status", "reason")


class CorrectedRun:
    """A run with every correction of it, at one moment. No file of the judges changes.

    ``corrections`` are those of ``all`` that nobody took back: they are laid over the judgements.
    """

    def __init__(self, run: JudgedRun, stamp: Stamp, corrections: tuple[Correction, ...]) -> None:
        self.run, self.stamp, self.all = run, stamp, corrections
        self.corrections = [correction for correction in corrections if correction.undone is None]
        self._folder, self._form = run.folder, run.form

    @cached_property
    def by_example(self) -> ByExample:
        """The corrections of each example that they change: all that share what was judged."""
        subjects = {correction.subject for correction in self.corrections}
        shared = sharing(self._folder, subjects) if subjects else {}
        by_id: dict[str, list[Correction]] = {}
        for correction in self.corrections:
            for example in dict.fromkeys(
                [*shared.get((correction.ask, correction.subject), ()), correction.example]
            ):
                by_id.setdefault(example, []).append(correction)
        return by_id

    @property
    def form(self) -> Manifest:
        """The run's manifest, with a remark that it was corrected."""
        people = len({correction.author for correction in self.corrections})
        remark = reason("overruled", n=self.count, people=people, examples=len(self.by_example))
        signature = f"{self._form.signature}|overruled:{self.count}"
        update = {"remarks": [*self._form.remarks, remark], "signature": signature}
        return self._form.model_copy(update=update)

    @property
    def count(self) -> int:
        """Number of corrected judgements, each counted once."""
        return len({judgement_of(correction) for correction in self.corrections})

    def tables(self, tables: Tables) -> Tables:
        return apply_corrections(tables, self.by_example)

    def judgements(self, kind: str, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of a kind with people's in the place of those that counted.

        Args:
            rows: Of all judges, with ``ask`` and ``status``; the votes of a panel stay as cast.
        """
        asks = [ask.name for ask in KINDS[kind].asks]
        changing = self._changing.filter(pl.col("ask").is_in(asks))
        if changing.is_empty():
            return rows
        rows = rows.with_row_index("at")
        counting = rows.filter(pl.col("status") == "ok").join(changing, on=["example_id", "ask"])
        first = counting.group_by("example_id", "ask").agg(pl.col("at").min())
        ids, counted = self._laid.examples["id"], []
        for ask in changing["ask"].unique(maintain_order=True):
            frame = self._laid.of(ask)
            about = {"ask": pl.lit(ask), "status": pl.lit("ok")}
            counted.append(frame.with_columns(**about, example_id=ids.gather(frame["row"])))
        new = (
            pl.concat(frame.select(rows.drop("at").columns) for frame in counted)
            .join(changing, on=["example_id", "ask"], how="semi", maintain_order="left")
            .join(first, on=["example_id", "ask"], how="left", maintain_order="left")
            .with_columns(pl.col("at").fill_null(rows.height))
        )
        others = rows.join(counting.select("at"), on="at", how="anti", maintain_order="left")
        joined = pl.concat([others, new.select(others.columns)])
        return joined.sort("at", maintain_order=True).drop("at")

    def scores(self, scores: pl.DataFrame) -> pl.DataFrame:
        """The scores of the run, with those of the examples that the corrections change."""
        at = scores["example_id"].is_in(list(self.by_example)).arg_true()
        changed = scores[at].select(KEYS).with_columns(at=at)
        new = changed.join(self._scores, on=KEYS, maintain_order="left")
        return scores.with_columns(
            scores[name].clone().scatter(new["at"], new[name]) for name in GIVEN
        )

    @cached_property
    def estimates(self) -> tuple[Estimate, ...]:
        """The estimates, of which only those of metrics with a changed score are made again."""
        judged = self._folder.estimates()
        counts = {str(metric): self._corrected_for(metric) for metric in self._metrics}
        changed = [metric for metric in self._metrics if self._is_changed(metric)]
        anew = estimated_again(
            self._folder, self._form, changed, self.run.facets, self.scores, self.tables
        )
        again = {(estimate.metric, *estimate.group.items()): estimate for estimate in anew}
        estimates = []
        for estimate in judged:
            estimate = again.get((estimate.metric, *estimate.group.items()), estimate)
            if count := counts[estimate.metric]:
                signature = f"{estimate.signature}|overruled:{count}"
                estimate = replace(estimate, signature=signature)
            estimates.append(estimate)
        return tuple(estimates)

    @cached_property
    def _metrics(self) -> list[Metric]:
        return [_loaded(name, self._folder.path) for name in self._form.metrics]

    @cached_property
    def _laid(self) -> Tables:
        """Judgements of the examples that the corrections change, and of one other at least.

        Polars divides a single row by way of the reciprocal, so its last digit may be another than
        that of the same row among others.
        """
        ids = list(self.by_example)
        if len(ids) == 1:
            every = self._folder.read("examples", columns=["id"])["id"]
            ids.extend(every.filter(every != ids[0]).head(1))
        tables, _ = read_few(self._folder, ids, finished_judges(self._form))
        return apply_corrections(tables, self.by_example)

    @cached_property
    def _changing(self) -> pl.DataFrame:
        pairs = []
        for example, those in self.by_example.items():
            asks = {correction.ask for correction in those}
            pairs += [(example, ask) for ask in (*applied_kinds(asks), *derived_from(asks))]
        return pl.DataFrame(pairs, schema=["example_id", "ask"], orient="row").unique(
            maintain_order=True
        )

    @cached_property
    def _scores(self) -> pl.DataFrame:
        scores = score(self._laid, self._metrics, self._form.settings.partly_answered)
        return metric_by_metric(self._laid.examples.select(example_id="id"), scores, self._metrics)

    def _is_changed(self, metric: Metric) -> bool:
        if not self._corrected_for(metric):
            return False
        if isinstance(metric, Composite) and metric.over_means:
            return True
        before = self._folder.read(
            "scores", pl.col("metric") == str(metric),
            pl.col("example_id").is_in(list(self.by_example)), columns=["example_id", *GIVEN],
        )  # fmt: skip
        after = self._scores.filter(pl.col("metric") == str(metric)).select("example_id", *GIVEN)
        return not before.sort("example_id").equals(after.sort("example_id"))

    def _corrected_for(self, metric: Metric) -> int:
        asks = set(needed_asks([metric]))
        return len(
            {judgement_of(correction) for correction in self.corrections if correction.ask in asks}
        )

    def few(self, examples: Sequence[str]) -> FewExamples:
        """These examples as people's word leaves them."""
        tables, ledger = self.run.few(examples)
        return FewExamples(apply_corrections(tables, self.by_example), ledger)

    def units(self, example: str, asks: Sequence[Ask]) -> tuple[Example, list[JudgedUnit]]:
        """The example and its units, with those that a person dropped."""
        tables, ledger = self.few([example])
        (record,) = from_frame(tables.examples)
        judged_units = units(tables, ledger, asks)
        known = {(unit.ask, repr(unit.key)) for unit in judged_units}
        names = {ask.name for ask in asks}
        for by in self.by_example.get(example, ()):
            if by.said.get(DROPPED) and by.ask in names and (by.ask, repr(by.key)) not in known:
                row = {**by.was, **by.said, "judge": by.person, "subject": by.subject}
                judged_units.append(
                    JudgedUnit(by.ask, by.unit, by.key, (row,), by.subject, by.about)
                )
        return record, judged_units

    def correctable(self, example: str) -> tuple[Judgement, ...]:
        """The judgements of an example that a person can correct."""
        _, judged_units = self.units(example, list(ASKS.values()))
        shared = sharing(self.run.folder, {unit.subject for unit in judged_units})
        return tuple(
            Judgement(
                unit.ask, unit.name, values_of_unit(unit),
                judge=None if unit.row is None else str(unit.row["judge"]), version=unit.version,
                examples=tuple(shared.get((unit.ask, unit.subject), (example,))),
                correction=self.standing(unit),
            )
            for unit in judged_units
        )  # fmt: skip

    def standing(self, unit: JudgedUnit) -> Correction | None:
        """The latest correction of this judgement that was not taken back."""
        return next(
            (correction for correction in self._history(unit) if correction.undone is None), None
        )

    def check_seen(self, unit: JudgedUnit, seen: str | None) -> None:
        """Check that a judgement is the one that a person saw."""
        if seen is None or seen == unit.version:
            return
        deeds: list[tuple[str, str, Row | None]] = []
        for correction in self._history(unit):
            if (undone := correction.undone) is not None:
                deeds.append((undone.at, undone.author, None))
            deeds.append((correction.at, correction.author, dict(correction.said)))
        at, who, values = max(deeds, key=lambda deed: deed[0], default=(None, None, None))
        raise CorrectionConflict(
            unit.named, author=who, at=at, said=values, now=values_of_unit(unit),
            version=unit.version,
        )  # fmt: skip

    def _history(self, unit: JudgedUnit) -> list[Correction]:
        mine = judgement_of(unit)
        return [correction for correction in reversed(self.all) if judgement_of(correction) == mine]


def values_of_unit(unit: JudgedUnit) -> Row:
    if unit.row is None:
        return {}
    names = [*sayable(kind_of(unit.ask), ASKS[unit.ask]), DROPPED]
    return {name: unit.row[name] for name in names if name in unit.row}


def _loaded(name: str, run: Path) -> Metric:
    try:
        return read_metric(name)
    except UnknownName as error:
        load, alone = argument("metrics_from", "FILE"), argument("without_corrections", True)
        raise InputError(
            f"People corrected judgements of {run}, so some scores have to be computed again, and "
            f"{name} is a metric of your own that has to be loaded: {load}. To leave the "
            f"corrections out: {alone}."
        ) from error
