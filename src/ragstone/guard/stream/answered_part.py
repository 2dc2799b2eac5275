"""Answered part: a part of an answer, to be judged by the checks of the whole."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from ragstone.guard.answered import Answered
from ragstone.judges.local.claims_and_evidence import LocatedClaim, claim_of
from ragstone.judges.local.text_terms import terms

from .units import StreamUnit


@dataclass(frozen=True)
class AnsweredPart(Answered):
    """A part of an answer. Whether the answer as a whole says anything cannot be told from it.

    Attributes:
        stated: For each of its sentences the claim, None if it makes none.
    """

    stated: tuple[LocatedClaim | None, ...] = ()

    @property
    def silent(self) -> bool:
        """Whether it says that it does not know: not known of a part."""
        return False

    @cached_property
    def failure(self) -> bool:
        """Whether it is nothing but a failure message: not known of a part."""
        return False

    def each_claim(self) -> Iterator[LocatedClaim | None]:
        """For each of its sentences the claim, None if it makes none."""
        yield from self.stated


def claims_of(unit: StreamUnit, place: int = 0, number: int = 0) -> Iterator[LocatedClaim | None]:
    """For each sentence of a unit the claim; ``place`` characters, ``number`` sentences precede."""
    for position, sentence in enumerate(unit.sentences(), number):
        claim = claim_of(unit.text, sentence, position)
        yield claim and replace(claim, start=place + claim.start, end=place + claim.end)


def has_content(claim: LocatedClaim) -> bool:
    """Whether a claim has a content word of its own, unlike a bare `Yes.`"""
    return bool(terms(claim.text))
