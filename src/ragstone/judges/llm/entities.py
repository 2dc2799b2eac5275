"""Entities by a model: it lists those of the references, and they are looked up in the contexts."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from ragstone.judgements import Entity
from ragstone.judges.entities import EntityWords, held_by
from ragstone.judges.local.words import tokens

from .parts import said
from .question import Item, ReplyEntry, Written
from .references import OfReferences
from .task import Row, Target, TaskReply


class ReferenceEntities(Item):
    """The entities of one reference; the list may be empty, but has to be there."""

    shown: ClassVar[tuple[str, ...]] = ("Isambard Kingdom Brunel", "May 1859")

    listed: list[Written]

    @classmethod
    def of(cls, entry: ReplyEntry) -> dict[str, Any]:
        """The details are the entities."""
        return {} if entry.details is None else {"listed": entry.details}


@dataclass(frozen=True)
class EntitiesTask(OfReferences):
    """Asks what the references name, without showing contexts, so all systems share the reply."""

    kind = Entity
    item = ReferenceEntities

    @property
    def asks(self) -> tuple[str, ...]:
        """Only the list of a model, not the one by rule."""
        return tuple(ask.name for ask in self.kind.asks if "model" in ask.by)

    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:  # noqa: ARG002
        """Each entity of a reference once, and whether a context holds its words."""
        example = target.example
        look_up = held_by(context.text for context in example.contexts or ())
        rows: list[Row] = []
        for number in range(len(example.reference)):
            for found in said(reply, f"r{number + 1:02d}", ReferenceEntities):
                words = {tuple(tokens(text)): text for text in reversed(found.listed)}
                once = [EntityWords(text, key) for key, text in reversed(words.items()) if key]
                rows += [
                    {"reference": number, "index": index, "text": one.text, "found": look_up(one)}
                    for index, one in enumerate(once)
                ]
        return rows

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:
        """What the list depends on, and the contexts."""
        contexts = target.example.contexts or ()
        return (*super().facts(target, asks), [context.text for context in contexts])
