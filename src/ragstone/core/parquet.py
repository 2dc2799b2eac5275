"""Reads and writes Parquet files, taking every path literally.

Polars interprets ``*``, ``?`` and ``[`` in a path as a glob pattern, ``~`` as the home folder, and
a folder as all the files in it. A user whose folder is called ``run*`` does not want ``run1`` read
too, so every table that is read or written by path goes through this module.
"""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

import polars as pl

from .errors import FULL, room_for

# Polars' messages for a full disk; the last one appears if only the file's footer did not fit.
UNWRITTEN = (*FULL, "Invalid thrift: transport error")

Paths = Path | Sequence[Path]


def scan_parquet(
    files: Paths, schema: Mapping[str, pl.DataType | type[pl.DataType]] | None = None
) -> pl.LazyFrame:
    """Return a lazy frame of one file, or of several concatenated vertically.

    With a schema, a column that a file lacks is null.
    """
    places = map(Path.absolute, [files] if isinstance(files, Path) else files)
    return pl.scan_parquet(
        list(places), glob=False, hive_partitioning=False, schema=schema,
        missing_columns="raise" if schema is None else "insert",
        extra_columns="raise" if schema is None else "ignore",
    )  # fmt: skip


def read_parquet(files: Paths, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read a table into memory, restricted to ``columns`` if given."""
    table = scan_parquet(files)
    return (table if columns is None else table.select(columns)).collect()


def write_parquet(table: pl.DataFrame, file: Path) -> None:
    """Write a table, replacing the file if it exists."""
    with room_for(file, UNWRITTEN):
        table.write_parquet(file.absolute())


def as_parquet(table: pl.DataFrame) -> bytes:
    """Return the bytes of a table's file."""
    file = BytesIO()
    table.write_parquet(file)
    return file.getvalue()


def sink_parquet(table: pl.LazyFrame, file: Path, *, rows_at_once: int) -> None:
    """Write a table in row groups of ``rows_at_once``, replacing the file if it exists."""
    with room_for(file, UNWRITTEN):
        table.sink_parquet(file.absolute(), row_group_size=rows_at_once)
