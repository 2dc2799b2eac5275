"""Probes: questions that the answer would answer, three or more, written from the answer alone."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from pydantic import create_model

from ragstone.judgements import Probe
from ragstone.judgements.probes import PROBES

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
        """The first questions."""
        said = NONCOMMITTAL.get(str(entry.verdict), entry.verdict)
        return dict(zip(cls.places(), entry.details or (), strict=False)) | {"noncommittal": said}

    @classmethod
    def places(cls) -> list[str]:
        """The fields of the questions."""
        return [name for name in cls.model_fields if name.startswith("q")]


@lru_cache(maxsize=32)
def probes_item(count: int) -> type[ProbesMade]:
    """The item class for this many questions, three or more."""
    if count == PROBES:
        return ProbesMade
    more: dict[str, Any] = {f"q{place}": (Written, ...) for place in range(PROBES + 1, count + 1)}
    return create_model(f"ProbesMade{count}", __base__=ProbesMade, **more)


@dataclass(frozen=True)
class ProbesTask(OfKind):
    """Shows the answer and nothing else. Of an empty one there is nothing to ask."""

    kind = Probe

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        """One, for an answer that says something. An answer is never split."""
        return [self._piece(target, prompts)] if (target.example.answer or "").strip() else []

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        """A row a question; none where the reply is lacking, for there are no units without it."""
        return [
            {"index": index, "text": getattr(made, place), "noncommittal": made.noncommittal}
            for made in said(reply, ITEM, ProbesMade)[:1]
            for index, place in enumerate(made.places())
        ]

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:  # noqa: ARG002
        """The answer, and the number of questions if it is not the usual one."""
        count = self._count(target)
        return (*facts_of(target.example, "answer"), *([] if count == PROBES else [count]))

    def _count(self, target: Target) -> int:
        return max([PROBES, *(topic.votes for topic in target.about(self.name))])

    def _piece(self, target: Target, prompts: Prompts) -> Piece:
        count = self._count(target)
        more = f"Of item {ITEM} write {count} questions instead of three.\n\n"
        return Piece(
            self.name,
            instructions_for(prompts, self.name),
            (*shown(target.example, "answer"), *([] if count == PROBES else [more])),
            {ITEM: probes_item(count)},
            lambda _: self._piece(target, prompts),
            details=(),
        )
