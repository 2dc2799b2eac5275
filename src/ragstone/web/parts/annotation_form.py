"""Annotation form: a queue item with its texts, labels and faults, and what a person sends."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragstone.annotation.queue.form import (
    LONGEST_NOTE,
    YES_NO,
    AnswerFault,
    AskedLabel,
    ForbiddenPair,
    ItemAnswers,
    ItemPart,
    QueueForm,
    QueueItem,
    forbidden_pairs,
    name_of,
    texts_of,
)
from ragstone.data.record_labels import FIELDS, Unit
from ragstone.report.number_format import counted, spoken
from ragstone.report.reason_words import words

from .highlight import MarkedPiece, answer_pieces


def part_title(part: ItemPart, item: QueueItem) -> str:
    """How a part is called."""
    if part.unit == "answer":
        return "These answers" if "answers" in item.shown else "This answer"
    return f"{spoken(part.unit).capitalize()} {part.name}".strip()


def sheet_title(item: QueueItem, *, yes_no: bool) -> str:
    """What stands above all labels of an item."""
    if len(item.parts) == 1:
        title = part_title(item.parts[0], item)
        return f"What is true of {title[:1].lower()}{title[1:]}?" if yes_no else title
    units = {one.unit for one in item.parts}
    return counted(len(item.parts), units.pop() if len(units) == 1 else "part")


def label_title(label: str) -> str:
    """How a label is called.

    >>> label_title("source_cited"), label_title("rating.helpfulness")
    ('Source cited', 'Helpfulness')
    """
    name = spoken(label.partition(".")[2] or label)
    return f"{name[:1].upper()}{name[1:]}"


def rule_words(pair: ForbiddenPair) -> str:
    """What a rule says, and the two ways to keep it."""
    ways = [
        f"“{label_title(label)}” to {YES_NO[value == YES_NO[0]]}"
        for label, value in reversed(list(pair.said.items()))
    ]
    return f"{words(pair.why)}: set {', or '.join(ways)}."


def fault_words(fault: AnswerFault, form: QueueForm, item: QueueItem) -> str:
    """What is wrong with an answer, where, and how to mend it."""
    rules: Mapping[str, str] = {one.why: rule_words(one) for one in forbidden_pairs(form)}
    parts = [one for one in item.parts if (one.unit, one.name) == fault.part]
    named = len(item.parts) > 1 and (fault.label or fault.why in rules)
    where = [part_title(one, item) for one in parts] if named else []
    where += [label_title(fault.label)] if fault.label else []
    said = rules.get(fault.why) or words(fault.why)
    return f"{', '.join(where)}: {said}" if where else f"{said[:1].upper()}{said[1:]}"


CONTEXTS = FIELDS["context"]
FIRST, LAST = ("history", "question", "policy", "answer", "answers"), (CONTEXTS, "reference")
"""The texts in their order; others stand between."""

ONE_TEXT, ALL_TEXTS, LEAST = 40_000, 240_000, 3_000
"""Bytes that a text may take at once, all of one sort, and at least each of them."""

LONG_CONTEXT = 1_200
"""Characters from which on a context among others is folded."""


@dataclass(frozen=True, slots=True)
class DeskText:
    """A text to read.

    Attributes:
        name: As in ``texts_of``.
        title: What it is called among its like; who spoke, of a turn.
        pieces: Its beginning, and what of it is fetched when somebody asks for it.
        is_long: Whether it is folded.
        part: The number of the part that it is; empty if it is none.
    """

    name: str
    title: str
    pieces: tuple[MarkedPiece, ...]
    is_long: bool
    part: str


@dataclass(frozen=True, slots=True)
class DeskSection:
    """Texts of one sort, such as the contexts."""

    key: str
    title: str
    texts: tuple[DeskText, ...]


def sections_of(item: QueueItem, part: str = "", start: int = 0) -> Iterator[DeskSection]:
    """The texts of an item, each sort in a section.

    Args:
        item: The item.
        part: The name of the text of which more was asked for; empty if none.
        start: From which character on.
    """
    texts = texts_of(item)
    parts = {name_of(one): str(at) for at, one in enumerate(item.parts)}
    sorts: dict[str, list[str]] = {}
    for name in texts:
        sort = name.partition("/")[0]
        # A part that is no context is short, and read on the sheet beside what is asked of it.
        if sort in item.shown or sort == CONTEXTS:
            sorts.setdefault(sort, []).append(name)
    between = [one for one in sorts if one not in FIRST + LAST]
    for sort in (one for one in (*FIRST, *between, *LAST) if one in sorts):
        names = sorts[sort]
        room = min(ONE_TEXT, max(LEAST, ALL_TEXTS // len(names)))
        titles = _titles(item.shown.get(sort), names)
        yield DeskSection(
            sort,
            spoken(sort).capitalize(),
            tuple(
                DeskText(
                    name,
                    title,
                    tuple(_pieces(texts[name], start if name == part else 0, room)),
                    sort == CONTEXTS and len(names) > 1 and len(texts[name]) > LONG_CONTEXT,
                    parts.get(name, ""),
                )
                for name, title in zip(names, titles, strict=True)
            ),
        )


def piece_of(item: QueueItem, name: str, start: int) -> list[MarkedPiece]:
    """A text of an item from a character on; nothing if it has none of that name."""
    text = texts_of(item).get(name, "")
    return _pieces(text, start, ONE_TEXT) if start < len(text) else []


def _pieces(text: str, start: int, most_bytes: int) -> list[MarkedPiece]:
    # A carriage return would be shown as a sign; places in the text stay what they are.
    lines = text.replace("\r\n", " \n").replace("\r", "\n")
    return answer_pieces(lines, (), min(start, len(text)), most_bytes)


def _titles(shown: object, names: Sequence[str]) -> list[str]:
    """Who spoke, where that is said; else the end of the name."""
    given = shown if isinstance(shown, list) else []
    who = [one.get("role") if isinstance(one, Mapping) else None for one in given]
    return [
        str(role or name.partition("/")[2])
        for name, role in zip(names, [*who, *[None] * len(names)], strict=False)
    ]


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
class AnnotationForm:
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
) -> AnnotationForm:
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
    return AnnotationForm(
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
        if part.asks(one) and (only is None or ((part.unit, part.name), one.label) in only)
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


SPANS, NOTE, WHY, OWN_WHY = "spans", "note", "why", "own_why"
"""Fields beside those of the labels."""

USUAL = (
    "The text cannot be read or is cut off",
    "It is in a language that I do not know",
    "The question makes no sense",
    "What is needed to judge it is not shown",
)
"""Why items are discarded."""

OTHER = "other"
"""The choice of a reason in somebody's own words."""


def field_of(at: int, label: str) -> str:
    """The field of the label of a part.

    >>> field_of(2, "rating.helpfulness")
    'say.2.rating.helpfulness'
    """
    return f"say.{at}.{label}"


def answers_of(fields: Mapping[str, str], form: QueueForm, item: QueueItem) -> ItemAnswers:
    """What a sent form says of an item; a field that was left empty says nothing."""
    labels: dict[tuple[str, str], dict[str, str]] = {}
    for at, part in enumerate(item.parts):
        for one in form.asked:
            said = fields.get(field_of(at, one.label), "").strip()
            if part.asks(one) and said:
                labels.setdefault((part.unit, part.name), {})[one.label] = said
    return ItemAnswers(labels, fields.get(NOTE, "").strip(), spans=_spans(fields.get(SPANS, "")))


def reason_of(fields: Mapping[str, str]) -> str:
    """Why the item is discarded; empty if no reason is given."""
    chosen = fields.get(WHY, "").strip()
    own = fields.get(OWN_WHY, "").strip()
    return (own if chosen in ("", OTHER) else chosen)[: LONGEST_NOTE + 1]


def _spans(text: str) -> tuple[Mapping[str, Any], ...]:
    try:
        given = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return ()
    if not isinstance(given, list):
        return ()
    found = [one for one in given if isinstance(one, dict)]
    return tuple(one for at, one in enumerate(found) if one not in found[:at])
