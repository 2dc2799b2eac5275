"""Grounds: the contexts of an answer, read once, and what they say to its claims."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from ragstone.core.messages import reason
from ragstone.data import Context
from ragstone.data.contexts import ContextReader
from ragstone.data.json_text import Problem
from ragstone.judges.local.claim_support import Alignment, SupportVerdict, support
from ragstone.judges.local.claims_and_evidence import Passages

from .checks import is_finite
from .deadline import Deadline

MOST_CONTEXTS = 20_000
"""Contexts of one answer; no judge could read more of them while somebody waits."""

INCOMPLETE = ("contexts_not_listed", "contexts_unreadable")

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
    def whole(self) -> bool:
        """Whether every context is there, be it read or not."""
        return self.fault is None or self.fault.partition("?")[0] not in INCOMPLETE

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
    contexts, fault = _contexts(given, deadline)
    passages = Passages(())
    for position, context in enumerate(contexts):
        for _ in passages.reading(position, context.text or ""):
            if deadline is not None and deadline.passed:
                fault = reason("contexts_not_read_in_time", n=position, of_n=len(contexts))
                return ReadContexts(contexts, passages, fault)
    return ReadContexts(contexts, passages, fault)


def _contexts(given: object, deadline: Deadline | None) -> tuple[tuple[Context, ...], str | None]:
    if given is None:
        return (), None
    if isinstance(given, str | bytes | bytearray | Mapping | Context):
        given = [given]
    if not isinstance(given, Iterable):
        return (), reason("contexts_unreadable", said=type(given).__name__)
    listed, fault = list[object](), None
    for one in given:
        # It may be a generator that is slow, or has no end.
        if len(listed) == MOST_CONTEXTS or (deadline is not None and deadline.passed):
            fault = reason("contexts_not_listed", n=len(listed))
            break
        listed.append(one)
    if all(isinstance(one, Context) for one in listed):
        return tuple(one for one in listed if isinstance(one, Context)), fault
    plain = [_plain(one) for one in listed]
    problems: list[Problem] = []
    found, order = ContextReader().read(plain, None, problems, graded=False)
    if any(isinstance(one, dict) for one in plain) and len(found) == len(plain):
        found = _with_own_ids(found, plain if order is None else [plain[i] for i in order])
        # Here several contexts may have one id, as the chunks of one document have.
        problems = [one for one in problems if "that no other context" not in one.expected]
    if fault is None and problems:
        fault = reason("contexts_unreadable", said=problems[0].expected)
    return found, fault


def _with_own_ids(contexts: Sequence[Context], given: Sequence[Any]) -> tuple[Context, ...]:
    """The contexts with the ids that they were given, by which an answer may cite them."""
    reader = ContextReader()
    own = []
    for context, one in zip(contexts, given, strict=True):
        found, _ = reader.read([one], None, [], graded=False)
        named = isinstance(one, dict) and found and found[0].id != "1"
        own.append(replace(context, id=found[0].id) if named else context)
    return tuple(own)


def _plain(one: object) -> Any:
    """As the reader of contexts takes it: a missing one is blank, a score that is none is none."""
    if one is None:
        return ""
    if isinstance(one, bytes | bytearray):
        return bytes(one).decode("utf-8", "replace")
    if isinstance(one, Context):
        return {"id": one.id, "text": one.text, "score": one.score}
    if isinstance(one, str):
        return str(one)
    if not isinstance(one, Mapping):
        return one
    plain = dict(one)
    if "score" in plain:
        score = plain["score"]
        known = isinstance(score, Real) and not isinstance(score, bool) and is_finite(score)
        plain["score"] = float(score) if known else None
    return plain


def scores_of(contexts: Sequence[Context]) -> list[float | None] | None:
    """The retrieval scores that the contexts carry; None if none does."""
    scores = [context.score for context in contexts]
    return scores if any(score is not None for score in scores) else None
