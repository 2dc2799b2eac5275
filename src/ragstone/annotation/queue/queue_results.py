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

from ragstone.annotation.adjudication import ADJUDICATOR, FinalLabel, adjudicator, that_count
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
from ragstone.core.errors import DataError, InputError, UnknownName
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

# Unit and name.
Part = tuple[str, str]

LACKING = reason("lacking")


@dataclass(frozen=True, slots=True)
class DividedLabel:
    """A label of a part on which people differ.

    Attributes:
        part: Unit and name.
        said: The label by each annotator; empty if they discarded the item.
        decided: The adjudicators' label; empty if there is none, or if they discarded the item.
        is_open: True if no adjudicator decided it, or two differ.
    """

    part: Part
    label: str
    said: Mapping[str, str]
    decided: str
    is_open: bool

    @property
    def spread(self) -> float:
        """The share of the pairs of annotators who differ."""
        pairs = list(combinations(self.said.values(), 2))
        return sum(a != b for a, b in pairs) / len(pairs) if pairs else 0.0


@dataclass(frozen=True, slots=True)
class DisputedItem:
    """An item on which people differ.

    Attributes:
        labels: Those on which they differ, in the order of the form.
        agreed: By part, the labels on which all annotators agree.
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
        """The sum over all labels of the share of pairs who differ."""
        return fsum(label.spread for label in self.labels)

    @property
    def is_open(self) -> bool:
        """Return True if something is left to decide."""
        return any(label.is_open for label in self.labels)

    def decision_of(self, person: str) -> ItemAnswers:
        """Return an adjudicator's answers; empty if there are none."""
        mine = (saved.answers for saved in self.decisions if saved.person == person)
        return next(mine, ItemAnswers())


def divided_items(queue: Queue) -> list[DisputedItem]:
    """Return the items on which people differ, decided or not; the most divided first."""
    by_item: dict[int, list[SavedItem]] = {}
    for saved in queue.said():
        by_item.setdefault(saved.item, []).append(saved)
    disputed = [_item(queue.form, saves) for saves in by_item.values()]
    return sorted(
        (item for item in disputed if item.labels),
        key=lambda item: (-item.spread, -len(item.said), item.item),
    )


def divided_item(queue: Queue, number: int) -> DisputedItem:
    """Return the answers for one item, on which people may agree."""
    saves = [saved for saved in queue.said() if saved.item == number]
    if not saves:
        hint = f"Nobody has labelled it in the queue {queue.name}."
        raise UnknownName("labelled item", str(number), (), hint=hint)
    return _item(queue.form, saves)


def decision_faults(
    form: QueueForm, item: QueueItem, divided: DisputedItem, answers: ItemAnswers
) -> list[AnswerFault]:
    """Return the faults of a decision: all that divides people is decided, and breaks no rule.

    ``answers`` decides all that divides people, and whatever else the adjudicator sees
    otherwise; what they leave out stays as people agree.
    """
    agreed = {} if answers.discarded else divided.agreed
    parts = dict.fromkeys((*agreed, *answers.labels))
    labels = {part: {**agreed.get(part, {}), **answers.labels.get(part, {})} for part in parts}
    before = set(answer_faults(form, item, ItemAnswers(agreed)))
    open_labels = {(label.part, label.label) for label in divided.labels}
    form = replace(form, asked=tuple(replace(label, required=True) for label in form.asked))
    return [
        fault
        for fault in answer_faults(form, item, replace(answers, labels=labels))
        if (
            (fault.part, fault.label) in open_labels
            if fault.why == LACKING
            else fault not in before
        )
    ]


def _item(form: QueueForm, saves: Sequence[SavedItem]) -> DisputedItem:
    labels, agreed = [], dict[Part, dict[str, str]]()
    for part in dict.fromkeys(part for saved in saves for part in saved.answers.labels):
        for question in (label for label in form.asked if label.unit == part[0]):
            result, differ = _label(part, question.label, saves)
            if differ:
                labels.append(result)
            elif result.said:
                agreed.setdefault(part, {})[question.label] = next(iter(result.said.values()))
    return DisputedItem(
        saves[0].item, saves[0].id, tuple(labels), agreed,
        tuple(saved for saved in saves if saved.role == "annotator"),
        tuple(saved for saved in saves if saved.role == "adjudicator"),
    )  # fmt: skip


def _label(part: Part, label: str, saves: Sequence[SavedItem]) -> tuple[DividedLabel, bool]:
    words, values, people = list[FinalLabel](), [], {}
    for saved in saves:
        decides, discarded = saved.role == "adjudicator", bool(saved.answers.discarded)
        value = "" if discarded else saved.answers.labels.get(part, {}).get(label, "")
        if not value and not discarded:
            continue
        who = adjudicator(saved.person) if decides else saved.person
        words.append((part, label, who, discarded))
        values.append(value)
        if not decides:
            people[saved.person] = value
    counted = list(compress(values, that_count(words)))
    together = majority(counted) or ""
    judged = len(people) < len(words)
    split = len(set(people.values())) > 1
    torn = judged and bool(counted) and not together
    decided = together if judged else ""
    return DividedLabel(part, label, people, decided, torn or (split and not judged)), split or torn


def queue_records(database: LabelDatabase, name: str = "") -> Iterator[dict[str, Any]]:
    """Yield a row for each person and part of an item, as ``read_label_table`` reads them.

    An adjudicator has rows for the parts of which they said something, and is named as one. Who
    skipped an item has rows without labels.
    """
    for queue_name in [name] if name else [form.name for form in queues(database)]:
        yield from _of_queue(Queue(database, queue_name))


def still_coming(database: LabelDatabase, name: str = "") -> Iterator[str]:
    """Yield reasons why labels of each queue, or of the named one, are not complete or not
    representative.
    """
    for queue_name in [name] if name else [form.name for form in queues(database)]:
        queue = Queue(database, queue_name)
        if count := queue.to_come():
            yield reason("labels_still_coming", queue=queue_name, n=count)
        if queue.form.chosen:
            yield reason("labels_of_chosen", queue=queue_name, how=queue.form.chosen)
        elif queue.inclusion() is None:
            yield reason("labels_of_riskiest", queue=queue_name)


def _of_queue(queue: Queue) -> Iterator[dict[str, Any]]:
    places, pairs, chances = queue.places(), queue.pairs(), queue.inclusion() or {}
    questions, said_of = queue.questions(), queue.said()
    skipped = {(int(turn.about), turn.person) for turn in queue.events() if turn.what == "skipped"}
    skipped.difference_update((saved.item, saved.person) for saved in said_of)
    left_open = [
        SavedItem(item, places[item][0], person, "annotator", "", ItemAnswers())
        for item, person in sorted(skipped)
    ]
    for saved in (*said_of, *left_open):
        for part in places[saved.item][1]:
            labels = saved.answers.labels.get((part.unit, part.name), {})
            decides = saved.role == "adjudicator"
            if decides and not labels and not saved.answers.discarded:
                continue
            names = (label.label for label in queue.form.asked if part.asks(label))
            row_labels: dict[str, str | None] = {**dict.fromkeys(names), **labels}
            if pair := pairs.get(saved.item):
                row_labels = preferred(row_labels, pair)
            yield {
                "id": saved.id,
                "question_id": questions.get(saved.id),
                "annotator": adjudicator(saved.person) if decides else saved.person,
                **({} if part.unit == "answer" else {part.unit: part.name}),
                **row_labels,
                "inclusion_probability": chances.get(saved.item),
                "note": saved.answers.note or None,
                "discard": saved.answers.discarded or None,
            }


@contextmanager
def labels_as_they_are(store: StoreAddress) -> Iterator[LabelDatabase | None]:
    """Open the labels of a store to read; None if nothing was kept there yet."""
    with _in_file(Path(store.place)) if store.is_file else _in_postgres(store) as snapshot:
        yield snapshot


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
        raise DataError.of_file(str(file), "a store of labels", "none of this name")
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
            ((table,),) = run(f"SELECT to_regclass('{LAYOUT.version_table}')")
            version = None if table is None else version_of(run, name, LAYOUT)
            if version not in {None, LAYOUT.version}:
                raise InputError(
                    f"{name}: an earlier version of Ragstone wrote these labels. Once nobody "
                    "uses that version any more, run `ragstone annotate` of this version, "
                    "which takes the store to its tables."
                )
            yield None if version is None else LabelSnapshot(name, run)
        finally:
            connection.close()


# A person and an item.
Here = tuple[str, int]

NAMED = {"true": "yes", "false": "no"}
# Who gave the labels of a file that names nobody.
NOBODY = "somebody"


def import_labels(queue: Queue, labels: LabelTable, by: str = "") -> tuple[list[str], int]:
    """Put the labels of a table into a queue, as those of the people who gave them.

    What somebody said in the queue stays as it is. Adjudicators' labels are decisions here, too.

    Returns:
        The person of each item with new labels, and the number of rows of examples, parts or labels
        that the queue does not have.
    """
    places: dict[tuple[str, Part], list[tuple[int, ItemPart]]] = {}
    for number, (id, parts) in queue.places().items():
        for item_part in parts:
            key = (id, (item_part.unit, item_part.name))
            places.setdefault(key, []).append((number, item_part))
    asked_labels = {(str(label.unit), label.label): label for label in queue.form.asked}
    pairs = queue.pairs()
    labels_by: dict[Here, dict[Part, dict[str, str]]] = {}
    notes: dict[Here, str] = {}
    discarded: dict[Here, str] = {}
    left_out = 0
    aside = pl.col("discarded").is_in(SET_ASIDE).fill_null(value=False)
    for row in labels.frame.filter(~aside).iter_rows(named=True):
        unit, is_used = row["unit"] or "", False
        about = unit_kind(unit or None)
        part = (about, unit if about == "context" else unit.partition(" ")[2])
        for number, item_part in places.get((row["example_id"], part), ()):
            here = (row["annotator"] or NOBODY, number)
            label, value = _answer(row, pairs.get(number))
            if row["discarded"] is not None:
                discarded[here] = row["discarded"]
            elif (known := asked_labels.get((part[0], label))) and item_part.asks(known):
                word = NAMED.get(value, value) if known.choices == YES_NO else value
                labels_by.setdefault(here, {}).setdefault(part, {})[label] = word
            else:
                continue
            is_used = True
            if row["note"]:
                notes[here] = row["note"]
        left_out += not is_used
    decided = {(saved.person, saved.item) for saved in queue.said() if saved.role == "adjudicator"}
    imported = []
    for who, number in dict.fromkeys((*labels_by, *discarded)):
        answers = ItemAnswers(
            labels_by.get((who, number), {}),
            notes.get((who, number), ""),
            "" if (who, number) in labels_by else discarded[who, number],
        )
        name = who.removeprefix(ADJUDICATOR)
        if name == who:
            is_new = queue.fill(who, number, answers, by)
        elif is_new := (name, number) not in decided:
            queue.decide(name, number, answers, f"taken over {token_hex()}")
        imported += [who] if is_new else []
    return imported, left_out


def _answer(row: Mapping[str, Any], pair: Mapping[str, Any] | None) -> tuple[str, str]:
    if row["kind"] is None:
        return "", ""
    if row["kind"] == Preference.name and pair and row["column"] == pair["rival"]:
        return LABEL, shown_as(row["value"], pair)
    return str(named(row["kind"], row["column"])), row["value"]
