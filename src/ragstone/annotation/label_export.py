"""Label export: label tables written as files, and conversion from and to Argilla and Label Studio.

The files can be read back unchanged. The platforms name the example, its system and the labelled
unit where the task was created: Argilla in ``metadata`` or ``fields``, Label Studio in ``data``.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.escape import cell
from ragstone.core.files import write_result
from ragstone.core.parquet import as_parquet
from ragstone.data.fields import squash
from ragstone.data.record_labels import PROPOSITIONS

from .label_names import Name, Scale, name_of, named
from .label_table import LabelTable
from .parse_table import no_labels
from .raw_rows import OF_EXAMPLES, PARTS, plain_value, unit_kind

Record = Mapping[str, Any]

# What a task says of the example, the system and the unit it is about, by its names.
PART_OF = {word: part for part, words in PARTS.items() if part != "annotator" for word in words}

# Where Label Studio keeps the value of a result, by the type of its control.
VALUES = ("choices", "rating", "number", "text", "labels", "taxonomy")

# What rows say of the task that they belong to.
ABOUT = ("id", "context", *PROPOSITIONS, "inclusion_probability")

# Behind a question's name in the columns of an Argilla dataset.
FLAT = ".responses"


def rows_of_platform(record: Record) -> list[Record] | None:
    """Return the label rows of a platform's record; None for other records."""
    annotations, responses = record.get("annotations"), record.get("responses")
    if isinstance(annotations, list) and isinstance(record.get("data"), Mapping):
        return list(_of_label_studio(record, annotations))
    if isinstance(responses, (list, Mapping)) and isinstance(record.get("fields"), Mapping):
        return list(_of_argilla(record, _by_user(responses)))
    flat = [str(name) for name in record if str(name).endswith(FLAT)]
    if flat and any(f"{name}.users" in record for name in flat):
        answers = {name.removesuffix(FLAT): _answers(record, name) for name in flat}
        return list(_of_argilla(record, _by_user(answers)))
    return None


def tasks_of_label_studio(rows: Iterable[Record]) -> list[Record]:
    """Return label rows as Label Studio's JSON: a task a unit, an annotation a row."""
    return [
        {"data": about, "annotations": [
            {"completed_by": row.get("annotator"), "was_cancelled": bool(row.get("discard")),
             "result": [_result(name, value) for name, value in _labels(row).items()]}
            for row in several
        ]}
        for about, several in _by_unit(rows)
    ]  # fmt: skip


def records_of_argilla(rows: Iterable[Record]) -> list[Record]:
    """Return label rows as Argilla's records: a record a unit, a response a label."""
    records: list[Record] = []
    for about, several in _by_unit(rows):
        responses: dict[str, list[Record]] = {}
        for row in several:
            status = "discarded" if row.get("discard") else "submitted"
            for name, value in (_labels(row) or {"note": row.get("note")}).items():
                response = {"value": value, "user_id": row.get("annotator"), "status": status}
                responses.setdefault(name, []).append(response)
        id = " ".join(map(str, about.values()))
        records.append({"id": id, "fields": {}, "metadata": about, "responses": responses})
    return records


def _by_unit(rows: Iterable[Record]) -> list[tuple[dict[str, Any], list[Record]]]:
    units: dict[tuple[Any, ...], tuple[dict[str, Any], list[Record]]] = {}
    for row in rows:
        about = {name: row[name] for name in ABOUT if row.get(name) is not None}
        units.setdefault(tuple(about.items()), (about, []))[1].append(row)
    return list(units.values())


def _labels(row: Record) -> dict[str, Any]:
    rest = (*ABOUT, "annotator", "discard")
    return {name: cell for name, cell in row.items() if name not in rest and cell is not None}


def _result(name: str, value: object) -> Record:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"from_name": name, "type": "number", "value": {"number": value}}
    word = str(value).lower() if isinstance(value, bool) else value
    if name == "note":
        return {"from_name": name, "type": "textarea", "value": {"text": [word]}}
    return {"from_name": name, "type": "choices", "value": {"choices": [word]}}


def _of_label_studio(record: Record, annotations: Sequence[Any]) -> Iterator[Record]:
    about = {"id": record.get("id")} | _named(record["data"])
    for annotation in annotations:
        if not isinstance(annotation, Mapping):
            continue
        labels = {
            str(result["from_name"]): _value(result.get("value"))
            for result in annotation.get("result") or ()
            if isinstance(result, Mapping) and "from_name" in result
        }
        cancelled = {"discard": True} if annotation.get("was_cancelled") else {}
        yield about | labels | cancelled | {"annotator": _user(annotation.get("completed_by"))}


def _value(value: object) -> object:
    if not isinstance(value, Mapping):
        return value
    content = next((value[name] for name in VALUES if name in value), None)
    if isinstance(content, list):
        return content[0] if len(content) == 1 else ", ".join(map(str, content)) or None
    return content


def _user(user: object) -> str | None:
    if isinstance(user, Mapping):
        names = (user.get(name) for name in ("username", "email", "id"))
        user = next((name for name in names if name not in (None, "")), None)
    return None if user is None else str(user)


def _of_argilla(record: Record, by_user: Mapping[str, dict[str, Any]]) -> Iterator[Record]:
    about: dict[str, Any] = {}
    for fields in (record, record.get("fields"), record.get("metadata")):
        about |= _named(fields) if isinstance(fields, Mapping) else {}
    about = about or {"id": record.get("external_id", record.get("_server_id"))}
    for user, labels in by_user.items():
        yield about | labels | {"annotator": user}


def _by_user(responses: object) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}

    def say(user: object, answers: Mapping[str, Any], status: object) -> None:
        if status != "draft":
            row = rows.setdefault(str(user), {})
            row.update(answers)
            if status == "discarded":
                row["discard"] = True

    for question, listed in responses.items() if isinstance(responses, Mapping) else ():
        for response in listed if isinstance(listed, list) else ():
            answer = {str(question): response.get("value")}
            say(response.get("user_id"), answer, response.get("status"))
    for response in responses if isinstance(responses, list) else ():
        values = response.get("values") or {}
        answers = {str(name): answer.get("value") for name, answer in values.items()}
        say(response.get("user_id"), answers, response.get("status"))
    return rows


def _answers(record: Record, name: str) -> list[Record]:
    values, users = record.get(name) or [], record.get(f"{name}.users") or []
    statuses = record.get(f"{name}.status") or [None] * len(values)
    return [
        {"value": value, "user_id": user, "status": status}
        for value, user, status in zip(values, users, statuses, strict=False)
    ]


def _named(fields: Record) -> dict[str, Any]:
    cells = ((PART_OF.get(squash(str(name))), cell) for name, cell in fields.items())
    return {part: cell for part, cell in cells if part is not None}


Layout = Literal["wide", "long", "per_task", "label_studio", "argilla"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
WRITTEN = (".jsonl", ".csv", ".parquet")
# What makes a platform's records of wide rows.
PLATFORMS = {"label_studio": tasks_of_label_studio, "argilla": records_of_argilla}
# The file for each sort of unit, if there is one for each.
TASKS = {"answer": "answers.csv", "context": "contexts.csv", "claim": "claims.csv",
         "statement": "statements.csv", "criterion": "criteria.csv"}  # fmt: skip

# The annotator's name in files of combined labels.
TOGETHER = "adjudicated"

HEAD = ("id", "annotator", "context", "claim", "statement")
TAIL = ("inclusion_probability", "note", "discard")


def write_labels(table: LabelTable, path: str | PathLike[str], *, layout: Layout = "wide") -> None:
    """Write a table that ``read_label_table`` can read back, including discarded rows.

    Args:
        path: Ends in .jsonl, .csv or .parquet; for a platform in .json; a folder for ``per_task``.
        layout: Wide: one row per annotator and unit, one column per label, as people fill it
            in. Long: one row per label, with its kind and column. ``per_task``: wide CSV files,
            one for each sort of unit, such as ``contexts.csv``. ``label_studio`` and
            ``argilla``: what these platforms import and export; why a row was discarded is
            not in it.
    """
    if layout not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    path = Path(path)
    if layout == "long":
        write_rows(table.frame.iter_rows(named=True), list(table.frame.columns), path)
        return
    names = _names(table)
    rows = _wide_rows(table.frame, names)
    if layout == "per_task":
        _write_tasks(rows, list(dict.fromkeys(names.values())), path)
    elif layout not in PLATFORMS:
        criterion = [name for name in ("criterion",) if any(name in row for row in rows)]
        columns = [*HEAD, *criterion, *dict.fromkeys(names.values()), *TAIL]
        write_rows(iter(rows), columns, path)
    elif path.suffix != ".json":
        raise InputError(f"Labels of a platform are written to .json, not to {path.name!r}.")
    else:
        text = json.dumps(PLATFORMS[layout](rows), ensure_ascii=False, indent=1) + "\n"
        write_result(path, text, private=True)


def write_adjudicated(
    table: LabelTable, path: str | PathLike[str], *, scales: Mapping[str, Scale] | None = None
) -> None:
    """Write the annotators' combined labels, one row per unit and column.

    A tie has no value and is marked as one. The file can be read back as labels of one annotator.
    """
    frame = table.adjudicated(scales).with_columns(annotator=pl.lit(TOGETHER))
    write_rows(frame.iter_rows(named=True), frame.columns, Path(path))


def _names(table: LabelTable) -> dict[tuple[str, str], str]:
    labels = table.frame.drop_nulls("kind")
    kinds = set(map(unit_kind, table.frame["unit"]))
    parts = labels.partition_by("kind", "column", as_dict=True, maintain_order=True)
    names: dict[tuple[str, str], str] = {}
    for (kind, column), part in parts.items():
        name = named(str(kind), str(column))
        cells = [plain_value(*cell) for cell in part.select("value", "number").iter_rows()]
        word = name.shown
        free = word not in names.values() and _reads_back(word, name, cells, frozenset(kinds))
        names[name.kind, name.column] = word if free else f"{kind}.{column}"
    return names


def _reads_back(word: str, name: Name, cells: Sequence[object], units: frozenset[str]) -> bool:
    known = {part for words in PARTS.values() for part in words} | OF_EXAMPLES
    if squash(word) in known or word in ("labels", *HEAD) or word.startswith("labels."):
        return False
    return name_of(word, cells, units)[0] == name and not (name.kind == "own" and no_labels(cells))


def _wide_rows(frame: pl.DataFrame, names: Mapping[tuple[str, str], str]) -> list[dict[str, Any]]:
    rows: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for label_row in frame.iter_rows(named=True):
        about = {"id": label_row["example_id"], "annotator": label_row["annotator"] or None,
                 "inclusion_probability": label_row["inclusion_probability"],
                 "note": label_row["note"], "discard": label_row["discarded"]}  # fmt: skip
        same_unit = rows.setdefault((label_row["unit"], *about.values()), [])
        label = None if label_row["kind"] is None else names[label_row["kind"], label_row["column"]]
        row = next((row for row in same_unit if label is None or label not in row), None)
        if row is None:
            row = about | _unit(label_row["unit"])
            same_unit.append(row)
        if label is not None:
            row[label] = plain_value(label_row["value"], label_row["number"])
    return [row for several in rows.values() for row in several]


def _write_tasks(rows: Sequence[Mapping[str, Any]], labels: Sequence[str], folder: Path) -> None:
    if folder.suffix.lower() in (*WRITTEN, ".json") or folder.is_file():
        raise InputError(
            "per_task writes several files into a folder, and "
            f"{folder.name} is the name of a file. Name a folder."
        )
    for unit, file in TASKS.items():
        unit_rows = [
            row
            for row in rows
            if unit == next((part for part in TASKS if row.get(part) is not None), "answer")
        ]
        given_labels = [name for name in labels if any(name in row for row in unit_rows)]
        if unit_rows:
            parts = ("id", "annotator", *([] if unit == "answer" else [unit]))
            write_rows(iter(unit_rows), [*parts, *given_labels, *TAIL], folder / file)


def _unit(unit: str | None) -> dict[str, Any]:
    if unit is None:
        return {}
    kind = unit_kind(unit)
    return {kind: unit if kind == "context" else int(unit.split()[1])}


def write_rows(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], path: Path) -> None:
    """Write rows to a file of one of the formats for labels; a cell that a row lacks is empty."""
    if path.suffix not in WRITTEN:
        raise InputError(f"Labels are written to {', '.join(WRITTEN)}, not to {path.name!r}.")
    if path.suffix == ".jsonl":
        lines = (json.dumps({c: row.get(c) for c in columns}, ensure_ascii=False) for row in rows)
        write_result(path, "".join(f"{line}\n" for line in lines), private=True)
    elif path.suffix == ".csv":
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(cell, columns))
        for row in rows:
            cells = (row.get(column) for column in columns)
            writer.writerow(cell(each) if isinstance(each, str) else _cell(each) for each in cells)
        write_result(path, text.getvalue(), private=True)
    else:
        write_result(path, as_parquet(_frame(list(rows), columns)), private=True)


def _cell(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pl.DataFrame:
    series = []
    for column in columns:
        cells = [row.get(column) for row in rows]
        types = {type(cell) for cell in cells if cell is not None}
        if len(types) > 1 and not types <= {int, float}:
            cells = [None if cell is None else str(_cell(cell)) for cell in cells]
        series.append(pl.Series(column, cells, strict=False))
    return pl.DataFrame(series)
