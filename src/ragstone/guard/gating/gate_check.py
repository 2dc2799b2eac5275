"""Gate check: whether new labels bear the promises of a gate out."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragstone.core.errors import InputError
from ragstone.core.messages import HasPage
from ragstone.stats.risk_control import rows_needed

from .calibrating import false_block, false_pass, shares_of
from .gate import Gate, GateShare, GateStanding
from .gate_judge import GateJudge, gate_judge
from .labelled import labelled_scores
from .shown_risk import ShownRisk

if TYPE_CHECKING:
    from ragstone.guard.guard import Guard

    from .labelled import Labelled

Borne = Literal["holds", "broken", "cannot_tell"]
WORST_LAST: tuple[Borne, ...] = ("holds", "cannot_tell", "broken")
EXIT: dict[Borne, int] = {"holds": 0, "broken": 1, "cannot_tell": 3}


@dataclass(frozen=True, slots=True)
class CheckedPromise:
    """One promise and what new labels show of it.

    ``state`` is ``holds`` where even the upper bound of the share is within the promise,
    ``broken`` where even the lower one is above it. ``needed`` is with how many clusters the
    promise would hold if no more went wrong; None where it is settled.
    """

    promise: Literal["max_false_pass", "max_false_block"]
    risk: ShownRisk
    state: Borne
    needed: int | None


@dataclass(frozen=True, eq=False, repr=False)
class GateCheck(HasPage):
    """What new labels show of a gate.

    Attributes:
        gate: The gate.
        promises: Each promise of it.
        standing: Whether the gate was void, or scores have drifted.
        shares: What share of the new answers goes which way.
        unscored: New answers without a score.
        unlabelled: Rows that were left out, for nobody said whether they are faithful.
    """

    gate: Gate
    promises: tuple[CheckedPromise, ...]
    standing: GateStanding
    shares: tuple[GateShare, ...]
    unscored: int
    unlabelled: int

    def __repr__(self) -> str:
        return f"GateCheck({self.state!r})"

    @property
    def state(self) -> Borne:
        """Of all promises: broken if one is, ``cannot_tell`` if that is so of one."""
        return max((one.state for one in self.promises), key=WORST_LAST.index)

    @property
    def exit_status(self) -> int:
        """0 holds, 1 broken, 3 cannot tell."""
        return EXIT[self.state]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        drift = self.standing.drift
        return {
            "state": self.state,
            "promises": [
                {
                    "promise": one.promise,
                    "state": one.state,
                    **one.risk.to_dict(),
                    "rate": one.risk.rate,
                    "needed": one.needed,
                }
                for one in self.promises
            ],
            "confidence": self.gate.confidence,
            "pass_at": self.gate.pass_at,
            "block_below": self.gate.block_below,
            "void": list(self.standing.void),
            "drift": None if drift is None else {"distance": drift.distance, "p": drift.p},
            "shares": [
                {"of": one.of, "way": one.way, "answers": one.answers, "total": one.total,
                 "share": one.share, "low": one.low, "high": one.high}
                for one in self.shares
            ],
            "unscored": self.unscored,
            "unlabelled": self.unlabelled,
        }  # fmt: skip


def check_gate(
    gate: Gate,
    labelled: "Labelled",
    *,
    guard: "Guard | None" = None,
    judge: GateJudge | str | None = None,
    label: str = "faithful",
    cluster: str | None = None,
) -> GateCheck:
    """As ``Gate.check``."""
    by = judge if guard is None else guard.scores_by
    if by is not None and gate.judge.is_other(gate_judge(by)):
        raise InputError(
            "Labels beside the scores of another judge tell nothing of this gate.",
            notes=gate.standing(judge=by).void,
        )
    rows = labelled_scores(labelled, guard=guard, label=label, cluster=cluster)
    scored = rows.with_score()
    risks = [
        _checked(
            "max_false_pass",
            false_pass(scored, gate.pass_at, gate.max_false_pass, gate.confidence),
            gate.confidence,
        )
    ]
    if gate.block_below is not None and gate.max_false_block is not None:
        risk = false_block(scored, gate.block_below, gate.max_false_block, gate.confidence)
        risks.append(_checked("max_false_block", risk, gate.confidence))
    return GateCheck(
        gate,
        tuple(risks),
        gate.standing(scores=scored.one_a_cluster()),
        tuple(shares_of(gate, rows)),
        len(rows) - len(scored),
        rows.unlabelled,
    )


def _checked(
    promise: Literal["max_false_pass", "max_false_block"], risk: ShownRisk, confidence: float
) -> CheckedPromise:
    if risk.high <= risk.promised:
        return CheckedPromise(promise, risk, "holds", None)
    if risk.low > risk.promised:
        return CheckedPromise(promise, risk, "broken", None)
    needed = rows_needed(risk.promised, confidence=confidence, hits=risk.hits)
    return CheckedPromise(promise, risk, "cannot_tell", needed)
