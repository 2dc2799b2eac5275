"""Request guard: rules on the answers of requests by a stated policy, and never breaks a request.

Each assessment adds an event to the current span if OpenTelemetry is installed.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from threading import Lock
from time import monotonic
from typing import Any, Literal, Protocol

from ragstone.core.errors import InputError
from ragstone.core.escape import single_line
from ragstone.core.messages import Reason, reason
from ragstone.guard.assessment import LONGEST_ID, Assessment, WayOut, event_of
from ragstone.guard.claim_judges import Circuit
from ragstone.guard.guard import Guard, unjudged
from ragstone.guard.stream import PushedStream, ReleasePolicy, pushed_stream

IfNotJudged = Literal["closed", "open"]
"""Whether an answer that could not be judged is held back (closed) or given (open)."""

HOLD: tuple[WayOut, ...] = ("ask", "block")


@dataclass(frozen=True, slots=True)
class Ruling:
    """Whether one answer is given, and why.

    Attributes:
        assessment: What is known of the answer. If nothing could be judged its only check is
            ``guard``, with the reason.
        held: Whether it is held back.
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


def is_held(found: Assessment, if_not_judged: IfNotJudged, hold: Collection[WayOut]) -> bool:
    """Whether an answer is held back.

    One of which nothing failed and not all could be judged is by ``if_not_judged``, unless the gate
    lets it pass or blocks it; any other if its way out is in ``hold``.
    """
    if found.ok is None and found.decision == "ask":
        return if_not_judged == "closed"
    return found.decision in hold


HELD = "I cannot answer that from the sources I have."

OnFail = str | int | None
"""A text, the status of an error, or None: the answer all the same."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What an answer is judged by, as far as it is known.

    Attributes:
        question: None: not known.
        contexts: Texts, mappings with ``text`` and ``id``, or ``Context``s. None: not known, which
            is not the same as none retrieved.
        retrieval_scores: From 0 to 1, one for each context.
        run_id: Names the request in logs and results.
    """

    question: str | None = None
    contexts: Any = None
    retrieval_scores: Any = None
    run_id: str | None = None

    def over(self, other: "Exchange") -> "Exchange":
        """This one, with what it lacks taken from the other."""
        lacking = {
            name: getattr(other, name)
            for name in ("question", "contexts", "retrieval_scores", "run_id")
            if getattr(self, name) is None
        }
        return replace(self, **lacking)


class Told:
    """What was told in one request; shared by the tasks and threads that work on it."""

    def __init__(self) -> None:
        self.exchange = Exchange()


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
    told = _TOLD.get()
    if told is not None:
        told.exchange = Exchange(question, contexts, retrieval_scores, run_id).over(told.exchange)


@contextmanager
def listening(told: Told | None = None) -> Iterator[Told]:
    """Hear what ``tell_guard`` is told inside, also in tasks and threads begun there.

    Args:
        told: What was told so far; None: nothing.
    """
    told = Told() if told is None else told
    token = _TOLD.set(told)
    try:
        yield told
    finally:
        _TOLD.reset(token)


SPAN_EVENT = "gen_ai.evaluation.result"


def to_span(event: Mapping[str, Any]) -> None:
    """Add what came of an assessment to the current span, without any text of the request.

    Whatever guards requests calls it by itself; for ``assess`` it is a listener:
    ``Guard(listener=to_span)``. It does nothing where ``opentelemetry-api`` is not installed or no
    span is recorded. The name and the attributes ``gen_ai.evaluation.*`` are those of
    OpenTelemetry's semantic conventions for generative AI.

    Args:
        event: The structured event of an assessment.
    """
    trace = _trace()
    if trace is not None:
        span = trace.get_current_span()
        if span.is_recording():
            span.add_event(SPAN_EVENT, attributes(event))


def attributes(event: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of the span's event; what is not known is left out."""
    known = {
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
    return {name: value for name, value in known.items() if value is not None}


@cache
def _trace() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace


LOGGER = logging.getLogger("ragstone.guard")

GRACE = 1.0
"""Seconds that a guard may take beyond its own deadline until nobody waits for it any more."""


class Assessing(Protocol):
    """What judges an answer, such as ``ragstone.guard.Guard``."""

    @property
    def deadline(self) -> float:
        """Seconds it may take."""

    def assess(
        self,
        question: str | None,
        answer: str | None,
        contexts: Any,
        *,
        retrieval_scores: Sequence[float | None] | None = None,
        run_id: str | None = None,
    ) -> Assessment:
        """Judge an answer."""

    async def aassess(
        self,
        question: str | None,
        answer: str | None,
        contexts: Any,
        *,
        retrieval_scores: Sequence[float | None] | None = None,
        run_id: str | None = None,
    ) -> Assessment:
        """The same, beside other work of an event loop."""


@dataclass(eq=False)
class RequestGuard:
    """Judges the answers of requests, by a stated policy where it cannot.

    No error of a judge leaves it: an answer is then not judged, with the reason in the notes of
    its assessment; that is logged, without any text, and counted.

    Args:
        guard: What judges.
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
        why = self._in_the_way(by)
        if why is not None:
            return self.not_judged(why, by, began=began)
        try:
            found = self.guard.assess(
                by.question, answer, by.contexts,
                retrieval_scores=by.retrieval_scores, run_id=by.run_id,
            )  # fmt: skip
        except Exception as error:
            return self._failed(error, by, began)
        return self._judged(found, began)

    async def aruling(self, answer: str, by: Exchange) -> Ruling:
        """The same beside other work of an event loop, and at most as long as its patience."""
        began = monotonic()
        why = self._in_the_way(by)
        if why is not None:
            return self.not_judged(why, by, began=began)
        asked = self.guard.aassess(
            by.question, answer, by.contexts,
            retrieval_scores=by.retrieval_scores, run_id=by.run_id,
        )  # fmt: skip
        try:
            found = await asyncio.wait_for(asked, self.patience)
        except TimeoutError:
            self._breaker.failed()
            self._count("timed_out")
            why = reason("guard_timed_out", seconds=f"{self.patience:g}")
            return self.not_judged(why, by, began=began)
        except Exception as error:
            return self._failed(error, by, began)
        return self._judged(found, began)

    def stream(self, by: Exchange, release: ReleasePolicy) -> PushedStream | str:
        """A stream that is judged by what is known, its contexts read; or why it is not judged."""
        why = self._in_the_way(by)
        if why is not None:
            return why
        if not isinstance(self.guard, Guard):
            return reason("guard_of_whole_answers")
        return pushed_stream(
            self.guard, release, by.question, by.contexts,
            retrieval_scores=by.retrieval_scores, run_id=by.run_id,
        )  # fmt: skip

    def streamed(self, found: Assessment, *, held: bool, began: float) -> Ruling:
        """The ruling on a stream that is through.

        Args:
            found: What is known of its answer.
            held: Whether not all of it was given.
            began: When it began, by ``monotonic``.
        """
        ruling = Ruling(found, held, monotonic() - began)
        self._heard(ruling)
        return self._told(ruling)

    def not_judged(
        self, why: str, by: Exchange, *, began: float | None = None, passes: bool = False
    ) -> Ruling:
        """The ruling on an answer of which nothing was judged.

        Args:
            why: A reason, as a code with its facts.
            by: Whose run id it gets.
            began: When the guard was asked, by ``monotonic``.
            passes: Whether it is given whatever the policy says, for it is no answer.
        """
        found = unjudged(why, by.run_id)
        LOGGER.warning("not judged run_id=%s reason=%s", shown(by.run_id), why)
        held = not passes and is_held(found, self.if_not_judged, self.hold)
        return self._told(Ruling(found, held, 0.0 if began is None else monotonic() - began))

    @property
    def _breaker(self) -> Circuit:
        assert self.circuit is not None
        return self.circuit

    def _in_the_way(self, by: Exchange) -> str | None:
        """Why the guard is not asked; None if it is."""
        if by.contexts is None:
            return reason("contexts_not_told")
        return None if self._breaker.allow() else self._breaker.reason

    def _judged(self, found: Assessment, began: float) -> Ruling:
        ruling = Ruling(found, is_held(found, self.if_not_judged, self.hold), monotonic() - began)
        self._heard(ruling)
        return self._told(ruling)

    def _heard(self, ruling: Ruling) -> None:
        if ruling.unjudged:
            self._breaker.failed()
            self._count("failed")
        else:
            self._breaker.ok()

    def _failed(self, error: Exception, by: Exchange, began: float) -> Ruling:
        self._breaker.failed()
        self._count("failed")
        log_error("guard failed", error, by.run_id)
        why = reason("guard_failed", error=type(error).__name__)
        return self.not_judged(why, by, began=began)

    def _told(self, ruling: Ruling) -> Ruling:
        self._count("held" if ruling.held else "passed")
        if ruling.assessment.ok is None:
            self._count("not_judged")
        for tell in (self._to_span, self.on_ruling):
            try:
                if tell is not None:
                    tell(ruling)
            except Exception as error:
                log_error("listener failed", error, ruling.assessment.run_id)
        return ruling

    def _to_span(self, ruling: Ruling) -> None:
        if getattr(self.guard, "listener", None) is not to_span:
            event = event_of(ruling.assessment, ruling.seconds)
            to_span({**event, "held": ruling.held, "not_judged": ruling.unjudged or None})

    def _count(self, what: str) -> None:
        with self._lock:
            self._counts[what] += 1


def request_guard(guard: Assessing | RequestGuard | None) -> RequestGuard:
    """The guard of requests that an adapter was given; ``Guard()`` if none was."""
    if isinstance(guard, RequestGuard):
        return guard
    return RequestGuard(Guard() if guard is None else guard)


def log_error(what: str, error: Exception, run_id: str | None) -> None:
    """Log an error by its type and place alone, for its message may quote texts or keys."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    at = "" if place is None else f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
    LOGGER.error("%s run_id=%s error=%s at=%s", what, shown(run_id), type(error).__name__, at)


def shown(run_id: str | None) -> str | None:
    """A request's name as a log shows it."""
    return None if run_id is None else single_line(str(run_id))[:LONGEST_ID]
