"""Claims by model: what sort of reply an answer is, what it claims, and which sources it names."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ragstone.judges.local.sentences import sentences
from ragstone.judges.markers import MARKERS, Marker, markers

from .parts import said, why_lacking
from .prompts import Prompts
from .question import Item, Piece
from .sees import shown, told_first
from .task import Matter, Row, Told

ID = "claims"
SILENT = ("abstain", "refuse")
"""Replies that claim nothing."""


class AnswerClaim(Item):
    """One claim as a model lists it."""

    text: str
    sentence: int
    factual: bool
    citations: list[str]


class AnswerClaims(Item):
    """What a model says about an answer."""

    response_reason: str
    response_type: Literal["answer", "partial", "abstain", "refuse", "clarify"]
    claims: list[AnswerClaim]


@dataclass(frozen=True)
class ClaimsTask:
    """Asks for the type of a reply and its claims at once.

    Args:
        citation_pattern: A regular expression for the markers by which the answer names sources.
    """

    citation_pattern: str = MARKERS
    name: str = "claims"
    asks: tuple[str, ...] = ("response", "claims")
    after: tuple[str, ...] = ()

    def pieces(self, matter: Matter, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        """One, about question, earlier turns and answer; none where the answer is blank."""
        example = matter.example
        if not (example.answer or "").strip():
            return []
        blocks = shown(example, "question", "sentences")
        instructions = told_first(prompts, self.name)

        def piece(_ids: Sequence[str] = ()) -> Piece:
            return Piece(self.name, instructions, blocks, {ID: AnswerClaims}, piece)

        return [piece()]

    def rows(self, ask: str, matter: Matter, told: Told) -> list[Row]:
        """The type of the reply; or its factual claims, none where it abstains or refuses."""
        answer = matter.example.answer or ""
        if not answer.strip():
            empty = {"response_type": "abstain", "reason": "the answer is empty"}
            return [empty] if ask == "response" else []
        found = said(told, ID, AnswerClaims)
        if ask == "response":
            return [
                {"response_type": found[0].response_type, "reason": found[0].response_reason}
                if found
                else {"response_type": None, "reason": why_lacking(told, ID)}
            ]
        if not found or found[0].response_type in SILENT:
            return []
        there = markers(answer, matter.example.contexts or (), self.citation_pattern)
        length = len(sentences(answer))
        claims = [one for one in found[0].claims if one.factual and one.text.strip()]
        return [
            {
                "index": index,
                "text": claim.text.strip(),
                "sentence": claim.sentence - 1 if 1 <= claim.sentence <= length else None,
                "factual": True,
                "citations": self._named(claim, matter, there),
            }
            for index, claim in enumerate(claims)
        ]

    def facts(self, matter: Matter, asks: Collection[str]) -> Iterable[object]:
        """Earlier turns, question and answer; for claims also how contexts may be named."""
        example = matter.example
        yield from (example.history, example.question, example.answer)
        if "claims" in asks:
            yield [(context.id, context.rank) for context in example.contexts or ()]
            yield self.citation_pattern

    def _named(
        self, claim: AnswerClaim, matter: Matter, there: Sequence[Marker]
    ) -> list[str | None] | None:
        """The contexts named by a claim's markers, as far as the answer has these markers.

        A marker that names no context gives null. All is unknown where the answer has no marker.
        """
        if not there:
            return None
        contexts = matter.example.contexts or ()
        known = {marker.context for marker in there}
        fabricated = {marker.text for marker in there if marker.context is None}
        found: dict[tuple[str | None, str | None], None] = {}
        for text in claim.citations:
            read = markers(text, contexts, self.citation_pattern)
            for one in read or markers(f"[{text}]", contexts, self.citation_pattern):
                if one.context is not None and one.context in known:
                    found[one.context, None] = None
                elif one.context is None and one.text in fabricated:
                    found[None, one.text] = None
        return [context for context, _ in found]
