"""Label files: people's labels read from files, from datasets or from a queue.

A row names an example (``id``) and an annotator (``annotator``); for a label of a part it also
names the part (``context``: its id or its position from 1; ``claim``, ``statement``,
``criterion``: its number from 1). The labels are in columns with their names::

    id,annotator,context,topically_relevant,evidence_sufficient,misleading
    q1,ann,1,1,1,0
    q1,ben,1,1,1,0

In a dataset, the field ``labels`` of a record holds a person's judgements of the taxonomy
(``contexts``, ``answer``, ``claims``, ``statements``, ``criteria``, ``response_type``), and other
names with the labels of several people, ``{"fluency": {"ann": 4, "ben": 3}}`` or
``{"fluency": [4, 3]}``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import polars as pl

from ragstone.core.errors import DataError, Fault
from ragstone.core.remote_files import is_url, shown_url
from ragstone.data import Example, read
from ragstone.data.example import id_text, parse_cell, put_cell, read_id
from ragstone.data.fields import NAMES, squash
from ragstone.data.file_formats.json_documents import json_document, json_lines
from ragstone.data.file_formats.table_files import csv_table, parquet
from ragstone.data.json_text import BadRow, Problem, add_problem, ascii_safe
from ragstone.data.read_facts import windows_notes
from ragstone.data.record_labels import FIELDS, LABELS, label_problems
from ragstone.data.sources import Source, on_disk
from ragstone.data.text_files import Meter, binary_format, first_text

from .label_export import rows_of_platform
from .label_names import Ends
from .label_table import SCHEMA, LabelTable
from .parse_table import judged
from .queue.labels_store import LabelDatabase, StoreAddress, shown_source
from .queue.queue_results import labels_as_they_are, queue_records, still_coming
from .raw_rows import PARTS, GivenRow, header_of, row_of

# The annotator of labels that do not name one.
ONE_PERSON = "human"

# A list longer than this is not a list of votes, but for instance one label for each word.
MOST_VOTES = 20

Labels = Mapping[str, Any]


def rows_in(
    record: Mapping[str, Any], file: str, line: int | None, columns: Mapping[str, str]
) -> tuple[list[GivenRow], list[Problem]]:
    """Read the labels of a record of a dataset.

    Only its ``id`` (by default its position), ``labels`` and system are read. ``columns`` maps
    names to names in the record, as given by the user.
    """
    problems: list[Problem] = []
    id = _id(record, line, columns, problems)
    labels = _labels(record, problems)
    n_contexts, n_criteria = (
        len(listed) if isinstance(listed := labels.get(field), list) else 0
        for field in (FIELDS["context"], FIELDS["criterion"])
    )
    problems += label_problems(labels, n_contexts, n_criteria)
    if problems:
        return [], problems
    rows = list(rows_of(id, labels, file, line, columns))
    system = system_in(record, labels)
    for row in rows:
        row.system = system
    return rows, []


def rows_of(
    id: str, labels: Labels, file: str, line: int | None, columns: Mapping[str, str]
) -> Iterator[GivenRow]:
    """Yield the labels of one example, a row for each annotator and unit.

    Args:
        labels: The labels of an ``Example``; its taxonomy judgements are already validated.
        columns: Maps names to names in the record, as given by the user.
    """
    name_of = {column: name for name, column in columns.items()}
    labels_by: dict[tuple[str, str | None], dict[str, Any]] = {}

    def say(annotator: str, unit: str | None, name: str, value: object) -> None:
        if value is not None:
            labels_by.setdefault((annotator, unit), {})[name_of.get(name, name)] = value

    of_answers = LABELS["answer"]
    for name, value in labels.items():
        of = next((unit for unit, field in FIELDS.items() if field == name), None)
        # Null is allowed for a context without labels.
        are_parts = isinstance(value, list) and all(isinstance(item, dict | None) for item in value)
        if of is not None and are_parts:
            for number, item in enumerate(value, start=1):
                part = str(number) if of == "context" else f"{of} {number}"
                for label in LABELS[of]:
                    say(ONE_PERSON, part, label, (item or {}).get(label))
        elif name == "answer" and isinstance(value, dict) and value.keys() & of_answers.keys():
            for label in of_answers:
                say(ONE_PERSON, None, label, value.get(label))
        elif isinstance(value, dict) or (
            isinstance(value, list | tuple) and len(value) <= MOST_VOTES
        ):
            votes = value if isinstance(value, dict) else dict(enumerate(value, start=1))
            for annotator, vote in votes.items():
                say(str(annotator), None, name, vote)
        else:
            say(ONE_PERSON, None, name, value)
    for (annotator, unit), row_labels in labels_by.items():
        yield GivenRow(file, line, id, annotator, unit, row_labels)


def _id(
    record: Mapping[str, Any], line: int | None, columns: Mapping[str, str], problems: list[Problem]
) -> str:
    by_name = {squash(str(name)): cell for name, cell in record.items()}
    names: Sequence[str] = [columns["id"]] if "id" in columns else NAMES["id"]
    id = next((by_name[word] for name in names if (word := squash(name)) in by_name), None)
    if id is None:
        return str(line)
    return read_id(id, "id", problems) or ""


def system_in(record: Mapping[str, Any], labels: Labels) -> str | None:
    """Find the system in any of the places where a label file or dataset may name it."""
    places = (record, record.get("slices"), record.get("meta"), labels)
    for fields in places:
        for name, cell in fields.items() if isinstance(fields, Mapping) else ():
            if squash(str(name)) in PARTS["system"] and (system := id_text(cell)):
                return system
    return None


def _labels(record: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    value = record.get("labels")
    if isinstance(value, str):
        value = parse_cell(value, "labels", problems)
    if value is not None and not isinstance(value, Mapping):
        add_problem(problems, "labels", "an object", value)
        return {}
    labels = dict(value or {})
    dotted = [str(name) for name in record if str(name).startswith("labels.")]
    if dotted:
        labels = deepcopy(labels)
    for name in dotted:
        path = name.split(".")[1:]
        if all(path):
            put_cell(labels, path, record[name], name, problems)
    return labels


Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
ENDINGS = (".parquet", ".csv", ".tsv", ".json", ".jsonl", ".ndjson")
Given = tuple[list[GivenRow], list[Fault]]


def read_label_table(
    paths: Paths,
    *,
    columns: Mapping[str, str] | None = None,
    scales: Mapping[str, Ends] | None = None,
) -> LabelTable:
    """Read human labels from .jsonl, .json, .csv, .tsv (each optionally .gz) or .parquet.

    A file whose records have a field ``labels`` is a dataset; its labels are read as by
    ``labels_of``. Exports of Argilla and Label Studio are read as they are, a row an annotator.
    What people said in queues is read from ``labels.sqlite``, or PostgreSQL by its address; one
    queue alone with ``#QUEUE`` behind it.

    Args:
        paths: One file, or several that are read as one.
        columns: Maps a name to a column: ``{"answer_outcome": "correct"}`` reads the column
            ``correct`` as values of that metric; anything that is not such a value is a fault.
        scales: Maps a metric to the first and last point of the scale on which people rated it,
            such as ``{"faithfulness": (1, 4)}``. Such ratings, and those on a usual scale, become
            values of the metric. None: they are a column of your own, usable for agreement.

    Raises:
        DataError: Lists every fault: an empty id, a label without its context, a value that is
            not a label, a file without labels.
    """
    several = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
    names = [shown_source(path) for path in several]
    columns = dict(columns or {})
    rows: list[GivenRow] = []
    faults: list[Fault] = []
    seen: dict[str, None] = {}
    meter = Meter()
    for path in several:
        file_rows, wrong = _of_file(path, columns, seen, meter)
        rows += file_rows
        faults += wrong
    faults += _not_there(columns, seen, rows, ", ".join(names))
    table = judged(rows, faults, ", ".join(names), tuple(seen), columns, scales)
    coming = [note for path in several for note in _still_coming(path)]
    return replace(table, notes=(*windows_notes(meter), *coming, *table.notes))


def labels_of(
    examples: Iterable[Example | Mapping[str, Any]],
    *,
    columns: Mapping[str, str] | None = None,
    scales: Mapping[str, Ends] | None = None,
    source: str = "the data",
) -> LabelTable:
    """The labels in examples, or in records with ``id`` and ``labels``.

    An object of annotators or a list of votes gives one row for each of them; labels by a single
    person, including the taxonomy's, are those of the annotator ``human``.

    Args:
        examples: Those without labels are skipped.
        columns: Maps names to names: ``{"answer_outcome": "correct"}`` reads ``labels.correct`` as
            values of that metric.
        scales: As in ``read_label_table``.
    """
    rows: list[GivenRow] = []
    faults: list[Fault] = []
    columns = dict(columns or {})
    for number, example in enumerate(examples, start=1):
        if isinstance(example, Example):
            rows += rows_of(example.id, example.labels, source, number, columns)
        else:
            example_rows, problems = rows_in(example, source, number, columns)
            rows += example_rows
            faults += [Fault(source, number, *problem) for problem in problems]
    return judged(rows, faults, source, (), columns, scales)


def records_of(
    source: str | PathLike[str], meter: Meter | None = None
) -> Iterator[tuple[int | None, Mapping[str, Any] | BadRow]]:
    """Yield line and record of each row of a label file, dataset or store."""
    store = StoreAddress.of(source)
    if store is not None:
        with labels_as_they_are(store) as database:
            if database is not None:
                for label_row in queue_records(database, store.queue):
                    yield None, label_row
        return
    name = fspath(source)
    path = on_disk(name)
    name = shown_url(name) if is_url(name) else name
    if path.is_dir():
        for number, example in enumerate(read(path), start=1):
            yield number, {"id": example.id, "labels": dict(example.labels),
                           "question_id": example.question_id}  # fmt: skip
        return
    if not path.is_file():
        raise DataError.of_file(name, "a file of labels", "none of this name")
    for line, record in source_of(path, name).rows(meter or Meter()):
        if isinstance(record, Example):
            continue
        rows = None if isinstance(record, BadRow) else rows_of_platform(record)
        yield from [(line, record)] if rows is None else ((line, row) for row in rows)


def labels_in_queue(database: LabelDatabase, queue: str) -> LabelTable:
    """Read the labels of a queue so far, which may be none."""
    rows: list[GivenRow] = []
    faults: list[Fault] = []
    name = f"{database.name}#{queue}"
    for record in queue_records(database, queue):
        row, problems = row_of(record, name, None, {})
        rows += [] if problems else [row]
        faults += [Fault(name, None, *problem) for problem in problems]
    if not faults and not any(row.labels or row.discarded for row in rows):
        return LabelTable(name, pl.DataFrame(schema=SCHEMA))
    return judged(rows, faults, name, (), {}, None)


def _still_coming(source: str | PathLike[str]) -> Iterator[str]:
    store = StoreAddress.of(source)
    if store is not None:
        with labels_as_they_are(store) as database:
            if database is not None:
                yield from still_coming(database, store.queue)


def _of_file(
    source: str | PathLike[str], columns: Mapping[str, str], seen: dict[str, None], meter: Meter
) -> Given:
    name = shown_source(source)
    rows: list[GivenRow] = []
    faults: list[Fault] = []
    is_empty = True
    for line, record in records_of(source, meter):
        if isinstance(record, BadRow):
            faults += [Fault(name, line, *record.problem)]
            continue
        is_empty = False
        seen.update(dict.fromkeys(map(str, record)))
        if header_of(record, columns).is_data:
            record_rows, problems = rows_in(record, name, line, columns)
        else:
            row, problems = row_of(record, name, line, columns)
            record_rows = [] if problems else [row]
        rows += record_rows
        faults += [Fault(name, line, *problem) for problem in problems]
    if is_empty and not faults:
        faults.append(Fault(name, None, "", "at least one row of labels", "none"))
    return rows, faults


def _not_there(
    columns: Mapping[str, str], seen: Mapping[str, None], rows: Sequence[GivenRow], source: str
) -> list[Fault]:
    columns_there = set(seen).union(*(row.labels for row in rows))
    names = [*seen, *(f"labels.{column}" for column in columns_there - set(seen))]
    got = f"the columns {', '.join(map(ascii_safe, names))}"
    return [
        Fault(source, None, name, f"a column called {column!r}", got)
        for name, column in columns.items()
        if seen and not {name, column} & columns_there
    ]


def source_of(path: Path, name: str) -> Source:
    """Open a file in the format of its extension, or else of its first bytes."""
    ending = path.name.lower().removesuffix(".gz")
    head = "" if ending.endswith(ENDINGS) else first_text(path).lstrip()
    if ending.endswith(".parquet") or (head and binary_format(path) == "parquet"):
        return parquet(path, name)
    if ending.endswith((".csv", ".tsv")) or head[:1] not in ("", "{", "["):
        return csv_table(path, name, "\t" if "\t" in head.partition("\n")[0] else None)
    if ending.endswith(".json") or head.startswith("["):
        return json_document(path, name)
    return json_lines(path, name)
