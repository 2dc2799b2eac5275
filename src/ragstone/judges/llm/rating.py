"""Rating: an answer scored on the criteria of rubrics, the reasoning before the score."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import create_model

from ragstone.judgements import Rating

from .blocks import Passage, contexts_block, passages
from .parts import said, why_lacking
from .prompts import Prompts
from .question import Item, Piece, ReplyEntry
from .rubrics import Rubric, load_rubrics
from .scale import WHOLE
from .sees import facts_of, has, instructions_for, shown
from .task import OfKind, Row, Target, TaskReply

AT_ONCE = 1_000
"""Passages of one rating at most; it is one item, so there may be many."""
FOR_THE_REST = 4
"""One part in so many of a question's room is for what is not contexts."""


class RatingItem(Item):
    """The rating of one criterion; each length of scale has its own subclass."""

    decides: ClassVar[str] = "score"

    reasoning: str
    score: int

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        """The fields; the reason is the reasoning."""
        return {"reasoning": entry.reason, "score": cls.decided(entry)}


@dataclass(frozen=True)
class RatingTask(OfKind):
    """Shows the texts that a criterion's rubric needs. Without these it is not rated.

    If the contexts do not fit, each part of them is rated, and the best or the mean of these
    ratings, by the number of passages, counts, as the rubric says.
    """

    rubrics: Mapping[str, Rubric] = field(default_factory=load_rubrics)
    kind = Rating

    @property
    def splits_contexts(self) -> bool:
        """Rubrics may see them."""
        return True

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:
        """One per criterion, or several if its contexts do not fit."""
        return [
            piece
            for rubric in self._rubrics(target)
            for piece in self._pieces(rubric, target, prompts, room)
        ]

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        """One row per criterion whose texts the example has."""
        return [_row(rubric, target, reply) for rubric in self._rubrics(target)]

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:  # noqa: ARG002
        """The rubrics, and the texts that they need."""
        rubrics = self._rubrics(target)
        seen = sorted({text for rubric in rubrics for text in rubric.sees})
        return (*facts_of(target.example, *seen), rubrics)

    def _rubrics(self, target: Target) -> list[Rubric]:
        """The rubrics of the requested criteria whose texts the example has."""
        if target.example.answer is None:
            return []
        wanted = sorted({topic.name for topic in target.about(self.name)})
        return [
            self.rubrics[name]
            for name in wanted
            if all(has(target.example, text) for text in self.rubrics[name].sees)
        ]

    def _pieces(self, rubric: Rubric, target: Target, prompts: Prompts, room: int) -> list[Piece]:
        blocks = shown(target.example, *rubric.sees)
        groups: list[str | None] = [None]
        if "contexts" in rubric.sees:
            groups = [contexts_block(group) for group in _groups(target, room)]
        return [self._piece(rubric, prompts, blocks, group) for group in groups]

    def _piece(
        self, rubric: Rubric, prompts: Prompts, blocks: tuple[str, ...], group: str | None
    ) -> Piece:
        return Piece(
            self.name,
            f"{instructions_for(prompts, self.name)}{rubric.text}\n",
            blocks,
            {item_id(rubric.name): rating_item(len(rubric.points))},
            lambda _: self._piece(rubric, prompts, blocks, group),
            contexts=group,
        )


def item_id(criterion: str) -> str:
    """``rating_CRITERION``."""
    return f"rating_{criterion}"


@lru_cache(maxsize=32)
def rating_item(points: int) -> type[RatingItem]:
    """The item class for a scale with this many points."""
    scores: Any = Annotated[Literal[tuple(range(1, points + 1))], WHOLE]
    return create_model(f"Rating{points}", __base__=RatingItem, score=(scores, ...))


def _groups(target: Target, room: int) -> list[list[Passage]]:
    """The contexts as they are shown together; nearly always in one group."""
    return passages(target.example.contexts or (), room - room // FOR_THE_REST, AT_ONCE)


def _row(rubric: Rubric, target: Target, reply: TaskReply) -> Row:
    name = item_id(rubric.name)
    given = said(reply, name, RatingItem)
    if name in reply.lacking or not given:
        return {"criterion": rubric.name, "score": None, "reason": why_lacking(reply, name)}
    values = [rubric.points[one.score - 1].value for one in given]
    words = [one.reasoning for one in given]
    if len(given) == 1:
        return {"criterion": rubric.name, "score": values[0], "reason": words[0]}
    if rubric.merge == "best":
        score = max(values)
        words = [words[values.index(score)]]
    else:
        sizes = [len(group) for group in _groups(target, reply.room)]
        score = sum(value * size for value, size in zip(values, sizes, strict=True)) / sum(sizes)
    reason = f"{rubric.merge} of {len(given)} parts of the contexts: {' '.join(words)}"
    return {"criterion": rubric.name, "score": score, "reason": reason}
