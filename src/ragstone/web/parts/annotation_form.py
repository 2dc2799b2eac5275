"""Annotation form: a queue item with its texts, labels and faults, and what a person sends."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Literal

from ragstone.annotation.queue.form import (
    LONGEST_NOTE,
    YES_NO,
    AnswerFault,
    AskedLabel,
    ItemAnswers,
    ItemPart,
    QueueForm,
    QueueItem,
    forbidden,
    name_of,
    rules_asked,
    texts_of,
)
from ragstone.data.record_labels import FIELDS, Rule
from ragstone.report.number_format import capital, counted, spoken
from ragstone.report.reason_words import words
from ragstone.web.page_request import Asked
from ragstone.web.templating import View

from .highlight import MarkedPiece, answer_pieces


def part_title(part: ItemPart, item: QueueItem) -> str:
    """Return what a part is called."""
    if part.unit == "answer":
        return "These answers" if "answers" in item.shown else "This answer"
    return f"{spoken(part.unit).capitalize()} {part.name}".strip()


def sheet_title(item: QueueItem, *, yes_no: bool) -> str:
    """Return what stands above all labels of an item."""
    if len(item.parts) == 1:
        title = part_title(item.parts[0], item)
        return f"What is true of {title[:1].lower()}{title[1:]}?" if yes_no else title
    units = {part.unit for part in item.parts}
    return counted(len(item.parts), units.pop() if len(units) == 1 else "part")


def label_title(label: str) -> str:
    """Return what a label is called.

    >>> label_title("source_cited"), label_title("rating.helpfulness")
    ('Source cited', 'Helpfulness')
    """
    return capital(spoken(label.partition(".")[2] or label))


def rule_words(rule: Rule) -> str:
    """Say what a rule forbids, and the two ways to keep it."""
    ways = [
        f"“{label_title(label)}” to {YES_NO[value == YES_NO[0]]}"
        for label, value in reversed(forbidden(rule).items())
    ]
    return f"{words(rule.name)}: set {', or '.join(ways)}."


def fault_words(fault: AnswerFault, form: QueueForm, item: QueueItem) -> str:
    """Say what is wrong with an answer, where, and how to mend it."""
    rules: Mapping[str, str] = {rule.name: rule_words(rule) for rule in rules_asked(form)}
    parts = [part for part in item.parts if (part.unit, part.name) == fault.part]
    names_part = len(item.parts) > 1 and (fault.label or fault.why in rules)
    where = [part_title(part, item) for part in parts] if names_part else []
    where += [label_title(fault.label)] if fault.label else []
    problem = rules.get(fault.why) or words(fault.why)
    return f"{', '.join(where)}: {problem}" if where else capital(problem)


CONTEXTS = FIELDS["context"]
# The texts in their order; others stand between.
FIRST, LAST = ("history", "question", "policy", "answer", "answers"), (CONTEXTS, "reference")

# Bytes that a text may take at once, all of one sort, and at least each of them.
ONE_TEXT, ALL_TEXTS, LEAST = 40_000, 240_000, 3_000

# Characters from which on a context among others is folded.
LONG_CONTEXT = 1_200


def _sections(item: QueueItem, part: str, start: int) -> Iterator[View]:
    texts = texts_of(item)
    parts = {name_of(each): str(at) for at, each in enumerate(item.parts)}
    sorts: dict[str, list[str]] = {}
    for name in texts:
        sort = name.partition("/")[0]
        # A part that is no context is short, and read on the sheet beside what is asked of it.
        if sort in item.shown or sort == CONTEXTS:
            sorts.setdefault(sort, []).append(name)
    between = [sort for sort in sorts if sort not in FIRST + LAST]
    for sort in (sort for sort in (*FIRST, *between, *LAST) if sort in sorts):
        names = sorts[sort]
        room = min(ONE_TEXT, max(LEAST, ALL_TEXTS // len(names)))
        folds = sort == CONTEXTS and len(names) > 1
        yield {
            "key": sort,
            "title": spoken(sort).capitalize(),
            "texts": [
                {
                    "name": name,
                    "title": title,
                    "pieces": _pieces(texts[name], start if name == part else 0, room),
                    "is_long": folds and len(texts[name]) > LONG_CONTEXT,
                    "part": parts.get(name, ""),
                }
                for name, title in zip(names, _titles(item.shown.get(sort), names), strict=True)
            ],
        }


def piece_of(item: QueueItem, name: str, start: int) -> list[MarkedPiece]:
    """Return a text of an item from a character on; nothing if it has none of that name."""
    text = texts_of(item).get(name, "")
    return _pieces(text, start, ONE_TEXT) if start < len(text) else []


def _pieces(text: str, start: int, most_bytes: int) -> list[MarkedPiece]:
    # A carriage return would be shown as a sign; places in the text stay what they are.
    lines = text.replace("\r\n", " \n").replace("\r", "\n")
    return answer_pieces(lines, (), min(start, len(text)), most_bytes)


def _titles(turns: object, names: Sequence[str]) -> list[str]:
    listed = turns if isinstance(turns, list) else []
    roles = [turn.get("role") if isinstance(turn, Mapping) else None for turn in listed]
    pairs = zip_longest(names, roles[: len(names)])
    return [str(role or name.partition("/")[2]) for name, role in pairs]


DIGITS = "123456789"
# Characters of choices that stand side by side.
SIDE_BY_SIDE = 34

# Characters of marked words that are told beside a label.
QUOTED = 120

# Unit and name of a part, and a label of it.
PartLabel = tuple[tuple[str, str], str]

# What a digit does. ``cycle``: the label with that number is yes, then no. ``turn``: it says the
# choice with that number of the label whose turn it is.
Mode = Literal["cycle", "turn"]


def desk_of(
    form: QueueForm,
    item: QueueItem,
    answers: ItemAnswers,
    request: Asked,
    only: Collection[PartLabel] | None = None,
) -> View:
    """Return an item as it is labelled: its texts, and the sheet with what is asked of each part.

    ``answers`` were given before. ``only``: the labels of parts that are on the sheet, None for
    all that are asked.
    """
    by_part = [_asked(form, each, only) for each in item.parts]
    mode = _mode(by_part)
    part, start = request.one("part"), request.number("from", 0)
    sections = {each["key"]: each for each in _sections(item, part, start)}
    question = sections.pop("question", None)
    texts = texts_of(item) if answers.spans else {}
    return {
        "item": item.item,
        "title": sheet_title(item, yes_no=mode == "cycle"),
        "question": question and question["texts"][0],
        "sections": list(sections.values()),
        "parts": [_part(item, answers, mode, at, labels, texts)
                  for at, labels in enumerate(by_part) if labels],
        "mode": mode,
        "note": answers.note,
        "spans": json.dumps([dict(span) for span in answers.spans]),
        "forbidden": json.dumps([
            {"unit": rule.unit, "said": forbidden(rule), "blocks": rule.severity == "block",
             "words": rule_words(rule)} for rule in rules_asked(form)
        ]),
    }  # fmt: skip


def _asked(form: QueueForm, part: ItemPart, only: Collection[PartLabel] | None) -> list[AskedLabel]:
    return [
        label
        for label in form.asked
        if part.asks(label) and (only is None or ((part.unit, part.name), label.label) in only)
    ]


def _mode(by_part: Sequence[Sequence[AskedLabel]]) -> Mode:
    parts = [labels for labels in by_part if labels]
    labels = [label for of_part in parts for label in of_part]
    numbered = len(parts) == 1 and 1 < len(labels) <= len(DIGITS)
    return "cycle" if numbered and all(label.choices == YES_NO for label in labels) else "turn"


def _part(
    item: QueueItem,
    answers: ItemAnswers,
    mode: Mode,
    at: int,
    labels: Sequence[AskedLabel],
    texts: Mapping[str, str],
) -> View:
    part = item.parts[at]
    about = name_of(part)
    return {
        "at": at,
        "unit": part.unit,
        "name": part.name,
        "title": part_title(part, item),
        "text": "" if about.partition("/")[0] == CONTEXTS else part.text,
        "about": about,
        "labels": [
            _label(part, at, label, answers, str(number) if mode == "cycle" else "", texts)
            for number, label in enumerate(labels, 1)
        ],
    }


def _label(
    part: ItemPart,
    at: int,
    request: AskedLabel,
    answers: ItemAnswers,
    digit: str,
    texts: Mapping[str, str],
) -> View:
    key = (part.unit, part.name)
    # Choices that are digits are pressed by what they are.
    is_digits = all(
        len(each) == 1 and each.isascii() and each.isdigit() for each in request.choices
    )
    digits = "".join(request.choices) if is_digits else DIGITS
    value = answers.labels.get(key, {}).get(request.label, "")
    yes_no = request.choices == YES_NO
    sort, _, topic = request.label.partition(".")
    meant = request.help.get(YES_NO[0], "").removesuffix(".") if yes_no else ""
    choices = [
        {
            "value": choice,
            "digit": "" if digit else digits[index : index + 1],
            "help": "" if yes_no else capital(request.help.get(choice, "")),
            "on": choice == value,
        }
        for index, choice in enumerate(request.choices)
    ]
    return {
        "field": field_of(at, request.label),
        "label": request.label,
        "title": label_title(request.label),
        "sort": sort if topic else "",
        "help": f"Yes if {meant}." if meant else "",
        "choices": choices,
        "looks": _looks(request.choices, helped=any(choice["help"] for choice in choices)),
        "value": value,
        "digit": digit,
        "required": request.required,
        "spans": list(marked_words(answers, key, request.label, texts)),
    }


def _looks(choices: Sequence[str], *, helped: bool) -> str:
    if not choices:
        return "free"
    if choices == YES_NO:
        return "yn"
    room = sum(len(choice) + 3 for choice in choices)
    return "stacked" if helped or room > SIDE_BY_SIDE else "beside"


def marked_words(
    answers: ItemAnswers, part: tuple[str, str], label: str, texts: Mapping[str, str]
) -> Iterator[tuple[str, int, int, str]]:
    """Yield the words that a label of a part rests on: name of the text, start, end and quote."""
    for span in answers.spans:
        name, start, end = str(span.get("text")), span.get("start"), span.get("end")
        mine = span.get("part") == list(part) and span.get("label") == label
        if mine and isinstance(start, int) and isinstance(end, int):
            yield name, start, end, texts.get(name, "")[start:end][:QUOTED]


# Fields beside those of the labels.
SPANS, NOTE, WHY, OWN_WHY = "spans", "note", "why", "own_why"

# Why items are discarded.
USUAL = (
    "The text cannot be read or is cut off",
    "It is in a language that I do not know",
    "The question makes no sense",
    "What is needed to judge it is not shown",
)

# The choice of a reason in somebody's own words.
OTHER = "other"


def field_of(at: int, label: str) -> str:
    """Return the field of the label of a part.

    >>> field_of(2, "rating.helpfulness")
    'say.2.rating.helpfulness'
    """
    return f"say.{at}.{label}"


def answers_of(fields: Mapping[str, str], form: QueueForm, item: QueueItem) -> ItemAnswers:
    """Return what a sent form says of an item; a field that was left empty says nothing."""
    labels: dict[tuple[str, str], dict[str, str]] = {}
    for at, part in enumerate(item.parts):
        for label in form.asked:
            value = fields.get(field_of(at, label.label), "").strip()
            if part.asks(label) and value:
                labels.setdefault((part.unit, part.name), {})[label.label] = value
    return ItemAnswers(labels, fields.get(NOTE, "").strip(), spans=_spans(fields.get(SPANS, "")))


def reason_of(fields: Mapping[str, str]) -> str:
    """Return why the item is discarded; empty if no reason is given."""
    chosen = fields.get(WHY, "").strip()
    own_words = fields.get(OWN_WHY, "").strip()
    return (own_words if chosen in ("", OTHER) else chosen)[: LONGEST_NOTE + 1]


def _spans(text: str) -> tuple[Mapping[str, Any], ...]:
    try:
        listed = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return ()
    if not isinstance(listed, list):
        return ()
    spans = [span for span in listed if isinstance(span, dict)]
    return tuple(span for at, span in enumerate(spans) if span not in spans[:at])
