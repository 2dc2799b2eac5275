"""Paired scores: statistics of the difference of two systems, and the change on each question."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl

from ragstone.analysis.scored_run import Scored, ValueRange
from ragstone.core.errors import UnknownName
from ragstone.core.messages import reason
from ragstone.run import Run
from ragstone.stats import Interval, ends_of, mean_interval
from ragstone.stats.comparison.differences import (
    mcnemar_exact,
    relative_change,
    standardised_difference,
)
from ragstone.stats.comparison.paired import (
    PairedDifference,
    difference_of,
    needed_pairs,
    paired_clusters,
    sign_flip_test,
)
from ragstone.stats.distributions import one_sided_p
from ragstone.stats.weights_and_groups import Bools, Floats, Ints

from .comparability import same_inputs_reason
from .compared_systems import (
    Side,
    Values,
    differences,
    matches_between,
    matches_within,
    values_between,
)
from .comparison_result import NARROW, NO_PAIR_DIFFERS, Comparison, PairedWinRate

Test = Literal["mcnemar_exact", "sign_flip_exact", "sign_flip"]

# All pairs differ alike, and the metric has no range to argue from.
ALL_ALIKE = "all_alike_without_a_range"


@dataclass(frozen=True, eq=False)
class Pairs:
    """The questions for which both systems have a value.

    Attributes:
        a: Shape (n,). Of the first system.
        undefined: Questions that both answered and of which one has no value by definition.
        partly: Pairs that rest on a part of a side's rows, for a judge owes the others.
    """

    a: Floats
    b: Floats
    cluster: Ints
    undefined: int
    missing: int
    partly: int = 0

    @classmethod
    def of(cls, a: Values, b: Values, both: Bools, clusters: Ints) -> "Pairs":
        """The pairs among the questions that both systems answered."""
        valued = both & a.valued & b.valued
        owed = both & ~valued & (a.missing | b.missing)
        missing = int(np.count_nonzero(owed))
        undefined = int(np.count_nonzero(both)) - int(np.count_nonzero(valued)) - missing
        partly = int(np.count_nonzero(valued & ((a.owed > 0) | (b.owed > 0))))
        return cls(a.value[valued], b.value[valued], clusters[valued], undefined, missing, partly)

    @cached_property
    def differences(self) -> Floats:
        """a - b."""
        return differences(self.a, self.b)

    @cached_property
    def number(self) -> Ints | None:
        """The cluster of each pair, counted from 0; None where each is one of its own."""
        clusters, number = np.unique(self.cluster, return_inverse=True)
        return None if len(clusters) == len(number) else number

    @cached_property
    def counts(self) -> Floats:
        """Pairs of each cluster."""
        return self.sums(np.ones(len(self.a)))

    @property
    def noun(self) -> str:
        return "pair" if self.number is None else "cluster"

    def sums(self, values: Floats) -> Floats:
        """Sum up the values of the pairs of each cluster."""
        if self.number is None:
            return values
        return np.bincount(self.number, values).astype(np.float64)


@dataclass(frozen=True, slots=True)
class ComparisonSettings:
    """The settings of a comparison."""

    level: float
    margin: float | None
    seed: int
    resamples: int

    @property
    def alpha(self) -> float:
        """The significance level."""
        return round(1 - self.level, 12)


def compare_pairs(
    about: Mapping[str, Any], pairs: Pairs, scale: ValueRange, settings: ComparisonSettings
) -> Comparison:
    """All statistics of the pairs, except the adjusted p-value and the verdict."""
    d = pairs.differences
    sums_a, sums_b = pairs.sums(pairs.a), pairs.sums(pairs.a - d)
    rate = scale.rate and bool(np.isin(pairs.a, (0, 1)).all() and np.isin(pairs.b, (0, 1)).all())

    clusters = paired_clusters(sums_a, sums_b, pairs.counts)

    def difference(level: float) -> PairedDifference:
        return difference_of(clusters, rate=rate, low=scale.low, high=scale.high, level=level)

    interval = difference(settings.level).interval
    # Both ends of the interval inside the margin are a test at alpha.
    narrow = difference(1 - 2 * settings.alpha).interval
    p, test = _tested(pairs, rate, settings)
    needed, why_none = _needed(pairs, sums_a, sums_b, rate, scale, settings)
    ahead = -d if scale.better == "-" else d
    wins, losses = int(np.count_nonzero(ahead > 0)), int(np.count_nonzero(ahead < 0))
    mean_a, mean_b = (float(values.mean()) if len(d) else None for values in (pairs.a, pairs.b))
    relative = None if mean_a is None or mean_b is None else relative_change(mean_a, mean_b)
    return Comparison(
        **{**about, **ends_of(interval), **ends_of(narrow, "equivalence_")},
        better=scale.better,
        value_a=mean_a,
        value_b=mean_b,
        difference=float(d.mean()) if len(d) else None,
        level=settings.level,
        method=None if interval is None else interval.method,
        p_equivalence=_equivalent(difference, settings.margin),
        p_equivalence_adjusted=None,
        p=p,
        p_adjusted=None,
        test=test,
        verdict="cannot_tell",
        margin=settings.margin,
        n_pairs=len(d),
        clusters=len(pairs.counts),
        n_undefined=pairs.undefined,
        n_missing=pairs.missing,
        wins=wins,
        ties=len(d) - wins - losses,
        losses=losses,
        win_rate=_win_rate(pairs, ahead, settings.level),
        effect_size=standardised_difference(d),
        relative_change=relative,
        n_needed=needed,
        n_needed_reason=why_none,
        reasons=_reasons(pairs, scale, settings, interval=interval is not None),
    )


def same_pairs(
    about: Mapping[str, Any], pairs: Pairs, scale: ValueRange, settings: ComparisonSettings
) -> Comparison:
    """The comparison of pairs with identical inputs and values: nothing is left to test."""
    nothing: dict[str, Any] = dict.fromkeys(
        ("low", "high", "method", "equivalence_low", "equivalence_high", "p", "test", "win_rate",
         "effect_size")
    )  # fmt: skip
    comparison = compare_pairs(about, pairs, scale, replace(settings, margin=None, resamples=1))
    same = replace(
        comparison,
        margin=settings.margin,
        verdict="same",
        reasons=(same_inputs_reason(0, comparison.n_pairs),),
        n_needed_reason="nothing_is_estimated",
    )
    return replace(same, **nothing)


def _equivalent(
    difference: Callable[[float], PairedDifference], margin: float | None
) -> float | None:
    """The larger p of two one-sided tests that the difference lies within the margin.

    Source: Schuirmann (1987), "A comparison of the two one-sided tests procedure and the power
    approach for assessing the equivalence of average bioavailability".
    """
    value = difference(0.5).value
    if margin is None or value is None:
        return None

    def at(level: float) -> Interval | None:
        return difference(level).interval

    above = one_sided_p(at, value, -margin, beyond="above")
    below = one_sided_p(at, value, margin, beyond="below")
    return None if above is None or below is None else max(above, below)


def outcomes(pairs: Pairs, scale: ValueRange) -> Floats:
    """1 where a is ahead, 0 where b is, .5 for a tie."""
    d = pairs.differences
    return np.asarray((np.sign(-d if scale.better == "-" else d) + 1) / 2)


def _needed(
    pairs: Pairs, sums_a: Floats, sums_b: Floats, rate: bool, scale: ValueRange,
    settings: ComparisonSettings,
) -> tuple[int | None, str | None]:  # fmt: skip
    if settings.margin is None:
        return None, "no_margin"
    if len(pairs.counts) < 2:
        return None, reason("fewer_than_two", noun=pairs.noun)
    if not pairs.differences.any():
        return None, NO_PAIR_DIFFERS
    needed = needed_pairs(
        sums_a, sums_b, pairs.counts, margin=settings.margin, rate=rate, low=scale.low,
        high=scale.high, level=settings.level,
    )  # fmt: skip
    if needed is None:
        return None, ALL_ALIKE
    return (None, NARROW) if needed <= len(pairs.a) else (needed, None)


def _tested(
    pairs: Pairs, rate: bool, settings: ComparisonSettings
) -> tuple[float | None, Test | None]:
    """The p-value of the appropriate test; none if no pair differs, because nothing is tested then.

    Given how far the systems lie apart on each question, such a test could not come out otherwise,
    so it does not count in a family either.

    Source: Tarone (1990), "A modified Bonferroni method for discrete data".
    """
    d = pairs.differences
    if not d.any():
        return None, None
    if rate and pairs.number is None:
        ahead, behind = int(np.count_nonzero(d > 0)), int(np.count_nonzero(d < 0))
        return mcnemar_exact(ahead, behind), "mcnemar_exact"
    p, exact = sign_flip_test(pairs.sums(d), seed=settings.seed, resamples=settings.resamples)
    return p, "sign_flip_exact" if exact else "sign_flip"


def _win_rate(pairs: Pairs, ahead: Floats, level: float) -> PairedWinRate | None:
    won = (np.sign(ahead) + 1) / 2
    mean = mean_interval(
        pairs.sums(won), pairs.counts, pairs.sums(won * won), rate=False, low=0, high=1, level=level
    )
    return None if mean.value is None else PairedWinRate(mean.value, **ends_of(mean.interval))


def _reasons(
    pairs: Pairs, scale: ValueRange, settings: ComparisonSettings, *, interval: bool
) -> tuple[str, ...]:
    d = pairs.differences
    if not len(d):
        undefined, missing = pairs.undefined or None, pairs.missing or None
        return (reason("no_pair_has_both", undefined=undefined, missing=missing),)
    reasons = []
    if len(pairs.counts) == 1:
        reasons.append(reason("one_cluster", noun=pairs.noun))
    elif not interval:
        reasons.append(ALL_ALIKE)
    differing = int(np.count_nonzero(pairs.sums(d)))
    least = 2.0 ** (1 - max(1, differing))
    if not d.any():
        reasons.append(NO_PAIR_DIFFERS)
    elif least > settings.alpha:
        reasons.append(reason("too_few_differ", n=differing, noun=pairs.noun, least=f"{least:.2g}"))
    if pairs.partly:
        reasons.append(reason("pairs_in_part", n=pairs.partly))
    if scale.better == "0":
        reasons.append("no_direction")
    return tuple(reasons)


Outcome = Literal["worse", "same", "better", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("worse", "same", "better", "failed")


def question_changes(
    run: Run, other: Run | None = None, *, a: str, b: str, metric: str
) -> pl.DataFrame:
    """A row for each question that both systems answered, those where a is worst against b first.

    ``question_id``; ``a`` and ``b``, what each scored, null if nothing; ``a_is`` and ``b_is``:
    value, undefined or missing, with ``a_why`` and ``b_why``; ``change``, a - b; and ``outcome``:
    better, worse, same, or failed where one of them has no value. They are the pairs that
    ``compare`` counts as wins, ties and losses, so of a metric without a better end, better is
    higher.
    """
    if other is None:
        matches = matches_within(Scored(run), b)
    else:
        matches, _ = matches_between(Scored(run), Scored(other, cluster="question_id"))
    match = next((each for each in matches if (each[0].name, each[1].name) == (a, b)), None)
    if match is None:
        known = [f"{first.name} with {second.name}" for first, second in matches]
        raise UnknownName("system to compare", a, known)
    first, rest = values_between(match, metric)
    valued = pl.Series(first.valued & rest.valued)
    change = pl.Series(differences(first.value, rest.value)).set(~valued, None)
    ahead = -change if match[0].scored.scale(metric).better == "-" else change
    outcome = [
        "failed" if way is None else OUTCOMES[1 + int(way)] for way in ahead.sign().to_list()
    ]
    return (
        pl.DataFrame({
            "question_id": match[0].questions.ids,
            **_said("a", match[0], first, metric),
            **_said("b", match[1], rest, metric),
            "change": change,
            "outcome": outcome,
            "ahead": ahead,
        })
        .filter(pl.Series(match[0].there & match[1].there))
        .sort("ahead", nulls_last=True, maintain_order=True)
        .drop("ahead")
    )  # fmt: skip


def _said(name: str, side: Side, values: Values, metric: str) -> dict[str, pl.Series]:
    """Return each question's score on one side, whether it has one, and why not.

    Of several answers to a question a missing one says why, otherwise the first without a value.
    """
    valued, missing = pl.Series(values.valued), pl.Series(values.missing)
    status = pl.Series(np.where(missing, "missing", np.where(valued, "value", "undefined")))
    rows = side.scored.of(metric)[side.rows].with_columns(place=side.places)
    owed = pl.col("status").fill_null("missing") == "missing"
    ordered = rows.sort(~owed, pl.col("reason").is_null(), maintain_order=True)
    reasons = dict(ordered.unique("place", keep="first").select("place", "reason").iter_rows())
    why = pl.Series(map(reasons.get, range(len(valued))), dtype=pl.String).set(valued, None)
    value = pl.Series(values.value).set(~valued, None)
    return {name: value, f"{name}_is": status, f"{name}_why": why}
