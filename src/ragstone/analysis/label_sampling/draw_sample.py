"""Sampling: which examples of a run people should label, and how likely each was to be drawn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ragstone.analysis.scored_run import Scored, known_metric
from ragstone.core.messages import plain, reason
from ragstone.stats.planning.sampling import Allocation
from ragstone.stats.weights_and_groups import Floats, Ints

from .asked_labels import shared_out
from .sample_designs import (
    By,
    RunUnits,
    SampleDesign,
    SampleStratum,
    check_design,
    draw_units,
    units_of,
    widths_of,
    without_undefined,
)

# Widths that are nearer to each other than this are as good as the same.
GAIN = 0.98


@dataclass(frozen=True, slots=True)
class SampleSettings:
    """The settings of a sample: the same settings give the same sample.

    What a way of drawing does not go by is None or empty.
    """

    run: str
    by: By
    metric: str | None
    threshold: float | None
    strata_of: tuple[str, ...]
    allocation: Allocation | None
    others: tuple[str, ...]
    cluster: str | None
    annotators: tuple[str, ...]
    overlap: float
    seed: int


@dataclass(frozen=True, eq=False)
class Sample:
    """Examples drawn from a run.

    Attributes:
        rows: In random order, with whole questions together: ``example_id``, ``question_id``,
            ``system``, ``stratum``, ``inclusion_probability`` and ``annotators``, who are to label
            it.
        settings: The arguments and the seed; the same settings give the same sample.
        questions: Number of whole questions, or values of the cluster field, drawn; None if
            examples were drawn.
        unit: What was drawn, in words: examples, questions, values of document_id.
        chances: Smallest and largest inclusion probability of any unit.
        widths: Expected widths of the 95 % interval of the metric's mean from as many labels, by
            design, the one used first. Empty without a metric, and for whole questions, because
            their examples may err together.
    """

    rows: pl.DataFrame
    strata: tuple[SampleStratum, ...]
    settings: SampleSettings
    examples: int
    questions: int | None
    unit: str
    chances: tuple[float, float]
    widths: Mapping[str, float]
    notes: tuple[str, ...]

    @property
    def effective(self) -> float:
        """The size of a simple random sample that is as informative (Kish)."""
        weights = 1 / self.rows["inclusion_probability"].to_numpy()
        return float(weights.sum() ** 2 / (weights @ weights))

    def to_dict(self) -> dict[str, Any]:
        strata = [
            {"name": stratum.name, "there": stratum.there, "drawn": stratum.drawn,
             "inclusion_probability": stratum.probability}
            for stratum in self.strata
        ]  # fmt: skip
        return {
            **plain(self.settings),
            "examples": self.examples,
            "n": self.rows.height,
            "questions": self.questions,
            "effective": self.effective,
            "chances": list(self.chances),
            "strata": strata,
            "expected_widths": [{"by": by, "width": width} for by, width in self.widths.items()],
            "items": self.rows.to_dicts(),
            "notes": list(self.notes),
        }


def draw_sample(
    scored: Scored,
    n: int,
    *,
    by: By = "random",
    metric: str | None = None,
    threshold: float = 0.5,
    strata: Sequence[str] = (),
    allocation: Allocation = "proportional",
    others: Sequence[Scored] = (),
    people: pl.DataFrame | None = None,
    whole_questions: bool = False,
    annotators: Sequence[str] = (),
    overlap: float = 0.0,
    seed: int = 0,
) -> Sample:
    """Draw examples of a run for people to label, each with a known probability above 0.

    Args:
        scored: The run, made with ``by=`` the fields in ``strata``.
        n: Number of examples, or with ``whole_questions`` of questions.
        by: ``random``: all with the same probability. ``stratified``: a set number from each
            stratum. ``near-threshold``: an example whose score is at the threshold is ten times as
            likely as the one farthest from it. ``disagreement``: an example on which runs or votes
            disagree most is ten times as likely as one on which they agree. ``error``: in
            proportion to how far people are expected to be from the judge's verdict, up to ten
            times. Ratios are smaller if the likeliest is certain to be drawn.
        metric: A metric of the run; needed except for random and for strata of fields. Examples for
            which it is undefined are not drawn.
        strata: Fields, and ``verdict`` for the judge's verdict on the metric.
        others: Runs of the same examples, for disagreement on the metric; without any, the votes
            within the run.
        people: Human labels so far: ``example_id``, ``people`` (their score) and ``weight``.
        whole_questions: Draw questions (the run's clusters) with all their examples.
        annotators: Names of the annotators; if empty, one annotator without a name.
        overlap: Share of the sample that goes to every annotator, in [0, 1]; the rest is divided
            evenly.
    """
    # Corrections are chosen by looking: a draw, and its probabilities, must not follow them.
    scored, others = scored.without_corrections(), [other.without_corrections() for other in others]
    metric = None if metric is None else known_metric(scored, metric)
    requested = SampleDesign(
        scored, n, by, metric, threshold, strata, allocation, others, people, whole_questions
    )
    check_design(requested)
    design, undefined = without_undefined(requested)
    units = units_of(design)
    rng = np.random.default_rng(seed)
    notes = [reason("undefined_not_drawn", n=undefined, metric=metric)] if undefined else []
    drawn, sample_strata, names = draw_units(design, units, rng, notes)
    widths = widths_of(design, drawn)
    picked = rng.permutation(drawn.picked)
    who = shared_out(len(picked), annotators, overlap, rng)
    chances = drawn.probability
    return Sample(
        rows=_rows(design.scored.facets, units, names, chances, picked, who),
        strata=sample_strata,
        settings=_settings(design, annotators, overlap, seed),
        examples=len(design.scored.facets),
        questions=len(picked) if whole_questions else None,
        unit=units.noun,
        chances=(float(chances.min()), float(chances.max())),
        widths=widths,
        notes=(*notes, *_notes(design, sample_strata, widths)),
    )


def _settings(
    design: SampleDesign, annotators: Sequence[str], overlap: float, seed: int
) -> SampleSettings:
    stratified = design.by == "stratified"
    by_score = design.metric is not None and design.by != "random"
    return SampleSettings(
        run=str(design.scored.run.path),
        by=design.by,
        metric=design.metric,
        threshold=design.threshold if by_score else None,
        strata_of=tuple(design.strata) if stratified else (),
        allocation=design.allocation if stratified else None,
        others=tuple(str(other.run.path) for other in design.others),
        cluster=design.scored.cluster if design.whole_questions else None,
        annotators=tuple(annotators),
        overlap=overlap if len(annotators) > 1 else 0.0,
        seed=seed,
    )


def _notes(
    design: SampleDesign, strata: Sequence[SampleStratum], widths: Mapping[str, float]
) -> Iterator[str]:
    if widths:
        chosen, best = widths[design.by], min(widths, key=widths.__getitem__)
        if design.people is None:
            yield "errors_not_known"
        if widths[best] < GAIN * chosen:
            yield reason("narrower_design", by=best, less=f"{1 - widths[best] / chosen:.2f}")
    if any(stratum.drawn == 1 < stratum.there for stratum in strata):
        yield "stratum_of_one"


def _rows(
    frame: pl.DataFrame, units: RunUnits, names: Sequence[str | None],
    chances: Floats, picked: Ints, who: Sequence[Sequence[str]],
) -> pl.DataFrame:  # fmt: skip
    order = np.full(units.size, -1)
    order[picked] = np.arange(len(picked))
    turn = order[units.place]
    return (
        frame.select("example_id", "question_id", "system")
        .with_columns(
            pl.Series("stratum", names, pl.String),
            pl.Series("inclusion_probability", chances[units.place]),
            pl.Series("turn", turn),
        )
        .filter(pl.col("turn") >= 0)
        .sort("turn", maintain_order=True)
        .with_columns(
            pl.Series("annotators", [list(who[at]) for at in np.sort(turn[turn >= 0])],
                      pl.List(pl.String))
        )
        .drop("turn")
    )  # fmt: skip
