"""Write: label tables as files that can be read back unchanged, and combined labels."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.escape import cell
from ragstone.core.files import write_result
from ragstone.core.parquet import as_parquet
from ragstone.data.fields import squash

from .given import OF_EXAMPLES, PARTS, unit_kind
from .judged import no_labels
from .names import Name, name_of, named
from .platforms import records_of_argilla, tasks_of_label_studio
from .scale import Scale
from .table import LabelTable
from .words import plain_value

Layout = Literal["wide", "long", "per_task", "label_studio", "argilla"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
WRITTEN = (".jsonl", ".csv", ".parquet")
PLATFORMS = {"label_studio": tasks_of_label_studio, "argilla": records_of_argilla}
"""What makes a platform's records of wide rows."""
TASKS = {"answer": "answers.csv", "context": "contexts.csv", "claim": "claims.csv",
         "statement": "statements.csv"}  # fmt: skip
"""The file for each sort of unit, if there is one for each."""

TOGETHER = "adjudicated"
"""The annotator's name in files of combined labels."""

HEAD = ("id", "annotator", "context", "claim", "statement")
TAIL = ("inclusion_probability", "note", "discard")


def write_labels(table: LabelTable, path: str | PathLike[str], *, layout: Layout = "wide") -> None:
    """Write a table that ``read_label_table`` can read back, including discarded rows.

    Args:
        table: Labels.
        path: Ends in .jsonl, .csv or .parquet; for a platform in .json; a folder for ``per_task``.
        layout: Wide: one row per annotator and unit, one column per label, as people fill it
            in. Long: one row per label, with its kind and column. ``per_task``: wide CSV files,
            one for each sort of unit, such as ``contexts.csv``. ``label_studio`` and
            ``argilla``: what these platforms import and export; why a row was discarded is
            not in it.

    Raises:
        InputError: Another extension.
        UnknownName: Another layout.
    """
    if layout not in LAYOUTS:
        raise UnknownName("layout", layout, LAYOUTS)
    if layout == "long":
        write_rows(table.frame.iter_rows(named=True), list(table.frame.columns), Path(path))
        return
    names = _names(table)
    rows = _wide_rows(table.frame, names)
    if layout == "per_task":
        _write_tasks(rows, list(dict.fromkeys(names.values())), Path(path))
        return
    if layout in PLATFORMS:
        _write_json(PLATFORMS[layout](rows), Path(path))
        return
    write_rows(iter(rows), [*HEAD, *dict.fromkeys(names.values()), *TAIL], Path(path))


def write_adjudicated(
    table: LabelTable, path: str | PathLike[str], *, scales: Mapping[str, Scale] | None = None
) -> None:
    """Write the annotators' combined labels, one row per unit and column.

    A tie has no value and is marked as one. The file can be read back as labels of one annotator.

    Args:
        table: Labels.
        path: Ends in .jsonl, .csv or .parquet.
        scales: As in ``LabelTable.adjudicated``.

    Raises:
        InputError: Another extension.
    """
    frame = table.adjudicated(scales).with_columns(annotator=pl.lit(TOGETHER))
    write_rows(frame.iter_rows(named=True), frame.columns, Path(path))


def _names(table: LabelTable) -> dict[tuple[str, str], str]:
    """The column name of each judgement in a wide file: its taxonomy label if that reads back."""
    labels = table.frame.drop_nulls("kind")
    kinds = {"answer" if unit is None else unit_kind(unit) for unit in table.frame["unit"]}
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
    for one in frame.iter_rows(named=True):
        about = {"inclusion_probability": one["inclusion_probability"], "note": one["note"],
                 "discard": one["discarded"]}  # fmt: skip
        key = (one["example_id"], one["annotator"], one["unit"], *about.values())
        there = rows.setdefault(key, [])
        label = None if one["kind"] is None else names[one["kind"], one["column"]]
        row = next((row for row in there if label is None or label not in row), None)
        if row is None:
            row = {"id": one["example_id"], "annotator": one["annotator"] or None, **about}
            row |= _unit(one["unit"])
            there.append(row)
        if label is not None:
            row[label] = plain_value(one["value"], one["number"])
    return [row for several in rows.values() for row in several]


def _write_tasks(rows: Sequence[Mapping[str, Any]], labels: Sequence[str], folder: Path) -> None:
    """A file for each sort of unit, with the labels that are given to it.

    Raises:
        InputError: The folder has the name of a file.
    """
    if folder.suffix.lower() in (*WRITTEN, ".json") or folder.is_file():
        raise InputError(
            "per_task writes several files into a folder, and "
            f"{folder.name} is the name of a file. Name a folder."
        )
    for unit, file in TASKS.items():
        own = [row for row in rows if _unit_of(row) == unit]
        given = [name for name in labels if any(name in row for row in own)]
        if own:
            parts = ("id", "annotator", *([] if unit == "answer" else [unit]))
            write_rows(iter(own), [*parts, *given, *TAIL], folder / file)


def _unit_of(row: Mapping[str, Any]) -> str:
    return next((unit for unit in TASKS if row.get(unit) is not None), "answer")


def _unit(unit: str | None) -> dict[str, Any]:
    if unit is None:
        return {}
    kind = unit_kind(unit)
    return {kind: unit if kind == "context" else int(unit.split()[1])}


def write_rows(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], path: Path) -> None:
    """Write rows to a file of one of the formats for labels; a cell that a row lacks is empty.

    Raises:
        InputError: Another extension.
    """
    if path.suffix not in WRITTEN:
        raise InputError(f"Labels are written to {', '.join(WRITTEN)}, not to {path.name!r}.")
    if path.suffix == ".jsonl":
        lines = (json.dumps({c: row.get(c) for c in columns}, ensure_ascii=False) for row in rows)
        write_result(path, "".join(f"{line}\n" for line in lines))
    elif path.suffix == ".csv":
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(cell, columns))
        writer.writerows([_csv_cell(row.get(c)) for c in columns] for row in rows)
        write_result(path, text.getvalue())
    else:
        write_result(path, as_parquet(_frame(list(rows), columns)))


def _write_json(records: Sequence[Mapping[str, Any]], path: Path) -> None:
    if path.suffix != ".json":
        raise InputError(f"Labels of a platform are written to .json, not to {path.name!r}.")
    write_result(path, json.dumps(records, ensure_ascii=False, indent=1) + "\n")


def _cell(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def _csv_cell(value: object) -> object:
    return cell(value) if isinstance(value, str) else _cell(value)


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pl.DataFrame:
    """A data frame of the rows; columns with values of several types become text."""
    series = []
    for column in columns:
        cells = [row.get(column) for row in rows]
        types = {type(cell) for cell in cells if cell is not None}
        if len(types) > 1 and not types <= {int, float}:
            cells = [None if cell is None else str(_cell(cell)) for cell in cells]
        series.append(pl.Series(column, cells, strict=False))
    return pl.DataFrame(series)
