"""Compared: the results of comparing two systems, as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragstone.core.messages import HasPage, reason

from .ranking import Ranked
from .verdict import Better, Verdict

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


@dataclass(frozen=True, slots=True)
class Comparison:
    """System a against system b on one metric, over the questions both answered.

    ``difference`` is a - b in the metric's unit, averaged over ``n_pairs`` pairs;
    ``value_a`` and ``value_b`` are the means over the same pairs.
    ``equivalence_low`` and ``equivalence_high`` are its interval at the level of one
    test of equivalence; ``p_equivalence`` is the p-value of the two one-sided tests that
    the difference is within the margin, adjusted by Holm in a family of their own.
    ``wins`` counts the pairs on which a is better, or higher if the metric has no better
    direction. ``n_needed`` is the total number of pairs for which the half-width of the
    interval would be the margin; if None, ``n_needed_reason`` says why.
    ``relative_change`` is in percent of ``value_b``; ``effect_size`` is the mean of the
    differences over their standard deviation. ``reasons`` say what the numbers cannot
    show, see ``ragstone.core.messages``.
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

    @property
    def caution(self) -> str | None:
        """A warning about a verdict that is based on few pairs, as a reason; otherwise None."""
        if self.verdict in ("cannot_tell", "same") or self.n_pairs >= FEW_PAIRS:
            return None
        return reason("few_pairs", n=self.n_pairs)

    def to_dict(self) -> dict[str, Any]:
        """As plain data; absent values are null."""
        record = {name: getattr(self, name) for name in self.__slots__}
        rate = self.win_rate
        shown = None if rate is None else {"value": rate.value, "low": rate.low, "high": rate.high}
        return record | {
            "slice": None if self.slice is None else dict(self.slice),
            "win_rate": shown,
            "caution": self.caution,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Comparisons(HasPage):
    """All comparisons of one call.

    ``family`` is the number of tests the p-values are adjusted for,
    ``equivalence_family`` the same for tests of equivalence. ``ranking`` orders the
    systems of a run on each metric, if there are more than two and every pair is
    compared. ``notes`` say what was left out, and why.
    """

    comparisons: tuple[Comparison, ...]
    ranking: tuple[Ranked, ...]
    notes: tuple[str, ...]
    runs: tuple[str, ...]
    cluster: str
    adjust: Adjust
    family: int
    equivalence_family: int
    level: float
    margin: float | None
    seed: int
    resamples: int

    def __repr__(self) -> str:
        pairs, metrics = len(self.between()), len({one.metric for one in self.comparisons})
        return f"Comparisons({list(self.runs)}, {pairs} pairs of systems, {metrics} metrics)"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "comparisons": [one.to_dict() for one in self.comparisons],
            "ranking": [one.to_dict() for one in self.ranking],
            "notes": list(self.notes),
            "runs": list(self.runs),
            "cluster": self.cluster,
            "adjust": self.adjust,
            "family": self.family,
            "equivalence_family": self.equivalence_family,
            "level": self.level,
            "margin": self.margin,
            "seed": self.seed,
            "resamples": self.resamples,
        }

    def between(self) -> dict[tuple[str, str], Sequence[Comparison]]:
        """The comparisons of each pair of systems."""
        found: dict[tuple[str, str], list[Comparison]] = {}
        for one in self.comparisons:
            found.setdefault((one.a, one.b), []).append(one)
        return {pair: tuple(ones) for pair, ones in found.items()}
