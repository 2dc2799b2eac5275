"""Divided: the items of a queue on which people differ, for adjudicators to decide.

People differ on a label of a part where they said different things of it, and where one labelled it
and another discarded the item.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, compress
from math import fsum

from ragstone.core.errors import UnknownName
from ragstone.core.messages import reason
from ragstone.data import majority
from ragstone.labels.last_word import Word, adjudicator, that_count

from .check import AnswerFault, answer_faults
from .form import ItemAnswers, QueueForm, QueueItem
from .queue import Queue, SavedItem

Part = tuple[str, str]
"""Unit and name."""

LACKING = reason("lacking")


@dataclass(frozen=True, slots=True)
class DividedLabel:
    """A label of a part on which people differ.

    Attributes:
        part: Unit and name.
        label: Its name.
        said: What each annotator said; empty if they discarded the item.
        decided: What adjudicators decided; empty if nothing, or if they discarded the item.
        is_open: Whether no adjudicator said anything of it, or two differ.
    """

    part: Part
    label: str
    said: Mapping[str, str]
    decided: str
    is_open: bool

    @property
    def spread(self) -> float:
        """Share of the pairs of annotators who differ."""
        pairs = list(combinations(self.said.values(), 2))
        return sum(a != b for a, b in pairs) / len(pairs) if pairs else 0.0


@dataclass(frozen=True, slots=True)
class DividedItem:
    """What people said of an item.

    Attributes:
        item: Its number in the queue.
        id: Of the example.
        labels: Those on which they differ, in the order of the form.
        agreed: By part, what all annotators say who say something.
        said: The answers of annotators.
        decisions: Those of adjudicators, the oldest first.
    """

    item: int
    id: str
    labels: tuple[DividedLabel, ...]
    agreed: Mapping[Part, Mapping[str, str]]
    said: tuple[SavedItem, ...]
    decisions: tuple[SavedItem, ...]

    @property
    def spread(self) -> float:
        """How divided people are: the shares of the pairs who differ, over all labels."""
        return fsum(one.spread for one in self.labels)

    @property
    def is_open(self) -> bool:
        """Whether something is left to decide."""
        return any(one.is_open for one in self.labels)

    def decision_of(self, person: str) -> ItemAnswers:
        """What an adjudicator decided; empty if nothing."""
        mine = (one.answers for one in self.decisions if one.person == person)
        return next(mine, ItemAnswers())


def divided_items(queue: Queue) -> list[DividedItem]:
    """The items on which people differ, decided or not; the most divided first."""
    by_item: dict[int, list[SavedItem]] = {}
    for one in queue.said():
        by_item.setdefault(one.item, []).append(one)
    found = [_item(queue.form, said) for said in by_item.values()]
    return sorted(
        (one for one in found if one.labels),
        key=lambda one: (-one.spread, -len(one.said), one.item),
    )


def divided_item(queue: Queue, number: int) -> DividedItem:
    """What people said of one item, whether they differ or not.

    Raises:
        UnknownName: Nobody said anything of it.
    """
    said = [one for one in queue.said() if one.item == number]
    if not said:
        hint = f"Nobody has labelled it in the queue {queue.name}."
        raise UnknownName("labelled item", str(number), (), hint=hint)
    return _item(queue.form, said)


def decision_faults(
    form: QueueForm, item: QueueItem, divided: DividedItem, answers: ItemAnswers
) -> list[AnswerFault]:
    """What is wrong with a decision: all that divides people is decided, and breaks no rule.

    Args:
        form: Of the queue.
        item: What is decided.
        divided: What people said of it.
        answers: The decision, of all that divides people and of whatever else the adjudicator sees
            otherwise. What they leave out stays as people agree.
    """
    agreed = {} if answers.discarded else divided.agreed
    parts = dict.fromkeys((*agreed, *answers.labels))
    said = {part: {**agreed.get(part, {}), **answers.labels.get(part, {})} for part in parts}
    before = set(answer_faults(form, item, ItemAnswers(agreed)))
    asked = {(one.part, one.label) for one in divided.labels}
    form = replace(form, asked=tuple(replace(one, required=True) for one in form.asked))
    return [
        fault
        for fault in answer_faults(form, item, replace(answers, labels=said))
        if ((fault.part, fault.label) in asked if fault.why == LACKING else fault not in before)
    ]


def _item(form: QueueForm, said: Sequence[SavedItem]) -> DividedItem:
    """From what was said of one item, by whomever."""
    labels, agreed = [], dict[Part, dict[str, str]]()
    for part in dict.fromkeys(part for one in said for part in one.answers.labels):
        for label in (one.label for one in form.asked if one.unit == part[0]):
            found, differ = _label(part, label, said)
            if differ:
                labels.append(found)
            elif found.said:
                agreed.setdefault(part, {})[label] = next(iter(found.said.values()))
    return DividedItem(
        said[0].item,
        said[0].id,
        tuple(labels),
        agreed,
        tuple(one for one in said if one.role == "annotator"),
        tuple(one for one in said if one.role == "adjudicator"),
    )


def _label(part: Part, label: str, said: Sequence[SavedItem]) -> tuple[DividedLabel, bool]:
    """What was said of a label, and whether people differ on it."""
    words, values, people = [], [], {}
    for one in said:
        decides, discarded = one.role == "adjudicator", bool(one.answers.discarded)
        value = "" if discarded else one.answers.labels.get(part, {}).get(label, "")
        if not value and not discarded:
            continue
        who = adjudicator(one.person) if decides else one.person
        words.append(Word(part, label, who, discarded))
        values.append(value)
        if not decides:
            people[one.person] = value
    counted = list(compress(values, that_count(words)))
    together = majority(counted) or ""
    judged = len(people) < len(words)
    split = len(set(people.values())) > 1
    torn = judged and bool(counted) and not together
    decided = together if judged else ""
    return DividedLabel(part, label, people, decided, torn or (split and not judged)), split or torn
