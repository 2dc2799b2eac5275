"""Run files: reads and verifies the files of a finished run, and looks up fields of its examples.

A file must match its entry in ``run.json`` or in the ledger of shards.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from ragstone.core.errors import DamagedRun, Fault, InputError
from ragstone.core.files import RunEntry
from ragstone.core.messages import argument, call
from ragstone.data import Example
from ragstone.judgements import KINDS
from ragstone.run.settings import Several

from .checksums import File, check_file, check_table, collect, fault_of, read_json, read_signed
from .schemas import Estimate, Manifest, columns_of, place, tables
from .shards import Shards, scan_table

# Fields in which ``Example.facet`` looks, in this order.
PLACES = ("slices", "meta", "labels")


def looked_up(
    read: Callable[[list[str]], pl.DataFrame], fields: Sequence[str]
) -> dict[str, pl.Series]:
    """The values of each field, null for an example that has none."""
    rows: Sequence[int] = range(read(["id"]).height) if fields else ()
    values: dict[str, list[str | None]] = {name: [None] * len(rows) for name in fields}
    left: dict[str, Sequence[int]] = dict.fromkeys(fields, rows)
    for column in PLACES:
        if not any(left.values()):
            break  # Labels may be much longer than all else.
        texts = read([column])[column].to_list()
        parsed = {text: json.loads(text) for text in dict.fromkeys(texts)}
        for name, open_rows in left.items():
            facets = {text: Example("", "", "", slices=fields_of).facet(name)
                      for text, fields_of in parsed.items() if name in fields_of}  # fmt: skip
            for row in open_rows:
                values[name][row] = facets.get(texts[row])
            left[name] = [row for row in open_rows if texts[row] not in facets]
    return {name: pl.Series(name, texts, pl.String) for name, texts in values.items()}


T = TypeVar("T")


def _check_columns(name: str, file: Path, noted: File) -> None:
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


class RunFiles:
    """The files of a run, for reading."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self._form: Manifest | None = None
        self._verified: set[str] = set()
        self._shard_of_example: pl.DataFrame | None = None
        self._shards: Shards | None = None

    @property
    def manifest(self) -> dict[str, Any]:
        """The content of ``run.json``; empty if there is none."""
        file = self.path / RunEntry.MANIFEST
        if not file.exists() and not file.is_symlink():
            return {}
        try:
            content, form = read_signed(file, Manifest)
        except DamagedRun as error:
            hint = (
                f"Move all but {RunEntry.JOURNAL} and {RunEntry.CORRECTIONS} out of {self.path}; "
                "the evaluate command that made the run then makes it anew, and pays for no reply "
                "twice."
            )
            raise DamagedRun(error.faults, hint=hint) from error
        if self._form != form:
            self._forget()
            self._form = form
        return content

    @property
    def form(self) -> Manifest | None:
        """The content of ``run.json`` as typed fields; None if there is none."""
        if self._form is None:
            self.manifest  # noqa: B018
        return self._form

    @property
    def shards(self) -> Shards:
        if self._shards is None:
            self._as_noted(lambda: self._check_file(RunEntry.SHARDS))
            self._shards = Shards(self.path)
        return self._shards

    def table(self, name: str) -> Path:
        return self.path / place(name)

    def has(self, name: str) -> bool:
        return self.form is not None and name in self.form.tables

    def finished(self, name: str, shards: Collection[int] | None = None) -> pl.LazyFrame:
        """A table of the finished run, after verifying it."""
        if name not in self._verified:
            with self._saying_all_faults():
                self._as_noted(lambda: self._check_table(name))
            self._verified.add(name)
        if shards is None:
            return self.shards.scan(name)
        files = [self.shards.file(name, shard) for shard in sorted(shards)]
        existing = [file for file in files if file.is_file()]
        return scan_table(name, existing) if existing else pl.LazyFrame(schema=columns_of(name))

    def believe(self) -> None:
        """Check the size, columns and number of rows of each table, and read them from now on.

        ``damage`` says whether the rest is as it was written. Tables of kinds of a user's own are
        checked in full before they are read.
        """
        for name in tables():
            if not self.has(name) or (name in KINDS and not KINDS[name].built_in):
                continue
            with self._saying_all_faults():
                for file, noted in self._files_of(name):
                    check_file(file, noted, size_alone=True)
                    check_table(file, noted.rows, columns_of(name))
            self._verified.add(name)

    def _files_of(self, name: str) -> Iterator[tuple[Path, File]]:
        for shard in self.shards.ledger:
            if name in shard.files:
                yield self.shards.file(name, shard.shard), shard.files[name]

    def _check_table(self, name: str) -> None:
        for file, noted in self._files_of(name):
            check_file(file, noted)
            _check_columns(name, file, noted)

    def read(
        self, name: str, *only: pl.Expr, columns: Sequence[str | pl.Expr] | None = None,
        shards: Collection[int] | None = None,
    ) -> pl.DataFrame:  # fmt: skip
        """The rows of a table of the finished run that meet these conditions."""
        chosen = self.finished(name, shards).filter(*only)
        with self._saying_all_faults():
            return collect(chosen if columns is None else chosen.select(columns), self.table(name))

    def shards_of(self, examples: Collection[str]) -> list[int]:
        if self._shard_of_example is None:
            # Without the texts, which take longer to read than all the rest.
            self._shard_of_example = self.read("examples", columns=["id", "shard"])
        ids = pl.Series(list(examples), dtype=pl.String)
        rows = self._shard_of_example.filter(pl.col("id").is_in(ids.implode()))
        return rows["shard"].unique().sort().to_list()

    def estimates(self) -> list[Estimate]:
        """Return the reported numbers, after verifying the file."""
        with self._saying_all_faults():
            self._as_noted(lambda: self._check_file(RunEntry.ESTIMATES))
            return read_json(self.path / RunEntry.ESTIMATES, Several[Estimate])

    def damage(self) -> list[Fault]:
        """Return the faults of all files of the finished run, each of which is read completely.

        Columns are checked only if all files match.
        """
        faults = [fault_of(self.path / name, file) for name, file in self._files.items()]
        if any(faults) or not self._files:
            return [fault for fault in faults if fault is not None]
        try:
            files = [
                (name, self.shards.file(name, shard.shard), noted)
                for shard in self.shards.ledger
                for name, noted in shard.files.items()
            ]
        except DamagedRun as error:
            return list(error.faults)
        damaged = [fault for _, file, noted in files if (fault := fault_of(file, noted))]
        for name, file, noted in () if damaged else files:
            try:
                _check_columns(name, file, noted)
            except DamagedRun as error:
                damaged += error.faults
        return damaged

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

    def _check_file(self, name: str) -> None:
        noted = self._files.get(name)
        if noted is None:
            manifest = str(self.path / RunEntry.MANIFEST)
            raise DamagedRun([Fault(manifest, None, "files", f"a line for {name}", "none")])
        check_file(self.path / name, noted)

    @contextmanager
    def _saying_all_faults(self) -> Iterator[None]:
        """If a file is damaged, raise an error that lists all damaged files and the remedy."""
        try:
            yield
        except DamagedRun as error:
            raise DamagedRun(self.damage() or error.faults, hint=self.made_anew) from error

    @property
    def made_anew(self) -> str:
        """The remedy for damaged files."""
        return (
            "The evaluate command that made the run makes it anew; where only scores and estimates "
            f"are damaged, {call('rescore', argument('run', self.path))} does."
        )

    @property
    def _files(self) -> Mapping[str, File]:
        return {} if self.form is None else self.form.files
