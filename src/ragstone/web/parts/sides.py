"""Sides: what people said of an item on which they differ, side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragstone.annotation.queue.form import ItemAnswers, QueueForm, QueueItem, texts_of
from ragstone.annotation.queue.queue import SavedItem
from ragstone.annotation.queue.queue_results import DividedItem

from .desk import QUOTED
from .desk_words import label_title, part_title
from .sheet import field_of

DISCARDED = "discarded"
"""What is shown instead of a label where somebody discarded the item."""

Votes = Mapping[str, Sequence[tuple[str, Sequence[str]]]]
"""By the field of a label: what was said of it, and by whom."""


@dataclass(frozen=True, slots=True)
class ShownSpan:
    """Words that somebody's label rests on: the name of their text, where they are, and they."""

    text: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class SideCell:
    """What somebody said of a label; empty if nothing."""

    value: str
    evidence: tuple[ShownSpan, ...]


@dataclass(frozen=True, slots=True)
class SideRow:
    """A label: of which part, its name, and what each person said of it."""

    part: str
    label: str
    cells: tuple[SideCell, ...]


@dataclass(frozen=True, slots=True)
class PersonSide:
    """Somebody who labelled the item, or decided it: their note, and why they discarded it."""

    name: str
    decides: bool
    note: str
    discarded: str


@dataclass(frozen=True, slots=True)
class Sides:
    """What people said, side by side.

    Attributes:
        people: Annotators in the order in which they answered, and those who decided.
        rows: The labels on which they differ.
        agreed: The others: part, label and what all say who say something.
        votes: What annotators said of each label.
    """

    people: tuple[PersonSide, ...]
    rows: tuple[SideRow, ...]
    agreed: tuple[tuple[str, str, str], ...]
    votes: Votes

    @property
    def has_notes(self) -> bool:
        """Whether somebody noted something or said why they discarded the item."""
        return any(one.note or one.discarded for one in self.people)


def sides_of(form: QueueForm, item: QueueItem, divided: DividedItem) -> Sides:
    """What people said of an item, side by side."""
    said = (*divided.said, *divided.decisions)
    texts = texts_of(item)
    titles = {(str(one.unit), one.name): part_title(one, item) for one in item.parts}
    several = len(item.parts) > 1
    rows = [
        SideRow(
            titles.get(one.part, "") if several else "",
            label_title(one.label),
            tuple(_cell(each.answers, one.part, one.label, texts) for each in said),
        )
        for one in divided.labels
    ]
    agreed = [
        (titles.get(part, "") if several else "", label_title(label), value)
        for part, labels in divided.agreed.items()
        for label, value in labels.items()
    ]
    return Sides(
        tuple(
            PersonSide(
                one.person, one.role == "adjudicator", one.answers.note, one.answers.discarded
            )
            for one in said
        ),
        tuple(rows),
        tuple(agreed),
        _votes(form, item, divided.said),
    )


def _cell(
    answers: ItemAnswers, part: tuple[str, str], label: str, texts: Mapping[str, str]
) -> SideCell:
    if answers.discarded:
        return SideCell(DISCARDED, ())
    value = answers.labels.get(part, {}).get(label, "")
    return SideCell(value, tuple(_evidence(answers, part, label, texts)))


def _evidence(
    answers: ItemAnswers, part: tuple[str, str], label: str, texts: Mapping[str, str]
) -> Iterator[ShownSpan]:
    for one in answers.spans:
        name, start, end = str(one.get("text")), one.get("start"), one.get("end")
        mine = one.get("part") == list(part) and one.get("label") == label
        if mine and isinstance(start, int) and isinstance(end, int):
            yield ShownSpan(name, start, end, texts.get(name, "")[start:end][:QUOTED])


def _votes(form: QueueForm, item: QueueItem, said: Sequence[SavedItem]) -> Votes:
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for at, part in enumerate(item.parts):
        for label in (one.label for one in form.asked if one.unit == part.unit):
            by_value: dict[str, list[str]] = {}
            for one in said:
                value = one.answers.labels.get((part.unit, part.name), {}).get(label, "")
                value = DISCARDED if one.answers.discarded else value
                if value:
                    by_value.setdefault(value, []).append(one.person)
            votes = sorted(by_value.items(), key=lambda vote: -len(vote[1]))
            found[field_of(at, label)] = votes
    return found
