"""Assess: one answer, in one call."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .assessment import Assessment
from .checks import Checks
from .grounds import ReadContexts
from .guard import DecidesByConfidence, Guard, Listener

if TYPE_CHECKING:
    from ragstone.run.judging.named_models import Named


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

        found = assess("How long is the pier?", "It is 90 m long [1].", ["The pier is 90 m long."])
        found.ok, [issue.code for issue in found.issues]

    The arguments are those of ``Guard`` and of its ``assess``. Guards are kept for calls with the
    same settings.

    Raises:
        InputError: A setting that cannot be used. Nothing is raised for what is assessed.
    """
    guard = guard_of(checks, abstain_ok, judge, gate, deadline, offline, listener)
    return guard.assess(
        question, answer, contexts, retrieval_scores=retrieval_scores, run_id=run_id
    )


async def aassess(
    question: str | None,
    answer: str | None,
    contexts: Sequence[Any] | ReadContexts | None,
    *,
    retrieval_scores: Sequence[float | None] | None = None,
    run_id: str | None = None,
    **settings: Any,
) -> Assessment:
    """As ``assess``, in a thread of its own, so that other requests go on meanwhile."""
    import asyncio

    return await asyncio.to_thread(
        assess,
        question,
        answer,
        contexts,
        retrieval_scores=retrieval_scores,
        run_id=run_id,
        **settings,
    )


def guard_of(*settings: Any) -> Guard:
    """The guard with these settings, in the order of those of ``assess``; made once and kept."""
    try:
        return _kept(*settings)
    except TypeError:  # A setting that cannot be hashed, such as a list of judges.
        return _guard(*settings)


def _guard(
    checks: Checks,
    abstain_ok: bool,
    judge: "Named | None",
    gate: DecidesByConfidence | None,
    deadline: float,
    offline: bool,
    listener: Listener | None,
) -> Guard:
    return Guard(
        checks,
        abstain_ok=abstain_ok,
        judge=judge,
        gate=gate,
        deadline=deadline,
        offline=offline,
        listener=listener,
    )


_kept = lru_cache(maxsize=32)(_guard)
