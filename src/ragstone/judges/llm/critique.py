"""Critique: one aspect of an answer, yes or no, asked once for each vote."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from ragstone.judgements import Critique, Topic

from .aspects import ASPECTS, aspects, definition
from .parts import said, why_lacking
from .prompts import Prompts
from .question import Item, Piece
from .sees import facts_of, instructions_for, shown
from .task import OfKind, Row, Target, TaskReply

PLAIN = re.compile(r"[a-z][a-z0-9_]{0,39}")
"""An aspect that can stand in an id as it is."""


class CritiqueVerdict(Item):
    """One vote on one aspect."""

    reason: str
    verdict: Literal["yes", "no"]


@dataclass(frozen=True)
class CritiqueTask(OfKind):
    """Shows question and answer, followed by the definition of the aspect."""

    kind = Critique

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        """One for each aspect and vote. An answer is never split."""
        if target.example.answer is None:
            return []
        return [
            self._piece(target, prompts, aspect, vote)
            for aspect in aspects(target.about(self.name))
            for vote in range(aspect.votes)
        ]

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:
        """One row per aspect and vote; missing votes come last and have no verdict."""
        return [row for aspect in aspects(target.about(ask)) for row in _votes(aspect, reply)]

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:  # noqa: ARG002
        """Question, turns and answer, and the aspects with their meanings and votes."""
        wanted = [
            (one.name, definition(one), one.votes) for one in aspects(target.about(self.name))
        ]
        return (*facts_of(target.example, "question", "answer"), wanted)

    def _piece(self, target: Target, prompts: Prompts, aspect: Topic, vote: int) -> Piece:
        name = item_id(aspect.name)
        return Piece(
            self.name,
            instructions_for(prompts, self.name),
            (
                *shown(target.example, "question", "sentences"),
                f"ASPECT of item {name}, {aspect.name}: {definition(aspect)}\n\n",
            ),
            {name: CritiqueVerdict},
            lambda _: self._piece(target, prompts, aspect, vote),
            vote=vote,
        )


def item_id(aspect: str) -> str:
    """``v01``, … for built-in aspects, else ``critique_ASPECT``, hashed if it has odd letters."""
    if aspect in ASPECTS:
        return f"v{list(ASPECTS).index(aspect) + 1:02d}"
    if PLAIN.fullmatch(aspect):
        return f"critique_{aspect}"
    digest = blake2b(aspect.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    words = re.sub(r"[^a-z0-9]+", "_", aspect.lower()).strip("_")[:30]
    return f"critique_{words}_{digest}" if words else f"critique_{digest}"


def _votes(aspect: Topic, reply: TaskReply) -> list[Row]:
    name = item_id(aspect.name)
    given = said(reply, name, CritiqueVerdict)[: aspect.votes]
    verdicts = [(one.verdict == "yes", one.reason) for one in given]
    unread = [(None, why_lacking(reply, name))] * (aspect.votes - len(given))
    return [
        {"aspect": aspect.name, "index": index, "verdict": verdict, "reason": reason}
        for index, (verdict, reason) in enumerate([*verdicts, *unread])
    ]
