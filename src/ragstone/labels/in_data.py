"""In data: the labels that a dataset has in its own records, as one row per annotator.

The field ``labels`` of a record holds the judgements of the taxonomy (``contexts``, ``answer``,
``claims``, ``statements``, ``response_type``), given by one person, and other names with the labels
of several people, ``{"fluency": {"ann": 4, "ben": 3}}`` or ``{"fluency": [4, 3]}``.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from ragstone.data.example import parse_cell, put_cell
from ragstone.data.fields import NAMES, squash
from ragstone.data.json_text import Problem, shown
from ragstone.data.record_labels import FIELDS, LABELS, label_problems

from .given import PARTS, GivenRow, system_named

ONE_PERSON = "human"
"""The annotator of labels that do not name one."""

MOST_VOTES = 20
"""A list longer than this is not a list of votes, but for instance one label for each word."""

Labels = Mapping[str, Any]


def rows_in(
    record: Mapping[str, Any], file: str, line: int | None, columns: Mapping[str, str]
) -> tuple[list[GivenRow], list[Problem]]:
    """The labels of a record of a dataset.

    Args:
        record: Its ``id`` (by default its position) and ``labels`` are read, nothing else.
        file: The file of the record.
        line: Its line in the file.
        columns: Maps names to names in the record, as given by the user.
    """
    problems: list[Problem] = []
    id = _id(record, line, columns, problems)
    labels = _labels(record, problems)
    contexts = labels.get("contexts")
    n = len(contexts) if isinstance(contexts, list) else None
    problems += label_problems(labels, n)
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
    """The labels of one example, as one row for each annotator and unit.

    Args:
        id: The id of the example.
        labels: The labels of an ``Example``; its taxonomy judgements are already validated.
        file: The file of the example.
        line: Its line in the file.
        columns: Maps names to names in the record, as given by the user.
    """
    name_of = {column: name for name, column in columns.items()}
    said: dict[tuple[str, str | None], dict[str, Any]] = {}

    def say(annotator: str, unit: str | None, name: str, value: object) -> None:
        if value is not None:
            said.setdefault((annotator, unit), {})[name_of.get(name, name)] = value

    of_answers = LABELS["answer"]
    for name, value in labels.items():
        of = next((unit for unit, field in FIELDS.items() if field == name), None)
        if of is not None and _are_objects(value):
            for index, one in enumerate(value):
                place = str(index + 1) if of == "context" else f"{of} {index + 1}"
                for label in LABELS[of]:
                    say(ONE_PERSON, place, label, (one or {}).get(label))
        elif name == "answer" and isinstance(value, dict) and value.keys() & of_answers.keys():
            for label in of_answers:
                say(ONE_PERSON, None, label, value.get(label))
        elif isinstance(value, dict):
            for annotator, vote in value.items():
                say(str(annotator), None, name, vote)
        elif isinstance(value, (list, tuple)):
            if len(value) <= MOST_VOTES:
                for number, vote in enumerate(value, start=1):
                    say(str(number), None, name, vote)
            else:
                say(ONE_PERSON, None, name, value)
        else:
            say(ONE_PERSON, None, name, value)
    for (annotator, unit), given in said.items():
        yield GivenRow(file, line, id, annotator, unit, given)


def _are_objects(value: object) -> bool:
    """Whether a value is a list of objects; null is allowed for a context without labels."""
    return isinstance(value, list) and all(one is None or isinstance(one, dict) for one in value)


def _id(
    record: Mapping[str, Any],
    line: int | None,
    columns: Mapping[str, str],
    problems: list[Problem],
) -> str:
    by_name = {squash(str(name)): cell for name, cell in record.items()}
    names: Sequence[str] = [columns["id"]] if "id" in columns else NAMES["id"]
    given = next((by_name[word] for name in names if (word := squash(name)) in by_name), None)
    if given is None:
        return str(line)
    if isinstance(given, bool) or not isinstance(given, (str, int)) or given == "":
        problems.append(Problem("id", "text or a whole number", shown(given)))
    return str(given)


def system_in(record: Mapping[str, Any], labels: Labels) -> str | None:
    """The system, from any of the places where a label file or dataset may name it."""
    places = (record, record.get("slices"), record.get("meta"), labels)
    for place in places:
        for name, cell in place.items() if isinstance(place, Mapping) else ():
            if squash(str(name)) in PARTS["system"] and (system := system_named(cell)):
                return system
    return None


def _labels(record: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    given = record.get("labels")
    if isinstance(given, str):
        given = parse_cell(given, "labels", problems)
    if given is not None and not isinstance(given, Mapping):
        problems.append(Problem("labels", "an object", shown(given)))
        return {}
    labels = dict(given or {})
    dotted = [str(name) for name in record if str(name).startswith("labels.")]
    if dotted:
        labels = deepcopy(labels)
    for name in dotted:
        path = name.split(".")[1:]
        if all(path):
            put_cell(labels, path, record[name], name, problems)
    return labels
