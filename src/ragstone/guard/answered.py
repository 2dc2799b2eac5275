"""Answered: one question with its answer and contexts, as every check reads it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from ragstone.judges.local.claims_and_evidence import NO_CLAIMS, LocatedClaim, each_claim
from ragstone.judges.local.response_type import response_type
from ragstone.judges.rules import Marker, each_marker, places

from .assessment import AnswerSpan
from .checks import Checks
from .deadline import Deadline
from .grounds import ReadContexts, read_contexts, scores_of
from .phrases import failure_message

MOST_BRACKETS = 5_000
"""Of an answer that are looked at for citations, so that no answer takes long."""
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Answered:
    """One question with its answer and contexts, and the settings by which it is checked.

    Attributes:
        question: As the user asked it; empty if there is none.
        answer: As it is going to be given; empty if there is none.
        grounds: The contexts.
        scores: The retrieval scores as they were given; None if there are none.
        checks: What is checked.
        deadline: When the work on it must end.
        abstain_ok: Whether an answer that says it does not know is as good as any.
    """

    question: str
    answer: str
    grounds: ReadContexts
    scores: Sequence[object] | None
    checks: Checks
    deadline: Deadline
    abstain_ok: bool = False

    @classmethod
    def of(
        cls,
        question: object,
        answer: object,
        contexts: object,
        scores: object,
        checks: Checks,
        deadline: Deadline,
        *,
        abstain_ok: bool,
    ) -> "Answered":
        """From what a request brings, whatever that is."""
        grounds = read_contexts(contexts, deadline)
        given = _listed(scores)
        return cls(
            as_text(question),
            as_text(answer),
            grounds,
            scores_of(grounds.contexts) if given is None else given,
            checks,
            deadline,
            abstain_ok,
        )

    @cached_property
    def empty(self) -> bool:
        """Whether there is no answer."""
        return _WORD.search(self.answer) is None

    @cached_property
    def response(self) -> tuple[str, str]:
        """What kind of reply it is, and why; see ``response_type``."""
        return response_type(self.answer)

    @property
    def silent(self) -> bool:
        """Whether it says that it does not know or will not tell."""
        return self.response[0] in NO_CLAIMS

    @cached_property
    def failure(self) -> bool:
        """Whether it is nothing but a failure message."""
        checks = self.checks
        return failure_message(self.answer, checks.languages, checks.failure_phrases)

    @cached_property
    def markers(self) -> list[Marker]:
        """Its citation marks, those among the first brackets."""
        pattern, contexts = self.checks.citation_pattern, self.grounds.contexts
        return list(each_marker(self.answer, contexts, pattern, MOST_BRACKETS))

    @cached_property
    def marks_cut(self) -> bool:
        """Whether it has more brackets than were looked at."""
        return any(True for _ in islice(places(self.answer, self.checks.citation_pattern),
                                        MOST_BRACKETS, None))  # fmt: skip

    def each_claim(self) -> Iterator[LocatedClaim | None]:
        """For each of its sentences the claim, None if it makes none."""
        return each_claim(self.answer)

    def span(self, start: int, end: int) -> AnswerSpan:
        """Part of the answer."""
        return AnswerSpan(start, end, self.answer[start:end])


def as_text(given: object) -> str:
    """What was given as a question or an answer, whatever it is, as text."""
    if isinstance(given, bytes | bytearray):
        return bytes(given).decode("utf-8", "replace")
    return given if isinstance(given, str) else "" if given is None else str(given)


def _listed(scores: object) -> Sequence[object] | None:
    if scores is None:
        return None
    if isinstance(scores, str | bytes | Mapping) or not isinstance(scores, Iterable):
        return [scores]
    return list(scores)
