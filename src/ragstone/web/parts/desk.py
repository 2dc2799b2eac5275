"""Desk: an item of a queue as people label it, the texts to read and the sheet of labels."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragstone.annotation.queue.form import (
    YES_NO,
    AskedLabel,
    ItemAnswers,
    ItemPart,
    QueueForm,
    QueueItem,
    forbidden_pairs,
    name_of,
    texts_of,
)
from ragstone.data.record_labels import Unit

from .desk_texts import CONTEXTS, DeskSection, DeskText, sections_of
from .desk_words import label_title, part_title, rule_words, sheet_title
from .sheet import field_of

DIGITS = "123456789"
SIDE_BY_SIDE = 34
"""Characters of choices that stand side by side."""

QUOTED = 120
"""Characters of marked words that are told beside a label."""

PartLabel = tuple[tuple[str, str], str]
"""Unit and name of a part, and a label of it."""

Mode = Literal["cycle", "turn"]
"""What a digit does. ``cycle``: the label with that number is yes, then no. ``turn``: it says the
choice with that number of the label whose turn it is."""


@dataclass(frozen=True, slots=True)
class DeskChoice:
    """Something that can be said of a label, and the digit that says it."""

    value: str
    digit: str
    help: str
    on: bool


@dataclass(frozen=True, slots=True)
class DeskLabel:
    """A label on the sheet.

    Attributes:
        field: Of the form.
        label: Its name.
        title: How it is called.
        sort: What its name says before the point, such as ``rating``.
        help: When it is yes.
        choices: What can be said; empty where people write.
        value: What is said; empty if nothing is.
        digit: The key that says it, where each label has its own.
        required: Whether the item cannot be saved without it.
        spans: The words that it rests on, each with the name of its text.
    """

    field: str
    label: str
    title: str
    sort: str
    help: str
    choices: tuple[DeskChoice, ...]
    value: str
    digit: str
    required: bool
    spans: tuple[tuple[str, str], ...]

    @property
    def looks(self) -> str:
        """How its choices stand."""
        if not self.choices:
            return "free"
        if tuple(one.value for one in self.choices) == YES_NO:
            return "yn"
        room = sum(len(one.value) + 3 for one in self.choices)
        helped = any(one.help for one in self.choices)
        return "stacked" if helped or room > SIDE_BY_SIDE else "beside"


@dataclass(frozen=True, slots=True)
class DeskPart:
    """A part of the item, with its labels.

    Attributes:
        at: Its number, from 0.
        unit: What it is.
        name: Which one.
        title: How it is called.
        text: What is read of it on the sheet itself; empty where it is among the texts.
        about: The name of its text.
        labels: What is asked of it.
    """

    at: int
    unit: Unit
    name: str
    title: str
    text: str
    about: str
    labels: tuple[DeskLabel, ...]


@dataclass(frozen=True, slots=True)
class Desk:
    """An item as it is labelled.

    Attributes:
        item: Its number.
        title: What stands above all labels.
        question: Its question; None if it has none.
        sections: The other texts.
        parts: What is asked.
        mode: What a digit does.
        note: What is noted.
        spans: The words that labels rest on, as JSON.
        forbidden: What the rules between labels forbid, as JSON.
    """

    item: int
    title: str
    question: DeskText | None
    sections: tuple[DeskSection, ...]
    parts: tuple[DeskPart, ...]
    mode: Mode
    note: str
    spans: str
    forbidden: str


def desk_of(
    form: QueueForm,
    item: QueueItem,
    answers: ItemAnswers,
    *,
    part: str = "",
    start: int = 0,
    only: Collection[PartLabel] | None = None,
) -> Desk:
    """The desk of an item.

    Args:
        form: What is asked.
        item: Of what.
        answers: What was said of it before.
        part: The name of the text of which more was asked for; empty if none.
        start: From which character on.
        only: The labels of parts that are on the sheet; None: all that are asked.
    """
    asked = [_asked(form, one, only) for one in item.parts]
    mode = _mode(asked)
    sections = list(sections_of(item, part, start))
    questions = [one.texts[0] for one in sections if one.key == "question"]
    parts = [_part(item, answers, mode, at, asked[at]) for at in range(len(item.parts))]
    return Desk(
        item.item,
        sheet_title(item, yes_no=mode == "cycle"),
        questions[0] if questions else None,
        tuple(one for one in sections if one.key != "question"),
        tuple(one for one in parts if one.labels),
        mode,
        answers.note,
        json.dumps([dict(one) for one in answers.spans]),
        json.dumps(_forbidden(form)),
    )


def _forbidden(form: QueueForm) -> list[dict[str, object]]:
    return [
        {
            "unit": one.unit,
            "said": dict(one.said),
            "blocks": one.severity == "block",
            "words": rule_words(one),
        }
        for one in forbidden_pairs(form)
    ]


def _asked(form: QueueForm, part: ItemPart, only: Collection[PartLabel] | None) -> list[AskedLabel]:
    """What is asked of a part."""
    return [
        one
        for one in form.asked
        if one.unit == part.unit and (only is None or ((part.unit, part.name), one.label) in only)
    ]


def _mode(asked: Sequence[Sequence[AskedLabel]]) -> Mode:
    parts = [one for one in asked if one]
    labels = [one for of_part in parts for one in of_part]
    numbered = len(parts) == 1 and 1 < len(labels) <= len(DIGITS)
    return "cycle" if numbered and all(one.choices == YES_NO for one in labels) else "turn"


def _part(
    item: QueueItem, answers: ItemAnswers, mode: Mode, at: int, asked: Sequence[AskedLabel]
) -> DeskPart:
    part = item.parts[at]
    about = name_of(part)
    return DeskPart(
        at,
        part.unit,
        part.name,
        part_title(part, item),
        "" if about.partition("/")[0] == CONTEXTS else part.text,
        about,
        tuple(
            _label(item, at, one, answers, str(place) if mode == "cycle" else "")
            for place, one in enumerate(asked, 1)
        ),
    )


def _label(
    item: QueueItem, at: int, asked: AskedLabel, answers: ItemAnswers, digit: str
) -> DeskLabel:
    part = item.parts[at]
    digits = DIGITS
    if all(len(one) == 1 and one.isascii() and one.isdigit() for one in asked.choices):
        digits = "".join(asked.choices)
    value = answers.labels.get((part.unit, part.name), {}).get(asked.label, "")
    yes_no = asked.choices == YES_NO
    sort, _, topic = asked.label.partition(".")
    meant = asked.help.get(YES_NO[0], "").removesuffix(".") if yes_no else ""
    return DeskLabel(
        field_of(at, asked.label),
        asked.label,
        label_title(asked.label),
        sort if topic else "",
        f"Yes if {meant}." if meant else "",
        tuple(
            DeskChoice(
                choice,
                "" if digit else digits[place : place + 1],
                "" if yes_no else _sentence(asked.help.get(choice, "")),
                choice == value,
            )
            for place, choice in enumerate(asked.choices)
        ),
        value,
        digit,
        asked.required,
        tuple(_quotes(item, part, asked.label, answers)),
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _quotes(
    item: QueueItem, part: ItemPart, label: str, answers: ItemAnswers
) -> Iterator[tuple[str, str]]:
    texts: Mapping[str, str] = texts_of(item) if answers.spans else {}
    for span in answers.spans:
        name, start, end = span.get("text"), span.get("start"), span.get("end")
        mine = span.get("part") == [part.unit, part.name] and span.get("label") == label
        if mine and isinstance(start, int) and isinstance(end, int):
            yield texts.get(str(name), "")[start:end][:QUOTED], str(name)
