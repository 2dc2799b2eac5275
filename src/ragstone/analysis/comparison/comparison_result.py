"""Comparison results: verdict and numbers for two systems, and a ranking by paired wins."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragstone.analysis.calibration.checked_run import CheckedRun, CorrectedMean
from ragstone.core.messages import Displayable, reason
from ragstone.stats.comparison.preference_models import bradley_terry

Verdict = Literal["better", "worse", "equivalent", "same", "cannot_tell"]
Better = Literal["+", "-", "0"]

TIE = 1e-12
"""Values that differ by less, relatively, are the same but for rounding."""


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


def winner(a: float, b: float, *, better: Better = "+") -> Literal["a", "b", "tie"]:
    """Return the better of two values; a tie if they are equal up to rounding.

    Where the metric has no better end, the higher one is.

    >>> winner(0.8, 0.8), winner(0.1, 0.2, better="-")
    ('tie', 'a')
    """
    if abs(a - b) <= TIE * max(abs(a), abs(b)):
        return "tie"
    return "b" if (a > b) == (better == "-") else "a"


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, eq=False)
class Met:
    """The pairs of two systems: 1 where the first wins, 0 where the second does, .5 for a tie."""

    first: str
    second: str
    outcome: Floats
    cluster: Ints


def ranking(metric: str, met: Sequence[Met], *, level: float) -> list[Ranked]:
    """The systems of a metric, the strongest first."""
    systems = list(dict.fromkeys(name for one in met for name in (one.first, one.second)))
    number = {name: place for place, name in enumerate(systems)}
    first = np.concatenate([np.full(len(one.outcome), number[one.first]) for one in met])
    second = np.concatenate([np.full(len(one.outcome), number[one.second]) for one in met])
    outcome = np.concatenate([one.outcome for one in met])
    cluster = np.concatenate([one.cluster for one in met])
    found = bradley_terry(first, second, outcome, cluster, systems=len(systems), level=level)
    size = len(systems)
    games = np.bincount(first, minlength=size) + np.bincount(second, minlength=size)
    won = np.bincount(first, outcome, size) + np.bincount(second, 1 - outcome, size)
    ranked = []
    for name, place in number.items():
        one = None if found.strengths is None else found.strengths[place]
        interval = None if one is None else one.interval
        ranked.append(
            Ranked(
                metric=metric,
                system=name,
                strength=None if one is None else one.value,
                low=None if interval is None else interval.low,
                high=None if interval is None else interval.high,
                win_probability=None if one is None else one.win_probability,
                win_low=None if one is None else one.win_low,
                win_high=None if one is None else one.win_high,
                win_share=float(won[place] / max(1, games[place])),
                n=int(games[place]),
                method=None if interval is None else interval.method,
                reason=found.reason,
            )
        )
    return sorted(ranked, key=lambda one: (-(one.strength or 0.0), -one.win_share))


Adjust = Literal["holm", "bh"]

FEW_PAIRS = 10
"""From fewer a verdict is rough."""


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
        """Return plain data; absent values are null."""
        record = {name: getattr(self, name) for name in self.__slots__}
        rate = self.win_rate
        shown = None if rate is None else {"value": rate.value, "low": rate.low, "high": rate.high}
        return record | {
            "slice": None if self.slice is None else dict(self.slice),
            "win_rate": shown,
            "needed_for": None if self.n_needed is None else self.needed_for,
            "caution": self.caution,
        }


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
        pairs, metrics = len(self.between()), len({one.metric for one in self.comparisons})
        return f"Comparisons({list(self.runs)}, {pairs} pairs of systems, {metrics} metrics)"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "comparisons": [one.to_dict() | self._corrected(one) for one in self.comparisons],
            "ranking": [one.to_dict() for one in self.ranking],
            "notes": list(self.notes),
            "runs": list(self.runs),
            "cluster": self.cluster,
            "adjust": self.adjust,
            "family": self.family,
            "level": self.level,
            "margin": self.margin,
            "seed": self.seed,
            "resamples": self.resamples,
            "checked": {name: of.to_dict() for name, of in self.checked.items()},
        }

    def corrected(self, one: Comparison, system: str) -> CorrectedMean | None:
        """The mean over all answers of a system that labels corrected; None if they did not."""
        found = self.checked.get(system) if one.slice is None else None
        return None if found is None else found.corrected(one.metric, {})

    def _corrected(self, one: Comparison) -> dict[str, Any]:
        sides = {"corrected_a": one.a, "corrected_b": one.b}
        means = {name: self.corrected(one, system) for name, system in sides.items()}
        return {name: mean and asdict(mean) for name, mean in means.items()}

    def between(self) -> dict[tuple[str, str], Sequence[Comparison]]:
        """The comparisons of each pair of systems."""
        found: dict[tuple[str, str], list[Comparison]] = {}
        for one in self.comparisons:
            found.setdefault((one.a, one.b), []).append(one)
        return {pair: tuple(ones) for pair, ones in found.items()}
