"""Sampling: which examples of a run people should label, and how likely each was to be drawn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.argument import argument
from ragstone.decisions.known import known_metric
from ragstone.decisions.scored import Scored
from ragstone.errors import InputError, UnknownName
from ragstone.reason import reason
from ragstone.stats.planning.sampling import (
    Allocation,
    Drawn,
    allocate,
    draw_random,
    draw_stratified,
    draw_systematic,
    inclusion_probabilities,
)

from .annotators import shared_out
from .disagreement import among_votes, between_runs
from .expected_width import ExpectedWidth, expected_errors, expected_widths
from .strata import VERDICT, check_threshold, deviations, stratum_names

By = Literal["random", "stratified", "near-threshold", "disagreement", "error"]
WAYS: tuple[By, ...] = ("random", "stratified", "near-threshold", "disagreement", "error")
GAIN = 0.98
"""Widths that are nearer to each other than this are as good as the same."""

EMPHASIS = 10.0
"""How much likelier the most telling example is than the least; none has no chance at all."""

SAID = argument("people", "FILE")
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SampleStratum:
    """A part of the run that is drawn from by itself; units are examples or whole questions."""

    name: str
    there: int
    drawn: int

    @property
    def probability(self) -> float:
        """Of each unit."""
        return self.drawn / self.there


@dataclass(frozen=True, eq=False)
class Sample:
    """Examples drawn from a run.

    Attributes:
        rows: In random order, with whole questions together: ``example_id``, ``question_id``,
            ``system``, ``stratum``, ``inclusion_probability`` and ``annotators``, who are to
            label it.
        strata: Empty unless stratified.
        settings: The arguments and the seed; the same settings give the same sample.
        examples: Number of examples in the run.
        questions: Number of whole questions, or values of the cluster field, drawn; None if
            examples were drawn.
        unit: What was drawn, in words: examples, questions, values of document_id.
        chances: Smallest and largest inclusion probability of any unit.
        widths: Expected widths of the interval of the metric's mean from as many labels, by
            design, the one used first. Empty without a metric, and for whole questions, because
            their examples may err together.
        notes: Remarks for the user.
    """

    rows: pl.DataFrame
    strata: tuple[SampleStratum, ...]
    settings: Mapping[str, Any]
    examples: int
    questions: int | None
    unit: str
    chances: tuple[float, float]
    widths: tuple[ExpectedWidth, ...]
    notes: tuple[str, ...]

    @property
    def effective(self) -> float:
        """The size of a simple random sample that is as informative (Kish)."""
        weights = 1 / self.rows["inclusion_probability"].to_numpy()
        return float(weights.sum() ** 2 / (weights @ weights))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        strata = [
            {"name": one.name, "there": one.there, "drawn": one.drawn,
             "inclusion_probability": one.probability}
            for one in self.strata
        ]  # fmt: skip
        return {
            **self.settings,
            "examples": self.examples,
            "n": self.rows.height,
            "questions": self.questions,
            "effective": self.effective,
            "chances": list(self.chances),
            "strata": strata,
            "expected_widths": [one.to_dict() for one in self.widths],
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
            stratum. ``near-threshold``: an example whose score is at the threshold is ten
            times as likely as the one farthest from it. ``disagreement``: an example on which
            runs or votes disagree most is ten times as likely as one on which they agree.
            ``error``: in proportion to how far people are expected to be from the judge's
            verdict, up to ten times. Ratios are smaller if the likeliest is certain to be drawn.
        metric: A metric of the run; needed except for random and for strata of fields. Examples
            for which it is undefined are not drawn.
        threshold: Score at which the metric turns from no to yes.
        strata: Fields, and ``verdict`` for the judge's verdict on the metric.
        allocation: How many examples each stratum gets.
        others: Runs of the same examples, for disagreement on the metric; without any, the
            votes within the run.
        people: Human labels so far: ``example_id``, ``people`` (their score) and ``weight``.
        whole_questions: Draw questions (the run's clusters) with all their examples.
        annotators: Names of the annotators; if empty, one annotator without a name.
        overlap: Share of the sample that goes to every annotator, in [0, 1]; the rest is
            divided evenly.
        seed: Random seed; the same seed draws the same sample.

    Raises:
        InputError: The arguments do not fit together, or do not fit the run.
        UnknownName: The run does not have such a metric.
    """
    metric = None if metric is None else known_metric(scored, metric)
    _check(by, metric, threshold, strata, others, people, scored)
    notes = list[str]()
    if metric is not None:
        scored, undefined = _defined(scored, metric)
        if undefined:
            notes.append(reason("undefined_not_drawn", n=undefined, metric=metric))
    frame = scored.facets
    if n < 1:
        raise InputError(f"A sample needs at least one example, got {argument('n', n)}.")
    rng = np.random.default_rng(seed)
    units = _Units.of(frame, scored.cluster if whole_questions else None)
    if n > units.size:
        has = f"{units.size:,} {units.noun}"
        raise InputError(f"{argument('n', n)} is more than {scored.run.path} has: {has}.")
    found: tuple[SampleStratum, ...] = ()
    names: list[str | None] = [None] * len(frame)
    errors = None if metric is None else expected_errors(scored, metric, people)
    if by == "random":
        drawn = draw_random(units.size, n, rng)
    elif by == "stratified":
        known = stratum_names(scored, metric, threshold, strata)
        drawn, found = _stratified(scored, units, known, n, allocation, metric, rng)
        names = list(known)
    else:
        if by == "error":
            assert errors is not None
            weights = _floored(units.mean(errors))
        else:
            telling = _telling(scored, by, metric, threshold, others, notes)
            weights = EMPHASIS ** units.mean(telling)
        drawn = draw_systematic(inclusion_probabilities(weights, n), rng)
    widths: tuple[ExpectedWidth, ...] = ()
    if metric is not None and errors is not None and not whole_questions and errors.any():
        chances: dict[str, Floats] = {by: drawn.probability}
        chances |= _plain_designs(scored, metric, threshold, n)
        if people is not None:
            chances["error"] = inclusion_probabilities(_floored(errors), n)
        widths = expected_widths(errors, chances)
        notes += _advice(widths, known=people is not None)
    picked = rng.permutation(drawn.picked)
    who = shared_out(len(picked), annotators, overlap, rng)
    rows = _rows(frame, units, drawn, picked, names, who)
    settings = {
        "run": str(scored.run.path),
        "by": by,
        "metric": metric,
        "threshold": threshold if metric is not None and by != "random" else None,
        "strata_of": list(strata) if by == "stratified" else [],
        "allocation": allocation if by == "stratified" else None,
        "others": [str(one.run.path) for one in others],
        "cluster": scored.cluster if whole_questions else None,
        "annotators": list(annotators),
        "overlap": overlap if len(annotators) > 1 else 0.0,
        "seed": seed,
    }
    if by == "stratified" and any(one.drawn == 1 < one.there for one in found):
        notes.append("stratum_of_one")
    return Sample(
        rows=rows,
        strata=found,
        settings=settings,
        examples=len(frame),
        questions=len(picked) if whole_questions else None,
        unit=units.noun,
        chances=(float(drawn.probability.min()), float(drawn.probability.max())),
        widths=widths,
        notes=tuple(notes),
    )


def _defined(scored: Scored, metric: str) -> tuple[Scored, int]:
    """The run without the examples for which a metric is undefined, and how many these are."""
    out = scored.of(metric).filter(pl.col("status") == "undefined")["example_id"]
    if len(out) == len(scored.facets):
        raise InputError(f"{metric} is undefined for every example of {scored.run.path}.")
    return scored.without(out), len(out)


@dataclass(frozen=True, eq=False)
class _Units:
    """What is drawn: examples, or clusters with all theirs. ``place`` is each example's unit."""

    place: NDArray[np.int64]
    size: int
    noun: str

    @classmethod
    def of(cls, frame: pl.DataFrame, cluster: str | None) -> "_Units":
        """Whole values of the cluster field, or without one examples."""
        if cluster is None:
            return cls(np.arange(len(frame)), len(frame), "examples")
        names = frame["cluster"].unique(maintain_order=True)
        codes = dict(zip(names, range(len(names)), strict=True))
        noun = "questions" if cluster == "question_id" else f"values of {cluster}"
        return cls(np.array([codes[one] for one in frame["cluster"]]), len(names), noun)

    def mean(self, values: Floats) -> Floats:
        return np.bincount(self.place, weights=values) / np.bincount(self.place)


def _check(
    by: By,
    metric: str | None,
    threshold: float,
    strata: Sequence[str],
    others: Sequence[Scored],
    people: pl.DataFrame | None,
    scored: Scored,
) -> None:
    if by not in WAYS:
        raise UnknownName("way of sampling", by, WAYS, hint=f"There are {', '.join(WAYS)}.")
    if metric is not None and by == "near-threshold":
        check_threshold(scored, metric, threshold)
    faults = []
    if by == "stratified" and not strata:
        strata_of = argument("strata", "FIELD"), argument("strata", VERDICT)
        faults.append(f"{argument('by', by)} needs {' or '.join(strata_of)}")
    if by != "stratified" and strata:
        faults.append(f"{argument('strata')} goes with {argument('by', 'stratified')}")
    if by != "disagreement" and others:
        faults.append(f"{argument('others')} goes with {argument('by', 'disagreement')}")
    if by == "error" and people is None:
        faults.append(f"{argument('by', by)} goes by what people said of a first sample: {SAID}")
    if metric is None and (VERDICT in strata or by in ("near-threshold", "disagreement", "error")):
        what = argument("strata", VERDICT) if VERDICT in strata else argument("by", by)
        faults.append(f"{what} needs {argument('metric', 'METRIC')}")
    if faults:
        raise InputError(f"The sample cannot be drawn: {'; '.join(faults)}.")


def _floored(errors: Floats) -> Floats:
    """No example less likely than a tenth of the likeliest: an error may be there unseen."""
    return np.asarray(np.maximum(errors, errors.max() / EMPHASIS))


def _plain_designs(scored: Scored, metric: str, threshold: float, n: int) -> dict[str, Floats]:
    """The chances that other designs of as many examples would give, to compare with."""
    rows = len(scored.facets)
    values = scored.of(metric)["value"]
    distance = (values - threshold).abs()
    near = (1 - distance / (distance.max() or 1.0)).fill_null(0.0).to_numpy()
    return {
        "random": np.full(rows, n / rows),
        "near-threshold": inclusion_probabilities(EMPHASIS**near, n),
    }


def _advice(widths: Sequence[ExpectedWidth], *, known: bool) -> Iterator[str]:
    """Which design would give a narrower interval of the mean."""
    of = {one.by: one.width for one in widths}
    taken = widths[0]
    best = min(of, key=lambda by: of[by])
    if not known:
        yield "errors_not_known"
    if of[best] < GAIN * taken.width:
        yield reason("narrower_design", by=best, less=f"{1 - of[best] / taken.width:.2f}")


def _telling(
    scored: Scored,
    by: By,
    metric: str | None,
    threshold: float,
    others: Sequence[Scored],
    notes: list[str],
) -> Floats:
    """How much a label of each example tells, from 0 to 1; 0 where nothing is known."""
    assert metric is not None
    if by == "near-threshold":
        values = scored.of(metric)["value"]
        distance = (values - threshold).abs()
        farthest = distance.max()
        if farthest is None:
            raise InputError(
                f"{metric} has no value in {scored.run.path}, so no score is near the threshold."
            )
        closeness = 1 - distance / farthest if farthest else distance * 0 + 1
    else:
        spread = between_runs(scored, others, metric) if others else among_votes(scored, metric)
        most = spread.max()
        if most is None:
            raise InputError(
                f"No example has two verdicts on {metric} to compare, in "
                f"{', '.join(str(one.run.path) for one in (scored, *others))}."
            )
        closeness = spread / most if most else spread
        agreeing = int((spread == 0).sum())
        compared = len(spread) - spread.null_count()
        notes.append(reason("verdicts_agree", n=agreeing, examples=compared))
    if unknown := closeness.null_count():
        notes.append(reason("no_score_to_go_by", n=unknown))
    return closeness.fill_null(0.0).to_numpy().astype(np.float64)


def _stratified(
    scored: Scored,
    units: _Units,
    names: Sequence[str],
    n: int,
    allocation: Allocation,
    metric: str | None,
    rng: np.random.Generator,
) -> tuple[Drawn, tuple[SampleStratum, ...]]:
    known = sorted(set(names))
    codes = {name: code for code, name in enumerate(known)}
    of_rows = np.array([codes[name] for name in names])
    place = np.zeros(units.size, dtype=np.int64)
    place[units.place] = of_rows
    split = len(set(units.place[place[units.place] != of_rows].tolist()))
    if split:
        raise InputError(
            f"{split:,} {units.noun} have examples in several strata, so they cannot be drawn "
            f"whole. Stratify by a field that all examples of one share, or leave out "
            f"{argument('whole_questions')}."
        )
    sizes = np.bincount(place)
    if len(known) > n:
        raise InputError(
            f"There are {len(known):,} strata, and each needs a draw: "
            f"{argument('n', len(known))} at least, or fewer strata."
        )
    spread = None
    if allocation == "neyman":
        spread = deviations(scored, metric, units.place, place, len(known))
    wanted = allocate(sizes, n, allocation, deviations=spread)
    drawn = draw_stratified(place, wanted, rng)
    strata = zip(known, sizes.tolist(), wanted.tolist(), strict=True)
    return drawn, tuple(SampleStratum(*one) for one in strata)


def _rows(
    frame: pl.DataFrame,
    units: _Units,
    drawn: Drawn,
    picked: NDArray[np.int64],
    names: Sequence[str | None],
    who: Sequence[Sequence[str]],
) -> pl.DataFrame:
    order = np.full(units.size, -1)
    order[picked] = np.arange(len(picked))
    turn = order[units.place]
    return (
        frame.select("example_id", "question_id", "system")
        .with_columns(
            pl.Series("stratum", names, pl.String),
            pl.Series("inclusion_probability", drawn.probability[units.place]),
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
