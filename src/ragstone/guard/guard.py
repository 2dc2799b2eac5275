"""Guard: assesses answers before users get them, singly, asynchronously or over a data set."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache, wraps
from heapq import heappush, heapreplace
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.data import Example, read
from ragstone.judges.judge import STRINGS
from ragstone.judges.local.local_judge import LocalJudge

from . import answer_checks
from .answer_checks import ClaimsJudge, Grounded
from .assessment import LOGGER, WAYS_OUT, Assessment, CheckResult, CheckStatus, WayOut, tell
from .confidence_gate.confidence_gate import Gate
from .confidence_gate.gate_labels import GateJudge
from .guard_input import Answered, Checks, Deadline, ReadContexts, read_contexts
from .new_facts import AnswerSoFar

if TYPE_CHECKING:
    from ragstone.run.judging.run_models import Named


# How much of the deadline is kept for reporting what is known: a share, and at most these seconds.
RESERVED, MOST_RESERVED = 0.3, 0.3

# Called with each assessment as plain data, without any text of the request.
Listener = Callable[[Mapping[str, Any]], object]


class DecidesByConfidence(Protocol):
    """A calibrated gate: a way out for the confidence in an answer."""

    def decide(self, confidence: float | None) -> WayOut:
        """The way out for this confidence."""


Given = ParamSpec("Given")
Result = TypeVar("Result")


def in_thread(call: Callable[Given, Result]) -> Callable[Given, Coroutine[Any, Any, Result]]:
    """Return the asynchronous form of a function: the same arguments, in a thread of its own."""

    @wraps(call)
    async def run(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        return await asyncio.to_thread(call, *args, **kwargs)

    run.__name__, run.__qualname__ = f"a{call.__name__}", f"a{call.__qualname__}"
    return run


@dataclass(frozen=True)
class Guard:
    """Assesses answers before they are given. Make it once, and use it for every request.

        guard = Guard()
        guard.assess(question, answer, contexts).ok

    Can be used from several threads. It raises nothing inside a request: what cannot be judged is
    ``not_judged``.

    Args:
        checks: What is checked, and from which value on it passes.
        abstain_ok: Whether an answer that says it does not know is as good as any.
        judge: Who judges the claims: None or ``local:strings`` the local judge by strings;
            ``local`` or ``builtin:minilm`` the same with its encoder; ``nli:NAME``; a chat model
            such as ``openai:MODEL``, an address or an async function. Where it is too late or
            gone, the local judge by strings answers in its place, and ``late`` says so.
        gate: A calibrated gate, which decides by the confidence. It is void, and asks about every
            answer and says so in its notes, if another judge was calibrated.
        deadline: Seconds in which an assessment ends; what is not reached is ``not_judged``.
        offline: Use no server except on this machine, and download no model.
        listener: Is told of each assessment, besides the log.

    Raises:
        InputError: A setting that cannot be used.
    """

    checks: Checks = Checks()  # noqa: RUF009
    _: KW_ONLY
    abstain_ok: bool = False
    judge: "Named | None" = None
    gate: DecidesByConfidence | None = None
    deadline: float = 1.0
    offline: bool = False
    listener: Listener | None = None
    _judge: ClaimsJudge | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        seconds = self.deadline
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
            raise InputError(f"deadline is {seconds!r}; it is a time in seconds, above 0.")
        if not isinstance(self.checks, Checks):
            raise InputError(f"checks is {self.checks!r}; it must be Checks(…).")
        if self.gate is not None and not callable(getattr(self.gate, "decide", None)):
            raise InputError(f"gate is {self.gate!r}; it must be a Gate, such as Gate.read(path).")
        if self.listener is not None and not callable(self.listener):
            raise InputError(f"listener is {self.listener!r}; it must be a function.")
        from .claim_judges import open_claims_judge

        object.__setattr__(self, "_judge", open_claims_judge(self.judge, offline=self.offline))
        if isinstance(self.gate, Gate):
            object.__setattr__(self, "gate", self.gate.as_it_stands(judge=self.scores_by))

    @property
    def scores_by(self) -> GateJudge:
        """The judge that gives the confidence, with versions; a gate holds for it alone."""
        judge = self._judge
        name, parts = (STRINGS, LocalJudge().parts) if judge is None else (judge.name, judge.parts)
        return GateJudge(name, tuple(parts))

    def read(self, contexts: object) -> ReadContexts:
        """Read contexts once, to assess several answers by them."""
        return read_contexts(contexts, Deadline(self.deadline))

    def assess(
        self,
        question: str | None,
        answer: str | None,
        contexts: Sequence[Any] | ReadContexts | None,
        *,
        retrieval_scores: Sequence[float | None] | None = None,
        run_id: str | None = None,
    ) -> Assessment:
        """Assess one answer.

        Args:
            question: What was asked.
            answer: What is going to be answered.
            contexts: What the answer should rest on, in rank order: texts, mappings with ``text``
                and ``id``, or what ``read`` gave. None or empty: nothing was found.
            retrieval_scores: From 0 to 1; None: those of the contexts, if they carry any. If one
                is null or on another scale, they are not looked at.
            run_id: Your name for the request; it stands in the log.

        Returns:
            What is known of it. Nothing is raised.
        """
        begun = time.monotonic()
        run_id = _text_or_type(run_id)
        try:
            answered = self.answered(question, answer, contexts, retrieval_scores)
            assessment = self.conclude(answered, self.ground(answered), run_id)
        except Exception as error:
            # Inside a user's request nothing may break; what broke is told, without any text.
            bare = RuntimeError(type(error).__name__).with_traceback(error.__traceback__)
            with suppress(Exception):
                LOGGER.exception("guard failed run_id=%r", run_id, exc_info=bare)
            assessment = unjudged(reason("guard_failed", error=type(error).__name__), run_id)
        with suppress(Exception):  # A handler of the log that raises breaks no request either.
            tell(assessment, time.monotonic() - begun, self.listener)
        return assessment

    aassess = in_thread(assess)
    """Assess as ``assess`` does, in a thread of its own, so that other requests go on."""

    def answered(
        self,
        question: object,
        answer: object,
        contexts: object,
        scores: object = None,
        so_far: AnswerSoFar | None = None,
    ) -> Answered:
        """Take what a request brings, to be judged by these settings until the deadline."""
        deadline = Deadline(self.deadline - min(RESERVED * self.deadline, MOST_RESERVED))
        return Answered.of(
            question,
            answer,
            contexts,
            scores,
            self.checks,
            deadline,
            abstain_ok=self.abstain_ok,
            so_far=so_far,
        )

    def ground(self, answered: Answered) -> Grounded:
        """Judge the claims of an answer or of a part of one."""
        return answer_checks.ground(answered, self._judge)

    def conclude(self, answered: Answered, grounded: Grounded, run_id: str | None) -> Assessment:
        """Assess an answer whose claims are judged."""
        checks = _checked(answered, grounded)
        states = {check.status for check in checks}
        n = len(grounded.claims)
        against = [claim.verdict for claim in grounded.claims].count("contradicted")
        notes = [] if grounded.late is None else [grounded.late]
        if answered.thoughts:
            notes.append(reason("thoughts_taken_off"))
        if against:
            notes.append(reason("contradicted_sentences", n=against, of_n=n))
        ok = False if "failed" in states else None if "not_judged" in states else True
        return Assessment(
            ok,
            _decision(ok, checks, grounded, self.gate),
            checks,
            tuple(issue for check in checks for issue in check.issues),
            grounded.claims,
            grounded.confidence,
            run_id,
            grounded.judge,
            grounded.late is not None,
            (*notes, *(self.gate.void if isinstance(self.gate, Gate) else ())),
        )


def unjudged(why: str, run_id: str | None) -> Assessment:
    """Return the assessment of what could not be assessed at all."""
    check = answer_checks.result("guard", "not_judged", why)
    return Assessment(None, "ask", (check,), (), (), None, run_id, "")


def _checked(answered: Answered, grounded: Grounded) -> tuple[CheckResult, ...]:
    checks = answered.checks
    results = [answer_checks.of_answer(answered), answer_checks.of_contexts(answered)]
    if checks.citations is not False:
        results.append(answer_checks.of_citations(answered))
    results.append(answer_checks.of_cited_contexts(answered))
    results.append(answer_checks.of_failure_phrases(answered))
    results.append(answer_checks.of_abstention(answered))
    if checks.least_retrieval_score is not None:
        results.append(answer_checks.of_retrieval_scores(answered))
    if checks.lists:
        results.append(answer_checks.of_list_structure(answered))
    if checks.least_support is not None:
        results.append(answer_checks.of_groundedness(answered, grounded))
    if checks.numbers:
        results.append(answer_checks.of_numbers(answered, grounded))
    if checks.names:
        results.append(answer_checks.of_names(answered, grounded))
    if checks.links:
        results.append(answer_checks.of_links(answered))
    return tuple(results)


def _decision(
    ok: bool | None,
    checks: Sequence[CheckResult],
    grounded: Grounded,
    gate: DecidesByConfidence | None,
) -> WayOut:
    """Ask the gate; but no answer passes that failed another check."""
    if gate is None:
        return "pass" if ok else "ask"
    # Another judge spoke in the place of a late one: nothing was promised of its confidence.
    decision = "ask" if grounded.late is not None else gate.decide(grounded.confidence)
    if decision not in WAYS_OUT:  # A gate of the user's own.
        return "ask"
    others = any(check.status in ("failed", "not_judged") and check.check != "groundedness"
                 for check in checks)  # fmt: skip
    return "ask" if decision == "pass" and others else decision


def _text_or_type(run_id: object) -> str | None:
    if run_id is None or isinstance(run_id, str):
        return run_id
    with suppress(Exception):
        return str(run_id)
    return type(run_id).__name__


def assess(
    question: str | None,
    answer: str | None,
    contexts: Sequence[Any] | ReadContexts | None,
    *,
    retrieval_scores: Sequence[float | None] | None = None,
    run_id: str | None = None,
    checks: Checks = Checks(),  # noqa: B008
    abstain_ok: bool = False,
    judge: "Named | None" = None,
    gate: DecidesByConfidence | None = None,
    deadline: float = 1.0,
    offline: bool = False,
    listener: Listener | None = None,
) -> Assessment:
    """Assess one answer before it is given.

        result = assess("How long is the pier?", "It is 90 m long [1].", ["The pier is 90 m long."])
        result.ok, [issue.code for issue in result.issues]

    The arguments are those of ``Guard`` and of its ``assess``. Guards are kept for calls with the
    same settings.

    Raises:
        InputError: A setting that cannot be used. Nothing is raised for what is assessed.
    """
    guard = guard_of(
        checks, abstain_ok=abstain_ok, judge=judge, gate=gate, deadline=deadline, offline=offline,
        listener=listener,
    )  # fmt: skip
    return guard.assess(
        question, answer, contexts, retrieval_scores=retrieval_scores, run_id=run_id
    )


# Assess as ``assess`` does, in a thread of its own, so that other requests go on.
aassess = in_thread(assess)


def guard_of(checks: Checks, **settings: Any) -> Guard:
    """Return the guard with these settings, made once and kept."""
    try:
        return _cached_guard(checks, **settings)
    except TypeError:  # A setting that cannot be hashed, such as a list of judges.
        return Guard(checks, **settings)


_cached_guard = lru_cache(maxsize=32)(Guard)


# Answers that are kept to be looked at.
SHOWN = 20


# An example with the assessment of its answer.
AssessedExample = tuple[Example, Assessment]


def assess_data(data: object, guard: Guard | None = None) -> Iterator[AssessedExample]:
    """Assess every answer of a data set, one by one; its id is the run id.

    Args:
        data: As for ``ragstone.read``. Retrieval scores are those of the contexts, or
            ``retrieval_scores`` among the other fields of a record.
        guard: The settings; None: those of ``Guard()``.

    Raises:
        DataError: A record cannot be read.
    """
    guard = guard or Guard()
    for example in read(data, keep_thoughts=True):
        assessment = guard.assess(
            example.question, example.answer, example.contexts,
            retrieval_scores=example.meta.get("retrieval_scores"), run_id=example.id,
        )  # fmt: skip
        yield example, assessment


@dataclass
class AssessedData:
    """Counts over the assessed answers of a data set; its size does not grow with theirs.

    Attributes:
        n: Answers.
        ok: Answers that are ok, that failed (False) and that are neither (None).
        late: Answers for which the local judge stood in for another.
    """

    n: int = 0
    ok: Counter[bool | None] = field(default_factory=Counter)
    decisions: Counter[WayOut] = field(default_factory=Counter)
    checks: dict[str, Counter[CheckStatus]] = field(default_factory=dict)
    issues: Counter[str] = field(default_factory=Counter)
    late: int = 0
    judges: Counter[str] = field(default_factory=Counter)
    _worst: list[tuple[float, int, AssessedExample]] = field(default_factory=list, repr=False)

    def add(self, assessed: AssessedExample) -> None:
        """Count one more."""
        _, assessment = assessed
        self.n += 1
        self.ok[assessment.ok] += 1
        self.decisions[assessment.decision] += 1
        self.late += assessment.late
        self.issues.update(issue.code for issue in assessment.issues)
        if assessment.judge:
            self.judges[assessment.judge] += 1
        for check in assessment.checks:
            self.checks.setdefault(check.check, Counter())[check.status] += 1
        if not assessment.ok:
            confidence = 1.0 if assessment.confidence is None else assessment.confidence
            entry = (len(assessment.issues) - confidence, -self.n, assessed)
            if len(self._worst) < SHOWN:
                heappush(self._worst, entry)
            elif entry > self._worst[0]:
                heapreplace(self._worst, entry)

    @property
    def worst(self) -> list[AssessedExample]:
        """The answers that are not ok, most issues first, then least confidence."""
        return [assessed for *_, assessed in sorted(self._worst, reverse=True)]
