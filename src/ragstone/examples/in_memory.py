"""Data in memory: lists of mappings, and pandas, Polars or Arrow tables.

pandas and pyarrow are never imported here; a table of theirs is known by its
Arrow interface and handed to Polars.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from itertools import chain, islice
from pathlib import Path
from typing import Any

import polars as pl

from ragstone.core.errors import InputError
from ragstone.examples.example import Example
from ragstone.examples.files import Meter
from ragstone.examples.json_text import MAX_DEPTH, depth_exceeds, surrogate_in, too_deep
from ragstone.examples.problem import BadRow, Problem, shown
from ragstone.examples.source import Row

ROWS_AT_ONCE = 10_000


@dataclass(frozen=True)
class Records:
    """Any iterable of mappings or of examples. One that can be read once is read once."""

    records: Iterable[object]
    name: str = "records"
    files: tuple[Path, ...] = ()
    format: str | None = None
    unit: str = "row"

    def rows(self, meter: Meter) -> Iterator[Row]:  # noqa: ARG002
        for number, record in enumerate(self.records, 1):
            if isinstance(record, Example):
                yield number, record
            elif not isinstance(record, Mapping):
                yield number, BadRow("", (Problem("", "a mapping or an Example", shown(record)),))
            else:
                yield number, sound(record)


@dataclass(frozen=True)
class DataFrameSource:
    """A data frame. A lazy one is collected in batches."""

    frame: pl.DataFrame | pl.LazyFrame
    name: str
    files: tuple[Path, ...] = ()
    format: str | None = None
    unit: str = "row"

    def rows(self, meter: Meter) -> Iterator[Row]:  # noqa: ARG002
        if isinstance(self.frame, pl.LazyFrame):
            parts: Iterable[pl.DataFrame] = self.frame.collect_batches(chunk_size=ROWS_AT_ONCE)
        else:
            parts = self.frame.iter_slices(ROWS_AT_ONCE)
        number = 0
        for part in parts:
            for row in plain_rows(part):
                number += 1
                yield number, row


def table_of(source: object) -> DataFrameSource | None:
    """The table that the object is, if it is one."""
    if isinstance(source, (pl.DataFrame, pl.LazyFrame)):
        return DataFrameSource(source, "the Polars table")
    if hasattr(source, "__arrow_c_stream__"):
        package = type(source).__module__.partition(".")[0]
        return DataFrameSource(pl.DataFrame(_with_index(source)), f"the {package} table")
    return None


def _with_index(table: Any) -> Any:
    """A pandas table with its index as columns, if that has names of its own."""
    names = getattr(getattr(table, "index", None), "names", ())
    return table.reset_index() if any(names) and not set(names) & set(table.columns) else table


def plain_rows(frame: pl.DataFrame) -> Iterator[dict[str, Any] | BadRow]:
    """The rows of a table as mappings of plain values."""
    for row in frame.iter_rows(named=True):
        yield sound(row)


def sound(record: Mapping[Any, Any]) -> dict[str, Any] | BadRow:
    """The record in plain values, or what keeps it from being stored."""
    if depth_exceeds(record, MAX_DEPTH):
        return BadRow("", (too_deep(),))
    value: dict[str, Any] = plain(record)
    problem = surrogate_in(value)
    return value if problem is None else BadRow(repr(value), (problem,))


def plain(value: object) -> Any:
    """The value as JSON could hold it: numbers of other libraries, dates, arrays, sets and all."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, Set)):
        return [plain(part) for part in value]
    if isinstance(value, pl.Series):
        return [plain(part) for part in value.to_list()]
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return float(value) if value.is_finite() else math.nan
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, str):
        return str(value)
    to_list = getattr(value, "tolist", None)
    if callable(to_list):
        return plain(to_list())
    if isinstance(value, (bool, int, float)):
        return int(value) if isinstance(value, int) else float(value)
    return str(value)


class ReadOnce:
    """An iterator, which can be read once; its first record can be peeked at beforehand."""

    def __init__(self, iterator: Iterator[object]) -> None:
        self._iterator = iterator
        self._ahead: list[object] = []
        self._kept: list[object] | None = None
        self._used = False

    def __iter__(self) -> Iterator[object]:
        if self._kept is not None:
            return iter(self._kept)
        if self._used:
            raise InputError(
                "These records come from an iterator that has already been read to its end."
            )
        self._used = True
        return chain(self._ahead, self._iterator)

    def peek(self) -> object:
        """The first record, None if there is none."""
        if not self._ahead and not self._used and self._kept is None:
            self._ahead.extend(islice(self._iterator, 1))
        return next(iter(self._kept or self._ahead), None)

    def keep(self) -> None:
        """Take all records into memory, so that they can be read again."""
        if self._kept is None:
            self._kept = list(self)
