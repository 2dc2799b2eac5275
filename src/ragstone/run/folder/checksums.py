"""Checksums: records size and checksum of each file in a run folder; verifies them on reading.

A run's folder is untrusted input like any other: it is copied, synced and mailed, and disks fail.
``run.json`` and the lines of ``shards.jsonl`` have the size, number of rows and checksum of every
file, and a checksum of themselves. A file that does not match is not read: ``DamagedRun`` lists
what was expected of it and what is there.
"""

import json
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Annotated, Any, TypeVar

import polars as pl
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from ragstone.core.errors import DamagedRun, Fault
from ragstone.core.messages import noticed
from ragstone.core.parquet import scan_parquet
from ragstone.data.write_examples import ADDED_LATER

T = TypeVar("T")
Count = Annotated[int, Field(ge=0, lt=2**63)]

CHECKSUM = "checksum"
# Bytes of a checksum.
DIGITS = 16

# Suffix of files that are being written.
UNFINISHED = ".unfinished"

# Maximum bytes of a JSON file; a larger one is not read.
LONGEST = 64 * 2**20


class File(BaseModel):
    """The record of a file: size, BLAKE2b-128 and, for a table, the number of rows."""

    bytes: Count
    checksum: str
    rows: Count | None = None


def described(file: Path, rows: int | None = None) -> File:
    """The record of a file that was just written; ``rows``: how many a table has."""
    return File(bytes=file.stat().st_size, checksum=_checksum_of(file), rows=rows)


def fault_of(file: Path, noted: File, *, size_alone: bool = False) -> Fault | None:
    """Return how a file differs from its record; None if it matches.

    Args:
        size_alone: Do not read the file.
    """
    got = None
    try:
        facts = file.stat()
        if not stat.S_ISREG(facts.st_mode):
            got = "not a regular file"
        elif facts.st_size != noted.bytes:
            got = f"{facts.st_size:,} bytes"
        elif not size_alone and (checksum := _checksum_of(file)) != noted.checksum:
            got = f"checksum {checksum}"
    except OSError as error:
        got = _in_words(error)
    expected = f"{noted.bytes:,} bytes of checksum {noted.checksum}"
    return None if got is None else Fault(str(file), None, "", expected, got)


def check_file(file: Path, noted: File, *, size_alone: bool = False) -> None:
    if (fault := fault_of(file, noted, size_alone=size_alone)) is not None:
        raise DamagedRun([fault])


def check_table(file: Path, rows: int | None, schema: Mapping[str, Any]) -> None:
    """Check the columns and the number of rows of a table, without reading rows."""
    with reading(file):
        table = scan_parquet(file)
        dtypes = dict(table.collect_schema())
        height = table.select(pl.len()).collect().item()
    faults = []
    lacks = (name for name in ADDED_LATER if name not in dtypes)
    known = dtypes | {name: schema[name] for name in lacks if name in schema}
    for name in (name for name, dtype in schema.items() if known.get(name) != dtype):
        got = str(dtypes.get(name, "no such column"))
        faults.append(Fault(str(file), None, name, str(schema[name]), got))
    if rows is not None and height != rows:
        faults.append(Fault(str(file), None, "", f"{rows:,} rows", f"{height:,}"))
    if faults:
        raise DamagedRun(faults)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn errors of Polars, even panics, and of the disk into ``DamagedRun``."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        words = _in_words(error)
        raise DamagedRun([Fault(str(path), None, "", "tables that can be read", words)]) from error


def collect(table: pl.LazyFrame, path: Path) -> pl.DataFrame:
    """The rows of a table; ``place`` is named in the error."""
    with reading(path):
        return table.collect()


def read_json(file: Path, form: type[T]) -> T:
    text, _ = _parsed(file)
    return _in_form(file, text, form)


def read_signed(file: Path, form: type[T]) -> tuple[dict[str, Any], T]:
    """Read and validate a JSON file with a checksum; returns its raw and its typed content."""
    text, content = _parsed(file)
    if not isinstance(content, dict):
        raise DamagedRun([Fault(str(file), None, "", "an object", type(content).__name__)])
    noted = content.pop(CHECKSUM, None)
    if noted != (computed := _checksum_of_json(content)):
        got = "none" if noted is None else _shown(noted)
        raise DamagedRun(
            [Fault(str(file), None, CHECKSUM, f"{computed}, that of its content", got)]
        )
    return content, _in_form(file, text, form)


def signed(content: Mapping[str, Any]) -> dict[str, Any]:
    return {**content, CHECKSUM: _checksum_of_json(content)}


def as_line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def write_lines(path: Path, texts: Iterable[str]) -> int:
    """Write lines that come in several texts, and say how many; without any, there is no file."""
    lines = 0
    path.unlink(missing_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for text in texts:
            file.write(text)
            lines += text.count("\n")
    if not lines:
        path.unlink()
    return lines


def write_json(path: Path, content: object) -> None:
    """Write JSON, completely or not at all; raises on NaN."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    unfinished = path.with_name(path.name + UNFINISHED)
    unfinished.unlink(missing_ok=True)
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(path)


def _in_form(file: Path, text: bytes, form: type[T]) -> T:
    try:
        return TypeAdapter(form).validate_json(text, strict=True)
    except ValidationError as error:
        raise DamagedRun(faults_of(file, error)) from error


def faults_of(file: Path, error: ValidationError) -> list[Fault]:
    faults = []
    for problem in error.errors(include_url=False, include_context=False):
        words = problem["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
        expected, got = noticed(words), _shown(problem["input"])
        if problem["type"] == "missing":
            expected, got = "a value", "none"
        faults.append(Fault(str(file), None, ".".join(map(str, problem["loc"])), expected, got))
    return faults


def _parsed(file: Path) -> tuple[bytes, Any]:
    def damaged(expected: str, got: str) -> DamagedRun:
        return DamagedRun([Fault(str(file), None, "", expected, got)])

    def refuse(name: str) -> float:
        raise ValueError(f"{name} is not valid JSON")

    try:
        facts = file.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise damaged("a JSON file", "not a regular file")
        if facts.st_size > LONGEST:
            raise damaged(f"at most {LONGEST:,} bytes", f"{facts.st_size:,}")
        text = file.read_bytes()
        return text, json.loads(text, parse_constant=refuse)
    except OSError as error:
        raise damaged("a JSON file", _in_words(error)) from error
    except (ValueError, RecursionError) as error:
        raise damaged("JSON", f"invalid JSON ({_in_words(error)})") from error


def _checksum_of(file: Path) -> str:
    with file.open("rb") as content:
        return file_digest(content, partial(blake2b, digest_size=DIGITS)).hexdigest()


def _checksum_of_json(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True)
    return blake2b(text.encode(), digest_size=DIGITS).hexdigest()


def _in_words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


def _shown(value: object) -> str:
    is_plain = isinstance(value, str | int | float | bool | None)
    text = repr(value) if is_plain else type(value).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"
