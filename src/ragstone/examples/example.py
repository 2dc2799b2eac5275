"""Example: one question answered once by one system, with all that is known about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

NOTHING: Mapping[str, Any] = MappingProxyType({})

SESSION = "session"
"""The slice that names the conversation of an example."""


@dataclass(frozen=True, slots=True)
class Context:
    """One retrieved passage.

    ``rank`` counts from 1. ``text`` is None if only the id is known, as in a TREC run.
    """

    id: str
    text: str | None
    rank: int
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier turn of the conversation."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """One answer of one system to one question.

    ``contexts`` is None if the system does not retrieve, and empty if it retrieved
    nothing; contexts are in rank order. ``reference`` lists alternative reference
    answers, any of which counts. ``reference_contexts`` maps the ids of judged
    contexts to their grades, where 0 means judged not relevant; None if no grades
    are known. ``evidence`` is the gold evidence as text. ``labels`` are human
    labels, kept as given. The session that the example is a turn of stands in ``slices``,
    under ``session``.
    """

    id: str
    question_id: str
    system: str
    question: str | None = None
    contexts: tuple[Context, ...] | None = None
    answer: str | None = None
    reference: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()
    policy: str | None = None
    evidence: tuple[str, ...] = ()
    reference_contexts: Mapping[str, int] | None = None
    slices: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    labels: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    meta: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    @property
    def session(self) -> str | None:
        """The id of the conversation that it is a turn of; None if it is not known."""
        return _as_text(self.slices.get(SESSION))

    @property
    def characters(self) -> int:
        """The number of characters that judges read, ids of contexts among them."""
        texts = (
            self.question,
            self.answer,
            *self.reference,
            *self.evidence,
            *(turn.text for turn in self.history),
        )
        return sum(len(text) for text in texts if text) + sum(
            len(context.id) + len(context.text or "") for context in self.contexts or ()
        )

    def facet(self, name: str) -> str | None:
        """The value to group by: looked for at the top level, then in slices, meta, labels."""
        if name in ("id", "question_id", "system", "question", "answer", "policy"):
            return getattr(self, name)  # type: ignore[no-any-return]
        for place in (self.slices, self.meta, self.labels):
            if name in place:
                return _as_text(place[name])
        return None


def _as_text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ", ".join(str(part) for part in value) or None
    return str(value)
