"""Claims by a model: the type of an answer, its claims, and the sources it cites."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ragstone.judgements import Claim, Response
from ragstone.judges.local.sentences import sentences
from ragstone.judges.markers import MARKERS, Marker, markers

from .parts import said, why_lacking
from .prompts import Prompts
from .question import Item, Piece, ReplyEntry, Written
from .sees import instructions_for, shown
from .task import OfKind, Row, Target, TaskReply

ID = "a01"
SILENT = ("abstain", "refuse")
"""Replies that claim nothing."""


_NUMBERED = re.compile(r"\s*(?:\[[sS](\d{1,6})\][:.]?|[sS](\d{1,6})\s?[:.])\s*")


class AnswerClaim(Item):
    """One claim as a model lists it, ``s2: It has tin [1].``; sentence 0 if none is given."""

    text: Written
    sentence: int


class AnswerClaims(Item):
    """What a model says about an answer. A blank claim is invalid and asked for again."""

    decides: ClassVar[str] = "response_type"
    shown: ClassVar[tuple[str, ...]] = ("s1: The bridge opened in 1859 [2].",)

    response_reason: str
    response_type: Literal["answer", "partial", "abstain", "refuse", "clarify"]
    claims: list[AnswerClaim]

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        """The details are the claims."""
        said = {"response_reason": entry.reason, "response_type": entry.verdict}
        if entry.details is None:
            return said
        return said | {"claims": [_claim(detail) for detail in entry.details]}


def _claim(detail: str) -> dict[str, Any]:
    numbered = _NUMBERED.match(detail)
    if numbered is None:
        return {"text": detail, "sentence": 0}
    return {"text": detail[numbered.end() :], "sentence": int(numbered[1] or numbered[2])}


@dataclass(frozen=True)
class ClaimsTask(OfKind):
    """Asks for the type of an answer and its claims at once.

    Args:
        citation_pattern: Regular expression for the citation markers in answers.
    """

    citation_pattern: str = MARKERS
    kind = Claim

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        """One, about question, earlier turns and answer; none if the answer is blank."""
        example = target.example
        if not (example.answer or "").strip():
            return []
        blocks = shown(example, "question", "sentences")
        instructions = instructions_for(prompts, self.name)

        def piece(_ids: Sequence[str] = ()) -> Piece:
            return Piece(self.name, instructions, blocks, {ID: AnswerClaims}, piece, details=())

        return [piece()]

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:
        """The type of the answer; or its factual claims, none if it abstains or refuses."""
        answer = target.example.answer or ""
        if not answer.strip():
            empty = {"response_type": "abstain", "reason": "answer_is_empty"}
            return [empty] if ask == Response.name else []
        found = said(reply, ID, AnswerClaims)
        if ask == Response.name:
            return [
                {"response_type": found[0].response_type, "reason": found[0].response_reason}
                if found
                else {"response_type": None, "reason": why_lacking(reply, ID)}
            ]
        if not found or found[0].response_type in SILENT:
            return []
        there = markers(answer, target.example.contexts or (), self.citation_pattern)
        length = len(sentences(answer))
        rows: list[Row] = []
        for claim in found[0].claims:
            text, named = self._without_markers(claim.text, target, there)
            if text:
                sentence = claim.sentence - 1 if 1 <= claim.sentence <= length else None
                rows.append(
                    {
                        "index": len(rows),
                        "text": text,
                        "sentence": sentence,
                        "factual": True,
                        "citations": named,
                    }
                )
        return rows

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:
        """Earlier turns, question and answer; for claims also the ids of contexts."""
        example = target.example
        yield from (example.history, example.question, example.answer)
        if self.name in asks:
            yield [(context.id, context.rank) for context in example.contexts or ()]
            yield self.citation_pattern

    def _without_markers(
        self, text: str, target: Target, there: Sequence[Marker]
    ) -> tuple[str, list[str | None] | None]:
        """A claim without its markers, and the contexts that these cite.

        A marker that names no context gives null. All is unknown where the answer has no marker.
        """
        contexts = target.example.contexts or ()
        known = {marker.context for marker in there}
        fabricated = {marker.text for marker in there if marker.context is None}
        found: dict[tuple[str | None, str | None], None] = {}
        read = markers(text, contexts, self.citation_pattern)
        for one in read:
            if one.context is not None and one.context in known:
                found[one.context, None] = None
            elif one.context is None and one.text in fabricated:
                found[None, one.text] = None
        for marker in dict.fromkeys(one.text for one in read):
            text = text.replace(f" {marker}", "").replace(marker, "")
        return text.strip(), [context for context, _ in found] if there else None
