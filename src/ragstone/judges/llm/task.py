"""Task: the interface of all tasks for a model, and the splitting of long questions."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, ClassVar, TypeVar

from ragstone.core.user_code import Frozen
from ragstone.data import Example
from ragstone.judgements import ASKS, KINDS, Kind, Topic
from ragstone.judges.judge import Proposition, no_text
from ragstone.models.chat import ITEMS

from .prompts import Passage, Prompts, passages, shown
from .questions import Item, Piece
from .replies import Outcome

# A row of the ask's kind, without ``subject`` and ``judge``.
Row = dict[str, Any]

# Room for everything.
UNSPLIT = 2**62


@dataclass(frozen=True, slots=True)
class Target:
    """An example with all that is to be judged about it.

    ``propositions`` are claims, statements and gold evidence that the run requires, by origin;
    ``rivals`` the answers of other systems to the same question.
    """

    example: Example
    propositions: Mapping[str, Sequence[Proposition]] = field(default_factory=dict)
    topics: tuple[Topic, ...] = ()
    rivals: Mapping[str, str] = field(default_factory=dict)

    def about(self, ask: str) -> list[Topic]:
        return [topic for topic in self.topics if topic.ask == ask]


@dataclass(frozen=True, slots=True)
class TaskReply:
    """One model's reply to a task about a target, from all its questions.

    Args:
        items: By id; several if the question was split, or asked for several votes.
        lacking: Ids without an item, and why.
        room: The most characters of text in one question.
    """

    items: Mapping[str, Sequence[Item]]
    lacking: Mapping[str, str] = field(default_factory=dict)
    room: int = UNSPLIT
    outcomes: tuple[Outcome, ...] = ()

    @property
    def left_open(self) -> str | None:
        """The number of items that are missing, and why; None if none is."""
        if not self.lacking:
            return None
        why = next(iter(self.lacking.values()))
        count = len(self.lacking)
        return f"{count} of {count + len(self.items.keys() - self.lacking.keys())} left open: {why}"


class Task(Frozen, ABC):
    """Makes pieces of questions and reads replies. It never asks anything itself.

    Its name, asks and order follow from its kind. ``pieces`` is a pure function of target and
    prompts: the same question is the same bytes in every run. Ids of items are unique within the
    target; if a piece is split because the contexts do not fit, each part asks for the same ids and
    ``rows`` merges them.
    """

    kind: type[Kind]

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def asks(self) -> tuple[str, ...]:
        """All asks of the kind, and of kinds that are asked with it."""
        return tuple(ask.name for kind in KINDS.values()
                     if self.name in (kind.name, kind.asked_with) for ask in kind.asks)  # fmt: skip

    @property
    def after(self) -> tuple[str, ...]:
        """The other tasks whose rows it is about."""
        earlier = (ASKS[ask].after for ask in self.asks)
        kinds = (KINDS[ASKS[ask].kind] for ask in dict.fromkeys(chain.from_iterable(earlier)))
        tasks = dict.fromkeys(kind.asked_with or kind.name for kind in kinds)
        return tuple(name for name in tasks if name != self.name)

    @property
    def splits_contexts(self) -> bool:
        """True if it shows contexts, in parts where they do not fit."""
        return self.kind.about == "context" or "contexts" in self.kind.shows

    def lacks(self, example: Example) -> str | None:
        """Tell why it cannot be asked: it is about contexts without a text; None if it can."""
        about_contexts = all("contexts" in ask.requires for ask in self.kind.asks)
        return no_text(example) if about_contexts else None

    @abstractmethod
    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:
        """Return the pieces to ask about the target; none if there is nothing to ask.

        ``room`` is the most characters of text in one piece; longer ones are split.
        """

    @abstractmethod
    def rows(self, ask: str, target: Target, reply: TaskReply) -> list[Row]:
        """Return the rows of an ask, one for every unit asked about.

        The verdict of a unit that is lacking is null, and its reason says why.
        """

    @abstractmethod
    def facts(self, target: Target) -> Iterable[object]:
        """Return all that the rows depend on, for the subject's fingerprint."""


Sort = TypeVar("Sort", bound=Item)

# Of a question's room; the rest is for what is asked about the contexts.
CONTEXTS_SHARE = 0.75

NOT_SAID = "not_in_reply"


def groups(example: Example, room: int) -> tuple[tuple[Passage, ...], ...]:
    """Return contexts with texts in groups that fit into a question; the same for related tasks."""
    return passages(example.contexts or (), int(room * CONTEXTS_SHARE))


def portions(pieces: Iterable[Piece], at_most: int = ITEMS) -> list[Piece]:
    """Return the pieces, split so that none has too many items, into parts of equal length."""
    parts: list[Piece] = []
    for piece in pieces:
        names = list(piece.items)
        count = -(-len(names) // at_most)
        ends = [len(names) * number // count for number in range(count + 1)] if count else []
        parts += [piece.only(names[start:end]) for start, end in pairwise(ends)]
    return parts


def numbered(texts: Sequence[str]) -> dict[str, str]:
    """Return the texts by their ids: ``p01``, ``p02``, …"""
    return {f"p{number:02d}": text for number, text in enumerate(texts, 1)}


def said(reply: TaskReply, name: str, sort: type[Sort]) -> list[Sort]:
    """The items under an id; several if the contexts were split."""
    return [item for item in reply.items.get(name, ()) if isinstance(item, sort)]


def why_lacking(reply: TaskReply, name: str) -> str:
    return reply.lacking.get(name, NOT_SAID)


class OfReferences(Task):
    """A task with an item for each reference, so that all systems share its questions."""

    item: ClassVar[type[Item]]

    def pieces(self, target: Target, prompts: Prompts, room: int) -> list[Piece]:  # noqa: ARG002
        example = target.example
        references = {f"r{number:02d}": text for number, text in enumerate(example.reference, 1)
                      if text.strip()}  # fmt: skip
        piece = Piece(self.name, prompts.instructions(self.name), shown(example, "question"),
                      dict.fromkeys(references, self.item), texts=references,
                      lists=dict.fromkeys(references, "REFERENCES"), details=())  # fmt: skip
        return portions([piece])

    def facts(self, target: Target) -> Iterable[object]:
        example = target.example
        return (example.history, example.question, example.reference)
