"""Sample sizes: questions for a mean or comparison, from a pilot run, and labels still needed."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import ceil, log2
from typing import Any

import polars as pl

from ragstone.analysis.scored_run import Scored, known_metric, known_system, mean_of
from ragstone.annotation.label_names import Ends, named
from ragstone.annotation.label_table import LabelTable
from ragstone.core.errors import InputError
from ragstone.core.messages import argument, call, reason
from ragstone.stats import ends_of
from ragstone.stats.planning.mcnemar_power import (
    doubt_of_deviation,
    doubt_of_share,
    inflation,
    mcnemar_detectable,
    mcnemar_inflation,
    mcnemar_power,
    mcnemar_sample_size,
)
from ragstone.stats.planning.sample_size import (
    Pilot,
    detectable_difference,
    equivalence_margin,
    mean_sample_size,
    paired_power,
    paired_sample_size,
    pilot,
    rate_half_width,
    rate_sample_size,
)
from ragstone.stats.weights_and_groups import kish_size

from .label_sizes import FEWEST


@dataclass(frozen=True, slots=True)
class LabelsLeft:
    """The number of labels that a mean still needs.

    Attributes:
        half_width: Of the interval that is wanted, in the unit of the label.
        so_far: How many examples, or parts of them, have a label on which people are not split.
        needed: How many it takes in all; None if that cannot be told.
    """

    label: str
    half_width: float
    so_far: int
    needed: int | None
    why: str | None = None


def labels_left(
    table: LabelTable,
    *,
    half_width: float,
    clusters: Mapping[str, Hashable] | None = None,
    ends: Mapping[str, Ends] | None = None,
) -> tuple[LabelsLeft, ...]:
    """Count the labels that the mean of each label still needs, without a judge's help.

    With a judge's scores of all examples it takes fewer, see ``label_size``.

    Planned with the labels so far as a pilot, for an interval for one look that is no wider on
    average: of labels in words for the share that needs the most, of numbers for the mean, if their
    ends are known. Where some were likelier to be labelled than others, as many more as such labels
    are worth less.

    Args:
        table: The labels so far; those on which people are split are left out.
        half_width: Of the interval that is wanted; of numbers the share of their range.
        ends: For a label that is a number the least and the greatest that can be said.
    """
    combined = table.adjudicated().filter(~pl.col("tie"))
    sizes = []
    for (kind, column), scale in table.scales.items():
        rows = combined.filter(pl.col("kind") == kind, pl.col("column") == column)
        name = named(kind, column).shown
        if scale == "nominal":
            least, most, values = 0.0, 1.0, _shares(rows["value"])
        elif name in (ends or {}):
            (least, most), values = (ends or {})[name], rows["number"]
        else:
            continue
        shares = (values - least) / (most - least)
        needed, why = _needed(rows, shares, clusters or {}, half_width, scale == "nominal")
        sizes.append(LabelsLeft(name, half_width * (most - least), rows.height, needed, why))
    return tuple(sizes)


def _shares(words: pl.Series) -> pl.Series:
    counts = words.value_counts()
    apart = (pl.col("count") - len(words) / 2).abs()
    nearest = counts.sort(apart, "value").head(1)["value"]
    return words.is_in(nearest.implode()).cast(pl.Float64)


def _needed(
    rows: pl.DataFrame, shares: pl.Series, clusters: Mapping[str, Hashable], half_width: float,
    of_words: bool,
) -> tuple[int | None, str | None]:  # fmt: skip
    of = pl.Series([str(clusters.get(id, f"\0{id}")) for id in rows["example_id"]], dtype=pl.String)
    if of.n_unique() < FEWEST:
        return None, reason("too_few_to_plan", n=of.n_unique(), least=FEWEST)
    first = pilot(shares.to_numpy(), of.to_numpy())
    size = mean_sample_size(first, half_width, rate=of_words, low=0.0, high=1.0)
    assert size is not None, "shares have two ends"
    chances = rows["inclusion_probability"]
    worth = 1.0 if chances.null_count() else kish_size(1 / chances.to_numpy()) / rows.height
    return round(size.rows / worth), None


ROUNDING = 1e-9
# With fewer questions than this, the variance of a pilot is only a guess.
FEW = 20

# The codes for why no size can be given.
TOO_FEW = "fewer_than_two_scored"
NO_VARIATION = "scores_do_not_vary"


@dataclass(frozen=True, slots=True)
class RateSize:
    """The independent rows that a rate needs, and the half-widths for other numbers of rows."""

    rate: float
    half_width: float
    level: float
    rows: int
    steps: tuple[tuple[int, float], ...]
    """Pairs of rows and half-width, including the wanted one."""

    def to_dict(self) -> dict[str, Any]:
        steps = [{"rows": rows, "half_width": half} for rows, half in self.steps]
        return {"plan": "rate", **asdict(self), "steps": steps}


@dataclass(frozen=True, slots=True)
class MeanSize:
    """The rows that the mean of a metric needs for one system.

    ``rows_now``, ``questions_now``, ``value``, ``low`` and ``high`` describe the pilot; ``rows``
    and ``questions`` are what is needed, or None, and then ``reason`` says why. ``questions``
    counts clusters and equals ``rows`` if each has one row.
    """

    metric: str
    system: str
    value: float | None
    low: float | None
    high: float | None
    rows_now: int
    questions_now: int
    deviation: float | None
    design_effect: float | None
    half_width: float
    level: float
    rows: int | None
    questions: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class PairedSize:
    """The questions needed to detect a difference between two systems on a metric.

    ``pairs_now`` questions have scores for both systems, ``left_out`` do not. ``difference_now`` is
    a - b in the pilot, ``deviation`` its standard deviation over questions. ``difference`` is the
    difference to detect, and ``pairs`` the questions that detect it with probability ``power``;
    ``detectable`` is the difference that ``at`` questions detect. ``margin`` is the smallest margin
    at which ``at`` questions show two truly equal systems as equivalent, with probability
    ``power``. ``test`` is the test that ``compare`` makes, at 1 - ``level`` over a ``family`` of
    tests; ``reason`` says why a number is absent.
    """

    metric: str
    a: str
    b: str
    pairs_now: int
    left_out: int
    difference_now: float | None
    deviation: float | None
    power: float
    level: float
    difference: float | None
    pairs: int | None
    power_now: float | None
    at: int | None
    detectable: float | None
    margin: float | None
    reason: str | None
    test: str = "sign_flip"
    family: int = 1


def rate_size(rate: float, half_width: float, *, level: float = 0.95) -> RateSize:
    """Rows needed for a rate with the wanted half-width, and with wider and narrower ones."""
    rows = rate_sample_size(rate, half_width, level=level)
    halves = [half_width * factor for factor in (2, 1.5, 1, 0.75, 0.5)]
    counts = sorted({rate_sample_size(rate, half, level=level) for half in halves if half < 0.5})
    steps = tuple((count, rate_half_width(rate, count, level=level)) for count in counts)
    return RateSize(rate, half_width, level, rows, steps)


def mean_sizes(
    scored: Scored,
    metrics: Sequence[str],
    half_width: float,
    *,
    systems: Sequence[str] = (),
    level: float = 0.95,
) -> list[MeanSize]:
    """For each metric and system, the number of questions that gives the wanted half-width.

    Args:
        scored: The pilot run, of which all metrics and systems are taken where none are named.
        half_width: Wanted half-width, in the unit of the metrics.
    """
    names = chosen(scored, metrics)
    systems = [known_system(scored, name) for name in dict.fromkeys(systems)] or scored.systems
    sizes = []
    for metric, system in product(names, systems):
        is_valued = (pl.col("system") == system) & (pl.col("status") == "value")
        rows, scale = scored.of(metric).filter(is_valued), scored.scale(metric)
        now = mean_of(rows, scale, level=level)
        first = size = None
        if now.clusters > 1:
            first = pilot(rows["value"].to_numpy(), rows["cluster"].to_numpy())
            size = mean_sample_size(
                first, half_width, rate=scale.rate, low=scale.low, high=scale.high, level=level
            )
        sizes.append(MeanSize(
            metric=metric,
            system=system,
            value=now.value,
            **ends_of(now.interval),
            rows_now=now.n,
            questions_now=now.clusters,
            deviation=None if first is None else first.deviation,
            design_effect=None if first is None else first.design_effect,
            half_width=half_width,
            level=level,
            rows=None if size is None else size.rows,
            questions=None if size is None else size.clusters or size.rows,
            reason=TOO_FEW if first is None else NO_VARIATION if size is None else None,
        ))  # fmt: skip
    return sizes


def paired_sizes(
    scored: Scored,
    metrics: Sequence[str],
    *,
    difference: float | None = None,
    n: int | None = None,
    baseline: str | None = None,
    power: float = 0.8,
    level: float = 0.95,
    single: bool = False,
) -> list[PairedSize]:
    """For each metric and pair of systems, the questions that detect a difference, or the reverse.

    Plans for the test that ``compare`` makes: McNemar's exact test for rates of single answers,
    otherwise its permutation test, which has the power of Student's t. All metrics of the run and
    all pairs of systems form one family, so each test has its share of the level. The number needed
    keeps the power on average, given the uncertainty of the pilot's variance.

    Args:
        difference: Difference to detect, in the unit of the metrics; None: only compute which
            difference can be detected.
        n: Number of questions; None: as many as the pilot has.
        baseline: Compare the other systems with this one; None: compare all pairs, the system that
            comes first in the data minus the later one, as ``compare`` does.
        level: 1 minus the significance level of all tests together.
        single: Plan for a single test, as ``compare`` makes for one metric and two systems.
    """
    systems = scored.systems
    if len(systems) < 2:
        raise InputError(
            f"{scored.run.path} has one system, {', '.join(systems) or 'none'}: a comparison needs "
            f"two. For one mean: {call('mean_sizes')}."
        )
    if baseline is not None:
        known_system(scored, baseline)
    if n is not None and n < 2:
        raise InputError(f"A comparison needs at least two questions, got {argument('n', n)}.")
    pairs = [
        (a, b) for at, a in enumerate(systems) for b in systems[at + 1 :] if baseline is None
    ] or [(a, str(baseline)) for a in systems if a != baseline]
    family = looked_at = 1
    if not single:
        everything = [(name, *pair) for name in chosen(scored, ()) for pair in pairs]
        tables = (differences(scored, *each)[0] for each in everything)
        family = max(1, sum(bool((table["difference"] != 0).any()) for table in tables))
        looked_at = len(everything)
    return [
        _paired_size(scored, metric, a, b, difference, n, power, level, family, looked_at)
        for metric in chosen(scored, metrics)
        for a, b in pairs
    ]


def chosen(scored: Scored, metrics: Sequence[str]) -> Sequence[str]:
    """The named metrics of the run, or by default all that have a value."""
    names = dict.fromkeys(known_metric(scored, metric) for metric in metrics)
    return list(names) or [name for name in scored.metrics if scored.of(name)["value"].count()]


def differences(scored: Scored, metric: str, a: str, b: str) -> tuple[pl.DataFrame, int]:
    """a - b for each question with scores for both systems, and the number of other questions.

    Several answers of a system to one question are averaged. Columns ``cluster``, ``a``, ``b`` and
    ``difference``.
    """
    rows = scored.of(metric).filter(pl.col("system").is_in([a, b]))
    by_question = rows.group_by("question_id", maintain_order=True).agg(
        pl.col("cluster").first(),
        a=pl.col("value").filter(pl.col("system") == a).mean(),
        b=pl.col("value").filter(pl.col("system") == b).mean(),
    )
    both = by_question.drop_nulls(["a", "b"])
    pairs = both.select("cluster", "a", "b", difference=pl.col("a") - pl.col("b"))
    return pairs, by_question.height - pairs.height


def _paired_size(
    scored: Scored, metric: str, a: str, b: str, difference: float | None, n: int | None,
    power: float, level: float, family: int, looked_at: int,
) -> PairedSize:  # fmt: skip
    pairs, left_out = differences(scored, metric, a, b)
    alone = 1 - (1 - level) / family
    values = pl.concat([pairs["a"], pairs["b"]])
    exact = (
        scored.scale(metric).rate
        and pairs["cluster"].n_unique() == pairs.height
        and bool(values.is_in([0.0, 1.0]).all())
    )
    first: Pilot | None = None
    if pairs["cluster"].n_unique() > 1:
        first = pilot(pairs["difference"].to_numpy(), pairs["cluster"].to_numpy())
    why = TOO_FEW if first is None else None if first.cluster_deviation > 0 else NO_VARIATION
    record: dict[str, Any] = dict.fromkeys(("pairs", "power_now", "at", "detectable", "margin"))
    if first is not None and why is None:
        at = first.rows if n is None else n
        differing = float((pairs["difference"] != 0).to_numpy().mean())
        plan = _by_mcnemar if exact else _by_sign_flips
        planned = plan(first, differing, difference, at, power, alone)
        record |= dict(zip(("detectable", "pairs", "power_now"), planned, strict=True), at=at)
        low, high = scored.scale(metric).low, scored.scale(metric).high
        record["margin"] = equivalence_margin(
            first.cluster_deviation,
            max(2, round(at / first.rows_per_cluster)),
            power=power,
            level=1 - (1 - level) / looked_at,
            unseen=0.0 if exact or low is None or high is None else high - low,
        )
        if record["detectable"] is None:
            why = reason("too_few_for_any", n=at)
    return PairedSize(
        metric=metric,
        a=a,
        b=b,
        pairs_now=pairs.height,
        left_out=left_out,
        difference_now=pairs["difference"].mean() if pairs.height else None,  # type: ignore[arg-type]
        deviation=None if first is None else first.deviation,
        power=power,
        level=level,
        difference=difference,
        reason=why,
        test="mcnemar_exact" if exact else "sign_flip",
        family=family,
        **record,
    )


# Detectable difference, pairs needed, power now; without a wanted difference the rest is None.
Planned = tuple[float | None, int | None, float | None]


def _by_mcnemar(
    first: Pilot, differing: float, difference: float | None, at: int, power: float, level: float
) -> Planned:

    def factor(by: float) -> float:
        doubt = doubt_of_share(round(differing * first.rows), first.rows, least=by)
        return mcnemar_inflation(by, max(differing, by), doubt, power=power, level=level)

    detectable = mcnemar_detectable(
        differing, at, power=power, level=level, worth=lambda by: max(1, int(at / factor(by)))
    )
    if difference is None:
        return detectable, None, None
    by = abs(difference)
    if by > 1:
        raise InputError(f"Two rates differ by 1 at most, got {difference:g}.")
    most = max(differing, by)
    sure = mcnemar_sample_size(by, most, power=power, level=level)
    now = mcnemar_power(by, most, first.rows, level=level)
    return detectable, ceil(factor(by) * sure), now


def _by_sign_flips(
    first: Pilot, differing: float, difference: float | None, at: int, power: float, level: float
) -> Planned:
    """Plan a t test with no fewer clusters than a permutation test needs for so small a p."""
    spread, each = first.cluster_deviation, first.rows_per_cluster
    least = ceil((1 + log2(1 / (1 - level))) / min(1.0, differing * each))
    factor = inflation(doubt_of_deviation(first.clusters), power=power, level=level)
    clusters = max(2, round(at / each))
    worth = max(2, int(clusters / factor + ROUNDING))
    detectable = None
    if clusters >= least:
        detectable = detectable_difference(spread, worth, power=power, level=level)
    if difference is None:
        return detectable, None, None
    sure = paired_sample_size(difference, spread, power=power, level=level)
    needed = max(least, ceil(factor * sure - ROUNDING))
    enough = first.clusters >= least
    now = paired_power(difference, spread, first.clusters, level=level) if enough else 0.0
    return detectable, ceil(needed * each - ROUNDING), now
