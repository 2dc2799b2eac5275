"""Comparison results: verdict and numbers for two systems, and a ranking by paired wins."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ragstone.analysis.calibration.checked_run import CheckedRun, CorrectedMean
from ragstone.core.messages import Displayable, plain, reason
from ragstone.stats import ends_of
from ragstone.stats.comparison.preference_models import bradley_terry
from ragstone.stats.weights_and_groups import Floats, Ints

Verdict = Literal["better", "worse", "equivalent", "same", "cannot_tell"]
Better = Literal["+", "-", "0"]

# Values that differ by less, relatively, are the same but for rounding.
TIE = 1e-12


def verdict_of(
    difference: float | None,
    *,
    p_equivalence: float | None,
    p: float | None,
    better: Better,
    alpha: float = 0.05,
) -> Verdict:
    """The verdict on system a compared with system b, for different inputs.

    ``equivalent`` if p_equivalence is at most alpha; then ``better`` or ``worse``, if p is; else
    ``cannot_tell``. Of a metric that has no better end, a difference is neither better nor worse.

    Args:
        difference: a - b; None where no pair has both values.
        p_equivalence: Of two one-sided tests that it lies inside ±margin, adjusted for all that are
            looked at; None without a margin or an interval.
        p: Two-sided, adjusted likewise; None where there is no test.

    Source: Schuirmann (1987), the two one-sided tests procedure, for equivalence.
    """
    if p_equivalence is not None and p_equivalence <= alpha:
        return "equivalent"
    if difference is None or p is None or p > alpha or better == "0" or difference == 0:
        return "cannot_tell"
    return "better" if (difference > 0) == (better == "+") else "worse"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A system's place on one metric.

    ``strength`` is the log-odds of beating a system of average strength, ``win_probability`` the
    same as a probability; both are None, and ``reason`` says why, where no finite strengths fit.
    ``win_share`` is what share of its comparisons it won, a tie counted half.
    """

    metric: str
    system: str
    strength: float | None
    low: float | None
    high: float | None
    win_probability: float | None
    win_low: float | None
    win_high: float | None
    win_share: float
    n: int
    method: str | None
    reason: str | None


# By two systems, outcome and cluster of their pairs: 1 where the first wins, 0 where the second
# does, .5 for a tie.
Games = dict[tuple[str, str], tuple[Floats, Ints]]


def ranking(metric: str, games: Games, *, level: float) -> list[Ranked]:
    """The systems of a metric, the strongest first."""
    systems = list(dict.fromkeys(name for pair in games for name in pair))
    number = {name: at for at, name in enumerate(systems)}
    outcome, cluster = map(np.concatenate, zip(*games.values(), strict=True))
    first, second = (
        np.concatenate([np.full(len(of[0]), number[pair[side]]) for pair, of in games.items()])
        for side in (0, 1)
    )
    fit = bradley_terry(first, second, outcome, cluster, systems=len(systems), level=level)
    size = len(systems)
    played = np.bincount(first, minlength=size) + np.bincount(second, minlength=size)
    won = np.bincount(first, outcome, size) + np.bincount(second, 1 - outcome, size)
    ranked = []
    for name, at in number.items():
        strength = None if fit.strengths is None else fit.strengths[at]
        interval = None if strength is None else strength.interval
        ranked.append(Ranked(
            metric, name,
            None if strength is None else strength.value,
            **ends_of(interval),
            win_probability=None if strength is None else strength.win_probability,
            win_low=None if strength is None else strength.win_low,
            win_high=None if strength is None else strength.win_high,
            win_share=float(won[at] / max(1, played[at])),
            n=int(played[at]),
            method=None if interval is None else interval.method,
            reason=fit.reason,
        ))  # fmt: skip
    return sorted(ranked, key=lambda row: (-(row.strength or 0.0), -row.win_share))


Adjust = Literal["holm", "bh"]

# From fewer a verdict is rough.
FEW_PAIRS = 10


@dataclass(frozen=True, slots=True)
class PairedWinRate:
    """Share of pairs that a wins, a tie counted half, with its interval."""

    value: float
    low: float | None
    high: float | None


NARROW = "narrow_already"
NO_PAIR_DIFFERS = "no_pair_differs"


@dataclass(frozen=True, slots=True)
class Comparison:
    """System a against system b on one metric, over the questions both answered.

    ``difference`` is a - b in the metric's unit, averaged over ``n_pairs`` pairs; ``value_a`` and
    ``value_b`` are the means over the same pairs. ``equivalence_low`` and ``equivalence_high`` are
    its interval at the level of one test of equivalence; ``p_equivalence`` is the p-value of the
    two one-sided tests that the difference is within the margin, adjusted in one family with those
    of the differences. ``wins`` counts the pairs on which a is better, or higher if the metric has
    no better direction. ``n_needed`` is the total number of pairs that it takes, for what
    ``needed_for`` says; if None, ``n_needed_reason`` says why. ``n_only_a`` and ``n_only_b`` count
    the questions on which only that side has a value, so that they are not paired. ``relevance_by``
    says who judged relevance, where not all metrics of a comparison have that from the same source.
    ``relative_change`` is in percent of ``value_b``; ``effect_size`` is the mean of the differences
    over their standard deviation. ``reasons`` say what the numbers cannot show, see
    ``ragstone.core.messages``.
    """

    metric: str
    family: str
    better: Better
    a: str
    b: str
    slice: Mapping[str, str] | None
    value_a: float | None
    value_b: float | None
    difference: float | None
    low: float | None
    high: float | None
    level: float
    method: str | None
    equivalence_low: float | None
    equivalence_high: float | None
    p_equivalence: float | None
    p_equivalence_adjusted: float | None
    p: float | None
    p_adjusted: float | None
    test: Literal["mcnemar_exact", "sign_flip_exact", "sign_flip"] | None
    verdict: Verdict
    margin: float | None
    n_pairs: int
    clusters: int
    n_undefined: int
    n_missing: int
    wins: int
    ties: int
    losses: int
    win_rate: PairedWinRate | None
    effect_size: float | None
    relative_change: float | None
    n_needed: int | None
    n_needed_reason: str | None
    reasons: tuple[str, ...]
    n_only_a: int = 0
    n_only_b: int = 0
    relevance_by: str = ""

    @property
    def leaves_zero_out(self) -> bool:
        """True if 0 lies outside the interval."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def needed_for(self) -> Literal["difference", "equivalence"]:
        """The purpose of ``n_needed`` pairs.

        ``difference``: to show this difference, where the interval leaves 0 out or p before
        correction is small enough. If the values stay as they are, p is then small enough after
        correction too. ``equivalence``: half the interval is then as wide as the margin.
        """
        small = self.p is not None and self.p <= round(1 - self.level, 12)
        return "difference" if small or self.leaves_zero_out else "equivalence"

    @property
    def caution(self) -> str | None:
        """A warning about a verdict that is based on few pairs, as a reason; otherwise None."""
        if self.verdict in ("cannot_tell", "same") or self.n_pairs >= FEW_PAIRS:
            return None
        return reason("few_pairs", n=self.n_pairs)

    def to_dict(self) -> dict[str, Any]:
        needed_for = None if self.n_needed is None else self.needed_for
        return {**plain(self), "needed_for": needed_for, "caution": self.caution}


@dataclass(frozen=True, slots=True, repr=False)
class Comparisons(Displayable):
    """All comparisons of one call.

    ``family`` is the number of comparisons the p-values are adjusted for, each tested for a
    difference and, with a margin, for equivalence. ``ranking`` orders the systems of a run on each
    metric, if there are more than two and every pair is compared. ``notes`` say what was left out,
    and why. ``checked`` says by system what people's labels show about the judges of the metrics.
    """

    comparisons: tuple[Comparison, ...]
    ranking: tuple[Ranked, ...]
    notes: tuple[str, ...]
    runs: tuple[str, ...]
    cluster: str
    adjust: Adjust
    family: int
    level: float
    margin: float | None
    seed: int
    resamples: int
    checked: Mapping[str, CheckedRun] = field(default_factory=dict)

    def __repr__(self) -> str:
        pairs, metrics = len(self.between()), len({each.metric for each in self.comparisons})
        return f"Comparisons({list(self.runs)}, {pairs} pairs of systems, {metrics} metrics)"

    def to_dict(self) -> dict[str, Any]:
        return {
            **plain(replace(self, comparisons=(), checked={})),
            "comparisons": [
                each.to_dict()
                | {name: mean and asdict(mean) for name, mean in self._corrected(each).items()}
                for each in self.comparisons
            ],
            "checked": {name: checked.to_dict() for name, checked in self.checked.items()},
        }

    def corrected(self, comparison: Comparison, system: str) -> CorrectedMean | None:
        """The mean over all answers of a system that labels corrected; None if they did not."""
        checked = self.checked.get(system) if comparison.slice is None else None
        return None if checked is None else checked.corrected(comparison.metric, {})

    def _corrected(self, comparison: Comparison) -> dict[str, CorrectedMean | None]:
        systems = {"corrected_a": comparison.a, "corrected_b": comparison.b}
        return {name: self.corrected(comparison, system) for name, system in systems.items()}

    def between(self) -> dict[tuple[str, str], list[Comparison]]:
        """The comparisons of each pair of systems."""
        return by_pair(self.comparisons)


def by_pair(comparisons: Sequence[Comparison]) -> dict[tuple[str, str], list[Comparison]]:
    """The comparisons of each pair of systems."""
    pairs: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in comparisons:
        pairs.setdefault((comparison.a, comparison.b), []).append(comparison)
    return pairs
