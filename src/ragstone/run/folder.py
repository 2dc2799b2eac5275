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
"""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import Any, TextIO

import polars as pl

from ragstone.errors import InputError, RunConflict
from ragstone.judgements import KINDS
from ragstone.parquet import scan_parquet, sink_parquet, write_parquet

from .calls.entries import FILE as JOURNAL

MANIFEST = "run.json"
PARTS = "parts"
LOCK = ".lock"
ROWS_AT_ONCE = 20_000
"""Of a table that is being put together; more would be faster and take more memory."""
TABLES = ("examples", "scores", "ledger", *KINDS)


@dataclass(frozen=True, slots=True)
class Folder:
    """A run's folder on disk."""

    path: Path

    @property
    def manifest(self) -> dict[str, Any]:
        """What ``run.json`` says; empty where there is none."""
        file = self.path / MANIFEST
        if not file.is_file():
            return {}
        try:
            return dict(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise InputError(f"{file} cannot be read: {error}. Is {self.path} a run?") from error

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace ``run.json``, whole or not at all."""
        write_json(self.path / MANIFEST, manifest)

    def prepare(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a run in the folder, or go on with the one it holds.

        Returns:
            The manifest of the run to go on with; empty for a new one.

        Raises:
            RunConflict: It holds something else, or a run of other data or
                settings; says which differ.
        """
        held = self.manifest
        if not held:
            if any(not _before_a_run(entry) for entry in self.path.iterdir()):
                raise RunConflict(
                    f"{self.path} is not empty and holds no run. Name another folder with --out."
                )
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
            RunConflict: Another process holds it.
        """
        if self.path.exists() and not self.path.is_dir():
            raise RunConflict(f"{self.path} is a file. Name a folder with --out.")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise RunConflict(f"{self.path} lies in a file. Name a folder with --out.") from error
        with (self.path / LOCK).open("w") as handle:
            try:
                _lock(handle)
            except OSError as error:
                raise RunConflict(
                    f"Another run is writing into {self.path}. Wait for it, or name another "
                    "folder with --out."
                ) from error
            yield

    def table(self, name: str) -> Path:
        """Where a table lies in the finished run."""
        if name in KINDS or name == "ledger":
            return self.path / "judgements" / f"{name}.parquet"
        return self.path / f"{name}.parquet"

    def finished(self, name: str) -> pl.LazyFrame:
        """A table of the finished run.

        Raises:
            InputError: It is not there, or cannot be read.
        """
        try:
            table = scan_parquet(self.table(name))
            table.collect_schema()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InputError(
                f"{self.table(name)} is gone or damaged. Delete {self.path}, and the same evaluate "
                "command makes it anew."
            ) from error
        return table

    def parts(self) -> list[Path]:
        """The finished blocks, in order, up to the first that is not there."""
        folder = self.path / PARTS
        numbered = (folder / f"{number:06d}" for number in count())
        return list(takewhile(Path.is_dir, numbered))

    def begin_again(self) -> None:
        """Go through a finished run once more; its journal answers what has been answered.

        Its tables and numbers stay until the new ones are there.
        """
        self.drop_parts()
        (self.path / PARTS).mkdir()

    def add_part(self, number: int, tables: Mapping[str, pl.DataFrame]) -> None:
        """Keep a finished block: whole or not at all."""
        final = self.path / PARTS / f"{number:06d}"
        unfinished = final.with_suffix(".unfinished")
        unfinished.mkdir(parents=True)
        for name, frame in tables.items():
            write_parquet(frame, unfinished / f"{name}.parquet")
        unfinished.rename(final)

    def scan(self, name: str) -> pl.LazyFrame:
        """A table over the finished blocks."""
        return scan_parquet(self._part_files(name))

    def join_parts(self, metrics: Sequence[str]) -> None:
        """Put the blocks' tables together, with the scores of these metrics."""
        (self.path / "judgements").mkdir(exist_ok=True)
        for name in TABLES:
            files = self._part_files(name)
            if not files:
                continue
            table = scan_parquet(files)
            if name == "scores":
                table = table.filter(pl.col("metric").is_in(metrics))
            unfinished = self.table(name).with_suffix(".unfinished")
            sink_parquet(table, unfinished, rows_at_once=ROWS_AT_ONCE)
            unfinished.replace(self.table(name))

    def replace_asks(self, name: str, asks: Sequence[str], other: "Folder") -> None:
        """In a finished table of judgements, what another folder says of these asks."""
        tables = [self.table(name), other.table(name)]
        parts = [scan_parquet(table) for table in tables if table.is_file()]
        if tables[0].is_file():
            parts[0] = parts[0].filter(pl.col("ask").is_in(asks).not_())
        if parts:
            unfinished = tables[0].with_suffix(".unfinished")
            sink_parquet(pl.concat(parts), unfinished, rows_at_once=ROWS_AT_ONCE)
            unfinished.replace(tables[0])

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


def _before_a_run(entry: Path) -> bool:
    """What may lie in a folder whose run was stopped before it began."""
    return entry.name == LOCK or entry.name.startswith(JOURNAL)


def _lock(handle: TextIO) -> None:
    """Lock a file or raise OSError; where the system has no such locks, nothing is held."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines; no file where there are none."""
    path.unlink(missing_ok=True)
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    if lines:
        path.write_text("".join(lines), encoding="utf-8")


def write_json(path: Path, content: object) -> None:
    """Write JSON, whole or not at all; a number that is none is an error."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(path)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 70 else text[:67] + "…"
