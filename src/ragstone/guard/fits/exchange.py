"""Exchange: the question, the contexts and the rest that an answer is judged by."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any


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
