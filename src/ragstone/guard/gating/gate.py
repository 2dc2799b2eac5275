"""Gate: two thresholds of the confidence in an answer, with the promises that labels showed."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.guard.assessment import WayOut
from ragstone.stats.risk_control import TwoSamples, two_samples

from .gate_judge import GateJudge, gate_judge
from .shown_risk import Count, Share, ShownRisk

if TYPE_CHECKING:
    from ragstone.guard.guard import Guard

    from .gate_check import GateCheck
    from .labelled import Labelled

Finite = Annotated[float, Field(allow_inf_nan=False)]
WAYS: tuple[WayOut, ...] = ("pass", "ask", "block")

DRIFT_LEVEL = 0.01
"""How often scores of the same source are taken for drifted, each time they are looked at."""


@dataclass(frozen=True, slots=True)
class GateShare:
    """What share of answers goes one way, with its interval at 95 %.

    Attributes:
        of: Of which answers: ``all``, ``faithful`` or ``unfaithful``.
        way: ``pass``, ``ask`` or ``block``.
        answers: How many of them go this way.
        total: How many there are.
    """

    of: Literal["all", "faithful", "unfaithful"]
    way: WayOut
    answers: Count
    total: Count
    low: Share | None
    high: Share | None

    @property
    def share(self) -> float | None:
        """The share; None of no answers."""
        return self.answers / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class GateStanding:
    """Whether what was promised may still be believed of today's scores.

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
        """Whether nothing speaks against it."""
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
        """What was promised of unfaithful answers that pass."""
        return self.false_pass.promised

    @property
    def max_false_block(self) -> float | None:
        """What was promised of faithful answers that are blocked; None: nothing is blocked."""
        return None if self.false_block is None else self.false_block.promised

    @classmethod
    def calibrate(
        cls,
        labelled: "Labelled",
        *,
        max_false_pass: float = 0.05,
        confidence: float = 0.9,
        max_false_block: float | None = None,
        guard: "Guard | None" = None,
        judge: GateJudge | str | None = None,
        label: str = "faithful",
        cluster: str | None = None,
    ) -> "Gate":
        """The gate that passes the most answers and keeps its promise.

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
        from .calibrating import calibrate_gate

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
        """The way out for a confidence. Without one, and where the gate is void: ``ask``."""
        if self.void or confidence is None or not isfinite(confidence):
            return "ask"
        if self.block_below is not None and confidence < self.block_below:
            return "block"
        return "pass" if confidence >= self.pass_at else "ask"

    def check(
        self,
        labelled: "Labelled",
        *,
        guard: "Guard | None" = None,
        judge: GateJudge | str | None = None,
        label: str = "faithful",
        cluster: str | None = None,
    ) -> "GateCheck":
        """Whether new labels bear the promise out: it holds, is broken, or cannot be told.

        Args:
            labelled: As for ``calibrate``; none of them may have calibrated the gate.
            guard: As for ``calibrate``.
            judge: As for ``calibrate``.
            label: The field that says whether an answer is faithful.
            cluster: The field that groups dependent rows.

        Raises:
            DataError: Rows that cannot be read; lists every fault.
            InputError: The scores are another judge's.
        """
        from .gate_check import check_gate

        return check_gate(self, labelled, guard=guard, judge=judge, label=label, cluster=cluster)

    def standing(
        self,
        *,
        judge: GateJudge | str | None = None,
        scores: ArrayLike | None = None,
        level: float = DRIFT_LEVEL,
    ) -> GateStanding:
        """Whether the promise may be believed under this judge and of these scores.

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
            void.append(
                reason(
                    "gate_of_another_judge",
                    was=self.judge.name or "unknown",
                    now=now.name or "unknown",
                    was_id=self.judge.fingerprint,
                    now_id=now.fingerprint,
                )
            )
        drift = None if scores is None else two_samples(self.scores, scores)
        if drift is not None and drift.p <= level:
            n = np.size(np.asarray(scores))
            void.append(
                reason("scores_drifted", distance=f"{drift.distance:.2f}", p=f"{drift.p:.2g}", n=n)
            )
        return GateStanding(tuple(dict.fromkeys(void)), drift, level)

    def as_it_stands(
        self,
        *,
        judge: GateJudge | str | None = None,
        scores: ArrayLike | None = None,
        level: float = DRIFT_LEVEL,
    ) -> "Gate":
        """The gate, void if its promise may not be believed: it then asks about every answer.

        Args and errors as for ``standing``.
        """
        return replace(self, void=self.standing(judge=judge, scores=scores, level=level).void)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON; ``from_dict`` makes the same gate of it."""
        told: dict[str, Any] = json.loads(json.dumps(asdict(self), allow_nan=False))
        return told

    @classmethod
    def from_dict(cls, told: Any) -> "Gate":
        """The gate that ``to_dict`` told of.

        Raises:
            InputError: It is not what a gate is; lists every fault.
        """
        from .gate_file import gate_of

        return gate_of(told)

    def write(self, path: str | PathLike[str]) -> Path:
        """Write the gate as JSON, and return the path.

        Raises:
            InputError: The file is part of a run, or a database.
            DiskFull: There is no room for it.
        """
        from .gate_file import write_gate

        return write_gate(self, Path(path))

    @classmethod
    def read(cls, path: str | PathLike[str]) -> "Gate":
        """Read a gate that ``write`` wrote.

        Raises:
            InputError: There is no such file, or it is no gate; lists every fault.
        """
        from .gate_file import read_gate

        return read_gate(Path(path))


def ways(gate: Gate, scores: Sequence[float]) -> list[WayOut]:
    """The way out of each score, as if the gate were not void; NaN for none."""
    whole = replace(gate, void=())
    return [whole.decide(score) for score in scores]
