"""Statements by a model: what the references say, made once per question for all systems."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from ragstone.judgements import Statement

from .blocks import listing
from .parts import balanced, said
from .prompts import Prompts
from .question import Item, Piece, ReplyEntry, Written
from .sees import instructions_for, shown
from .task import OfKind, Row, Target, TaskReply


class ReferenceStatements(Item):
    """The statements of one reference. A blank statement is invalid and asked for again."""

    shown: ClassVar[tuple[str, ...]] = ("The bridge opened in 1859.", "It is of iron.")

    statements: list[Written]

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        """The details are the statements."""
        return {} if entry.details is None else {"statements": entry.details}


@dataclass(frozen=True)
class StatementsTask(OfKind):
    """Asks what the references say, without showing an answer, so all systems share its rows."""

    kind = Statement

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        """One, with an item for each reference; several if there are more than 20."""
        example = target.example
        references = {
            f"r{number:02d}": text
            for number, text in enumerate(example.reference, 1)
            if text.strip()
        }
        before = shown(example, "question")
        instructions = instructions_for(prompts, self.name)

        def piece(ids: Collection[str]) -> Piece:
            texts = {name: references[name] for name in references if name in ids}
            blocks = (*before, listing("REFERENCES", texts))
            items = dict.fromkeys(texts, ReferenceStatements)
            return Piece(self.name, instructions, blocks, items, piece, texts=texts, details=())

        return [piece(ids) for ids in balanced(list(references))]

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        """The statements of every reference, except those missing from the replies."""
        rows: list[Row] = []
        for number in range(len(target.example.reference)):
            for found in said(reply, f"r{number + 1:02d}", ReferenceStatements):
                rows += [
                    {"reference": number, "index": index, "text": text}
                    for index, text in enumerate(found.statements)
                ]
        return rows

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:  # noqa: ARG002
        """Earlier turns, question and references."""
        example = target.example
        return (example.history, example.question, example.reference)
