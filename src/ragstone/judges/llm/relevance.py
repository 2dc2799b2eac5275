"""Relevance by a model: how much each retrieved context helps to answer the question."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal

from ragstone.data import Example
from ragstone.judgements import Relevance

from .blocks import Passage, contexts_block
from .parts import groups, said, why_lacking
from .prompts import Prompts
from .question import Item, Piece, ReplyEntry
from .scale import WHOLE
from .sees import has, instructions_for, shown
from .task import OfKind, Row, Target, TaskReply

SUFFICIENT = 3


MISLEADING = "misleading"

Grade = Annotated[Literal[0, 1, 2, 3], WHOLE]


class PassageRelevance(Item):
    """What a model says about one passage; the details are helpful sentences, ``s2``."""

    decides: ClassVar[str] = "grade"
    shown: ClassVar[tuple[str, ...]] = ("s1", "s3")

    reason: str
    grade: Grade
    misleading: bool
    sentences: list[int]

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        """``misleading`` among the details says that it is."""
        if entry.details is None:
            return super().of(entry)
        words = [detail.strip(" .\"'`").lower() for detail in entry.details]
        numbers = re.findall(r"\bs?(\d{1,6})\b", " ".join(words))
        return super().of(entry) | {
            "misleading": MISLEADING in words,
            "sentences": [int(number) for number in numbers],
        }


@dataclass(frozen=True)
class RelevanceTask(OfKind):
    """Asks about all contexts of a list at once, without showing an answer or a reference."""

    kind = Relevance

    def lacks(self, example: Example) -> str | None:
        """A question, or contexts with a text."""
        return super().lacks(example) if has(example, "question") else "no_question"

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:
        """One, or as many as the contexts need; none without a question."""
        example = target.example
        if not has(example, "question"):
            return []
        blocks = shown(example, "question")
        instructions = instructions_for(prompts, self.name)

        def piece(group: Sequence[Passage], ids: Collection[str]) -> Piece:
            wanted = [passage.id for passage in group if passage.id in ids]
            return Piece(
                self.name,
                instructions,
                blocks,
                dict.fromkeys(wanted, PassageRelevance),
                lambda missing: piece(group, missing),
                contexts_block(group),
                texts={passage.id: passage.text for passage in group if passage.id in ids},
                details=("s1", "s2", MISLEADING),
            )

        return [piece(group, [passage.id for passage in group]) for group in groups(example, room)]

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        """One for each context with text; the parts of a split context are merged."""
        by_rank: dict[int, list[Passage]] = {}
        for passage in chain.from_iterable(groups(target.example, reply.room)):
            by_rank.setdefault(passage.rank, []).append(passage)
        return [_row(rank, split, reply) for rank, split in by_rank.items()]

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:  # noqa: ARG002
        """Earlier turns, question and the texts by rank, whatever their ids."""
        example = target.example
        texts = [(context.rank, context.text) for context in example.contexts or ()]
        return (example.history, example.question, texts)


def _row(rank: int, split: Sequence[Passage], reply: TaskReply) -> Row:
    """The highest grade; misleading if any passage is. Null if a missing one could change it."""
    verdicts = [
        (passage, item) for passage in split for item in said(reply, passage.id, PassageRelevance)
    ]
    lacking = [passage.id for passage in split if not said(reply, passage.id, PassageRelevance)]
    best = max((item for _, item in verdicts), key=lambda item: item.grade, default=None)
    grade = best.grade if best else 0
    settled = not lacking or grade == SUFFICIENT
    return {
        "rank": rank,
        "grade": grade if settled else None,
        "probability": None,
        "relevant": grade >= 1 if settled or grade else None,
        "sufficient": grade == SUFFICIENT if settled else None,
        "misleading": True
        if any(item.misleading for _, item in verdicts)
        else None
        if lacking
        else False,
        "sentences": max(passage.first + passage.sentences for passage in split),
        "relevant_sentences": None if lacking else _helping(verdicts),
        "reason": best.reason if best and settled else why_lacking(reply, lacking[0]),
    }


def _helping(verdicts: Iterable[tuple[Passage, PassageRelevance]]) -> list[int]:
    """The helpful sentences, from 0; numbers that were not shown are dropped."""
    return sorted(
        {
            number - 1
            for passage, item in verdicts
            for number in item.sentences
            if passage.first < number <= passage.first + passage.sentences
        }
    )
