"""Queue results: people's labels as rows of a label file, disputed items, snapshots and imports.

People differ on a label of a part if they labelled it differently, or if an annotator labelled it
and another discarded the item.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations, compress
from math import fsum
from pathlib import Path
from secrets import token_hex
from typing import Any

import polars as pl

from ragstone.annotation.adjudication import (
    FinalLabel,
    adjudicator,
    adjudicator_named,
    is_adjudicator,
    that_count,
)
from ragstone.annotation.label_names import SET_ASIDE, named
from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.raw_rows import unit_kind
from ragstone.core.database import (
    PostgresRun,
    Sql,
    SqliteRun,
    connect,
    postgres_in_words,
    sqlite_fault,
    version_of,
    without_password,
)
from ragstone.core.errors import DataError, Fault, InputError, UnknownName
from ragstone.core.messages import reason
from ragstone.core.sqlite import is_empty, open_to_read
from ragstone.data import majority
from ragstone.judgements import Preference

from .form import (
    LABEL,
    YES_NO,
    AnswerFault,
    ItemAnswers,
    ItemPart,
    QueueForm,
    QueueItem,
    SavedItem,
    answer_faults,
    preferred,
    shown_as,
)
from .labels_store import LAYOUT, LabelDatabase, StoreAddress
from .queue import Queue, queues

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
class DisputedItem:
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


def divided_items(queue: Queue) -> list[DisputedItem]:
    """The items on which people differ, decided or not; the most divided first."""
    by_item: dict[int, list[SavedItem]] = {}
    for one in queue.said():
        by_item.setdefault(one.item, []).append(one)
    found = [_item(queue.form, said) for said in by_item.values()]
    return sorted(
        (one for one in found if one.labels),
        key=lambda one: (-one.spread, -len(one.said), one.item),
    )


def divided_item(queue: Queue, number: int) -> DisputedItem:
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
    form: QueueForm, item: QueueItem, divided: DisputedItem, answers: ItemAnswers
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


def _item(form: QueueForm, said: Sequence[SavedItem]) -> DisputedItem:
    """From what was said of one item, by whomever."""
    labels, agreed = [], dict[Part, dict[str, str]]()
    for part in dict.fromkeys(part for one in said for part in one.answers.labels):
        for label in (one.label for one in form.asked if one.unit == part[0]):
            found, differ = _label(part, label, said)
            if differ:
                labels.append(found)
            elif found.said:
                agreed.setdefault(part, {})[label] = next(iter(found.said.values()))
    return DisputedItem(
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
        words.append(FinalLabel(part, label, who, discarded))
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


def queue_records(database: LabelDatabase, name: str = "") -> Iterator[dict[str, Any]]:
    """A row for each person and part of an item, as ``read_label_table`` reads them.

    An adjudicator has rows for the parts of which they said something, and is named as one. Who
    skipped an item has rows without labels.

    Args:
        database: The store.
        name: Of a queue; empty for all of them.

    Raises:
        UnknownName: The store has no such queue.
    """
    names = [name] if name else [one.name for one in queues(database)]
    for one in names:
        yield from _of_queue(Queue(database, one))


def still_coming(database: LabelDatabase, name: str = "") -> Iterator[str]:
    """What to know of the labels of each queue, or of the one that is named.

    That they are not all there yet, or do not stand for all examples.

    Raises:
        UnknownName: The store has no such queue.
    """
    for one in [name] if name else [form.name for form in queues(database)]:
        queue = Queue(database, one)
        if count := queue.to_come():
            yield reason("labels_still_coming", queue=one, n=count)
        if queue.form.chosen:
            yield reason("labels_of_chosen", queue=one, how=queue.form.chosen)
        elif queue.inclusion() is None:
            yield reason("labels_of_riskiest", queue=one)


def _of_queue(queue: Queue) -> Iterator[dict[str, Any]]:
    places, pairs, chances = queue.places(), queue.pairs(), queue.inclusion() or {}
    questions, said_of = queue.questions(), queue.said()
    skipped = {(int(one.about), one.person) for one in queue.events() if one.what == "skipped"}
    left_open = [
        SavedItem(item, places[item][0], person, "annotator", "", ItemAnswers())
        for item, person in sorted(skipped.difference((one.item, one.person) for one in said_of))
    ]
    for one in (*said_of, *left_open):
        for part in places[one.item][1]:
            given = one.answers.labels.get((part.unit, part.name), {})
            decides = one.role == "adjudicator"
            if decides and not given and not one.answers.discarded:
                continue
            asked = (label.label for label in queue.form.asked if part.asks(label))
            said: dict[str, str | None] = {**dict.fromkeys(asked), **given}
            if pair := pairs.get(one.item):
                said = preferred(said, pair)
            yield {
                "id": one.id,
                "question_id": questions.get(one.id),
                "annotator": adjudicator(one.person) if decides else one.person,
                **({} if part.unit == "answer" else {part.unit: part.name}),
                **said,
                "inclusion_probability": chances.get(one.item),
                "note": one.answers.note or None,
                "discard": one.answers.discarded or None,
            }


@contextmanager
def labels_as_they_are(store: StoreAddress) -> Iterator[LabelDatabase | None]:
    """The labels of a store, to read; None if nothing was kept there yet.

    Raises:
        DataError: There is no such file.
        InputError: It cannot be opened, or is no store of labels.
        MissingDependency: The extra ``postgres`` is not installed.
    """
    with _in_file(Path(store.place)) if store.is_file else _in_postgres(store) as found:
        yield found


class LabelSnapshot:
    """Labels that can be read and not written."""

    def __init__(self, name: str, run: Sql) -> None:
        self.name, self._run = name, run

    @contextmanager
    def transaction(self) -> Iterator[Sql]:
        yield self._run

    @contextmanager
    def reading(self) -> Iterator[Sql]:
        yield self._run

    def close(self) -> None:
        """Nothing: who opened it closes it."""


@contextmanager
def _in_file(file: Path) -> Iterator[LabelSnapshot | None]:
    if not file.is_file():
        raise DataError([Fault(str(file), None, "", "a store of labels", "none of this name")])
    try:
        connection = open_to_read(file, LAYOUT.in_sqlite)
    except sqlite3.Error as error:
        if not is_empty(error):
            raise sqlite_fault(error, file, LAYOUT) from error
        yield None
        return
    try:
        connection.execute("BEGIN")
        yield LabelSnapshot(str(file), SqliteRun(connection))
    except sqlite3.Error as error:
        raise sqlite_fault(error, file, LAYOUT) from error
    finally:
        connection.close()


@contextmanager
def _in_postgres(store: StoreAddress) -> Iterator[LabelSnapshot | None]:
    name = without_password(store.place)
    with postgres_in_words(name, LAYOUT, lambda: None):
        connection = connect(store.place, autocommit=False)
        run = PostgresRun(connection)
        try:
            run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            ((there,),) = run(f"SELECT to_regclass('{LAYOUT.version_table}')")
            version = None if there is None else version_of(run, name, LAYOUT)
            if version not in {None, LAYOUT.version}:
                raise InputError(
                    f"{name}: an earlier version of Ragstone wrote these labels. Once nobody "
                    "uses that version any more, run `ragstone annotate` of this version, "
                    "which takes the store to its tables."
                )
            yield None if version is None else LabelSnapshot(name, run)
        finally:
            connection.close()


Here = tuple[str, int]
"""A person and an item."""

NAMED = {"true": "yes", "false": "no"}
NOBODY = "somebody"
"""Who gave the labels of a file that names nobody."""


@dataclass(frozen=True, slots=True)
class ImportedLabels:
    """What became of labels: items that people's answers were kept of, and rows left out.

    Attributes:
        answers: Of one person on one item each.
        people: Who gave them.
        left_out: Rows of examples, parts or labels that the queue does not have.
    """

    answers: int
    people: tuple[str, ...]
    left_out: int


def import_labels(queue: Queue, labels: LabelTable, by: str = "") -> ImportedLabels:
    """Put the labels of a table into a queue, as those of the people who gave them.

    What somebody said in the queue stays as it is. Adjudicators' labels are decisions here, too.

    Args:
        queue: Whose items they are about.
        labels: As ``read_label_table`` reads them.
        by: Who takes them over.
    """
    places = _places(queue)
    asked = {(str(one.unit), one.label): one for one in queue.form.asked}
    pairs = queue.pairs()
    said: dict[Here, dict[Part, dict[str, str]]] = {}
    notes: dict[Here, str] = {}
    discarded: dict[Here, str] = {}
    left_out = 0
    aside = pl.col("discarded").is_in(SET_ASIDE).fill_null(value=False)
    for row in labels.frame.filter(~aside).iter_rows(named=True):
        part, is_used = _part(row["unit"]), False
        for number, own in places.get((row["example_id"], part), ()):
            here = (row["annotator"] or NOBODY, number)
            label, value = _answer(row, pairs.get(number))
            if row["discarded"] is not None:
                discarded[here] = row["discarded"]
            elif (known := asked.get((part[0], label))) and own.asks(known):
                word = NAMED.get(value, value) if known.choices == YES_NO else value
                said.setdefault(here, {}).setdefault(part, {})[label] = word
            else:
                continue
            is_used = True
            if row["note"]:
                notes[here] = row["note"]
        left_out += not is_used
    decided = {(one.person, one.item) for one in queue.said() if one.role == "adjudicator"}
    kept = []
    for who, number in dict.fromkeys((*said, *discarded)):
        answers = ItemAnswers(
            said.get((who, number), {}),
            notes.get((who, number), ""),
            "" if (who, number) in said else discarded[who, number],
        )
        if not is_adjudicator(who):
            is_new = queue.fill(who, number, answers, by)
        elif is_new := (adjudicator_named(who), number) not in decided:
            queue.decide(adjudicator_named(who), number, answers, f"taken over {token_hex()}")
        kept += [who] if is_new else []
    return ImportedLabels(len(kept), tuple(dict.fromkeys(kept)), left_out)


def _places(queue: Queue) -> dict[tuple[str, Part], list[tuple[int, ItemPart]]]:
    """The items with a part of an example."""
    found: dict[tuple[str, Part], list[tuple[int, ItemPart]]] = {}
    for number, (id, parts) in queue.places().items():
        for part in parts:
            found.setdefault((id, (part.unit, part.name)), []).append((number, part))
    return found


def _part(unit: str | None) -> Part:
    """Unit and name of a part, from its name in a table of labels.

    >>> _part("claim 2"), _part("7"), _part(None)
    (('claim', '2'), ('context', '7'), ('answer', ''))
    """
    if unit is None:
        return "answer", ""
    kind = unit_kind(unit)
    return kind, unit if kind == "context" else unit.partition(" ")[2]


def _answer(row: Mapping[str, Any], pair: Mapping[str, Any] | None) -> tuple[str, str]:
    """The label and what is said, as the screen shows it."""
    if row["kind"] is None:
        return "", ""
    if row["kind"] == Preference.name and pair and row["column"] == pair["rival"]:
        return LABEL, shown_as(row["value"], pair)
    return str(named(row["kind"], row["column"])), row["value"]
