"""Parts: the finished blocks of an unfinished run, each written completely or not at all."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path

import polars as pl

from ragstone.errors import DamagedRun, Fault
from ragstone.parquet import scan_parquet, sink_parquet, write_parquet

from .fitting import check_rows, looked_at
from .forms import BlockForm, columns_of, tables
from .places import place
from .written import (
    UNFINISHED,
    check_file,
    check_table,
    collect,
    described,
    read_signed,
    reading,
    signed,
    write_json,
)

PART = "part.json"
ROWS_AT_ONCE = {"examples": 500}
"""Rows of a group of a table: one example is read by decoding its group, and texts are long."""
FEW_WORDS = 20_000
"""The same of other tables; more would be faster and take more memory."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The folder of blocks inside a run's folder.

    Args:
        path: Of the folder of blocks.
    """

    path: Path

    def make(self) -> None:
        """Create the folder if it does not exist."""
        self.path.mkdir(parents=True, exist_ok=True)

    def all(self) -> list[Path]:
        """The finished blocks, in order, up to the first missing one."""
        numbered = (self.path / f"{number:06d}" for number in count())
        return list(takewhile(Path.is_dir, numbered))

    def checked(self) -> list[Path]:
        """The finished blocks, after checking each of them.

        Raises:
            DamagedRun: A block is not as it was written.
        """
        parts = self.all()
        for number, part in enumerate(parts):
            try:
                _check_part(part, number)
            except DamagedRun as error:
                hint = f"Delete {part}: the same command judges its examples again."
                raise DamagedRun(error.faults, hint=hint) from error
        return parts

    def add(self, number: int, tables: Mapping[str, pl.DataFrame]) -> None:
        """Store a finished block, completely or not at all."""
        final = self.path / f"{number:06d}"
        unfinished = final.with_suffix(UNFINISHED)
        unfinished.mkdir(parents=True)
        for name, frame in tables.items():
            write_parquet(frame, unfinished / f"{name}.parquet")
        files = {file.name: described(file) for file in sorted(unfinished.iterdir())}
        write_json(unfinished / PART, signed({"block": number, "files": files}))
        # Renaming a folder is atomic: a killed run leaves no half-written block under its number.
        unfinished.rename(final)

    def scan(self, name: str) -> pl.LazyFrame:
        """A table over the finished blocks."""
        return scan_parquet(self.files_of(name))

    def join(self, folder: Path, metrics: Sequence[str]) -> None:
        """Join the blocks' tables into a folder, with the scores of these metrics only."""
        (folder / "judgements").mkdir(exist_ok=True)
        for name in tables():
            files = self.files_of(name)
            if not files:
                continue
            table = scan_parquet(files)
            if name == "scores":
                table = table.filter(pl.col("metric").is_in(metrics))
            with reading(self.path):
                write_table(name, table, folder / place(name))

    def drop_what_does_not_follow(self) -> None:
        """Delete blocks after a missing one, and a block that was being written."""
        whole = set(self.all())
        for entry in self.path.glob("*"):
            if entry not in whole:
                shutil.rmtree(entry)

    def drop(self) -> None:
        """Delete the blocks, which the finished tables now contain."""
        shutil.rmtree(self.path, ignore_errors=True)

    def files_of(self, name: str) -> list[Path]:
        """The files of a table, from the blocks that have it."""
        files = [part / f"{name}.parquet" for part in self.all()]
        return [file for file in files if file.is_file()]


def write_table(name: str, table: pl.LazyFrame, file: Path) -> None:
    """Write a table that may be larger than memory, completely or not at all."""
    unfinished = file.with_suffix(UNFINISHED)
    sink_parquet(table, unfinished, rows_at_once=ROWS_AT_ONCE.get(name, FEW_WORDS))
    unfinished.replace(file)


def _check_part(part: Path, number: int) -> None:
    _, form = read_signed(part / PART, BlockForm)
    if form.block != number:
        fault = Fault(str(part / PART), None, "block", str(number), str(form.block))
        raise DamagedRun([fault])
    for name in ("examples", "facets", "ledger", "scores"):
        if f"{name}.parquet" not in form.files:
            raise DamagedRun([Fault(str(part / PART), None, f"files.{name}", "a file", "none")])
    for file_name, noted in form.files.items():
        file = part / file_name
        check_file(file, noted)
        check_table(file, noted.rows, columns_of(file.stem))
    size = form.files["facets.parquet"].rows or 0
    examples = part / "examples.parquet"
    check_table(examples, size, columns_of("examples"))
    for name in tables():
        if f"{name}.parquet" in form.files:
            file = part / f"{name}.parquet"
            rows = collect(scan_parquet(file).select(looked_at(name)), file)
            check_rows(name, rows, file, examples, size)
    for file in part.iterdir():
        if file.name not in form.files and file.name != PART:
            raise DamagedRun([Fault(str(file), None, "", "no such file", "one")])
