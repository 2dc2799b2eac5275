"""Export: the contents of a run as one flat table, and as a file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.escape import csv_table
from ragstone.core.files import write_result
from ragstone.core.parquet import as_parquet
from ragstone.judgements import KINDS

from .numbered import numbered, numbered_table
from .stored import StoredRun

FileFormat = Literal["csv", "jsonl", "parquet"]
WHAT = ("scores", "estimates", "judgements:KIND", "examples")


def export_table(run: StoredRun, what: str = "scores") -> pl.DataFrame:
    """Scores, estimates, the judgements of a kind (``judgements:support``), or the examples.

    Claims and statements have their ``number`` from 1 instead of the stored ``index``.

    Raises:
        UnknownName: A run has no table of that name.
    """
    if what == "scores":
        return run.scores()
    if what == "estimates":
        return run.estimates()
    if what == "examples":
        return run.examples()
    room, _, kind = what.partition(":")
    if room == "judgements":
        if kind not in KINDS:
            raise UnknownName("judgement kind", kind, KINDS, hint=f"There are {', '.join(KINDS)}.")
        table = run.judgements(kind)
        return numbered_table(table) if numbered(KINDS[kind]) else table
    raise UnknownName("part of a run", what, WHAT, hint=f"There are {', '.join(WHAT)}.")


def as_bytes(table: pl.DataFrame, format: FileFormat) -> bytes:
    """The table as the bytes of a file; in CSV, nested values become JSON text.

    Raises:
        InputError: No such format.
    """
    if format == "csv":
        return csv_table(_flat(table)).write_csv().encode()
    if format == "jsonl":
        return table.write_ndjson().encode()
    if format == "parquet":
        return as_parquet(table)
    raise InputError(f"A table is written as {', '.join(get_args(FileFormat))}.")


ENDINGS: dict[str, FileFormat] = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}


def write_table(table: pl.DataFrame, file: Path) -> None:
    """Write a table in the format given by the file's extension; raises as ``format_of``."""
    write_result(file, as_bytes(table, format_of(file)))


def format_of(file: Path) -> FileFormat:
    """The format of a table with this extension: .csv, .jsonl or .parquet.

    Raises:
        InputError: The file has another extension.
    """
    if file.suffix not in ENDINGS:
        raise InputError(f"{file}: a table is written as {', '.join(ENDINGS)}.")
    return ENDINGS[file.suffix]


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    nested = [name for name, dtype in table.schema.items() if dtype.is_nested()]
    return table.with_columns(_json_text(table[name]) for name in nested)


def _json_text(column: pl.Series) -> pl.Series:
    values: Sequence[Any] = column.to_list()
    texts = [None if one is None else json.dumps(one, ensure_ascii=False) for one in values]
    return pl.Series(column.name, texts, dtype=pl.String)
