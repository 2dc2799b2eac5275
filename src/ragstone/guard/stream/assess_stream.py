"""Assess stream: an answer, judged while it is being written."""

from collections.abc import AsyncIterable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.guard.assess import guard_of
from ragstone.guard.checks import Checks
from ragstone.guard.grounds import ReadContexts
from ragstone.guard.guard import DecidesByConfidence, Guard, Listener

from .release_policy import IfNotJudgedUnit, Instead, Policy, ReleasePolicy
from .releasing import Releasing
from .stream import AsyncStream, PushedStream, Stream
from .unit_judge import UnitJudge
from .unit_verdict import UnitVerdict

if TYPE_CHECKING:
    from ragstone.run.judging.named_models import Named


def assess_stream(
    question: str | None,
    contexts: Sequence[Any] | ReadContexts | None,
    chunks: Iterable[Any],
    *,
    policy: Policy = "hold_sentence",
    stop_early: bool = False,
    instead: Instead = None,
    if_not_judged: IfNotJudgedUnit = "hold",
    on_unit: Callable[[UnitVerdict], object] | None = None,
    retrieval_scores: Sequence[float | None] | None = None,
    run_id: str | None = None,
    guard: Guard | None = None,
    checks: Checks = Checks(),  # noqa: B008
    abstain_ok: bool = False,
    judge: "Named | None" = None,
    gate: DecidesByConfidence | None = None,
    deadline: float = 1.0,
    offline: bool = False,
    listener: Listener | None = None,
) -> Stream:
    """Judge an answer while it is being written, and let through what passes.

        stream = assess_stream(question, contexts, model(question), instead="[not supported]")
        for text in stream:
            send(text)
        stream.assessment.ok

    Args:
        question: What was asked.
        contexts: What the answer should rest on; see ``Guard.assess``.
        chunks: The answer in pieces: texts, UTF-8 bytes, deltas of chat models, and ``NotJudged``
            for what is not part of it.
        policy: ``hold_all``: nothing leaves before the whole answer is assessed, and only if it
            passes. ``hold_sentence``: each sentence, row of a table or block of code leaves once it
            is judged, unless it fails. ``flag_after``: all leaves at once.
        stop_early: Whether reading stops at the first unit that fails.
        instead: What leaves in place of what is held: a text, once an answer; or a function of the
            unit that is held, called for each. It is not judged.
        if_not_judged: Whether to ``hold`` or ``release`` what could not be judged.
        on_unit: Called with each unit as soon as it is judged. What it raises is logged.
        retrieval_scores: See ``Guard.assess``.
        run_id: Your name for the request; it stands in the log.
        guard: Settings that hold for many answers, in place of those that follow.
        checks: See ``Guard``, as for all that follow. The deadline holds for each unit.
        abstain_ok: Of the whole answer.
        judge: Who judges the claims.
        gate: Decides about the whole answer, and so in ``hold_all`` whether it leaves.
        deadline: Seconds for each unit, and for reading the contexts.
        offline: Use no server except on this machine.
        listener: Is told of the assessment.

    Returns:
        What gives the text that may leave, once it is iterated.

    Raises:
        InputError: A setting that cannot be used.
    """
    settings = (checks, abstain_ok, judge, gate, deadline, offline, listener)
    held = UnitJudge(guard or guard_of(*settings), question, contexts, retrieval_scores, run_id)
    release = ReleasePolicy(policy, stop_early, instead, if_not_judged)
    return Stream(Releasing(held, release, on_unit), chunks)


def aassess_stream(
    question: str | None,
    contexts: Sequence[Any] | ReadContexts | None,
    chunks: AsyncIterable[Any],
    *,
    policy: Policy = "hold_sentence",
    stop_early: bool = False,
    instead: Instead = None,
    if_not_judged: IfNotJudgedUnit = "hold",
    on_unit: Callable[[UnitVerdict], object] | None = None,
    retrieval_scores: Sequence[float | None] | None = None,
    run_id: str | None = None,
    guard: Guard | None = None,
    checks: Checks = Checks(),  # noqa: B008
    abstain_ok: bool = False,
    judge: "Named | None" = None,
    gate: DecidesByConfidence | None = None,
    deadline: float = 1.0,
    offline: bool = False,
    listener: Listener | None = None,
) -> AsyncStream:
    """As ``assess_stream``, over an asynchronous source: iterate it with ``async for``."""
    settings = (checks, abstain_ok, judge, gate, deadline, offline, listener)
    held = UnitJudge(guard or guard_of(*settings), question, contexts, retrieval_scores, run_id)
    release = ReleasePolicy(policy, stop_early, instead, if_not_judged)
    return AsyncStream(Releasing(held, release, on_unit), chunks)


def pushed_stream(
    guard: Guard,
    release: ReleasePolicy,
    question: str | None,
    contexts: Sequence[Any] | ReadContexts | None,
    *,
    on_unit: Callable[[UnitVerdict], object] | None = None,
    retrieval_scores: Sequence[float | None] | None = None,
    run_id: str | None = None,
) -> PushedStream:
    """As ``assess_stream``, for whoever is given the pieces: it has ``feed`` and ``close``."""
    held = UnitJudge(guard, question, contexts, retrieval_scores, run_id)
    return PushedStream(Releasing(held, release, on_unit))
