"""Calibrating a gate: its thresholds from labels, or why the labels cannot carry the promise."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.core.messages import HasPage, argument
from ragstone.guard.checks import is_share
from ragstone.stats import ends_of, mean_interval
from ragstone.stats.risk_control import (
    PromisedThreshold,
    RiskCoverage,
    promised_threshold,
    risk_coverage,
    thinned,
)
from ragstone.stats.weights_and_groups import sums_by

from .gate import WAYS, Gate, GateShare, ways
from .gate_judge import GateJudge, gate_judge
from .labelled import ScoredLabels, labelled_scores
from .refusal import refused
from .shown_risk import ShownRisk

if TYPE_CHECKING:
    from ragstone.guard.guard import Guard

    from .labelled import Labelled

OTHER_PROMISES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
TOLD_POINTS = 101
"""Of the curve of risk by coverage, in plain data."""

Of = Literal["all", "faithful", "unfaithful"]


@dataclass(frozen=True, slots=True)
class OtherPromise:
    """What another promise would bring.

    Attributes:
        max_false_pass: The promise.
        pass_at: From which score on it lets pass; None if the labels cannot carry it.
        faithful: The share of faithful answers that passes, unscored ones among them.
        answers: The share of all answers that passes.
    """

    max_false_pass: float
    pass_at: float | None
    faithful: float
    answers: float


@dataclass(frozen=True, eq=False, repr=False)
class GateCalibration(HasPage):
    """A gate, and what the labels say about it.

    Attributes:
        gate: The gate.
        others: What other promises would bring.
        risk_coverage: The share of unfaithful answers among those passed, by the share passed.
        unlabelled: How many rows were left out, for nobody said whether they are faithful.
    """

    gate: Gate
    others: tuple[OtherPromise, ...]
    risk_coverage: RiskCoverage
    unlabelled: int

    def __repr__(self) -> str:
        return f"GateCalibration({self.gate!r})"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        curve = self.risk_coverage
        points = np.unique(np.linspace(0, len(curve.risk) - 1, TOLD_POINTS).astype(np.int64))
        return {
            "gate": self.gate.to_dict(),
            "unlabelled": self.unlabelled,
            "others": [
                {
                    "max_false_pass": one.max_false_pass,
                    "pass_at": one.pass_at,
                    "faithful_passed": one.faithful,
                    "passed": one.answers,
                }
                for one in self.others
            ],
            "risk_coverage": {
                "area": curve.area,
                "best": curve.best,
                "blind": curve.blind,
                "thresholds": curve.thresholds[points].tolist(),
                "coverage": curve.coverage[points].tolist(),
                "risk": curve.risk[points].tolist(),
            },
        }


def calibrate_gate(
    labelled: "Labelled",
    *,
    max_false_pass: float = 0.05,
    confidence: float = 0.9,
    max_false_block: float | None = None,
    guard: "Guard | None" = None,
    judge: GateJudge | str | None = None,
    label: str = "faithful",
    cluster: str | None = None,
) -> GateCalibration:
    """As ``Gate.calibrate``, with what the labels say about the gate.

    Raises:
        PromiseRefused: The labels cannot carry the promise; says the tightest they can.
        DataError: Rows that cannot be read; lists every fault.
        InputError: An argument is out of its range.
    """
    _check(max_false_pass, confidence, max_false_block)
    rows = labelled_scores(labelled, guard=guard, label=label, cluster=cluster)
    scored = rows.with_score()
    passing = _passing(scored, max_false_pass, confidence)
    if passing.value is None:
        independent = _passing(scored, max_false_pass, confidence, clustered=False)
        raise refused("max_false_pass", passing, independent, int(scored.faithful.sum()))
    block_below, blocked = None, None
    if max_false_block is not None:
        blocking = _blocking(scored, max_false_block, confidence)
        if blocking.value is None:
            independent = _blocking(scored, max_false_block, confidence, clustered=False)
            raise refused("max_false_block", blocking, independent, int((~scored.faithful).sum()))
        # Scores up to that of the threshold may be blocked; what passes is not.
        above = scored.scores[scored.scores > -blocking.value]
        block_below = min([passing.value, *above.tolist()])
        blocked = false_block(scored, block_below, max_false_block, confidence)
    gate = Gate(
        pass_at=passing.value,
        block_below=block_below,
        confidence=confidence,
        false_pass=false_pass(scored, passing.value, max_false_pass, confidence),
        false_block=blocked,
        n=len(rows),
        clusters=len(np.unique(rows.clusters)),
        unscored=len(rows) - len(scored),
        judge=gate_judge(judge) if guard is None else guard.scores_by,
        scores=tuple(thinned(scored.one_a_cluster()).tolist()),
        shares=(),
        date=datetime.now(UTC).date().isoformat(),
    )
    return GateCalibration(
        replace(gate, shares=tuple(shares_of(gate, rows))),
        tuple(_others(scored, len(rows), int(rows.faithful.sum()), confidence)),
        risk_coverage(scored.scores, ~scored.faithful),
        rows.unlabelled,
    )


def false_pass(
    scored: ScoredLabels, pass_at: float, promised: float, confidence: float
) -> ShownRisk:
    """How many clusters have an unfaithful answer that passes."""
    bad = ~scored.faithful
    return ShownRisk.of(
        scored.scores[bad] >= pass_at,
        scored.clusters[bad],
        promised=promised,
        confidence=confidence,
    )


def false_block(
    scored: ScoredLabels, block_below: float, promised: float, confidence: float
) -> ShownRisk:
    """How many clusters have a faithful answer that is blocked."""
    good = scored.faithful
    return ShownRisk.of(
        scored.scores[good] < block_below,
        scored.clusters[good],
        promised=promised,
        confidence=confidence,
    )


def shares_of(gate: Gate, rows: ScoredLabels) -> Iterator[GateShare]:
    """What share of the answers goes which way, as if the gate were not void."""
    went = np.array(ways(gate, rows.scores.tolist()))
    groups: tuple[tuple[Of, NDArray[np.bool_]], ...] = (
        ("all", np.ones(len(went), dtype=np.bool_)),
        ("faithful", rows.faithful),
        ("unfaithful", ~rows.faithful),
    )
    for of, these in groups:
        codes = np.unique(rows.clusters[these], return_inverse=True)[1]
        counts = sums_by(codes, np.ones(len(codes)))
        for way in WAYS:
            goes = (went[these] == way).astype(np.float64)
            share = mean_interval(sums_by(codes, goes), counts, rate=True, low=0, high=1)
            yield GateShare(of, way, int(goes.sum()), len(goes), **ends_of(share.interval))


def _passing(
    scored: ScoredLabels, bound: float, confidence: float, *, clustered: bool = True
) -> PromisedThreshold:
    """From which score on answers may pass: unfaithful ones must rarely reach it."""
    bad = ~scored.faithful
    return promised_threshold(
        scored.scores[bad],
        among=scored.scores[~bad],
        bound=bound,
        confidence=confidence,
        clusters=scored.clusters[bad] if clustered else None,
    )


def _blocking(
    scored: ScoredLabels, bound: float, confidence: float, *, clustered: bool = True
) -> PromisedThreshold:
    """Up to which score answers may be blocked, with its sign changed: the mirror of passing."""
    good = scored.faithful
    return promised_threshold(
        -scored.scores[good],
        among=-scored.scores[~good],
        bound=bound,
        confidence=confidence,
        clusters=scored.clusters[good] if clustered else None,
    )


def _others(
    scored: ScoredLabels, answers: int, faithful: int, confidence: float
) -> Iterator[OtherPromise]:
    """What other promises would let pass, of so many answers, unscored ones among them."""
    for bound in OTHER_PROMISES:
        at = _passing(scored, bound, confidence).value
        passes = scored.scores >= (np.inf if at is None else at)
        yield OtherPromise(
            bound,
            at,
            float((passes & scored.faithful).sum()) / faithful if faithful else 0.0,
            float(passes.sum()) / answers,
        )


def _check(max_false_pass: float, confidence: float, max_false_block: float | None) -> None:
    faults = [
        f"{argument(name)} is {bound!r}; it must be a share inside (0, 1)."
        for name, bound in (
            ("max_false_pass", max_false_pass),
            ("max_false_block", max_false_block),
        )
        if bound is not None and not (is_share(bound) and 0 < float(bound) < 1)
    ]
    if not (is_share(confidence) and 0.5 < float(confidence) < 1):
        faults.append(f"The confidence is {confidence!r}; it must lie inside (.5, 1).")
    if faults:
        raise InputError(" ".join(faults))
