"""Grounds: the contexts of an answer, read once, and what they say to its claims."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.examples import Context
from ragstone.examples.contexts import ContextReader
from ragstone.examples.problem import Problem
from ragstone.judges.local.alignment import Alignment
from ragstone.judges.local.passages import Passages
from ragstone.judges.local.support import SupportVerdict, support
from ragstone.reason import reason

from .deadline import Deadline

LONGEST_SENTENCE = 20_000
"""Characters; a longer one is not judged, for nothing can interrupt the work on one sentence."""


@dataclass(frozen=True, slots=True)
class ReadContexts:
    """Contexts that were read once, for all answers that are to be judged by them.

    Attributes:
        contexts: In rank order.
        passages: Their sentences and words, as far as they were read.
        fault: Why they could not be read at all, or only in part; None if all is well.
    """

    contexts: tuple[Context, ...]
    passages: Passages
    fault: str | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each context; empty where it has none."""
        return tuple(context.text or "" for context in self.contexts)

    @property
    def given(self) -> bool:
        """Whether there is any context that is not blank."""
        return any(context.text is None or context.text.strip() for context in self.contexts)

    @property
    def unread(self) -> str | None:
        """Why nothing can be judged by them, although there are some."""
        if self.fault is not None:
            return self.fault
        if self.contexts and all(context.text is None for context in self.contexts):
            return reason("no_context_text")
        return None

    def judge(
        self, claim: str, question: str | None = None, alignment: Alignment | None = None
    ) -> SupportVerdict:
        """Whether the contexts support one claim, by the local judge."""
        return support(claim, self.passages, question, alignment)


def read_contexts(given: object, deadline: Deadline | None = None) -> ReadContexts:
    """Read contexts; those that cannot be read, or not in time, are told by ``fault``.

    Args:
        given: Texts, mappings with ``text`` and ``id``, or ``Context``s; one of them alone; or
            contexts that were read already. None: there are none.
        deadline: When to stop; None: never.
    """
    if isinstance(given, ReadContexts):
        return given
    contexts, fault = _contexts(given)
    passages = Passages(())
    for position, context in enumerate(contexts):
        for _ in passages.reading(position, context.text or ""):
            if deadline is not None and deadline.passed:
                fault = reason("contexts_not_read_in_time", n=position, of_n=len(contexts))
                return ReadContexts(contexts, passages, fault)
    return ReadContexts(contexts, passages, fault)


def _contexts(given: object) -> tuple[tuple[Context, ...], str | None]:
    if given is None:
        return (), None
    if isinstance(given, str | Mapping | Context):
        given = [given]
    if not isinstance(given, Iterable):
        return (), reason("contexts_unreadable", said=type(given).__name__)
    listed = list(given)
    if all(isinstance(one, Context) for one in listed):
        return tuple(listed), None
    problems: list[Problem] = []
    found, _ = ContextReader().read([_plain(one) for one in listed], None, problems, graded=False)
    fault = reason("contexts_unreadable", said=problems[0].expected) if problems else None
    return found, fault


def _plain(one: object) -> Any:
    if isinstance(one, Context):
        return {"id": one.id, "text": one.text}
    return dict(one) if isinstance(one, Mapping) else one


def scores_of(contexts: Sequence[Context]) -> list[float | None] | None:
    """The retrieval scores that the contexts carry; None if none does."""
    scores = [context.score for context in contexts]
    return scores if any(score is not None for score in scores) else None
