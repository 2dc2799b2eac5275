"""Parquet: tables on disk. A path is a path, whatever characters it holds.

Polars takes ``*``, ``?`` and ``[`` in a path for a pattern, ``~`` for the home folder and a folder
for all files in it. Whoever called a folder ``run*`` did not ask for ``run1`` too, so every
table that is read or written by its path goes through here.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import polars as pl

from ragstone.errors import FULL, room_for

UNWRITTEN = (*FULL, "Invalid thrift: transport error")
"""How Polars says that there is no room; the last where only a table's end found none."""

Paths = PathLike[str] | Sequence[PathLike[str]]


def scan_parquet(files: Paths) -> pl.LazyFrame:
    """The table in a file, or in several, one below the other; read when it is collected."""
    several = [files] if isinstance(files, PathLike) else files
    places = [Path(file).absolute() for file in several]
    return pl.scan_parquet(places, glob=False, hive_partitioning=False)


def read_parquet(files: Paths, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The table in memory: of these columns alone, where any are named."""
    table = scan_parquet(files)
    return (table if columns is None else table.select(columns)).collect()


def write_parquet(table: pl.DataFrame, file: Path) -> None:
    """Write a table, in place of what was there."""
    with room_for(file, UNWRITTEN):
        table.write_parquet(file.absolute())


def sink_parquet(table: pl.LazyFrame, file: Path, *, rows_at_once: int) -> None:
    """Write a table piece by piece, in place of what was there."""
    with room_for(file, UNWRITTEN):
        table.sink_parquet(file.absolute(), row_group_size=rows_at_once)
