"""Probes: three questions that the answer would answer, written from the answer alone."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from ragstone.judgements import Probe

from .parts import said
from .prompts import Prompts
from .question import Item, Piece, ReplyEntry, Written
from .sees import facts_of, instructions_for, shown
from .task import OfKind, Row, Target, TaskReply

ITEM = "n01"
NONCOMMITTAL = {"yes": True, "no": False}


class ProbesMade(Item):
    """What a model writes from an answer; the details are the questions."""

    shown: ClassVar[tuple[str, ...]] = (
        "When did the bridge open?",
        "In which year was the bridge opened?",
        "What year saw the bridge's opening?",
    )

    q1: Written
    q2: Written
    q3: Written
    noncommittal: bool

    @classmethod
    def verdicts(cls) -> tuple[str, ...]:
        """Whether it is noncommittal; most are not."""
        return tuple(reversed(NONCOMMITTAL))

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        """The first three questions."""
        said = NONCOMMITTAL.get(str(entry.verdict), entry.verdict)
        return dict(zip(("q1", "q2", "q3"), entry.details or (), strict=False)) | {
            "noncommittal": said
        }


@dataclass(frozen=True)
class ProbesTask(OfKind):
    """Shows the answer and nothing else. Of an empty one there is nothing to ask."""

    kind = Probe

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        """One, for an answer that says something. An answer is never split."""
        return [self._piece(target, prompts)] if (target.example.answer or "").strip() else []

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        """Three rows; none where the reply is lacking, for there are no units without it."""
        return [
            {"index": index, "text": text, "noncommittal": made.noncommittal}
            for made in said(reply, ITEM, ProbesMade)[:1]
            for index, text in enumerate((made.q1, made.q2, made.q3))
        ]

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:  # noqa: ARG002
        """The answer."""
        return facts_of(target.example, "answer")

    def _piece(self, target: Target, prompts: Prompts) -> Piece:
        return Piece(
            self.name,
            instructions_for(prompts, self.name),
            shown(target.example, "answer"),
            {ITEM: ProbesMade},
            lambda _: self._piece(target, prompts),
            details=(),
        )
