"""Preference: which of two answers is better, asked in both orders."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from ragstone.judgements import Preference

from .blocks import block
from .parts import said, why_lacking
from .prompts import Prompts
from .question import Item, Piece
from .sees import facts_of, instructions_for, shown
from .task import OfKind, Row, Target, TaskReply

VERDICTS = {
    ("A", 0): "win",
    ("B", 0): "loss",
    ("A", 1): "loss",
    ("B", 1): "win",
    ("tie", 0): "tie",
    ("tie", 1): "tie",
}
"""For this answer, by what was said and the place it was shown in."""


class PreferenceVerdict(Item):
    """Which of the two answers shown is better."""

    reason: str
    verdict: Literal["A", "B", "tie"]


@dataclass(frozen=True)
class PreferenceTask(OfKind):
    """Shows question, reference and the two answers, without the names of their systems.

    An item's id is made of the positions of its two answers among all answers to the question,
    ordered by text: so the question is the same for either of the two systems.
    """

    kind = Preference

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        """Two for each rival, one in each order, never split; equal answers are asked once."""
        shows = {name: pair for _, _, name, pair in _orders(target)}
        return [self._piece(target, prompts, name, *shows[name]) for name in shows]

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        """One row per rival and order."""
        return [
            {"rival": rival, "order": order, **_verdict(reply, name, order)}
            for rival, order, name, _ in _orders(target)
        ]

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:  # noqa: ARG002
        """Question, turns, reference and both answers of each pair."""
        pairs = [(rival, pair) for rival, order, _, pair in _orders(target) if order == 0]
        return (*facts_of(target.example, "question", "answer", "reference"), pairs)

    def _piece(self, target: Target, prompts: Prompts, name: str, first: str, second: str) -> Piece:
        return Piece(
            self.name,
            instructions_for(prompts, self.name),
            (
                *shown(target.example, "question", "reference"),
                block("ANSWER A", first),
                block("ANSWER B", second),
            ),
            {name: PreferenceVerdict},
            lambda _: self._piece(target, prompts, name, first, second),
        )


def _orders(target: Target) -> Iterator[tuple[str, int, str, tuple[str, str]]]:
    """Rival, order, id of the item, and the answers as shown; 0 if this answer comes first."""
    mine = target.example.answer
    if mine is None:
        return
    texts = sorted({mine, *target.rivals.values()})
    places = {text: number for number, text in enumerate(texts, 1)}
    for rival in _wanted(target):
        theirs = target.rivals[rival]
        for order, (first, second) in enumerate([(mine, theirs), (theirs, mine)]):
            name = f"preference_{places[first]}_{places[second]}"
            yield rival, order, name, (first, second)


def _wanted(target: Target) -> list[str]:
    names = {topic.name for topic in target.about(Preference.name)}
    return sorted(rival for rival in target.rivals if rival in names or "" in names)


def _verdict(reply: TaskReply, name: str, order: int) -> Row:
    verdicts = said(reply, name, PreferenceVerdict)
    if not verdicts:
        return {"verdict": None, "reason": why_lacking(reply, name)}
    return {"verdict": VERDICTS[verdicts[0].verdict, order], "reason": verdicts[0].reason}
