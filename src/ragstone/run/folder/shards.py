"""Shards: a run's tables in pieces of consecutive examples, and the ledger of finished shards.

    examples/000000.parquet              the first piece of a table
    judgements/claims/000000.parquet
    shards.jsonl                         the ledger: a line for each shard that is done

The files of a shard are written before its line, so an interrupted run resumes with the shards
that have no line, whatever files they left.

The lines are in the order in which shards were finished, each with a checksum of itself. Only
the position of each is in memory, so the ledger of a hundred million rows opens in less than a
second. A last line that is cut off was never finished; any other fault is damage.
"""

import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import ValidationError

from ragstone.core.errors import DamagedRun, Fault
from ragstone.core.files import RunEntry
from ragstone.core.parquet import scan_parquet, sink_parquet

from .checksums import (
    CHECKSUM,
    DIGITS,
    UNFINISHED,
    File,
    check_file,
    check_table,
    described,
    fault_of,
    faults_of,
    reading,
)
from .schemas import ShardForm, columns_of, place

BEFORE, AFTER = f',"{CHECKSUM}":"'.encode(), b'"}\n'
SIGNATURE = len(BEFORE) + 2 * DIGITS + len(AFTER)
FIRST = re.compile(rb'{"shard":([0-9]{1,9}),"examples":([0-9]{1,9}),')


class ShardLedger:
    """The ledger of a run; read from its file, if there is one."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._done: dict[int, tuple[int, int]] = {}
        """Position of each shard's line, and its number of examples."""
        self._end = 0
        if file.exists() or file.is_symlink():
            if not file.is_file():
                raise DamagedRun([Fault(str(file), None, "", "a file", "not a regular file")])
            with reading(file), file.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    if not line.endswith(b"\n"):
                        break
                    shard, examples = _shard(line, file, number)
                    self._done[shard] = self._end, examples
                    self._end += len(line)

    def __len__(self) -> int:
        return len(self._done)

    def __contains__(self, shard: int) -> bool:
        return shard in self._done

    def __iter__(self) -> Iterator[ShardForm]:
        return self.of(sorted(self._done))

    def of(self, shards: Sequence[int]) -> Iterator[ShardForm]:
        """Read the lines of these shards, each of which is done."""
        if not shards:
            return
        lines = []
        with reading(self.file), self.file.open("rb") as file:
            for shard in shards:
                file.seek(self._done[shard][0])
                lines.append(file.readline())
        # The file is closed, even if the caller stops reading here.
        for line in lines:
            try:
                yield ShardForm.model_validate_json(line, strict=True)
            except ValidationError as error:
                raise DamagedRun(faults_of(self.file, error)) from error

    def without(self, shards: Collection[int]) -> list[int]:
        """The shards that are done and are none of these."""
        return sorted(self._done.keys() - shards)

    def examples_of(self, shard: int) -> int | None:
        """Return the number of examples of a shard that is done; None for one that is not."""
        return self._done[shard][1] if shard in self._done else None

    def leave_out(self, shard: int) -> None:
        """Take a shard for one that is not done, until it is added again."""
        del self._done[shard]

    def add(self, form: ShardForm) -> None:
        line = line_of(form)
        with self.file.open("r+b" if self.file.exists() else "wb") as file:
            # A line that was cut off by a kill is written over.
            file.truncate(self._end)
            file.seek(self._end)
            file.write(line)
        self._done[form.shard] = self._end, form.examples
        self._end += len(line)


def write_ledger(file: Path, forms: Iterable[ShardForm]) -> None:
    """Write a whole ledger, replacing the file if it exists."""
    with file.open("wb") as lines:
        lines.writelines(map(line_of, forms))


def line_of(form: ShardForm) -> bytes:
    """The line of a shard in the ledger."""
    return _signed(form.model_dump_json(exclude_defaults=True).encode())


def _signed(text: bytes) -> bytes:
    checksum = blake2b(text, digest_size=DIGITS).hexdigest().encode()
    return b"".join((text[:-1], BEFORE, checksum, AFTER))


def _shard(line: bytes, file: Path, number: int) -> tuple[int, int]:
    text = line[:-SIGNATURE] + b"}"
    if line != _signed(text):
        raise DamagedRun([Fault(str(file), number, CHECKSUM, "that of its line", "another")])
    match = FIRST.match(text)
    if match is None:
        raise DamagedRun([Fault(str(file), number, "shard", "its number", "none")])
    return int(match[1]), int(match[2])


# Rows of a group of a table: one example is read by decoding its group, and texts are long.
ROWS_AT_ONCE = {"examples": 500}
# The same of other tables; more would be faster and take more memory.
FEW_WORDS = 20_000

# Files of which few columns are read together, for each takes longer to open than to read.
FILES_AT_ONCE = 10

# A folder in that of the tables, with what replaces some of them when the run is finished.
CHOSEN = "chosen"


class Shards:
    """The tables in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written: set[int] = set()
        """The shards that were written here, whose files need no verifying."""

    @cached_property
    def ledger(self) -> ShardLedger:
        return ShardLedger(self.path / RunEntry.SHARDS)

    def file(self, name: str, shard: int) -> Path:
        return self.path / place(name) / f"{shard:06d}.parquet"

    def files_of(self, name: str) -> list[Path]:
        return [self.file(name, form.shard) for form in self.ledger if name in form.files]

    def scans(self, name: str) -> Iterator[pl.LazyFrame]:
        """A table, a few shards at a time."""
        files = self.files_of(name)
        for at in range(0, len(files), FILES_AT_ONCE):
            yield scan_table(name, files[at : at + FILES_AT_ONCE])

    def scan(self, name: str) -> pl.LazyFrame:
        return scan_table(name, self.files_of(name))

    def add(self, form: ShardForm, tables: Mapping[str, pl.DataFrame]) -> ShardForm:
        """Write a shard, after which it is done; gives what the ledger says of it."""
        new = {
            name: write_table(name, tables[name], self.file(name, form.shard))
            for name in sorted(tables)
        }
        return self._done(form, new)

    def add_made(
        self, form: ShardForm, files: Mapping[str, File], content: Mapping[str, NDArray[np.uint8]]
    ) -> ShardForm:
        """Write a shard whose files were made elsewhere, after which it is done."""
        for name, noted in files.items():
            file = self.file(name, form.shard)
            file.parent.mkdir(parents=True, exist_ok=True)
            unfinished = file.with_suffix(UNFINISHED)
            # Not by tofile, whose error says nothing of a full disk.
            unfinished.write_bytes(content[name].data)
            unfinished.replace(file)
            check_file(file, noted, size_alone=True)
        return self._done(form, files)

    def _done(self, form: ShardForm, written: Mapping[str, File]) -> ShardForm:
        self._written.add(form.shard)
        files = dict(sorted({**form.files, **written}.items()))
        whole = form.model_copy(update={"files": files})
        self.ledger.add(whole)
        return whole

    def change(
        self, name: str, rows: Callable[[ShardForm, pl.LazyFrame], pl.LazyFrame], into: Path
    ) -> None:
        """Write a table anew elsewhere, with a ledger that has it in place of the one here.

        Args:
            rows: Makes the new rows of a shard, of its line in the ledger and those it has.
        """
        other, forms = Shards(into), []
        for form in self.ledger:
            if name in form.files:
                old, new = self.file(name, form.shard), other.file(name, form.shard)
                with reading(old):
                    noted = write_table(name, rows(form, scan_table(name, [old])), new)
                form = form.model_copy(update={"files": {**form.files, name: noted}})
            forms.append(form)
        write_ledger(into / RunEntry.SHARDS, forms)

    def leave_out_damaged(self) -> None:
        """Take shards for not done whose files are gone or of another size."""
        for form in self.ledger:
            for name, noted in form.files.items():
                if fault_of(self.file(name, form.shard), noted, size_alone=True):
                    self.ledger.leave_out(form.shard)
                    break

    def verify(self, name: str) -> None:
        """Verify the files of a table that were there before: what was written, its columns."""
        for form in self.ledger.of(self.ledger.without(self._written)):
            file, noted = self.file(name, form.shard), form.files.get(name)
            with self.judged_again(file):
                if noted is not None:
                    check_file(file, noted)
                    rows = form.examples if name == "facets" else noted.rows
                    check_table(file, rows, columns_of(name))
                elif name != "origins":
                    raise DamagedRun([Fault(str(file), None, "", "a file", "none")])

    @contextmanager
    def judged_again(self, path: Path) -> Iterator[None]:
        """Say of damage of an unfinished run that it goes on if this is deleted."""
        try:
            yield
        except DamagedRun as error:
            hint = f"Delete {path}; the same command then judges what is lacking again."
            raise DamagedRun(error.faults, hint=hint) from error


def scan_table(name: str, files: Sequence[Path]) -> pl.LazyFrame:
    """Scan files of a table; columns of examples that earlier versions did not write are null."""
    return scan_parquet(files, columns_of(name) if name == RunEntry.EXAMPLES else None)


def write_table(name: str, rows: pl.DataFrame | pl.LazyFrame, file: Path) -> File:
    """Write rows of a table, which may be more than memory holds, all or none; gives its record."""
    height = None
    if isinstance(rows, pl.DataFrame):
        height = rows.height
        # In one piece, for in how many a frame is made depends on the number of threads, and so
        # would the bytes.
        rows = rows.rechunk().lazy()
    unfinished = file.with_suffix(UNFINISHED)
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_dir():
        shutil.rmtree(file)
    sink_parquet(rows, unfinished, rows_at_once=ROWS_AT_ONCE.get(name, FEW_WORDS))
    unfinished.replace(file)
    if height is None:
        height = scan_parquet(file).select(pl.len()).collect().item()
    return described(file, height)
