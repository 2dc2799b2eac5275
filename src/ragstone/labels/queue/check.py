"""Check: what is wrong with what a person says of an item, before it is kept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ragstone.core.messages import reason
from ragstone.data.record_labels import FIELDS, RULES, Severity, Unit, violations

from .form import YES_NO, AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from .texts import texts_of

LONGEST_WORD, LONGEST_NOTE = 200, 10_000
"""Characters of a label in somebody's own words, and of a note."""

MOST_SPANS = 200
"""Places in the texts of an item that its labels rest on."""

SPAN = ("part", "label", "text", "start", "end")
"""What each of them says: unit and name of the part, its label, and characters of a text."""


@dataclass(frozen=True, slots=True)
class AnswerFault:
    """Something that is wrong with an answer.

    Attributes:
        part: Unit and name of the part.
        label: The label; empty if it is about the part, or the item.
        why: A reason, as in ``lacking``.
        severity: ``block``: it cannot be kept so. ``warn``: it is asked about once.
    """

    part: tuple[str, str]
    label: str
    why: str
    severity: Severity = "block"


@dataclass(frozen=True, slots=True)
class ForbiddenPair:
    """Two values of a unit's labels that contradict each other.

    Attributes:
        unit: The unit.
        said: The two labels, each with its value.
        why: The name of the rule, as a reason.
        severity: As of a fault.
    """

    unit: Unit
    said: Mapping[str, str]
    why: str
    severity: Severity


def forbidden_pairs(form: QueueForm) -> list[ForbiddenPair]:
    """What the rules between the labels of a form forbid, for a page that checks while one labels.

    ``answer_faults`` finds the same.
    """
    asked = {(one.unit, one.label) for one in form.asked}
    return [
        ForbiddenPair(
            rule.unit,
            {rule.given: YES_NO[0], rule.then: YES_NO[rule.says]},
            reason(rule.name),
            rule.severity,
        )
        for rule in RULES.values()
        if {(rule.unit, rule.given), (rule.unit, rule.then)} <= asked
    ]


def answer_faults(form: QueueForm, item: QueueItem, answers: ItemAnswers) -> list[AnswerFault]:
    """All that is wrong with what somebody says of an item; nothing is asked of a discarded one."""
    return list(_faults(form, item, answers))


def _faults(form: QueueForm, item: QueueItem, answers: ItemAnswers) -> Iterator[AnswerFault]:
    whole = ("answer", "")
    if len(answers.note) > LONGEST_NOTE or len(answers.discarded) > LONGEST_NOTE:
        yield AnswerFault(whole, "", reason("note_too_long", most=LONGEST_NOTE))
    places = {(one.unit, one.name) for one in item.parts}
    for place in answers.labels:
        if place not in places:
            yield AnswerFault(place, "", reason("no_such_part"))
    for part in item.parts:
        place = (part.unit, part.name)
        said = answers.labels.get(place, {})
        asked = {one.label: one for one in form.asked if one.unit == part.unit}
        for label, value in said.items():
            if label not in asked:
                yield AnswerFault(place, label, reason("not_asked"))
            elif why := _not_a_choice(asked[label], value):
                yield AnswerFault(place, label, why)
        if not answers.discarded:
            for label, one in asked.items():
                if one.required and label not in said:
                    yield AnswerFault(place, label, reason("lacking"))
        yield from _broken(part, said)
    yield from _misplaced(form, item, answers)


def _misplaced(form: QueueForm, item: QueueItem, answers: ItemAnswers) -> Iterator[AnswerFault]:
    """Spans of nothing that is there."""
    whole = ("answer", "")
    if len(answers.spans) > MOST_SPANS:
        yield AnswerFault(whole, "", reason("too_many_spans", most=MOST_SPANS))
        return
    texts = texts_of(item) if answers.spans else {}
    parts = [[one.unit, one.name] for one in item.parts]
    labels = {(one.unit, one.label) for one in form.asked}
    for span in answers.spans:
        part, label = span.get("part"), span.get("label")
        start, end, text = span.get("start"), span.get("end"), texts.get(str(span.get("text")))
        if part not in parts:
            yield AnswerFault(whole, "", reason("no_such_part"))
        elif (part[0], str(label)) not in labels:
            yield AnswerFault((part[0], part[1]), str(label), reason("not_asked"))
        elif not (
            text is not None
            and {*span} == {*SPAN}
            and type(start) is int
            and type(end) is int
            and 0 <= start < end <= len(text)
        ):
            yield AnswerFault((part[0], part[1]), str(label), reason("no_such_words"))


def _not_a_choice(asked: AskedLabel, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        return reason("not_a_choice", choices="\n".join(asked.choices))
    if asked.choices and value not in asked.choices:
        return reason("not_a_choice", choices="\n".join(asked.choices))
    if not asked.choices and len(value) > LONGEST_WORD:
        return reason("word_too_long", most=LONGEST_WORD)
    return ""


def _broken(part: ItemPart, said: Mapping[str, str]) -> Iterator[AnswerFault]:
    """The rules between labels that these break."""
    truths = {label: value == YES_NO[0] for label, value in said.items() if value in YES_NO}
    field = FIELDS.get(part.unit)
    for one in violations({part.unit: truths} if field is None else {field: [truths]}):
        yield AnswerFault((part.unit, part.name), "", reason(one.rule), one.severity)
