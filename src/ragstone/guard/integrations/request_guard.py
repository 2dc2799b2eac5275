"""Request guard: rules on the answers of requests by a stated policy, and never breaks a request.

Each assessment adds an event to the current span if OpenTelemetry is installed.
"""

import asyncio
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import cache
from threading import Lock
from time import monotonic
from typing import Any, Literal, Protocol

from ragstone.core.errors import InputError
from ragstone.core.messages import Reason, reason
from ragstone.guard.assessment import LOGGER, Assessment, Contained, WayOut, event_of, shown
from ragstone.guard.claim_judges import Circuit
from ragstone.guard.guard import Guard, unjudged
from ragstone.guard.stream import PushedStream, ReleasePolicy, pushed_stream

# Whether an answer that could not be judged is held back (closed) or given (open).
IfNotJudged = Literal["closed", "open"]

HOLD: tuple[WayOut, ...] = ("ask", "block")


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision whether one answer is given.

    Attributes:
        assessment: If nothing could be judged its only check is ``guard``, with the reason.
        held: Whether the answer is held back.
        seconds: How long the guard took.
    """

    assessment: Assessment
    held: bool
    seconds: float = 0.0

    @property
    def unjudged(self) -> str:
        """The code of why nothing was judged; empty if something was."""
        (first, *others) = self.assessment.checks or (None,)
        if others or first is None or first.check != "guard":
            return ""
        return Reason.read(first.reason).code


def is_held(assessment: Assessment, if_not_judged: IfNotJudged, hold: Collection[WayOut]) -> bool:
    """Tell whether an answer is held back.

    One of which nothing failed and not all could be judged is by ``if_not_judged``, unless the gate
    lets it pass or blocks it; any other if its way out is in ``hold``.
    """
    if assessment.ok is None and assessment.decision == "ask":
        return if_not_judged == "closed"
    return assessment.decision in hold


HELD = "I cannot answer that from the sources I have."

# A text, the status of an error, or None: the answer all the same.
OnFail = str | int | None


@dataclass(frozen=True, slots=True)
class Exchange:
    """The facts that an answer is judged by, as far as they are known.

    Attributes:
        question: None: not known.
        contexts: Texts, mappings with ``text`` and ``id``, or ``Context``s. None: not known, which
            is not the same as none retrieved.
    """

    question: str | None = None
    contexts: Any = None
    retrieval_scores: Any = None
    run_id: str | None = None

    @property
    def beside(self) -> dict[str, Any]:
        """The arguments of a guard beside the question, the answer and the contexts."""
        return {"retrieval_scores": self.retrieval_scores, "run_id": self.run_id}

    def over(self, other: "Exchange") -> "Exchange":
        """Return this exchange, with what it lacks taken from the other."""
        names = [field.name for field in fields(self) if getattr(self, field.name) is None]
        return replace(self, **{name: getattr(other, name) for name in names})


@dataclass(slots=True)
class Told:
    """The facts told in a request, shared by the tasks and threads that work on it.

    Attributes:
        exchange: Replaced whole, so that no thread reads half of a call of ``tell_guard``.
    """

    exchange: Exchange = Exchange()


_TOLD: ContextVar[Told | None] = ContextVar("ragstone_guard_told", default=None)


def tell_guard(
    *,
    question: str | None = None,
    contexts: Any = None,
    retrieval_scores: Any = None,
    run_id: str | None = None,
) -> None:
    """Tell the guard of this request what its answer is to be judged by.

    For code that knows what neither the request nor the reply holds, such as a route that
    retrieves. It is called before the answer begins; a later call replaces what it names. Outside
    a guarded request it does nothing.

    Args:
        question: The question that is answered.
        contexts: Texts, mappings with ``text`` and ``id``, or ``Context``s.
        retrieval_scores: From 0 to 1, one for each context.
        run_id: Names the request in logs and results.
    """
    facts = _TOLD.get()
    if facts is not None:
        facts.exchange = Exchange(question, contexts, retrieval_scores, run_id).over(facts.exchange)


@contextmanager
def listening(facts: Told | None = None) -> Iterator[Told]:
    """Hear what ``tell_guard`` is told inside, also in tasks and threads begun there."""
    facts = Told() if facts is None else facts
    token = _TOLD.set(facts)
    try:
        yield facts
    finally:
        _TOLD.reset(token)


SPAN_EVENT = "gen_ai.evaluation.result"


def to_span(event: Mapping[str, Any]) -> None:
    """Add what came of an assessment to the current span, without any text of the request.

    Whatever guards requests calls it by itself; for ``assess`` it is a listener:
    ``Guard(listener=to_span)``. It does nothing where ``opentelemetry-api`` is not installed or no
    span is recorded. The name and the attributes ``gen_ai.evaluation.*`` are those of
    OpenTelemetry's semantic conventions for generative AI.
    """
    trace = _trace()
    if trace is None or not (span := trace.get_current_span()).is_recording():
        return
    attributes = {
        "gen_ai.evaluation.name": "ragstone.guard",
        "gen_ai.evaluation.score.value": event["confidence"],
        "gen_ai.evaluation.score.label": event["decision"],
        "gen_ai.evaluation.explanation": " ".join(event["issues"]) or None,
        "ragstone.guard.ok": event["ok"],
        "ragstone.guard.issues": list(event["issues"]),
        "ragstone.guard.run_id": event["run_id"],
        "ragstone.guard.judge": event["judge"] or None,
        "ragstone.guard.late": event["late"],
        "ragstone.guard.seconds": event["seconds"],
        "ragstone.guard.held": event.get("held"),
        "ragstone.guard.not_judged": event.get("not_judged"),
    }
    known = {name: value for name, value in attributes.items() if value is not None}
    span.add_event(SPAN_EVENT, known)


@cache
def _trace() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace


# Seconds that a guard may take beyond its own deadline until nobody waits for it any more.
GRACE = 1.0


class Assessing(Protocol):
    """A judge of answers, such as ``ragstone.guard.Guard``, whose ``assess`` has the arguments."""

    @property
    def deadline(self) -> float:
        """The seconds it may take."""

    @property
    def assess(self) -> Callable[..., Assessment]:
        """Judges an answer."""

    @property
    def aassess(self) -> Callable[..., Awaitable[Assessment]]:
        """Judges an answer beside other work of an event loop."""


@dataclass(eq=False)
class RequestGuard:
    """Judges the answers of requests, by a stated policy where it cannot.

    No error of a judge leaves it: an answer is then not judged, with the reason in the notes of
    its assessment; that is logged, without any text, and counted.

    Args:
        guard: The judge of the answers.
        if_not_judged: Whether an answer that could not be judged is held back ("closed") or given
            ("open"), which is no barrier: whoever asks may bring it about.
        hold: The decisions by which an answer is held back.
        timeout: Seconds that an asynchronous caller waits; None: the guard's deadline and a second.
        circuit: When to stop asking a guard that fails; None: after 5 failures in a row, for 30 s.
        on_ruling: Called with every ruling, such as to keep it. What it raises is logged.

    Attributes:
        counts: Rulings by what came of them: ``passed`` and ``held``, and of both ``not_judged``,
            ``failed`` and ``timed_out``.
    """

    guard: Assessing
    if_not_judged: IfNotJudged = "closed"
    hold: Collection[WayOut] = HOLD
    timeout: float | None = None
    circuit: Circuit | None = None
    on_ruling: Callable[[Ruling], object] | None = None
    _counts: Counter[str] = field(default_factory=Counter, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.guard, RequestGuard):
            # It has no ``assess``: nothing would be judged, and by an open policy all would pass.
            raise InputError(
                "guard=RequestGuard(…): give what judges, such as Guard(), and its policy beside."
            )
        if self.if_not_judged not in ("open", "closed"):
            raise InputError(f"if_not_judged={self.if_not_judged!r}: give 'open' or 'closed'.")
        if self.timeout is not None and not self.timeout > 0:
            raise InputError(f"timeout={self.timeout}: give more than 0 seconds, or None.")
        if self.circuit is None:
            self.circuit = Circuit(meanwhile=self.if_not_judged, name="guard")

    @property
    def counts(self) -> Mapping[str, int]:
        """Rulings by what came of them, so far."""
        with self._lock:
            return dict(self._counts)

    @property
    def patience(self) -> float:
        """Seconds that an asynchronous caller waits."""
        return self.guard.deadline + GRACE if self.timeout is None else self.timeout

    def ruling(self, answer: str, by: Exchange) -> Ruling:
        """Judge an answer by what is known; waits as long as the guard takes."""
        began = monotonic()
        if (why := self._in_the_way(by)) is not None:
            return self.not_judged(why, by, began=began)
        with ContainedInRequest("guard failed", by.run_id) as judging:
            assessment = self.guard.assess(by.question, answer, by.contexts, **by.beside)
        if judging.error is not None:
            return self._failed(judging.reason("guard_failed"), by, began)
        return self._judged(assessment, began)

    async def aruling(self, answer: str, by: Exchange) -> Ruling:
        """Judge beside other work of an event loop, and at most as long as its patience."""
        began = monotonic()
        if (why := self._in_the_way(by)) is not None:
            return self.not_judged(why, by, began=began)
        assessing = self.guard.aassess(by.question, answer, by.contexts, **by.beside)
        with ContainedInRequest("guard failed", by.run_id) as judging:
            try:
                assessment = await asyncio.wait_for(assessing, self.patience)
            except TimeoutError:
                why = reason("guard_timed_out", seconds=f"{self.patience:g}")
                return self._failed(why, by, began, "timed_out")
        if judging.error is not None:
            return self._failed(judging.reason("guard_failed"), by, began)
        return self._judged(assessment, began)

    def stream(self, by: Exchange, release: ReleasePolicy) -> PushedStream | str:
        """Begin a stream that is judged by what is known, or return why it is not judged."""
        if (why := self._in_the_way(by)) is not None:
            return why
        if not isinstance(self.guard, Guard):
            return reason("guard_of_whole_answers")
        return pushed_stream(self.guard, release, by.question, by.contexts, **by.beside)

    def streamed(self, assessment: Assessment, *, held: bool, began: float) -> Ruling:
        """Rule on a stream that is through; ``held`` if not all of it was given."""
        ruling = Ruling(assessment, held, monotonic() - began)
        if ruling.unjudged:
            self._breaker.failed()
            self._count("failed")
        else:
            self._breaker.ok()
        return self._told(ruling)

    def not_judged(
        self, why: str, by: Exchange, *, began: float | None = None, passes: bool = False
    ) -> Ruling:
        """Rule on an answer of which nothing was judged.

        Args:
            why: A reason, as a code with its facts.
            by: Has the run id.
            began: When the guard was asked, by ``monotonic``.
            passes: Whether it is given whatever the policy says, for it is no answer.
        """
        assessment = unjudged(why, by.run_id)
        LOGGER.warning("not judged run_id=%s reason=%s", shown(by.run_id), why)
        held = not passes and is_held(assessment, self.if_not_judged, self.hold)
        return self._told(Ruling(assessment, held, 0.0 if began is None else monotonic() - began))

    @property
    def _breaker(self) -> Circuit:
        assert self.circuit is not None
        return self.circuit

    def _in_the_way(self, by: Exchange) -> str | None:
        if by.contexts is None:
            return reason("contexts_not_told")
        return None if self._breaker.allow() else self._breaker.reason

    def _judged(self, assessment: Assessment, began: float) -> Ruling:
        held = is_held(assessment, self.if_not_judged, self.hold)
        return self.streamed(assessment, held=held, began=began)

    def _failed(self, why: str, by: Exchange, began: float, count: str = "failed") -> Ruling:
        self._breaker.failed()
        self._count(count)
        return self.not_judged(why, by, began=began)

    def _told(self, ruling: Ruling) -> Ruling:
        self._count("held" if ruling.held else "passed")
        if ruling.assessment.ok is None:
            self._count("not_judged")
        for tell in (self._to_span, self.on_ruling):
            with ContainedInRequest("listener failed", ruling.assessment.run_id):
                if tell is not None:
                    tell(ruling)
        return ruling

    def _to_span(self, ruling: Ruling) -> None:
        if getattr(self.guard, "listener", None) is not to_span:
            event = event_of(ruling.assessment, ruling.seconds)
            to_span({**event, "held": ruling.held, "not_judged": ruling.unjudged or None})

    def _count(self, what: str) -> None:
        with self._lock:
            self._counts[what] += 1


class ContainedInRequest(Contained):
    """Keeps what a block raises from the request of this name, and logs its type and place."""

    def __init__(self, what: str, run_id: str | None) -> None:
        super().__init__("%s run_id=%s error=%s at=%s", what)
        self._run_id = run_id

    def _log(self, error: Exception) -> None:
        at = ""
        for frame, line in traceback.walk_tb(error.__traceback__):
            at = f"{frame.f_code.co_filename}:{line}"
        LOGGER.error(self._message, *self._arguments, shown(self._run_id), type(error).__name__, at)
