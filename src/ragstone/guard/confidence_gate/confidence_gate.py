"""Confidence gate: passes, asks about or blocks answers by their confidence, with a promise."""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from ragstone.core.errors import DamagedRun, InputError
from ragstone.core.files import write_result
from ragstone.core.messages import Displayable, reason
from ragstone.data.sources import on_disk
from ragstone.guard.assessment import WayOut
from ragstone.run.folder.checksums import read_json
from ragstone.stats.risk_control import (
    RiskCoverage,
    TwoSamples,
    risk_coverage,
    thinned,
    two_samples,
)

from .gate_labels import (
    ConfidenceJudge,
    GateJudge,
    Labelled,
    ScoredLabels,
    gate_judge,
    labelled_scores,
)
from .gate_thresholds import (
    CheckedPromise,
    Count,
    GateShare,
    OpenPromise,
    OtherPromise,
    Promise,
    PromiseState,
    Share,
    ShownRisk,
    check_promises,
    checked_promise,
    find_block_below,
    if_open,
    kept_at,
    other_promises,
    shares_of,
    shown_risk,
)

Finite = Annotated[float, Field(allow_inf_nan=False)]

# The chance, at each look, that scores from the same source are wrongly said to have drifted.
DRIFT_LEVEL = 0.01


@dataclass(frozen=True, slots=True)
class GateStanding:
    """Tells whether what was promised may still be believed of today's scores.

    Attributes:
        void: Why not, as codes with facts; empty if nothing speaks against it.
        drift: How far the scores lie from those of the labels; None if none were compared.
        level: The p-value from which on they are taken for drifted.
    """

    void: tuple[str, ...]
    drift: TwoSamples | None
    level: float

    @property
    def holds(self) -> bool:
        """``True`` if nothing speaks against it."""
        return not self.void


@dataclass(frozen=True, slots=True)
class Gate:
    """Decides by the confidence in an answer: pass it, ask a person or a slower judge, or block it.

        gate = Gate.calibrate("labelled.jsonl", max_false_pass=0.05)
        gate.decide(0.97)

    With probability ``confidence`` over the labels, of questions with unfaithful answers at most
    the share ``max_false_pass`` has one that passes.

    Attributes:
        pass_at: A confidence of at least this passes.
        block_below: A confidence below this is blocked; None: nothing is.
        confidence: Of the promises, in (.5, 1).
        false_pass: What was promised of unfaithful answers that pass, and what labels show.
        false_block: The same of faithful answers that are blocked; None: nothing is blocked.
        n: Labelled answers, of which ``unscored`` have no score; these are always asked about.
        clusters: Of the labelled answers: those to one question, or from one set of contexts.
        unscored: Answers without a score.
        judge: Who gave the scores.
        scores: One score a cluster, thinned and in ascending order, to see whether scores drift.
        shares: What share of the labelled answers goes which way.
        date: When it was calibrated, ISO 8601.
        void: Why the promise may no longer be believed, as codes with facts. A void gate asks about
            every answer.

    Raises:
        InputError: Lists every fault.
    """

    pass_at: Finite
    block_below: Finite | None
    confidence: Share
    false_pass: ShownRisk
    false_block: ShownRisk | None
    n: Count
    clusters: Count
    unscored: Count
    judge: GateJudge
    scores: tuple[Finite, ...] = field(repr=False)
    shares: tuple[GateShare, ...] = field(repr=False)
    date: str
    void: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        faults = []
        if not isfinite(self.pass_at):
            faults.append(f"pass_at is {self.pass_at}; it must be a finite number.")
        if self.block_below is not None and not self.block_below <= self.pass_at:
            faults.append(f"block_below is {self.block_below}, above pass_at {self.pass_at}.")
        if not 0.5 < self.confidence < 1:
            faults.append(f"confidence is {self.confidence}; it must lie inside (.5, 1).")
        if (self.block_below is None) != (self.false_block is None):
            faults.append("block_below and false_block belong together: both or neither.")
        if list(self.scores) != sorted(self.scores):
            faults.append("scores are not in ascending order.")
        for name, risk in (("false_pass", self.false_pass), ("false_block", self.false_block)):
            if risk is not None and not 0 < risk.promised < 1:
                faults.append(f"{name}: {risk.promised} is promised; it must lie inside (0, 1).")
        if faults:
            raise InputError("A gate cannot be like this: " + " ".join(faults))

    @property
    def max_false_pass(self) -> float:
        """The promised share of unfaithful answers that pass."""
        return self.false_pass.promised

    @property
    def max_false_block(self) -> float | None:
        """The promised share of faithful answers that are blocked; None: nothing is blocked."""
        return None if self.false_block is None else self.false_block.promised

    @classmethod
    def calibrate(
        cls,
        labelled: Labelled,
        *,
        max_false_pass: float = 0.05,
        confidence: float = 0.9,
        max_false_block: float | None = None,
        guard: ConfidenceJudge | None = None,
        judge: GateJudge | str | None = None,
        label: str = "faithful",
        cluster: str | None = None,
    ) -> "Gate":
        """Make the gate that passes the most answers and keeps its promise.

        Args:
            labelled: Answers of which people said whether they are faithful: a path, or rows with
                ``score``, the label and perhaps ``cluster``. With ``guard``: examples.
            max_false_pass: The promise: of questions with unfaithful answers, the largest share
                with one that passes.
            confidence: Of the promise, over the labels that were drawn, in (.5, 1).
            max_false_block: The largest share of questions with faithful answers of which one is
                blocked; None: nothing is blocked.
            guard: Scores examples by their confidence; it is the judge of the gate.
            judge: Who gave the scores, where they are given.
            label: The field that says whether an answer is faithful.
            cluster: The field that groups dependent rows; None: answers to one question or from one
                set of contexts belong together.

        Raises:
            PromiseRefused: The labels cannot carry the promise; says the tightest they can.
            DataError: Rows that cannot be read; lists every fault.
            InputError: An argument is out of its range.
        """
        return calibrate_gate(
            labelled,
            max_false_pass=max_false_pass,
            confidence=confidence,
            max_false_block=max_false_block,
            guard=guard,
            judge=judge,
            label=label,
            cluster=cluster,
        ).gate

    def decide(self, confidence: float | None) -> WayOut:
        """Return the way out for a confidence; without one, and of a void gate, ``ask``."""
        if self.void or confidence is None or not isfinite(confidence):
            return "ask"
        if self.block_below is not None and confidence < self.block_below:
            return "block"
        return "pass" if confidence >= self.pass_at else "ask"

    def check(
        self,
        labelled: Labelled,
        *,
        guard: ConfidenceJudge | None = None,
        judge: GateJudge | str | None = None,
        label: str = "faithful",
        cluster: str | None = None,
    ) -> "GateCheck":
        """Tell whether new labels bear the promise out: it holds, is broken, or cannot be told.

        Args:
            labelled: As for ``calibrate``, as all that follows; none of them may have calibrated
                the gate.

        Raises:
            DataError: Rows that cannot be read; lists every fault.
            InputError: The scores are another judge's.
        """
        by = judge if guard is None else guard.scores_by
        if by is not None and self.judge.is_other(gate_judge(by)):
            raise InputError(
                "Labels beside the scores of another judge tell nothing of this gate.",
                notes=self.standing(judge=by).void,
            )
        rows = labelled_scores(labelled, guard=guard, label=label, cluster=cluster)
        scored = rows.with_score()
        promises: tuple[tuple[Promise, float | None, float | None], ...] = (
            ("max_false_pass", self.pass_at, self.max_false_pass),
            ("max_false_block", self.block_below, self.max_false_block),
        )
        risks = (
            (promise, shown_risk(scored, promise, at, bound, self.confidence))
            for promise, at, bound in promises
            if at is not None and bound is not None
        )
        checked = tuple(checked_promise(*risk, self.confidence) for risk in risks)
        return GateCheck(
            self, checked, self.standing(scores=scored.one_a_cluster()), _shares(self, rows),
            len(rows) - len(scored), rows.unlabelled, rows.surplus,
            if_open(rows, self.pass_at, self.block_below),
        )  # fmt: skip

    def standing(
        self,
        *,
        judge: GateJudge | str | None = None,
        scores: ArrayLike | None = None,
        level: float = DRIFT_LEVEL,
    ) -> GateStanding:
        """Tell whether the promise may be believed under this judge and of these scores.

        The test takes the scores as independent, so give one a question. It sees any change, also
        one that leaves the promise whole, such as fewer unfaithful answers: labels tell, by
        ``check``.

        Args:
            judge: Who gives scores now; None: not compared.
            scores: What it gave lately, without those of answers that have none; None: not
                compared.
            level: The p-value from which on scores are taken for drifted: how often this happens
                without a drift, each time one looks.

        Raises:
            InputError: A score that is not finite, or a level outside (0, 1).
        """
        if not 0 < level < 1:
            raise InputError(f"The level of a test must lie inside (0, 1), got {level}.")
        void = list(self.void)
        if judge is not None and self.judge.is_other(now := gate_judge(judge)):
            names = {"was": self.judge.name or "unknown", "now": now.name or "unknown"}
            ids = {"was_id": self.judge.fingerprint, "now_id": now.fingerprint}
            void.append(reason("gate_of_another_judge", **names, **ids))
        drift = None if scores is None else two_samples(self.scores, scores)
        if drift is not None and drift.p <= level:
            facts = {"distance": f"{drift.distance:.2f}", "p": f"{drift.p:.2g}"}
            void.append(reason("scores_drifted", **facts, n=np.size(np.asarray(scores))))
        return GateStanding(tuple(dict.fromkeys(void)), drift, level)

    def as_it_stands(
        self,
        *,
        judge: GateJudge | str | None = None,
        scores: ArrayLike | None = None,
        level: float = DRIFT_LEVEL,
    ) -> "Gate":
        """Return the gate, void if ``standing`` says that its promise may not be believed."""
        return replace(self, void=self.standing(judge=judge, scores=scores, level=level).void)

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = json.loads(json.dumps(asdict(self), allow_nan=False))
        return fields

    def write(self, path: str | PathLike[str]) -> Path:
        """Write the gate as JSON, and return the path.

        Raises:
            InputError: The file is part of a run, or a database.
            DiskFull: There is no room for it.
        """
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        write_result(file := Path(path), text + "\n")
        return file

    @classmethod
    def read(cls, path: str | PathLike[str]) -> "Gate":
        """Read a gate that ``write`` wrote.

        Raises:
            InputError: There is no such file, or it is no gate; lists every fault.
        """
        file = Path(path)
        try:
            return read_json(on_disk(file), Gate)
        except DamagedRun as error:
            line = f"{file} is no gate, as ragstone guard calibrate writes it:"
            faults = [f"  {fault.text}" for fault in error.faults]
            raise InputError("\n".join([line, *faults])) from error


def _shares(gate: Gate, rows: ScoredLabels) -> tuple[GateShare, ...]:
    whole = replace(gate, void=())
    return tuple(shares_of([whole.decide(score) for score in rows.scores.tolist()], rows))


# Of the curve of risk by coverage, in plain data.
CURVE_POINTS = 101


@dataclass(frozen=True, eq=False, repr=False)
class GateCalibration(Displayable):
    """A gate, and what the labels say about it.

    Attributes:
        others: The thresholds that other promises would bring.
        risk_coverage: The share of unfaithful answers among those passed, by the share passed.
        unlabelled: Rows left out, for they have no label or no answer.
        surplus: Rows left out at random, for they were likelier to be drawn than others.
        if_open: What the rows without a label could make of the promises.
    """

    gate: Gate
    others: tuple[OtherPromise, ...]
    risk_coverage: RiskCoverage
    unlabelled: int
    surplus: int
    if_open: tuple[OpenPromise, ...] = ()

    def __repr__(self) -> str:
        return f"GateCalibration({self.gate!r})"

    def to_dict(self) -> dict[str, Any]:
        curve = self.risk_coverage
        points = np.unique(np.linspace(0, len(curve.risk) - 1, CURVE_POINTS).astype(np.int64))
        return {
            "gate": self.gate.to_dict(),
            "unlabelled": self.unlabelled,
            "surplus": self.surplus,
            "if_open": list(map(asdict, self.if_open)),
            "others": [
                {"max_false_pass": promise.max_false_pass, "pass_at": promise.pass_at,
                 "faithful_passed": promise.faithful, "passed": promise.answers}
                for promise in self.others
            ],
            "risk_coverage": {
                "area": curve.area,
                "best": curve.best,
                "blind": curve.blind,
                "thresholds": curve.thresholds[points].tolist(),
                "coverage": curve.coverage[points].tolist(),
                "risk": curve.risk[points].tolist(),
            },
        }  # fmt: skip


def calibrate_gate(
    labelled: Labelled,
    *,
    max_false_pass: float = 0.05,
    confidence: float = 0.9,
    max_false_block: float | None = None,
    guard: ConfidenceJudge | None = None,
    judge: GateJudge | str | None = None,
    label: str = "faithful",
    cluster: str | None = None,
) -> GateCalibration:
    """Calibrate as ``Gate.calibrate`` does, and return what the labels say about the gate too."""
    check_promises(max_false_pass, confidence, max_false_block)
    rows = labelled_scores(labelled, guard=guard, label=label, cluster=cluster)
    scored = rows.with_score()
    pass_at = kept_at(scored, "max_false_pass", max_false_pass, confidence)
    block_below, blocked = None, None
    if max_false_block is not None:
        block_below = find_block_below(scored, max_false_block, confidence, pass_at=pass_at)
        blocked = shown_risk(scored, "max_false_block", block_below, max_false_block, confidence)
    gate = Gate(
        pass_at=pass_at,
        block_below=block_below,
        confidence=confidence,
        false_pass=shown_risk(scored, "max_false_pass", pass_at, max_false_pass, confidence),
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
        replace(gate, shares=_shares(gate, rows)),
        tuple(other_promises(scored, len(rows), int(rows.faithful.sum()), confidence)),
        risk_coverage(scored.scores, ~scored.faithful),
        rows.unlabelled,
        rows.surplus,
        if_open(rows, pass_at, block_below),
    )


WORST_LAST: tuple[PromiseState, ...] = ("holds", "cannot_tell", "broken")
EXIT: dict[PromiseState, int] = {"holds": 0, "broken": 1, "cannot_tell": 3}


@dataclass(frozen=True, eq=False, repr=False)
class GateCheck(Displayable):
    """The promises of a gate under new labels.

    Attributes:
        standing: Tells whether the gate was void, or scores have drifted.
        shares: The shares of the new answers that go each way.
        unscored: New answers without a score.
        unlabelled: As for ``GateCalibration``, and so are ``surplus`` and ``if_open``.
    """

    gate: Gate
    promises: tuple[CheckedPromise, ...]
    standing: GateStanding
    shares: tuple[GateShare, ...]
    unscored: int
    unlabelled: int
    surplus: int
    if_open: tuple[OpenPromise, ...] = ()

    def __repr__(self) -> str:
        return f"GateCheck({self.state!r})"

    @property
    def state(self) -> PromiseState:
        """The worst state of all promises: ``broken``, else ``cannot_tell``, else ``holds``."""
        return max((promise.state for promise in self.promises), key=WORST_LAST.index)

    @property
    def exit_status(self) -> int:
        """0 holds, 1 broken, 3 cannot tell."""
        return EXIT[self.state]

    def to_dict(self) -> dict[str, Any]:
        drift = self.standing.drift
        return {
            "state": self.state,
            "promises": [
                {"promise": checked.promise, "state": checked.state, **asdict(checked.risk),
                 "rate": checked.risk.rate, "needed": checked.needed}
                for checked in self.promises
            ],
            "confidence": self.gate.confidence,
            "pass_at": self.gate.pass_at,
            "block_below": self.gate.block_below,
            "void": list(self.standing.void),
            "drift": None if drift is None else {"distance": drift.distance, "p": drift.p},
            "shares": [{**asdict(share), "share": share.share} for share in self.shares],
            "unscored": self.unscored,
            "unlabelled": self.unlabelled,
            "surplus": self.surplus,
            "if_open": list(map(asdict, self.if_open)),
        }  # fmt: skip
