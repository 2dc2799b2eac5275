"""Desk words: how parts and labels are called, and what is wrong with an answer, in words."""

from collections.abc import Mapping

from ragstone.annotation.queue.form import (
    YES_NO,
    AnswerFault,
    ForbiddenPair,
    ItemPart,
    QueueForm,
    QueueItem,
    forbidden_pairs,
)
from ragstone.report.number_format import counted, spoken
from ragstone.report.reason_words import words


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
