"""Agreement by model: do the answer and a reference say the same?"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ragstone.judgements import ASKS, Agreement
from ragstone.judges.judge import Proposition

from .blocks import block, listing
from .parts import balanced, said, why_lacking
from .prompts import Prompts
from .question import Item, Piece, ReplyEntry
from .sees import has, instructions_for
from .task import OfKind, Row, Target, TaskReply


class StatementAgreement(Item):
    """What a model says about one statement of the reference: does the answer say it?"""

    reason: str
    verdict: Literal["full", "partial", "missing", "contradicted"]


class ClaimAgreement(Item):
    """What a model says about one claim of the answer: does the reference say it?

    It uses the verdicts of statements, so that all items of a question have the same ones.
    """

    reason: str
    verdict: Literal["matches", "contradicts", "extra"]

    @classmethod
    def verdicts(cls) -> tuple[str, ...]:
        """Those of a statement."""
        return tuple(OF_CLAIM)

    @classmethod
    def decided(cls, entry: ReplyEntry) -> Any:
        """A claim that is said only in part counts as extra, like one that is not said."""
        return OF_CLAIM.get(str(entry.verdict), entry.verdict)


OF_CLAIM = {
    "full": "matches",
    "partial": "extra",
    "missing": "extra",
    "contradicted": "contradicts",
}


SORTS: dict[str, type[ClaimAgreement | StatementAgreement]] = {
    "claim": ClaimAgreement,
    "statement": StatementAgreement,
}
LISTS = {"claim": "CLAIMS", "statement": "STATEMENTS"}


class ComparedText(NamedTuple):
    """A text that is compared with the other side; equal texts of a reference are asked once."""

    reference: int
    origin: str
    text: str


@dataclass(frozen=True)
class AgreementTask(OfKind):
    """Asks about claims and statements at once, one question for each reference."""

    kind = Agreement

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        """One for each reference; more if there are over 20 claims and statements."""
        example = target.example
        ids = _ids(target)
        instructions = instructions_for(prompts, self.name)

        def piece(reference: int, asked: Collection[str]) -> Piece:
            wanted = {name: one for one, name in ids.items() if name in asked}
            blocks = (
                *([block("QUESTION", example.question or "")] if has(example, "question") else []),
                block("REFERENCE", example.reference[reference]),
                block("ANSWER", example.answer or ""),
                *(
                    listing(title, texts)
                    for origin, title in LISTS.items()
                    if (texts := {n: one.text for n, one in wanted.items() if one.origin == origin})
                ),
            )
            items: dict[str, type[Item]] = {name: SORTS[one.origin] for name, one in wanted.items()}
            return Piece(
                self.name,
                instructions,
                blocks,
                items,
                lambda missing: piece(reference, missing),
                texts={name: one.text for name, one in wanted.items()},
            )

        return [
            piece(reference, part)
            for reference in range(len(example.reference))
            for part in balanced([name for one, name in ids.items() if one.reference == reference])
        ]

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:
        """One for each claim and reference, or one for each statement."""
        origin = str(ASKS[ask].origin)
        ids = _ids(target)
        return [
            {
                "origin": origin,
                "author": proposition.author,
                "reference": reference,
                "index": proposition.index,
            }
            | _verdict(reply, ids.get(ComparedText(reference, origin, proposition.text)), origin)
            for proposition, reference in _held(target, origin)
        ]

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:
        """Question, answer, references, and what the asks are about."""
        example = target.example
        yield from (example.question, example.answer, example.reference)
        for ask in sorted(asks):
            origin = str(ASKS[ask].origin)
            yield origin, list(target.propositions.get(origin, ()))


def _held(target: Target, origin: str) -> Iterator[tuple[Proposition, int]]:
    """The pairs to compare: each claim with every reference, each statement with its own."""
    for proposition in target.propositions.get(origin, ()):
        if origin == "statement":
            yield proposition, proposition.reference
        else:
            for reference in range(len(target.example.reference)):
                yield proposition, reference


def _ids(target: Target) -> dict[ComparedText, str]:
    """Ids ``k01``, … for claims, then statements, numbered across references."""
    asked = {
        ComparedText(one, origin, held.text): None
        for origin in SORTS
        for held, one in _held(target, origin)
    }
    order = sorted(asked, key=lambda one: one.reference)
    return {one: f"k{number:02d}" for number, one in enumerate(order, 1)}


def _verdict(reply: TaskReply, name: str | None, origin: str) -> Row:
    found = said(reply, name, SORTS[origin])
    if not found:
        return {"verdict": None, "probability": None, "reason": why_lacking(reply, name)}
    return {"verdict": found[0].verdict, "probability": None, "reason": found[0].reason}
