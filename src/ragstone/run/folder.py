"""Folder: where a run keeps everything, block by block until it is whole.

    RUN/run.json                   manifest: settings, data, judges, timings
    RUN/journal.sqlite             every question to a model and every reply, with cost
    RUN/examples.parquet           the examples, with the block each came in
    RUN/judgements/KIND.parquet    who said what
    RUN/judgements/ledger.parquet  how each ask came out for each example
    RUN/scores.parquet             one row a metric an example
    RUN/estimates.json             the reported numbers
    RUN/rejected.jsonl             records left out by --skip-bad, and why
    RUN/label_violations.jsonl     labels that break a hard rule
    RUN/label_ties.jsonl           labels on which annotators are split, left open

While a run is under way its finished blocks lie in ``RUN/parts``; a block is
there whole or not at all, so a run that was stopped goes on behind the last.

Each file is read only if it is as ``run.json``, or ``part.json`` of its block, says.
"""

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count, takewhile
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from ragstone.errors import DamagedRun, Fault, RunConflict
from ragstone.judgements import KINDS
from ragstone.parquet import scan_parquet, sink_parquet, write_parquet

from .calls.entries import FILE as JOURNAL
from .estimate import Estimate
from .fitting import check_estimates, check_lists, check_rows, counted, looked_at
from .forms import BlockForm, Manifest, columns_of, tables
from .written import (
    File,
    Several,
    check_file,
    check_table,
    collect,
    described,
    fault_of,
    read_json,
    read_signed,
    reading,
    signed,
)

T = TypeVar("T")

MANIFEST = "run.json"
ESTIMATES = "estimates.json"
PART = "part.json"
PARTS = "parts"
READY = "rescored.ready"
"""Where all new files of a run lie whole, before they take the place of the old ones."""

LOCK = ".lock"
UNFINISHED = ".unfinished"
ROWS_AT_ONCE = 20_000
"""Of a table that is being put together; more would be faster and take more memory."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A run's folder on disk."""

    path: Path
    _sound: set[str] = field(default_factory=set, repr=False, compare=False)
    """The tables that were found to be as they were written."""
    _forms: list[Manifest] = field(default_factory=list, repr=False, compare=False)
    """What ``run.json`` says, once it was read."""

    @property
    def manifest(self) -> dict[str, Any]:
        """What ``run.json`` says; empty where there is none.

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
        self._forget()
        self._forms.append(form)
        return content

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace ``run.json``, whole or not at all; that of a finished run notes every file."""
        files = self._described() if manifest["finished"] else {}
        write_json(self.path / MANIFEST, signed({**manifest, "files": files}))
        self._forget()

    def _forget(self) -> None:
        self._forms.clear()
        self._sound.clear()

    @property
    def _form(self) -> Manifest | None:
        if not self._forms:
            self.manifest  # noqa: B018
        return self._forms[0] if self._forms else None

    @property
    def _files(self) -> Mapping[str, File]:
        return {} if self._form is None else self._form.files

    def _noted(self, place: str) -> File | None:
        return self._files.get(place)

    def _described(self) -> dict[str, Any]:
        return {
            place: described(file) for place in places() if (file := self.path / place).is_file()
        }

    def prepare(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a run in the folder, or go on with the one it holds.

        Returns:
            The manifest of the run to go on with; empty for a new one.

        Raises:
            RunConflict: It holds something else, or a run of other data or
                settings; says which differ.
        """
        self.settle()
        held = self.manifest
        if not held:
            (self.path / PARTS).mkdir(parents=True, exist_ok=True)
            return {}
        theirs = held.get("settings", {})
        differing = [name for name in settings if theirs.get(name) != settings[name]]
        if differing:
            lines = [
                f"  {name}: there {_short(theirs.get(name))}, now {_short(settings[name])}"
                for name in differing
            ]
            raise RunConflict(
                "\n".join(
                    [
                        f"{self.path} holds a run of other {', '.join(differing)}.",
                        *lines,
                        "Name another folder with --out, or delete this one.",
                    ]
                )
            )
        self._drop_what_does_not_follow()
        return held

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder against another process that would write into it.

        Raises:
            RunConflict: Another process holds it, or it is no folder of a run; nothing is made
                in it then.
        """
        if self.path.exists() and not self.path.is_dir():
            raise RunConflict(f"{self.path} is a file. Name a folder with --out.")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise RunConflict(f"{self.path} lies in a file. Name a folder with --out.") from error
        ours = any((self.path / name).exists() for name in (MANIFEST, READY))
        if not ours and any(not _before_a_run(entry) for entry in self.path.iterdir()):
            raise RunConflict(
                f"{self.path} is not empty and holds no run. Name another folder with --out."
            )
        descriptor = _opened(self.path / LOCK)
        try:
            if not _lock(descriptor):
                raise RunConflict(
                    f"Another run is writing into {self.path}. Wait for it, or name another "
                    "folder with --out."
                )
            yield
        finally:
            os.close(descriptor)

    def table(self, name: str) -> Path:
        """Where a table lies in the finished run."""
        return self.path / _place(name)

    def has(self, name: str) -> bool:
        """Whether the finished run has this table."""
        return self._noted(_place(name)) is not None

    def finished(self, name: str) -> pl.LazyFrame:
        """A table of the finished run, as it was written.

        Raises:
            DamagedRun: It is gone, or is not what was written.
        """
        if name not in self._sound:
            self._checked(name, looked_at(name))
        return scan_parquet(self.table(name))

    def _checked(self, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """All rows of a table, held to what was written and to what a run writes."""

        def read() -> pl.DataFrame:
            check_file(self.table(name), self._expected(_place(name)))
            return self._fitting(name, columns)

        with self._saying_all_faults():
            rows = self._as_noted(read)
        self._sound.add(name)
        return rows

    def _fitting(self, name: str, columns: Sequence[str] | None) -> pl.DataFrame:
        file, noted, said = self.table(name), self._expected(_place(name)), self._forms[0]
        check_table(file, noted.rows, columns_of(name))
        check_table(file, counted(name, said), {})
        table = scan_parquet(file)
        rows = collect(table if columns is None else table.select(columns), file)
        check_rows(name, rows, file, self.table("examples"), said.examples, said.metrics)
        return rows

    def _check_rows(self, name: str) -> None:
        """Hold a table to what a run writes, the lists of examples too, block by block."""
        self._fitting(name, looked_at(name))
        if name != "examples":
            return
        file = self.table(name)
        table = scan_parquet(file)
        for number in collect(table.select(pl.col("block").unique()), file)["block"]:
            check_lists(collect(table.filter(pl.col("block") == number), file), file)

    def read(self, name: str, *only: pl.Expr, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """The rows of a table of the finished run that meet these conditions.

        Args:
            name: Of the table.
            only: The conditions.
            columns: Those to read; by default all.
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

    def estimates(self) -> list[Estimate]:
        """The reported numbers, as they were written.

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
        """Every file of the finished run that is not what was written; each is read whole.

        Only where all files are, the rows of tables that no run writes.
        """
        files = self._files
        faults = [fault_of(self.path / place, file) for place, file in files.items()]
        found = [fault for fault in faults if fault is not None]
        checks: list[Callable[[], object]] = [
            partial(self._check_rows, name) for name in tables() if _place(name) in files
        ]
        checks += [self._estimates] if ESTIMATES in files else []
        for check in () if found else checks:
            try:
                check()
            except DamagedRun as error:
                found += error.faults
        return found

    def _as_noted(self, read: Callable[[], T]) -> T:
        """Read once more where ``run.json`` was written anew meanwhile, as ``score`` does."""
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
        """Where a file is damaged, every one that is, and what to do."""
        try:
            yield
        except DamagedRun as error:
            raise DamagedRun(self.damage() or error.faults, hint=self._made_anew) from error

    @property
    def _made_anew(self) -> str:
        return (
            "The evaluate command that made the run makes it anew; where only scores and estimates "
            f"are damaged, ragstone score {self.path} does."
        )

    @property
    def _keep_the_journal(self) -> str:
        return (
            f"Move all but {JOURNAL} out of {self.path}; the evaluate command that made the run "
            "then makes it anew, and pays for no reply twice."
        )

    def parts(self) -> list[Path]:
        """The finished blocks, in order, up to the first that is not there."""
        folder = self.path / PARTS
        numbered = (folder / f"{number:06d}" for number in count())
        return list(takewhile(Path.is_dir, numbered))

    def checked_parts(self) -> list[Path]:
        """The finished blocks, each of them as it was written.

        Raises:
            DamagedRun: One of them is not.
        """
        parts = self.parts()
        for number, part in enumerate(parts):
            try:
                _check_part(part, number)
            except DamagedRun as error:
                hint = f"Delete {part}: the same command judges its examples again."
                raise DamagedRun(error.faults, hint=hint) from error
        return parts

    def begin_again(self) -> None:
        """Go through a finished run once more; its journal answers what has been answered.

        Its tables and numbers stay until the new ones are there.
        """
        self.drop_parts()
        (self.path / PARTS).mkdir()

    def add_part(self, number: int, tables: Mapping[str, pl.DataFrame]) -> None:
        """Keep a finished block: whole or not at all."""
        final = self.path / PARTS / f"{number:06d}"
        unfinished = final.with_suffix(UNFINISHED)
        unfinished.mkdir(parents=True)
        for name, frame in tables.items():
            write_parquet(frame, unfinished / f"{name}.parquet")
        files = {file.name: described(file) for file in sorted(unfinished.iterdir())}
        write_json(unfinished / PART, signed({"block": number, "files": files}))
        unfinished.rename(final)

    def scan(self, name: str) -> pl.LazyFrame:
        """A table over the finished blocks."""
        return scan_parquet(self._part_files(name))

    def join_parts(self, metrics: Sequence[str]) -> None:
        """Put the blocks' tables together, with the scores of these metrics."""
        (self.path / "judgements").mkdir(exist_ok=True)
        for name in tables():
            files = self._part_files(name)
            if not files:
                continue
            table = scan_parquet(files)
            if name == "scores":
                table = table.filter(pl.col("metric").is_in(metrics))
            unfinished = self.table(name).with_suffix(UNFINISHED)
            with reading(self.path / PARTS):
                sink_parquet(table, unfinished, rows_at_once=ROWS_AT_ONCE)
            unfinished.replace(self.table(name))

    def add_other_asks(self, name: str, asks: Sequence[str], other: "Folder") -> None:
        """To a new table of judgements, what the finished run says of other asks than these."""
        tables = [scan_parquet(self.table(name))] if self.table(name).is_file() else []
        if other.has(name):
            tables.insert(0, other.finished(name).filter(pl.col("ask").is_in(asks).not_()))
        if tables:
            unfinished = self.table(name).with_suffix(UNFINISHED)
            with reading(other.path):
                sink_parquet(pl.concat(tables), unfinished, rows_at_once=ROWS_AT_ONCE)
            unfinished.replace(self.table(name))

    def take_over(self, fresh: "Folder") -> None:
        """Put all files of a folder in place of this one's; ``settle`` ends it if it is stopped."""
        files = {**self.manifest["files"], **fresh._described()}
        write_json(fresh.path / MANIFEST, signed({**fresh.manifest, "files": files}))
        fresh.path.rename(self.path / READY)
        self.settle()

    def settle(self) -> None:
        """Put what lies ready in its place, ``run.json`` last."""
        ready = self.path / READY
        if not ready.is_dir():
            return
        (self.path / "judgements").mkdir(exist_ok=True)
        for place in (*places(), MANIFEST):
            if (ready / place).is_file():
                (ready / place).replace(self.path / place)
        shutil.rmtree(ready)
        self._sound.clear()

    def _drop_what_does_not_follow(self) -> None:
        """Blocks behind a hole, and what was being written when the run was stopped."""
        whole = set(self.parts())
        for entry in (self.path / PARTS).glob("*"):
            if entry not in whole:
                shutil.rmtree(entry)

    def drop_parts(self) -> None:
        """Remove the blocks, which the finished tables hold now."""
        shutil.rmtree(self.path / PARTS, ignore_errors=True)

    def _part_files(self, name: str) -> list[Path]:
        files = [part / f"{name}.parquet" for part in self.parts()]
        return [file for file in files if file.is_file()]

    def drop(self, *, keep_folder: bool = False) -> None:
        """Remove the folder; or only what an unfinished run put into it."""
        if not keep_folder:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        (self.path / MANIFEST).unlink(missing_ok=True)
        for entry in self.path.glob(f"{JOURNAL}*"):
            entry.unlink()
        self.drop_parts()


def _place(name: str) -> str:
    """Where a table lies in a run's folder."""
    return f"judgements/{name}.parquet" if name == "ledger" or name in KINDS else f"{name}.parquet"


def places() -> tuple[str, ...]:
    """Every file that ``run.json`` speaks for."""
    return (*map(_place, tables()), ESTIMATES)


def _check_part(part: Path, number: int) -> None:
    _, form = read_signed(part / PART, BlockForm)
    if form.block != number:
        fault = Fault(str(part / PART), None, "block", str(number), str(form.block))
        raise DamagedRun([fault])
    for name in ("examples", "facets", "ledger", "scores"):
        if f"{name}.parquet" not in form.files:
            raise DamagedRun([Fault(str(part / PART), None, f"files.{name}", "a file", "none")])
    for place, noted in form.files.items():
        check_file(part / place, noted)
        check_table(part / place, noted.rows, columns_of(Path(place).stem))
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


def _before_a_run(entry: Path) -> bool:
    """What may lie in a folder whose run was stopped before it began."""
    if entry.name == PARTS:
        return entry.is_dir() and not entry.is_symlink() and not any(entry.iterdir())
    return entry.name in (LOCK, MANIFEST + UNFINISHED) or entry.name.startswith(JOURNAL)


def _opened(lock: Path) -> int:
    """The lock's descriptor; what lies there is never emptied, and a link is not followed."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(lock, flags, 0o600)
    except OSError as error:
        if not lock.is_symlink() and not lock.is_dir():
            raise
        raise RunConflict(f"{lock} is no file, but a link or a folder: {_NOT_OURS}") from error
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise RunConflict(f"{lock} is no plain file: {_NOT_OURS}")


_NOT_OURS = "no run made it. Delete it, or name another folder with --out."


def _lock(descriptor: int) -> bool:
    """Whether the file is locked now; where the system has no such locks, nothing is held."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines; no file where there are none."""
    path.unlink(missing_ok=True)
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    if lines:
        path.write_text("".join(lines), encoding="utf-8")


def write_json(path: Path, content: object) -> None:
    """Write JSON, whole or not at all; a number that is none is an error."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    unfinished = path.with_name(path.name + UNFINISHED)
    unfinished.unlink(missing_ok=True)
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(path)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 70 else text[:67] + "…"
