"""Probes: three questions that the answer would answer, written from the answer alone."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import StringConstraints

from .parts import said
from .prompts import Prompts
from .question import Item, Piece
from .sees import facts_of, shown, told_first
from .task import Matter, Row, Told

ITEM = "probes"

Written = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class ProbesMade(Item):
    """What a model writes from an answer."""

    q1: Written
    q2: Written
    q3: Written
    noncommittal: bool


@dataclass(frozen=True)
class ProbesTask:
    """Shows the answer and nothing else. Of an empty one there is nothing to ask."""

    name: str = "probes"
    asks: tuple[str, ...] = ("probes",)
    after: tuple[str, ...] = ()

    def pieces(self, matter: Matter, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        """One, for an answer that says something. An answer is never split."""
        return [self._piece(matter, prompts)] if (matter.example.answer or "").strip() else []

    def rows(self, ask: str, matter: Matter, told: Told) -> list[Row]:  # noqa: ARG002
        """Three rows; none where the reply is lacking, for there are no units without it."""
        return [
            {"index": index, "text": text, "noncommittal": made.noncommittal}
            for made in said(told, ITEM, ProbesMade)[:1]
            for index, text in enumerate((made.q1, made.q2, made.q3))
        ]

    def facts(self, matter: Matter, asks: Collection[str]) -> Iterable[object]:  # noqa: ARG002
        """The answer."""
        return facts_of(matter.example, "answer")

    def _piece(self, matter: Matter, prompts: Prompts) -> Piece:
        return Piece(
            self.name,
            told_first(prompts, self.name),
            shown(matter.example, "answer"),
            {ITEM: ProbesMade},
            lambda _: self._piece(matter, prompts),
        )
