"""Assessment: the result of all checks on an answer, and the event that is logged of it.

The event and the log line hold no text of the request: no question, answer, context, quote or
key.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from logging import INFO, WARNING, NullHandler, getLogger
from typing import Any, Literal, Self

from ragstone.core.escape import single_line
from ragstone.core.messages import Displayable, reason

# ``not_judged``: it applies, and there was no time, no text or no judge for it.
CheckStatus = Literal["passed", "failed", "not_applicable", "not_judged"]

# Give the answer, ask a person or a slower judge first, or do not give it.
WayOut = Literal["pass", "ask", "block"]

WAYS_OUT: tuple[WayOut, ...] = ("pass", "ask", "block")


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """Part of an answer: ``text == answer[start:end]``, in characters."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Issue:
    """Why a check failed.

    Attributes:
        code: One word, such as ``unsupported_sentence``.
        check: The check that failed.
        reason: Why, as a code with facts; ``ragstone.explain`` says it in words.
        spans: Where in the answer; empty if it is about the whole or about the contexts.
    """

    code: str
    check: str
    reason: str
    spans: tuple[AnswerSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check.

    Attributes:
        check: Its name.
        status: ``passed``, ``failed``, ``not_applicable`` or ``not_judged``.
        value: The measured value, None where nothing was measured.
        threshold: The least value that passes, None where there is none.
        reason: Why, as a code with facts; ``ragstone.explain`` says it in words.
        spans: The places in the answer.
        issues: The faults; empty unless the status is ``failed``.
    """

    check: str
    status: CheckStatus
    value: float | None = None
    threshold: float | None = None
    reason: str = ""
    spans: tuple[AnswerSpan, ...] = ()
    issues: tuple[Issue, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim of the answer and what the contexts say to it.

    Attributes:
        span: Where it stands in the answer.
        verdict: ``supported``, ``contradicted`` or ``absent``; None if it was not judged.
        probability: That the contexts support it, from 0 to 1; None if it was not judged, or the
            judge gives only verdicts.
        reason: Why, as a code with facts or in the judge's own words.
        evidence: Ids of the contexts that the verdict rests on.
        quote: A sentence of the first of them, word for word.
        judge: Who judged it.
    """

    span: AnswerSpan
    verdict: str | None
    probability: float | None
    reason: str
    evidence: tuple[str, ...] = ()
    quote: str | None = None
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Assessment(Displayable):
    """The result of all checks on an answer, before it is given.

    Attributes:
        ok: True if no check failed, False if one did, None if none failed and not all could be
            judged.
        decision: ``pass``, ``ask`` or ``block`` by the gate; without one ``pass`` if ok, else
            ``ask``.
        checks: Every check that is switched on, in a fixed order.
        issues: What failed, in the same order.
        judged: The claims of the answer and what the contexts say to each.
        confidence: The lowest probability, over the claims, that the contexts support it, from 0
            to 1; None without claims, or if not all are judged.
        run_id: The caller's name for the request.
        judge: Who judged the claims.
        late: Whether the judge that was asked for was too late or gone, and the local judge
            answered in its place.
        notes: What else to know, as codes with facts.
    """

    ok: bool | None
    decision: WayOut
    checks: tuple[CheckResult, ...]
    issues: tuple[Issue, ...]
    judged: tuple[JudgedClaim, ...]
    confidence: float | None
    run_id: str | None
    judge: str
    late: bool = False
    notes: tuple[str, ...] = ()

    def __getitem__(self, check: str) -> CheckResult:
        """The result of a check by its name.

        Raises:
            KeyError: There is no such check, or it is switched off.
        """
        return {result.check: result for result in self.checks}[check]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, ready for JSON; what is not there is null."""
        fields: dict[str, Any] = asdict(self)
        for check in fields["checks"]:
            del check["issues"]
        return fields


LOGGER = getLogger("ragstone.guard")
LOGGER.addHandler(NullHandler())  # Or Python prints warnings that nobody asked for.


class Contained:
    """Keeps what a block raises from the user's request that it runs in, and logs it.

        with Contained("listener failed: %s") as telling:
            listener(event)

    The log gets the type of the error alone, for its message may quote texts or keys.

    Attributes:
        error: What the block raised; None if nothing.
    """

    error: Exception | None = None

    def __init__(self, message: str = "", *arguments: object) -> None:
        """Name what is logged, whose last argument is the type; an empty message logs nothing."""
        self._message, self._arguments = message, arguments

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self.error = error
        self._log(error)
        return True

    def _log(self, error: Exception) -> None:
        if self._message:
            LOGGER.error(self._message, *self._arguments, type(error).__name__)

    def reason(self, code: str) -> str:
        """Return a reason with this code that names the type of what was raised."""
        return reason(code, error=type(self.error).__name__)


NAME = "ragstone.guard.assessment"
# Characters of a request's name that are told.
LONGEST_ID = 200


def shown(run_id: str | None) -> str | None:
    """Return a request's name as a log shows it."""
    return None if run_id is None else single_line(str(run_id))[:LONGEST_ID]


def event_of(assessment: Assessment, seconds: float) -> dict[str, Any]:
    """Return the structured event of an assessment that took this long."""
    return {
        "event": NAME,
        "run_id": shown(assessment.run_id),
        "ok": assessment.ok,
        "decision": assessment.decision,
        "issues": [issue.code for issue in assessment.issues],
        "checks": {check.check: check.status for check in assessment.checks},
        "confidence": assessment.confidence,
        "n_claims": len(assessment.judged),
        "judge": assessment.judge,
        "late": assessment.late,
        "seconds": round(seconds, 6),
    }


def tell(
    assessment: Assessment, seconds: float, listener: Callable[[Mapping[str, Any]], object] | None
) -> None:
    """Log an assessment, at WARNING unless it is ok, and tell the listener.

    The log record carries the event as ``record.assessment``. A listener that raises is logged.
    """
    level = INFO if assessment.ok else WARNING
    if listener is None and not LOGGER.isEnabledFor(level):
        return
    event = event_of(assessment, seconds)
    LOGGER.log(
        level,
        "run_id=%s ok=%s decision=%s issues=%s confidence=%s judge=%s%s ms=%.1f",
        event["run_id"],
        event["ok"],
        event["decision"],
        ",".join(event["issues"]) or "none",
        "none" if assessment.confidence is None else f"{assessment.confidence:.3f}",
        assessment.judge or "none",
        " late" if assessment.late else "",
        1000 * seconds,
        extra={"assessment": event},
    )
    if listener is not None:
        with Contained("listener failed: %s"):
            listener(event)
