"""Sources: rows of files, streams, URLs, data frames and lists in memory; also TOML settings files.

A run reads its data more than once, and Parquet from its end, so a stream is first copied to a
file. pandas and pyarrow are never imported here; a table of theirs is known by its Arrow
interface and handed to Polars.
"""

import atexit
import math
import os
import re
import shutil
import stat
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from io import FileIO
from itertools import chain, islice
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, cast
from uuid import UUID

import polars as pl

from ragstone.core.errors import DataError, InputError
from ragstone.core.remote_files import copy_of, is_url

from .example import Example
from .json_text import MAX_DEPTH, BadRow, Problem, depth_exceeds, shown, surrogate_in, too_deep
from .text_files import Meter

Row = tuple[int | None, Mapping[str, Any] | Example | BadRow]


@dataclass(frozen=True)
class Source:
    """Rows of one format, in the order of the data, readable as often as wanted.

    Args:
        name: The path or kind of table, for messages.
        rows: Yields line and record of each row; a ``BadRow`` for a record that cannot be read.
        files: All files it reads; none for what is in memory.
        format: The format, if the source determines it and not its records.
        unit: The unit of a place in it: ``line``, ``row``, or ``element`` of a list.
        by_line: True if it is a file each of whose lines is a record by itself.
        records: The records in memory; an iterator as ``ReadOnce``.
    """

    name: str
    rows: Callable[[Meter], Iterator[Row]]
    files: tuple[Path, ...] = ()
    format: str | None = None
    unit: str = "row"
    by_line: bool = False
    records: Iterable[object] | None = None


# What names standard input; a file of this name is ``./-``, given by its whole path.
STDIN = "-"

PIECE = 1 << 20

_kept: dict[tuple[int, int], Path] = {}
_lock = Lock()


def on_disk(path: str | PathLike[str]) -> Path:
    """Return the file at a path; for a stream or a URL, a file with its content.

    That of a stream is kept until the process ends. A stream that has been read to its
    end gives the same file again. A path that does not exist is returned unchanged.

    Raises:
        DataError: A device, or standard input that is closed.
        InputError: What is at a URL cannot be had.
    """
    name = fspath(path)
    if is_url(name):
        return copy_of(name)
    try:
        status = os.fstat(0) if name == STDIN else Path(name).stat()
    except (OSError, ValueError):
        if name == STDIN:
            raise _fault("standard input", "a closed one") from None
        return Path(name)
    if name != STDIN:
        if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
            return Path(name)
        # A stream that somebody fills ends; a device such as /dev/zero never does.
        is_filled = stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)
        is_input = stat.S_ISCHR(status.st_mode) and os.path.samestat(status, os.fstat(0))
        if not (is_filled or is_input):
            raise _fault(name, "a device")
    with _lock:
        key = (status.st_dev, status.st_ino)
        if key not in _kept or not stat.S_ISCHR(status.st_mode):
            _kept[key] = _keep(name, _kept.get(key))
        return _kept[key]


def _keep(name: str, known: Path | None) -> Path:
    """Read a stream to its end; one that is known only if somebody writes into it again."""
    waiting = 0 if known is None else os.O_NONBLOCK
    with FileIO(0 if name == STDIN else os.open(name, os.O_RDONLY | waiting), "rb",
                closefd=name != STDIN) as stream:  # fmt: skip
        first = stream.read(PIECE)
        if known is not None and first == b"":
            return known
        os.set_blocking(stream.fileno(), True)
        folder = TemporaryDirectory(prefix="ragstone-")
        atexit.register(folder.cleanup)
        file = Path(folder.name) / ("stdin" if name == STDIN else Path(name).name)
        with file.open("wb") as copy:
            copy.write(first or b"")
            shutil.copyfileobj(stream, copy, PIECE)
    return file


def _fault(name: str, got: str) -> DataError:
    return DataError.of_file(name, "a file, a folder or a pipe", got)


def read_toml(file: Path, name: str) -> dict[str, Any]:
    """Read the tables of a file in UTF-8, with or without a byte order mark.

    Raises:
        InputError: The file cannot be read or is not valid TOML; the message gives the reason.
    """
    try:
        return tomllib.loads(on_disk(file).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not valid TOML: {error}.") from error
    except RecursionError as error:
        raise InputError(f"{name} nests too deeply.") from error
    except ValueError as error:
        digits = f"a number of more than {sys.get_int_max_str_digits():,} digits"
        raise InputError(f"{name} holds {digits}.") from error


ROWS_AT_ONCE = 10_000


def in_memory(records: Iterable[object], name: str = "records") -> Source:
    """Return any iterable of mappings or of examples. One that can be read once is read once."""
    iterator = iter(records)
    several = ReadOnce(iterator) if iterator is records else records

    def rows(meter: Meter) -> Iterator[Row]:  # noqa: ARG001
        for number, record in enumerate(several, 1):
            if isinstance(record, Example):
                yield number, record
            elif not isinstance(record, Mapping):
                yield number, BadRow("", Problem("", "a mapping or an Example", shown(record)))
            else:
                yield number, sound(record)

    return Source(name, rows, records=several)


def _frame(frame: pl.DataFrame | pl.LazyFrame, name: str) -> Source:
    """Return a data frame as a source. A lazy one is collected in batches."""

    def rows(meter: Meter) -> Iterator[Row]:  # noqa: ARG001
        if isinstance(frame, pl.LazyFrame):
            parts: Iterable[pl.DataFrame] = frame.collect_batches(chunk_size=ROWS_AT_ONCE)
        else:
            parts = frame.iter_slices(ROWS_AT_ONCE)
        yield from enumerate((row for part in parts for row in plain_rows(part)), 1)

    return Source(name, rows)


def table_of(source: object) -> Source | None:
    """Return the table that the object is, if it is one."""
    if isinstance(source, (pl.DataFrame, pl.LazyFrame)):
        return _frame(source, "the Polars table")
    if hasattr(source, "__arrow_c_stream__"):
        package = type(source).__module__.partition(".")[0]
        name, table = f"the {package} table", cast("Any", source)
        index = getattr(getattr(table, "index", None), "names", ())
        if any(index) and not set(index) & set(table.columns):
            table = table.reset_index()
        try:
            return _frame(pl.DataFrame(table), name)
        except (NotImplementedError, TypeError, ValueError):
            # Arrow has no lists of UUIDs, and no columns of several types.
            return in_memory(table.to_dict("records"), name)
    return None


def plain_rows(frame: pl.DataFrame) -> Iterator[dict[str, Any] | BadRow]:
    """Yield the rows of a table as mappings of plain values."""
    for row in frame.iter_rows(named=True):
        yield sound(row)


def sound(record: Mapping[Any, Any]) -> dict[str, Any] | BadRow:
    """Return the record in plain values, or what keeps it from being stored."""
    if depth_exceeds(record, MAX_DEPTH):
        return BadRow("", too_deep())
    value: dict[str, Any] = plain(record)
    problem = surrogate_in(value)
    return value if problem is None else BadRow(repr(value), problem)


def plain(value: object) -> Any:
    """Return the value as JSON could hold it: numbers of other libraries, dates, arrays, sets."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if type(value).__name__ in MISSING:
        return None
    if isinstance(value, Mapping):
        return {str(key) if isinstance(key, UUID) else key: plain(part)
                for key, part in value.items()}  # fmt: skip
    if isinstance(value, (list, tuple, Set)):
        return list(map(plain, value))
    if isinstance(value, pl.Series):
        return list(map(plain, value.to_list()))
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return float(value) if value.is_finite() else math.nan
    if isinstance(value, bytes):
        return _decoded(value)
    if isinstance(value, str):
        return str(value)
    to_list = getattr(value, "tolist", None)
    if callable(to_list):
        return plain(to_list())
    if isinstance(value, (bool, int, float)):
        return int(value) if isinstance(value, int) else float(value)
    return str(value)


_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
# How pandas calls the types of its missing values.
MISSING = ("NAType", "NaTType")


def _decoded(value: bytes) -> str:
    """Text, or the UUID that sixteen other bytes are, as Arrow and Parquet keep one."""
    text = value.decode("utf-8", "backslashreplace")
    is_uuid = len(value) == 16 and (text.encode() != value or _CONTROL.search(text))
    return str(UUID(bytes=value)) if is_uuid else text


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
        """Return the first record, None if there is none."""
        if not self._ahead and not self._used and self._kept is None:
            self._ahead.extend(islice(self._iterator, 1))
        return next(iter(self._kept or self._ahead), None)

    def keep(self) -> None:
        """Take all records into memory, so that they can be read again."""
        if self._kept is None:
            self._kept = list(self)
