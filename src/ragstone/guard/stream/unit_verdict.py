"""Unit verdict: what came of one part of a stream."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from ragstone.guard.assessment import CheckStatus, Issue, JudgedClaim

from .ends import UnitKind


@dataclass(frozen=True, slots=True)
class UnitVerdict:
    """A part of an answer that was judged for itself, and what was done with it.

    Attributes:
        text: As the model wrote it, with the white space and marks before it.
        start: Where it stands in the answer, in characters.
        kind: ``sentence``, ``row``, ``code``, ``rest`` for what holds no word, or ``answer`` for
            the whole.
        status: ``passed``; ``failed``; ``not_judged``; ``not_applicable`` if it claims nothing,
            such as a heading.
        issues: What failed; places are those in the answer.
        claims: What it claims; places are those in the answer.
        reason: Why it was not judged, as a code with facts; empty if it was.
        late: Whether another judge answered in the place of the one that was asked for.
        released: Whether it left as it was written.
        instead: What left in its place; None if nothing did.
    """

    text: str
    start: int
    kind: UnitKind | Literal["answer"]
    status: CheckStatus
    issues: tuple[Issue, ...] = ()
    claims: tuple[JudgedClaim, ...] = ()
    reason: str = ""
    late: bool = False
    released: bool = False
    instead: str | None = None

    @property
    def end(self) -> int:
        """Where it ends in the answer."""
        return self.start + len(self.text)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON; what is not there is null."""
        return asdict(self)
