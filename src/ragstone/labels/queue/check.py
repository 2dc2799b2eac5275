"""Check: what is wrong with what a person says of an item, before it is kept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ragstone.examples.labels import FIELDS, Severity, violations
from ragstone.reason import reason

from .form import AskedLabel, ItemAnswers, QueueForm, QueueItem

YES_NO = ("yes", "no")
LONGEST_WORD, LONGEST_NOTE = 200, 10_000
"""Characters of a label in somebody's own words, and of a note."""


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


def answer_faults(form: QueueForm, item: QueueItem, answers: ItemAnswers) -> list[AnswerFault]:
    """All that is wrong with what somebody says of an item; nothing is asked of a discarded one."""
    return list(_faults(form, item, answers))


def _faults(form: QueueForm, item: QueueItem, answers: ItemAnswers) -> Iterator[AnswerFault]:
    whole = ("answer", "")
    if len(answers.note) > LONGEST_NOTE or len(answers.discarded) > LONGEST_NOTE:
        yield AnswerFault(whole, "", reason("note_too_long", most=LONGEST_NOTE))
    parts = {(one.unit, one.name): one for one in item.parts}
    for part in answers.labels:
        if part not in parts:
            yield AnswerFault(part, "", reason("no_such_part"))
    for (unit, name), _ in parts.items():
        said = answers.labels.get((unit, name), {})
        asked = {one.label: one for one in form.asked if one.unit == unit}
        for label, value in said.items():
            if label not in asked:
                yield AnswerFault((unit, name), label, reason("not_asked"))
            elif why := _not_a_choice(asked[label], value):
                yield AnswerFault((unit, name), label, why)
        if not answers.discarded:
            for label, one in asked.items():
                if one.required and label not in said:
                    yield AnswerFault((unit, name), label, reason("lacking"))
        yield from _broken((unit, name), said)


def _not_a_choice(asked: AskedLabel, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        return reason("not_a_choice", choices="\n".join(asked.choices))
    if asked.choices and value not in asked.choices:
        return reason("not_a_choice", choices="\n".join(asked.choices))
    if not asked.choices and len(value) > LONGEST_WORD:
        return reason("word_too_long", most=LONGEST_WORD)
    return ""


def _broken(part: tuple[str, str], said: Mapping[str, str]) -> Iterator[AnswerFault]:
    """The rules between labels that these break."""
    truths = {label: value == "yes" for label, value in said.items() if value in YES_NO}
    unit = part[0]
    record = {unit: truths} if unit == "answer" else {FIELDS.get(unit, unit): [truths]}  # type: ignore[call-overload]
    for one in violations(record):
        yield AnswerFault(part, "", reason(one.rule), one.severity)
