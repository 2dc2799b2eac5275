"""Run files: reads the files of a finished run, after verifying them.

A file must match its entry in ``run.json``, and its rows must be consistent with the run.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from ragstone.argument import argument, call
from ragstone.errors import DamagedRun, Fault, InputError
from ragstone.judgements import KINDS
from ragstone.parquet import scan_parquet

from .calls.entries import FILE as JOURNAL
from .estimate import Estimate
from .fitting import check_estimates, check_lists, check_rows, counted, looked_at
from .forms import Manifest, columns_of, tables
from .overrules.store import FILE as OVERRULES
from .places import ESTIMATES, MANIFEST, place
from .written import (
    File,
    Several,
    check_file,
    check_size,
    check_table,
    collect,
    fault_of,
    read_json,
    read_signed,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of a run, for reading."""

    path: Path
    _sound: set[str] = field(default_factory=set, repr=False, compare=False)
    """The tables that were found to be as they were written."""
    _forms: list[Manifest] = field(default_factory=list, repr=False, compare=False)
    """What ``run.json`` says, once it was read."""
    _index: list[pl.DataFrame] = field(default_factory=list, repr=False, compare=False)
    """The block of each example, once one was looked for."""

    @property
    def manifest(self) -> dict[str, Any]:
        """The content of ``run.json``; empty if there is none.

        Raises:
            DamagedRun: It is not what was written, or says what no run says.
        """
        file = self.path / MANIFEST
        if not file.exists() and not file.is_symlink():
            return {}
        try:
            content, form = read_signed(file, Manifest)
        except DamagedRun as error:
            raise DamagedRun(error.faults, hint=self._keep_the_journal) from error
        if self._forms != [form]:
            self._forget()
            self._forms.append(form)
        return content

    @property
    def form(self) -> Manifest | None:
        """The content of ``run.json`` as typed fields; None if there is none.

        Raises:
            DamagedRun: It is not what was written, or says what no run says.
        """
        if not self._forms:
            self.manifest  # noqa: B018
        return self._forms[0] if self._forms else None

    def table(self, name: str) -> Path:
        """The path of a table of the finished run."""
        return self.path / place(name)

    def has(self, name: str) -> bool:
        """Whether the finished run has this table."""
        return self._noted(place(name)) is not None

    def finished(self, name: str) -> pl.LazyFrame:
        """A table of the finished run, after verifying it.

        Raises:
            DamagedRun: It is gone, or is not what was written.
        """
        if name not in self._sound:
            self._checked(name, looked_at(name))
        return scan_parquet(self.table(name))

    def believe(self) -> None:
        """Check the size, columns and number of rows of each table, and read them from now on.

        ``damage`` says whether the rest is as it was written. Tables of kinds of a user's own are
        checked in full before they are read.

        Raises:
            DamagedRun: A table is gone, or is not what was written.
        """
        for name in tables():
            if not self.has(name) or (name in KINDS and not KINDS[name].built_in):
                continue
            with self._saying_all_faults():
                noted = self._expected(place(name))
                check_size(self.table(name), noted)
                check_table(self.table(name), noted.rows, columns_of(name))
            self._sound.add(name)

    def _checked(self, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """All rows of a table, after verifying its file and its rows."""

        def read() -> pl.DataFrame:
            check_file(self.table(name), self._expected(place(name)))
            return self._fitting(name, columns)

        with self._saying_all_faults():
            rows = self._as_noted(read)
        self._sound.add(name)
        return rows

    def _fitting(self, name: str, columns: Sequence[str] | None) -> pl.DataFrame:
        file, noted, said = self.table(name), self._expected(place(name)), self._forms[0]
        try:
            check_table(file, noted.rows, columns_of(name))
        except DamagedRun as error:
            if name not in KINDS or KINDS[name].built_in:
                raise
            # Its checksum is right, so the table is what was written.
            lines = [
                f"{name}, a kind of your own, was another when the run judged it:",
                *(f"  {fault.text}" for fault in error.faults),
                "Load it as it was then, or evaluate again into another folder.",
            ]
            raise InputError("\n".join(lines)) from error
        check_table(file, counted(name, said), {})
        table = scan_parquet(file)
        rows = collect(table if columns is None else table.select(columns), file)
        check_rows(name, rows, file, self.table("examples"), said.data.examples, said.metrics)
        return rows

    def _check_rows(self, name: str) -> None:
        """Check that a table is consistent with the run, and lists of examples block by block."""
        self._fitting(name, looked_at(name))
        if name != "examples":
            return
        file = self.table(name)
        table = scan_parquet(file)
        for number in collect(table.select(pl.col("block").unique()), file)["block"]:
            check_lists(collect(table.filter(pl.col("block") == number), file), file)

    def read(
        self, name: str, *only: pl.Expr, columns: Sequence[str | pl.Expr] | None = None
    ) -> pl.DataFrame:
        """The rows of a table of the finished run that meet these conditions.

        Args:
            name: Of the table.
            only: The conditions.
            columns: Those to read, or what is made of them; by default all.
        """
        if only or columns is not None or name in self._sound:
            chosen = self.finished(name).filter(*only)
            rows = collect(chosen if columns is None else chosen.select(columns), self.table(name))
        else:
            rows = self._checked(name)
        if name == "examples":
            with self._saying_all_faults():
                check_lists(rows, self.table(name))
        return rows

    def blocks_of(self, examples: Collection[str]) -> pl.Series:
        """The blocks in which these examples of the finished run lie."""
        if not self._index:
            # Without the texts, which take longer to read than all the rest.
            self._index.append(self.read("examples", columns=["id", "block"]))
        asked = pl.Series(list(examples), dtype=pl.String)
        return self._index[0].filter(pl.col("id").is_in(asked.implode()))["block"]

    def estimates(self) -> list[Estimate]:
        """The reported numbers, after verifying the file.

        Raises:
            DamagedRun: They are gone, or are not what was written.
        """
        file = self.path / ESTIMATES

        def read() -> list[Estimate]:
            check_file(file, self._expected(ESTIMATES))
            return self._estimates()

        with self._saying_all_faults():
            return self._as_noted(read)

    def _estimates(self) -> list[Estimate]:
        file = self.path / ESTIMATES
        found = read_json(file, Several[Estimate])
        check_estimates(found, file, self._forms[0])
        return found

    def damage(self) -> list[Fault]:
        """The faults of all files of the finished run, each of which is read completely.

        Rows are checked only if all files match.
        """
        files = self._files
        faults = [fault_of(self.path / at, file) for at, file in files.items()]
        found = [fault for fault in faults if fault is not None]
        checks: list[Callable[[], object]] = [
            partial(self._check_rows, name) for name in tables() if place(name) in files
        ]
        checks += [self._estimates] if ESTIMATES in files else []
        for check in () if found else checks:
            try:
                check()
            except DamagedRun as error:
                found += error.faults
        return found

    def _as_noted(self, read: Callable[[], T]) -> T:
        """Retry a read if ``run.json`` was replaced meanwhile, as ``score`` does."""
        try:
            return read()
        except DamagedRun:
            before = dict(self._files)
            self.manifest  # noqa: B018
            if before == self._files:
                raise
            return read()

    def _expected(self, place: str) -> File:
        noted = self._noted(place)
        if noted is None:
            fault = Fault(str(self.path / MANIFEST), None, "files", f"a line for {place}", "none")
            raise DamagedRun([fault])
        return noted

    @contextmanager
    def _saying_all_faults(self) -> Iterator[None]:
        """If a file is damaged, raise an error that lists all damaged files and says what to do."""
        try:
            yield
        except DamagedRun as error:
            raise DamagedRun(self.damage() or error.faults, hint=self.made_anew) from error

    @property
    def made_anew(self) -> str:
        """How damaged files are made anew."""
        return (
            "The evaluate command that made the run makes it anew; where only scores and estimates "
            f"are damaged, {call('rescore', argument('run', self.path))} does."
        )

    @property
    def _keep_the_journal(self) -> str:
        return (
            f"Move all but {JOURNAL} and {OVERRULES} out of {self.path}; the evaluate command that "
            "made the run then makes it anew, and pays for no reply twice."
        )

    def _forget(self) -> None:
        self._forms.clear()
        self._sound.clear()
        self._index.clear()

    @property
    def _files(self) -> Mapping[str, File]:
        return {} if self.form is None else self.form.files

    def _noted(self, place: str) -> File | None:
        return self._files.get(place)
