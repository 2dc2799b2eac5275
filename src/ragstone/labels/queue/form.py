"""Form: what a queue asks, of what, and what one person said of one item."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from ragstone.data.record_labels import Unit

from .routing import Route

YES_NO = ("yes", "no")
"""The choices of a label that is yes or no."""

Order = Literal["random", "risk"]
Role = Literal["annotator", "adjudicator", "owner"]


@dataclass(frozen=True, slots=True)
class AskedLabel:
    """A label that people are asked for.

    Attributes:
        label: Its name, as in files of labels.
        unit: What of an item it is about.
        choices: What can be said, as in files; empty where people write words of their own.
        help: When it is said, by choice; of a label that is yes or no, when it is yes.
        required: Whether an item can be saved without it.
    """

    label: str
    unit: Unit
    choices: tuple[str, ...] = ()
    help: Mapping[str, str] = field(default_factory=dict, hash=False)
    required: bool = True


@dataclass(frozen=True, slots=True)
class QueueForm:
    """What a queue asks, and of how many people.

    Attributes:
        name: Of the queue.
        asked: The labels.
        source: The run, data or sheet that the items are of.
        per_item: How many people label an item that several label.
        overlap: The share of items that several people label.
        order: In which items are given out.
        route: Which are likelier to be given out first, in the random order.
        most: How many examples are given out; None: all.
        chosen: By what the examples were chosen, where that was not chance, such as a filter on
            their scores; empty where they are all examples, or drawn.
        together: Whether all parts of an example are labelled on one screen.
        instructions: The queue's own, shown with the guideline.
        guidelines: By language.
        opened: Whether the owner sees who said what before adjudicators decide.
        seed: Of the order and of the overlap.
    """

    name: str
    asked: tuple[AskedLabel, ...]
    source: str = ""
    per_item: int = 1
    overlap: float = 1.0
    order: Order = "random"
    route: Route = "random"
    most: int | None = None
    chosen: str = ""
    together: bool = False
    instructions: str = ""
    guidelines: Mapping[str, str] = field(default_factory=dict)
    opened: bool = False
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "QueueForm":
        """The form of this plain data."""
        asked = tuple(
            AskedLabel(**{**one, "choices": tuple(one["choices"])}) for one in data["asked"]
        )
        return cls(**{**data, "asked": asked})


@dataclass(frozen=True, slots=True)
class ItemPart:
    """A part of an item that is labelled by itself.

    Attributes:
        unit: What it is.
        name: Which one: the rank of a context, the number of a claim; empty for the answer.
        text: What is read; empty where the item shows it.
    """

    unit: Unit
    name: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class QueueItem:
    """What is labelled on one screen.

    Attributes:
        item: Its number in the queue.
        id: Of the example.
        shown: The texts to read, by name: question, history, policy, answer, answers (of a pair),
            contexts, reference.
        parts: What is labelled.
        probability: That the sample from which the queue was made contains it; None if nothing was
            drawn.
        hidden: What nobody sees: of a pair of answers, ``rival``, the system compared with, and
            ``first``, whether the example's own answer is shown first.
        question: Names its question; examples of one are not independent. Empty if none is known.
    """

    item: int
    id: str
    shown: Mapping[str, Any]
    parts: tuple[ItemPart, ...]
    probability: float | None = None
    hidden: Mapping[str, Any] = field(default_factory=dict)
    question: str = ""


class PlacedItem(NamedTuple):
    """An item with what decides when it is given out.

    Attributes:
        item: The item.
        place: The smaller, the earlier.
        people: How many label it.
        weight: Of its example in the present routing, see ``routing``.
        doubt: How much the judge is in doubt on its example, from 0 to 1; None if it is not known.
        is_in: Whether it is given out at all.
    """

    item: QueueItem
    place: float
    people: int
    weight: float = 1.0
    doubt: float | None = None
    is_in: bool = True


@dataclass(frozen=True, slots=True)
class ItemAnswers:
    """What one person said of one item.

    Attributes:
        labels: By part, a tuple of unit and name, what is said of each label, one of its choices.
        note: Of the item.
        discarded: Why nothing can be said of it; empty if something is.
        spans: Words of texts that a label rests on: ``part``, a list of unit and name, ``label``,
            ``text``, a name of ``texts_of``, ``start`` and ``end`` in characters.
    """

    labels: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    note: str = ""
    discarded: str = ""
    spans: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether they neither give a label nor discard the item."""
        return not self.discarded and not any(self.labels.values())

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "labels": [[*part, dict(said)] for part, said in self.labels.items()],
            "note": self.note,
            "discarded": self.discarded,
            "spans": [dict(one) for one in self.spans],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ItemAnswers":
        """The answers of this plain data."""
        labels = {(unit, name): said for unit, name, said in data["labels"]}
        return cls(labels, data["note"], data["discarded"], tuple(data["spans"]))
