"""Statements by a model: what the references say, made once per question for all systems."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ragstone.judgements import Statement

from .parts import said
from .question import Item, ReplyEntry, Written
from .references import OfReferences
from .task import Row, Target, TaskReply


class ReferenceStatements(Item):
    """The statements of one reference. A blank statement is invalid and asked for again."""

    shown: ClassVar[tuple[str, ...]] = ("The bridge opened in 1859.", "It is of iron.")

    statements: list[Written]

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        """The details are the statements."""
        return {} if entry.details is None else {"statements": entry.details}


@dataclass(frozen=True)
class StatementsTask(OfReferences):
    """Asks what the references say, without showing an answer, so all systems share its rows."""

    kind = Statement
    item = ReferenceStatements

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
