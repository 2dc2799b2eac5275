"""Sample designs: the ways to draw examples of a run, with strata and each unit's probability."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Literal

import numpy as np
import polars as pl

from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import argument, reason
from ragstone.judgements import ASKS, KINDS, Kind
from ragstone.metrics import needed_asks
from ragstone.stats.planning import sampling
from ragstone.stats.weights_and_groups import Floats, Ints, codes_of

from .asked_labels import expected_errors, expected_width


def between_runs(scored: Scored, others: Sequence[Scored], metric: str) -> pl.Series:
    """The range of each example's scores over the runs; null if fewer than two have one."""
    wide = scored.of(metric).select("example_id", pl.col("value").alias("0"))
    for number, other in enumerate(others, start=1):
        if metric not in other.metrics:
            raise UnknownName(f"metric of {other.run.path}", metric, other.metrics)
        scores = other.of(metric).select("example_id", pl.col("value").alias(str(number)))
        if wide.join(scores, on="example_id", how="semi").is_empty():
            raise InputError(f"{other.run.path} has none of the examples of {scored.run.path}.")
        wide = wide.join(scores, on="example_id", how="left", maintain_order="left")
    values = [pl.col(str(number)) for number in range(len(others) + 1)]
    n_scores = pl.sum_horizontal(value.is_not_null() for value in values)
    spread = pl.max_horizontal(values) - pl.min_horizontal(values)
    return wide.select(pl.when(n_scores > 1).then(spread).alias("spread"))["spread"]


def among_votes(scored: Scored, metric: str) -> pl.Series:
    """The share of minority votes for each example, over the judgements that the metric uses.

    Votes are those of a panel's members, repeats of a critique, both orders of a preference. Of
    ratings it is the greatest minus the least. Null where nobody voted.
    """
    known = scored.metric(metric)
    if known is None:
        other = argument("others", "RUN")
        raise InputError(
            f"{metric} is not loaded, so the judgements it needs are not known. Use {other}."
        )
    asks = needed_asks([known])
    kinds = [KINDS[name] for name in dict.fromkeys(ASKS[ask].kind for ask in asks)]
    parts = [_outvoted(scored, kind, asks) for kind in kinds if _decided(kind)]
    votes = pl.concat([pl.DataFrame(schema={"example_id": pl.String, "out": pl.Float64}), *parts])
    if votes.is_empty():
        raise InputError(
            f"{scored.run.path} holds no votes on {metric}: it was judged once. Name a run of "
            f"another judge with {argument('others', 'RUN')}, or judge by a panel "
            f"({argument('judge', 'openai:A,openai:B')})."
        )
    each = votes.group_by("example_id").agg(pl.col("out").mean())
    return scored.facets.join(each, on="example_id", how="left", maintain_order="left")["out"]


def _decided(kind: type[Kind]) -> list[str]:
    return [] if kind.made else kind.having("verdict") or kind.having("number")


def _outvoted(scored: Scored, kind: type[Kind], asks: Sequence[str]) -> pl.DataFrame:
    unit = kind.having("unit", "topic")
    one_judge_votes = kind.having("vote")
    statuses = ["vote", "ok"] if one_judge_votes else ["vote"]
    voters = scored.run.ledger().filter(
        pl.col("ask").is_in(list(asks)) & pl.col("status").is_in(statuses)
    )
    rows = scored.run.judgements(kind.name).join(
        voters.select("example_id", "judge", "subject").unique(),
        on=["example_id", "judge", "subject"],
        how="semi",
    )
    frames = []
    for column in _decided(kind):
        votes = pl.col(column).drop_nulls()
        numbers = rows.schema[column].is_float()
        most = votes.value_counts().struct.field("count").max()
        out = votes.max() - votes.min() if numbers else 1 - most / votes.len()
        frames.append(
            rows.filter(pl.col(column).is_not_null())
            .group_by("example_id", *unit)
            .agg(out=out.cast(pl.Float64), votes=pl.len())
            .filter(pl.col("votes") > 1)
            .select("example_id", "out")
        )
    return pl.concat(frames)


VERDICT = "verdict"
NEYMAN = argument("allocation", "neyman")


def stratum_names(
    scored: Scored, metric: str | None, threshold: float, strata: Sequence[str]
) -> list[str]:
    """The name of each example's stratum, such as ``system=a, verdict=1``."""
    columns = []
    for name in dict.fromkeys(strata):
        if name == VERDICT:
            assert metric is not None
            values = verdicts(scored, metric, threshold)
        elif name == "system":
            values = scored.facets["system"]
        else:
            values = scored.facets[f"by {name}"]
        columns.append([f"{name}={value}" for value in values])
    return [", ".join(parts) for parts in zip(*columns, strict=True)]


def check_threshold(scored: Scored, metric: str, threshold: float) -> None:
    """Refuse a threshold that no score can lie on both sides of."""
    scale = scored.scale(metric)
    low = -inf if scale.low is None else scale.low
    high = inf if scale.high is None else scale.high
    if isfinite(threshold) and low <= threshold <= high:
        return
    raise InputError(
        f"The scores of {metric} lie from {low:g} to {high:g}, so none turns from no to yes at "
        f"{threshold:g}: {argument('threshold', 'X')} says where they do."
    )


def verdicts(scored: Scored, metric: str, threshold: float) -> pl.Series:
    """Return the judge's word on each example: a label, 0 or 1, or a side of the threshold.

    ``undefined`` and ``missing`` are words of their own.
    """
    scores, cut = scored.of(metric), f"{threshold:g}"
    value = pl.col("value")
    binary = scores.select(value.is_in([0.0, 1.0]).all() | value.is_null().all()).item()
    side = (
        pl.when(value == 1).then(pl.lit("1")).otherwise(pl.lit("0"))
        if binary
        else pl.when(value >= threshold).then(pl.lit(f"≥{cut}")).otherwise(pl.lit(f"<{cut}"))
    )
    if not binary and scores.select((value.is_not_null() & pl.col("label").is_null()).any()).item():
        check_threshold(scored, metric, threshold)
    word = pl.when(pl.col("status") == "value").then(pl.coalesce("label", side)).otherwise("status")
    return scores.select(word.fill_null("missing").alias(VERDICT))[VERDICT]


def deviations(
    scored: Scored, metric: str | None, units: Ints, stratum_of: Ints, strata: int
) -> Floats:
    """Measure how much the judge's scores vary in each stratum, between its units.

    Args:
        units: Shape (rows,). The unit that each example belongs to.
        stratum_of: Shape (units,). The stratum of each unit.
    """
    if metric is None:
        needed = argument("metric", "METRIC")
        raise InputError(f"{NEYMAN} needs {needed}: whose scores vary how much.")
    values = scored.of(metric)["value"]
    known = values.is_not_null().to_numpy()
    at = units[known]
    counts = np.bincount(at, minlength=len(stratum_of))
    sums = np.bincount(at, weights=values.drop_nulls().to_numpy(), minlength=len(stratum_of))
    means, mean_strata = sums[counts > 0] / counts[counts > 0], stratum_of[counts > 0]
    within = (means[mean_strata == stratum] for stratum in range(strata))
    spreads = np.array([float(part.std()) if len(part) else 0.0 for part in within])
    if not spreads.any():
        raise InputError(
            f"{metric} does not vary inside the strata, so {NEYMAN} has nothing to go "
            "by. Take equal, or proportional."
        )
    return spreads


By = Literal["random", "stratified", "near-threshold", "disagreement", "error"]
WAYS: tuple[By, ...] = ("random", "stratified", "near-threshold", "disagreement", "error")

# How much likelier the most telling example is than the least; none has no chance at all.
EMPHASIS = 10.0

SAID = argument("people", "FILE")


@dataclass(frozen=True, slots=True)
class SampleStratum:
    """A part of the run that is drawn from by itself; units are examples or whole questions."""

    name: str
    there: int
    drawn: int

    @property
    def probability(self) -> float:
        """The probability of each unit."""
        return self.drawn / self.there


@dataclass(frozen=True, eq=False)
class SampleDesign:
    """The arguments of ``draw_sample``."""

    scored: Scored
    n: int
    by: By
    metric: str | None
    threshold: float
    strata: Sequence[str]
    allocation: sampling.Allocation
    others: Sequence[Scored]
    people: pl.DataFrame | None
    whole_questions: bool


@dataclass(frozen=True, eq=False)
class RunUnits:
    """The units to draw: examples, or whole clusters. ``place`` is each example's unit."""

    place: Ints
    size: int
    noun: str

    def mean(self, values: Floats) -> Floats:
        """Average the values of each unit's examples."""
        return np.bincount(self.place, weights=values) / np.bincount(self.place)


# The units that were drawn, the strata they come from, and that of each example.
DrawnUnits = tuple[sampling.Drawn, tuple[SampleStratum, ...], Sequence[str | None]]


def check_design(design: SampleDesign) -> None:
    """Refuse arguments that do not fit together, all at once."""
    by, metric, strata = design.by, design.metric, design.strata
    if by not in WAYS:
        raise UnknownName("way of sampling", by, WAYS, hint=f"There are {', '.join(WAYS)}.")
    if metric is not None and by == "near-threshold":
        check_threshold(design.scored, metric, design.threshold)
    faults = []
    if by == "stratified" and not strata:
        strata_of = argument("strata", "FIELD"), argument("strata", VERDICT)
        faults.append(f"{argument('by', by)} needs {' or '.join(strata_of)}")
    if by != "stratified" and strata:
        faults.append(f"{argument('strata')} goes with {argument('by', 'stratified')}")
    if by != "disagreement" and design.others:
        faults.append(f"{argument('others')} goes with {argument('by', 'disagreement')}")
    if by == "error" and design.people is None:
        faults.append(f"{argument('by', by)} goes by what people said of a first sample: {SAID}")
    if metric is None and (VERDICT in strata or by in ("near-threshold", "disagreement", "error")):
        what = argument("strata", VERDICT) if VERDICT in strata else argument("by", by)
        faults.append(f"{what} needs {argument('metric', 'METRIC')}")
    if faults:
        raise InputError(f"The sample cannot be drawn: {'; '.join(faults)}.")


def without_undefined(design: SampleDesign) -> tuple[SampleDesign, int]:
    """The same for a run without the examples for which the metric is undefined, and how many."""
    scored, metric = design.scored, design.metric
    if metric is None:
        return design, 0
    out = scored.of(metric).filter(pl.col("status") == "undefined")["example_id"]
    if len(out) == len(scored.facets):
        raise InputError(f"{metric} is undefined for every example of {scored.run.path}.")
    return replace(design, scored=scored.without(out)), len(out)


def units_of(design: SampleDesign) -> RunUnits:
    """The units to draw from."""
    scored, n = design.scored, design.n
    if n < 1:
        raise InputError(f"A sample needs at least one example, got {argument('n', n)}.")
    units = RunUnits(np.arange(len(scored.facets)), len(scored.facets), "examples")
    if design.whole_questions:
        clusters = scored.facets["cluster"]
        of = scored.cluster
        noun = "questions" if of == "question_id" else f"values of {of}"
        units = RunUnits(codes_of(clusters.to_list()), clusters.n_unique(), noun)
    if n > units.size:
        has = f"{units.size:,} {units.noun}"
        raise InputError(f"{argument('n', n)} is more than {scored.run.path} has: {has}.")
    return units


def draw_units(
    design: SampleDesign, units: RunUnits, rng: np.random.Generator, notes: list[str]
) -> DrawnUnits:
    """Draw units as the design says."""
    if design.by == "stratified":
        return _stratified(design, units, rng)
    if design.by == "random":
        drawn = sampling.draw_random(units.size, design.n, rng)
    else:
        if design.by == "error":
            assert design.metric is not None
            errors = expected_errors(design.scored, design.metric, design.people)
            weights = _floored(units.mean(errors))
        else:
            weights = EMPHASIS ** units.mean(_telling(design, notes))
        drawn = sampling.draw_systematic(sampling.inclusion_probabilities(weights, design.n), rng)
    return drawn, (), [None] * len(units.place)


def widths_of(design: SampleDesign, drawn: sampling.Drawn) -> dict[str, float]:
    """Expect how wide the interval of the metric's mean is going to be, by this and other designs.

    Empty without a metric, where nothing varies, and for whole questions, whose examples may err
    together.
    """
    if design.metric is None or design.whole_questions:
        return {}
    errors = expected_errors(design.scored, design.metric, design.people)
    if not errors.any():
        return {}
    rows, n = len(design.scored.facets), design.n
    near = closeness(design.scored, design.metric, design.threshold).fill_null(0.0).to_numpy()
    chances: dict[str, Floats] = {design.by: drawn.probability}
    chances |= {"random": np.full(rows, n / rows),
                "near-threshold": sampling.inclusion_probabilities(EMPHASIS**near, n)}  # fmt: skip
    if design.people is not None:
        chances["error"] = sampling.inclusion_probabilities(_floored(errors), design.n)
    return {by: expected_width(errors, chance) for by, chance in chances.items()}


def _floored(errors: Floats) -> Floats:
    """No example less likely than a tenth of the likeliest: an error may be there unseen."""
    return np.asarray(np.maximum(errors, errors.max() / EMPHASIS))


def closeness(scored: Scored, metric: str, threshold: float) -> pl.Series:
    """1 for scores at the threshold, 0 for the farthest; null where there is no score."""
    distance = (scored.of(metric)["value"] - threshold).abs()
    return 1 - distance / (distance.max() or 1.0)


def _telling(design: SampleDesign, notes: list[str]) -> Floats:
    assert design.metric is not None
    scored, metric, others = design.scored, design.metric, design.others
    if design.by == "near-threshold":
        near = closeness(scored, metric, design.threshold)
        if not near.count():
            raise InputError(
                f"{metric} has no value in {scored.run.path}, so no score is near the threshold."
            )
    else:
        spread = between_runs(scored, others, metric) if others else among_votes(scored, metric)
        most = spread.max()
        if most is None:
            raise InputError(
                f"No example has two verdicts on {metric} to compare, in "
                f"{', '.join(str(run.run.path) for run in (scored, *others))}."
            )
        near = spread / most if most else spread
        agreeing = int((spread == 0).sum())
        compared = len(spread) - spread.null_count()
        notes.append(reason("verdicts_agree", n=agreeing, examples=compared))
    if unknown := near.null_count():
        notes.append(reason("no_score_to_go_by", n=unknown))
    return near.fill_null(0.0).to_numpy().astype(np.float64)


def _stratified(design: SampleDesign, units: RunUnits, rng: np.random.Generator) -> DrawnUnits:
    scored, metric, n = design.scored, design.metric, design.n
    names = stratum_names(scored, metric, design.threshold, design.strata)
    known = sorted(set(names))
    codes = {name: code for code, name in enumerate(known)}
    of_rows = np.array([codes[name] for name in names])
    stratum_of = np.zeros(units.size, dtype=np.int64)
    stratum_of[units.place] = of_rows
    split = len(set(units.place[stratum_of[units.place] != of_rows].tolist()))
    if split:
        raise InputError(
            f"{split:,} {units.noun} have examples in several strata, so they cannot be drawn "
            f"whole. Stratify by a field that all examples of one share, or leave out "
            f"{argument('whole_questions')}."
        )
    sizes = np.bincount(stratum_of)
    if len(known) > n:
        raise InputError(
            f"There are {len(known):,} strata, and each needs a draw: "
            f"{argument('n', len(known))} at least, or fewer strata."
        )
    spread = None
    if design.allocation == "neyman":
        spread = deviations(scored, metric, units.place, stratum_of, len(known))
    rows = sampling.allocate(sizes, n, design.allocation, deviations=spread)
    drawn = sampling.draw_stratified(stratum_of, rows, rng)
    strata = zip(known, sizes.tolist(), rows.tolist(), strict=True)
    return drawn, tuple(SampleStratum(*stratum) for stratum in strata), names
