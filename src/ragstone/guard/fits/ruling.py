"""Ruling: whether an answer is given, by what is known of it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from ragstone.core.messages import Reason
from ragstone.guard.assessment import Assessment, WayOut

IfNotJudged = Literal["open", "closed"]
"""Whether an answer that could not be judged is given (open) or held back (closed)."""

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
