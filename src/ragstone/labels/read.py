"""Read: label files, and datasets with labels, as one table.

A row names an example (``id``) and an annotator (``annotator``); for labels of a part it also says
which one (``context``: its id or its position from 1; ``claim``, ``statement``: its number from
1). The labels are in columns with their names::

    id,annotator,context,topically_relevant,evidence_sufficient,misleading
    q1,ann,1,1,1,0
    q1,ben,1,1,1,0
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import polars as pl

from ragstone.core.errors import DataError, Fault
from ragstone.core.remote_files import is_url, shown
from ragstone.data import Example, read
from ragstone.data.formats.json_documents import JsonDocument, JsonLines
from ragstone.data.formats.table_files import CsvTable, Parquet
from ragstone.data.json_text import BadRow, Problem, ascii_safe
from ragstone.data.read_facts import windows_notes
from ragstone.data.sources import Source, on_disk
from ragstone.data.text_files import Meter, binary_format, first_text

from .given import GivenRow, header_of, row_of
from .in_data import rows_in, rows_of
from .judged import judged
from .platforms import rows_of_platform
from .queue.address import StoreAddress, shown_source
from .queue.database import LabelDatabase
from .queue.records import queue_records, still_coming
from .queue.snapshot import labels_as_they_are
from .rated import Ends
from .table import SCHEMA, LabelTable

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
        InputError: An invalid scale.
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
        found, wrong = _of_file(path, columns, seen, meter)
        rows += found
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
        source: The name of the data in messages.

    Raises:
        DataError: Lists every fault.
    """
    rows: list[GivenRow] = []
    faults: list[Fault] = []
    columns = dict(columns or {})
    for number, example in enumerate(examples, start=1):
        if isinstance(example, Example):
            rows += rows_of(example.id, example.labels, source, number, columns)
        else:
            found, problems = rows_in(example, source, number, columns)
            rows += found
            faults += [Fault(source, number, *problem) for problem in problems]
    return judged(rows, faults, source, (), columns, scales)


def records_of(
    source: str | PathLike[str], meter: Meter | None = None
) -> Iterator[tuple[int | None, Mapping[str, Any] | BadRow]]:
    """Line and record of each row of a label file, dataset or store.

    Raises:
        DataError: There is no such file.
    """
    store = StoreAddress.of(source)
    if store is not None:
        with labels_as_they_are(store) as database:
            if database is not None:
                for said in queue_records(database, store.queue):
                    yield None, said
        return
    name = fspath(source)
    path = on_disk(name)
    name = shown(name) if is_url(name) else name
    if path.is_dir():
        for number, example in enumerate(read(path), start=1):
            yield number, {"id": example.id, "labels": dict(example.labels),
                           "question_id": example.question_id}  # fmt: skip
        return
    if not path.is_file():
        raise DataError([Fault(name, None, "", "a file of labels", "none of this name")])
    for line, record in source_of(path, name).rows(meter or Meter()):
        if isinstance(record, Example):
            continue
        rows = None if isinstance(record, BadRow) else rows_of_platform(record)
        yield from [(line, record)] if rows is None else ((line, row) for row in rows)


def labels_in_queue(database: LabelDatabase, queue: str) -> LabelTable:
    """What people said in a queue so far; a table without rows if nobody said anything yet.

    Raises:
        UnknownName: The store has no such queue.
    """
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
    """Notes on a store whose labels are not all there yet."""
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
        problems: Sequence[Problem]
        if isinstance(record, BadRow):
            problems = record.problems
        elif header_of(record, columns).is_data:
            is_empty = False
            found, problems = rows_in(record, name, line, columns)
            rows += found
        else:
            is_empty = False
            row, problems = row_of(record, name, line, columns)
            rows += [] if problems else [row]
        if isinstance(record, Mapping):
            seen.update(dict.fromkeys(map(str, record)))
        faults += [Fault(name, line, *problem) for problem in problems]
    if is_empty and not faults:
        faults.append(Fault(name, None, "", "at least one row of labels", "none"))
    return rows, faults


def _not_there(
    columns: Mapping[str, str], seen: Mapping[str, None], rows: Sequence[GivenRow], source: str
) -> list[Fault]:
    """Faults for columns that the user mapped but that no file has."""
    there = set(seen).union(*(row.labels for row in rows))
    names = [*seen, *(f"labels.{column}" for column in there - set(seen))]
    got = f"the columns {', '.join(map(ascii_safe, names))}"
    return [
        Fault(source, None, name, f"a column called {column!r}", got)
        for name, column in columns.items()
        if seen and not {name, column} & there
    ]


def source_of(path: Path, name: str) -> Source:
    """The rows of a file, with the format taken from its extension or else from its first bytes."""
    ending = path.name.lower().removesuffix(".gz")
    head = "" if ending.endswith(ENDINGS) else first_text(path).lstrip()
    if ending.endswith(".parquet") or (head and binary_format(path) == "parquet"):
        return Parquet(path, name)
    if ending.endswith((".csv", ".tsv")) or head[:1] not in ("", "{", "["):
        return CsvTable(path, name, "\t" if "\t" in head.partition("\n")[0] else None)
    if ending.endswith(".json") or head.startswith("["):
        return JsonDocument(path, name)
    return JsonLines(path, name)
