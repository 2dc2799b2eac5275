"""Named judge: from what a user calls a judge to what judges claims in time, or gives way."""

from collections.abc import Sequence
from logging import getLogger
from typing import TYPE_CHECKING

from ragstone.core.errors import InputError
from ragstone.core.messages import argument, reason
from ragstone.guard.answered import Answered
from ragstone.guard.grounding import ClaimsJudge, ClaimVerdict
from ragstone.judges.judge_names import LOCAL, NLI, STRINGS
from ragstone.judges.local.claims_and_evidence import LocatedClaim
from ragstone.models.download import BUILTIN

from .circuit import Circuit
from .in_time import InTime

if TYPE_CHECKING:
    from ragstone.run.judging.named_models import Named

LOGGER = getLogger("ragstone.guard")

ON_THIS_MACHINE, BY_MODELS = 2, 64
"""Answers that a judge may have in hand at the same time."""

TOO_MUCH = "too_much_for_encoder"


class TimedJudge:
    """A judge that has until the deadline of an answer, and is left alone while it is gone.

    Args:
        judge: Who judges.
        circuit: Opens when it fails time and again.
        most: Answers that it may have in hand at the same time.
    """

    def __init__(self, judge: ClaimsJudge, circuit: Circuit, most: int) -> None:
        self.name = judge.name
        self.parts = tuple(judge.parts)
        self.circuit = circuit
        self._judge = judge
        self._in_time = InTime(most)

    def verdicts(
        self, one: Answered, claims: Sequence[LocatedClaim]
    ) -> Sequence[ClaimVerdict] | str:
        """A verdict for each claim; or why there are none."""
        if not self.circuit.allow():
            return self.circuit.reason
        try:
            said = self._in_time.run(lambda: self._judge.verdicts(one, claims), one.deadline.left)
        except TimeoutError:
            self.circuit.failed()
            return reason("judge_too_late", judge=self.name)
        except Exception as error:
            self.circuit.failed()
            LOGGER.error("judge=%s failed: %s", self.name, type(error).__name__)
            return reason("judge_failed", judge=self.name, error=type(error).__name__)
        if not isinstance(said, str):
            self.circuit.ok()
        elif not said.startswith(TOO_MUCH):
            self.circuit.failed()
        return said


def open_claims_judge(
    judge: "Named | None", *, offline: bool = False, circuit: Circuit | None = None
) -> TimedJudge | None:
    """The judge of this name; None for the local judge by strings, which is always there.

    Raises:
        InputError: There is no such judge, or it cannot judge inside a request.
        ModelError: Its model cannot be had or used.
        MissingDependency: Its back end is not installed.
    """
    if judge is None or judge == STRINGS:
        return None
    found, most = _opened(judge, offline=offline)
    if found is None:
        return None
    return TimedJudge(found, circuit or Circuit(name=found.name), most)


def _opened(judge: "Named", *, offline: bool) -> tuple[ClaimsJudge | None, int]:
    if judge in (LOCAL, BUILTIN):
        return _encoder_judge(str(judge), offline=offline), ON_THIS_MACHINE
    if isinstance(judge, str) and judge.partition(":")[0] == NLI:
        from ragstone.judges.judge_names import parse_judges

        from .by_rows import RowsJudge

        first = parse_judges([judge], offline=offline).judges[0]
        identity = f"{first.name} {first.about}"
        return RowsJudge(judge, identity, lambda _: first), ON_THIS_MACHINE
    named = isinstance(judge, str | Sequence) or hasattr(judge, "name") or callable(judge)
    if not named or isinstance(judge, bytes):
        raise InputError(f"judge is {judge!r}; it must be a name, a model or an async function.")
    from ragstone.run.judging.run_models import chat_judges
    from ragstone.run.request import Instructions

    from .by_model import model_judge

    opened = chat_judges([judge], Instructions(), (), "", offline=offline)
    if not opened.judges:
        forms = f"{STRINGS}, {LOCAL}, {BUILTIN}, {NLI}:NAME, openai:MODEL or http://HOST/v1#MODEL"
        raise InputError(
            f"{argument('judge', judge)} cannot judge inside a request; these can: {forms}."
        )
    [(name, chat)] = opened.judges.items()
    return model_judge(name, chat, opened.pool), BY_MODELS


def _encoder_judge(name: str, *, offline: bool) -> ClaimsJudge | None:
    """The local judge with its encoder; as ``local`` without it where it is not stored."""
    from ragstone.models import open_encoder
    from ragstone.models.model_store import find

    from .by_encoder import EncoderJudge

    if name == LOCAL and find(BUILTIN) is None:
        return None
    encoder = open_encoder(BUILTIN, offline=offline or name == LOCAL)
    return EncoderJudge(encoder, f"{LOCAL}:{BUILTIN}")
