"""MTRAG's annotators, as simulated people of a queue: their agreement is that of their file."""

import gzip
from collections.abc import Mapping
from dataclasses import replace
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest

from ragstone.annotation import LabelTable, agreement_of, clusters_of, read_label_table
from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import LabelDatabase
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.read_labels import labels_in_queue
from ragstone.data import read

RATED = ("faithfulness", "appropriateness", "completeness", "naturalness")
GRADES = ("1", "2", "3", "4")
ANSWER = ItemPart("answer")

Said = Mapping[str, Mapping[str, Mapping[str, int]]]
"""The grades of each label, by example and person."""


def people_of(file: Path) -> Said:
    found: dict[str, dict[str, dict[str, int]]] = {}
    for example in read(file):
        by_person = found.setdefault(example.id, {})
        for name in RATED:
            votes: Any = example.labels[name]
            for person, grade in votes.items():
                by_person.setdefault(person, {})[name] = grade
    return found


def replayed(database: LabelDatabase, said: Said) -> Queue:
    """Everybody takes turns of a minute, and lets others have what they did not label.

    Who is done still holds an item, until it is no longer theirs.
    """
    minutes = count()
    form = QueueForm("mtrag", tuple(AskedLabel(name, "answer", GRADES) for name in RATED))
    queue = Queue.make(database, form, [
        (QueueItem(at, id, {}, (ANSWER,)), at, len(by_person))
        for at, (id, by_person) in enumerate(said.items())
    ], now=lambda: 60.0 * next(minutes))  # fmt: skip
    left = {
        person: sum(person in by_person for by_person in said.values())
        for person in sorted({person for by_person in said.values() for person in by_person})
    }
    for person in left:
        queue.invite(person)
    for person in cycle(list(left)):
        if not any(left.values()):
            return queue
        item = queue.next(person) if left[person] else None
        if item is None:
            continue
        grades = said[item.id].get(person)
        if grades is None:
            queue.skip(person, item.item)
            continue
        given = {name: str(grade) for name, grade in grades.items()}
        queue.save(person, item.item, ItemAnswers({("answer", ""): given}), item.id)
        left[person] -= 1
    raise AssertionError


def sorted_table(table: LabelTable) -> LabelTable:
    """In an order that is not that of their coming."""
    keys = ["kind", "column", "example_id", "annotator"]
    return replace(table, frame=table.frame.sort(keys), places=None)


def test_the_labels_of_mtrags_annotators_agree_in_the_queue_as_in_their_file(
    request: pytest.FixtureRequest, database: LabelDatabase, shared: Path, tmp_path: Path
) -> None:
    every = gzip.decompress((shared / "data/rag_quality_mtrag/answers.jsonl.gz").read_bytes())
    # A server takes ten times as long for each step; what differs shows in a quarter of them.
    number = {"sqlite": 249, "postgres": 60}[request.node.callspec.params["database"]]
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b"".join(every.splitlines(keepends=True)[:number]))
    said = people_of(file)
    queue = replayed(database, said)
    assert queue.to_come() == 0
    by_file, by_queue = read_label_table(file), labels_in_queue(database, "mtrag")
    clusters = clusters_of([file])
    one, other = (
        agreement_of(sorted_table(table), columns=RATED, clusters=clusters)
        for table in (by_file, by_queue)
    )
    assert [column.n_items for column in one] == [number] * 4
    assert [column.to_dict() for column in other] == [column.to_dict() for column in one]
