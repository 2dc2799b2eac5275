"""Run files: reads and verifies the files of a finished run, and looks up fields of its examples.

A file must match its entry in ``run.json``, and its rows must be consistent with the run.
"""

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from ragstone.core.errors import DamagedRun, Fault, InputError
from ragstone.core.files import RunEntry
from ragstone.core.messages import argument, call
from ragstone.core.parquet import scan_parquet
from ragstone.data import Example
from ragstone.judgements import KINDS
from ragstone.run.settings import Several

from .checksums import (
    File,
    check_file,
    check_size,
    check_table,
    collect,
    fault_of,
    other_size,
    read_json,
    read_signed,
)
from .consistency import check_estimates, check_lists, check_rows, counted, looked_at
from .locks import place
from .schemas import Estimate, Manifest, ShardForm, columns_of, tables
from .shards import Shards

PLACES = ("slices", "meta", "labels")
"""Where ``Example.facet`` looks for them, in this order."""


def looked_up(
    read: Callable[[list[str]], pl.DataFrame], fields: Sequence[str]
) -> dict[str, pl.Series]:
    """The values of each field, null for an example that has none.

    Args:
        read: Reads these columns of all examples.
        fields: Names that are no columns of an example.
    """
    rows: Sequence[int] = range(read(["id"]).height) if fields else ()
    values: dict[str, list[str | None]] = {name: [None] * len(rows) for name in fields}
    left: dict[str, Sequence[int]] = dict.fromkeys(fields, rows)
    for column in PLACES:
        if not any(left.values()):
            break  # Labels may be much longer than all else.
        texts = read([column])[column].to_list()
        found = {text: json.loads(text) for text in dict.fromkeys(texts)}
        for name, open_rows in left.items():
            facets = {text: Example("", "", "", slices=said).facet(name)
                      for text, said in found.items() if name in said}  # fmt: skip
            for row in open_rows:
                values[name][row] = facets.get(texts[row])
            left[name] = [row for row in open_rows if texts[row] not in facets]
    return {name: pl.Series(name, texts, pl.String) for name, texts in values.items()}


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of a run, for reading."""

    path: Path
    _sound: set[str] = field(default_factory=set, repr=False, compare=False)
    """The tables that were found to be as they were written."""
    _written_at: dict[str, int] = field(default_factory=dict, repr=False, compare=False)
    """The tables that this process wrote, with the time, in nanoseconds since 1970."""
    _forms: list[Manifest] = field(default_factory=list, repr=False, compare=False)
    """What ``run.json`` says, once it was read."""
    _index: list[pl.DataFrame] = field(default_factory=list, repr=False, compare=False)
    """The shard of each example, once one was looked for."""
    _shards: list[Shards] = field(default_factory=list, repr=False, compare=False)

    @property
    def manifest(self) -> dict[str, Any]:
        """The content of ``run.json``; empty if there is none.

        Raises:
            DamagedRun: It is not what was written, or says what no run says.
        """
        file = self.path / RunEntry.MANIFEST
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

    @property
    def shards(self) -> Shards:
        """The tables of the finished run.

        Raises:
            DamagedRun: Their ledger is gone, or is not what was written.
        """
        if not self._shards:
            self._as_noted(
                lambda: check_file(self.path / RunEntry.SHARDS, self._expected(RunEntry.SHARDS))
            )
            self._shards.append(Shards(self.path))
        return self._shards[0]

    def table(self, name: str) -> Path:
        """The folder of a table of the finished run."""
        return self.path / place(name)

    def has(self, name: str) -> bool:
        """Whether the finished run has this table."""
        return self.form is not None and name in self.form.tables

    def finished(self, name: str, shards: Collection[int] | None = None) -> pl.LazyFrame:
        """A table of the finished run, after verifying it.

        Args:
            name: Of the table.
            shards: Those to read; None: all.

        Raises:
            DamagedRun: It is gone, or is not what was written.
        """
        if name not in self._sound:
            self._verify(name)
        if shards is None:
            return self.shards.scan(name)
        files = [self.shards.file(name, shard) for shard in sorted(shards)]
        there = [file for file in files if file.is_file()]
        return scan_parquet(there) if there else pl.LazyFrame(schema=columns_of(name))

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
                for form in self._forms_with(name):
                    file, noted = self.shards.file(name, form.shard), form.files[name]
                    check_size(file, noted)
                    check_table(file, noted.rows, columns_of(name))
            self._sound.add(name)

    def trust(self, names: Iterable[str]) -> None:
        """Take tables for what was written, as long as nobody writes to their files after now.

        For those that this process has just written itself.
        """
        self._written_at.update(dict.fromkeys(names, time.time_ns()))

    def _verify(self, name: str) -> None:
        """Verify the files of a table and their rows, one shard after the other."""
        with self._saying_all_faults():
            if not self._as_left(name):
                self._as_noted(lambda: self._check_table(name))
        self._sound.add(name)

    def _as_left(self, name: str) -> bool:
        """Whether this process wrote all files of a table, and nobody since."""
        at = self._written_at.get(name)
        if at is None:
            return False
        for form in self._forms_with(name):
            file = self.shards.file(name, form.shard)
            if other_size(file, form.files[name]) is not None or file.stat().st_mtime_ns > at:
                return False
        return True

    def _check_table(self, name: str) -> None:
        for form in self._forms_with(name):
            check_file(self.shards.file(name, form.shard), form.files[name])
        self._check_rows(name)

    def _check_rows(self, name: str, *, lists: bool = False) -> None:
        """Check that the rows of a table are consistent with the run, shard by shard."""
        # Before rows are read, of which there may be too many for the memory.
        total = sum(form.files[name].rows or 0 for form in self._forms_with(name))
        self._check_total(name, total)
        seen = list[pl.Series]()
        for form in self._forms_with(name):
            rows = self._fitting(name, form)
            if name == "examples":
                seen.append(rows["id"].hash())
            if lists and name == "examples":
                file = self.shards.file(name, form.shard)
                check_lists(collect(scan_parquet(file), file), file)
        if seen and (different := pl.concat(seen).n_unique()) < total:
            got = f"{total:,} rows of {different:,}"
            raise DamagedRun([Fault(str(self.table(name)), None, "id", "each once", got)])

    def _check_total(self, name: str, found: int) -> None:
        said = self._forms[0]
        for expected in (said.tables.get(name), counted(name, said)):
            if expected is not None and found != expected:
                fault = Fault(str(self.table(name)), None, "", f"{expected:,} rows", f"{found:,}")
                raise DamagedRun([fault])

    def _forms_with(self, name: str) -> Iterator[ShardForm]:
        """The shards that have a table."""
        return (form for form in self.shards.ledger if name in form.files)

    def _fitting(self, name: str, form: ShardForm) -> pl.DataFrame:
        """The rows of a shard, of the columns that are looked at."""
        file = self.shards.file(name, form.shard)
        try:
            check_table(file, form.files[name].rows or 0, columns_of(name))
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
        rows = collect(scan_parquet(file).select(looked_at(name)), file)
        examples = self.shards.file("examples", form.shard)
        check_rows(name, rows, file, examples, form.examples, self._forms[0].metrics)
        if "shard" in rows and (rows["shard"] != form.shard).any():
            raise DamagedRun([Fault(str(file), None, "shard", f"{form.shard}", "another")])
        return rows

    def read(
        self,
        name: str,
        *only: pl.Expr,
        columns: Sequence[str | pl.Expr] | None = None,
        shards: Collection[int] | None = None,
    ) -> pl.DataFrame:
        """The rows of a table of the finished run that meet these conditions.

        Args:
            name: Of the table.
            only: The conditions.
            columns: Those to read, or what is made of them; by default all.
            shards: Those to read; None: all.
        """
        chosen = self.finished(name, shards).filter(*only)
        with self._saying_all_faults():
            rows = collect(chosen if columns is None else chosen.select(columns), self.table(name))
            if name == "examples":
                check_lists(rows, self.table(name))
        return rows

    def shards_of(self, examples: Collection[str]) -> list[int]:
        """The shards in which these examples of the finished run lie."""
        if not self._index:
            # Without the texts, which take longer to read than all the rest.
            self._index.append(self.read("examples", columns=["id", "shard"]))
        asked = pl.Series(list(examples), dtype=pl.String)
        here = self._index[0].filter(pl.col("id").is_in(asked.implode()))
        return here["shard"].unique().sort().to_list()

    def estimates(self) -> list[Estimate]:
        """The reported numbers, after verifying the file.

        Raises:
            DamagedRun: They are gone, or are not what was written.
        """
        file = self.path / RunEntry.ESTIMATES

        def read() -> list[Estimate]:
            check_file(file, self._expected(RunEntry.ESTIMATES))
            return self._estimates()

        with self._saying_all_faults():
            return self._as_noted(read)

    def _estimates(self) -> list[Estimate]:
        file = self.path / RunEntry.ESTIMATES
        found = read_json(file, Several[Estimate])
        check_estimates(found, file, self._forms[0])
        return found

    def damage(self) -> list[Fault]:
        """The faults of all files of the finished run, each of which is read completely.

        Rows are checked only if all files match.
        """
        faults = [fault_of(self.path / at, file) for at, file in self._files.items()]
        found = [fault for fault in faults if fault is not None]
        if found or not self._files:
            return found
        try:
            for form in self.shards.ledger:
                for name, noted in form.files.items():
                    fault = fault_of(self.shards.file(name, form.shard), noted)
                    found += [] if fault is None else [fault]
        except DamagedRun as error:
            return list(error.faults)
        checks: list[Callable[[], object]] = [
            partial(self._check_rows, name, lists=True) for name in tables() if self.has(name)
        ]
        checks += [self._estimates] if RunEntry.ESTIMATES in self._files else []
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
            fault = Fault(
                str(self.path / RunEntry.MANIFEST), None, "files", f"a line for {place}", "none"
            )
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
            f"Move all but {RunEntry.JOURNAL} and {RunEntry.CORRECTIONS} out of {self.path}; the "
            "evaluate command that made the run then makes it anew, and pays for no reply twice."
        )

    def _forget(self) -> None:
        self._forms.clear()
        self._sound.clear()
        self._index.clear()
        self._shards.clear()

    @property
    def _files(self) -> Mapping[str, File]:
        return {} if self.form is None else self.form.files

    def _noted(self, place: str) -> File | None:
        return self._files.get(place)
