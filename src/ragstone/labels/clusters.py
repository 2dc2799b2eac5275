"""Clusters: which labelled examples are not independent, such as answers to one question."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from ragstone.core.errors import InputError
from ragstone.data import Example
from ragstone.data.fields import NAMES, squash
from ragstone.data.json_text import BadRow, Problem
from ragstone.data.read_facts import id_of
from ragstone.data.records import RecordReader

from .in_data import system_in
from .queue.address import shown_source
from .read import records_of

QUESTION = "question_id"
PLACES = ("slices", "meta", "labels")
IDS = tuple(map(squash, NAMES["id"]))


def clusters_of(paths: Sequence[str | PathLike[str]], field: str | None = None) -> dict[str, str]:
    """The cluster of each example, by id, as far as a label file or dataset gives one.

    Args:
        paths: As in ``read_label_table``.
        field: A column of label files, or a field of the data: at the top level, in ``slices``,
            ``meta`` or ``labels``. By default the question, if known.

    Raises:
        InputError: No row has the requested field.
        DataError: There is no such file.
    """
    found: dict[str, str] = {}
    for path in paths:
        reader = RecordReader({})
        for line, record in records_of(path):
            if isinstance(record, BadRow):
                continue
            problems: list[Problem] = []
            example = reader.read(record, line or 0, problems) if "labels" in record else None
            id = example.id if example else _id(record, line)
            cluster = _cluster(record, example, field or QUESTION)
            if cluster is not None:
                found.setdefault(id, cluster)
            system = system_in(record, {})
            if system is not None and (cluster is not None or field is None):
                found.setdefault(id_of(id, system), cluster or id)
    if field is not None and not found:
        raise InputError(f"No row of {', '.join(map(shown_source, paths))} has a field {field}.")
    return found


def _id(record: Mapping[str, Any], line: int | None) -> str:
    by_name = {squash(str(name)): cell for name, cell in record.items()}
    given = next((by_name[name] for name in IDS if by_name.get(name) is not None), line)
    return str(given)


def _cluster(record: Mapping[str, Any], example: Example | None, field: str) -> str | None:
    if example is not None and (value := example.facet(field)) is not None:
        return value
    places = [record, *(record[name] for name in PLACES if isinstance(record.get(name), Mapping))]
    value = next((place[field] for place in places if place.get(field) is not None), None)
    return None if value is None else str(value)
