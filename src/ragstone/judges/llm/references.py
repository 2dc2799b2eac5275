"""References: asks what each of the references holds, without showing an answer or a context."""

from collections.abc import Collection, Iterable
from typing import ClassVar

from .blocks import listing
from .parts import balanced
from .prompts import Prompts
from .question import Item, Piece
from .sees import instructions_for, shown
from .task import OfKind, Target


class OfReferences(OfKind):
    """A task with an item for each reference, so that all systems share its questions."""

    item: ClassVar[type[Item]]

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
            items = dict.fromkeys(texts, self.item)
            return Piece(self.name, instructions, blocks, items, piece, texts=texts, details=())

        return [piece(ids) for ids in balanced(list(references))]

    def facts(self, target: Target, asks: Collection[str]) -> Iterable[object]:  # noqa: ARG002
        """Earlier turns, question and references."""
        example = target.example
        return (example.history, example.question, example.reference)
