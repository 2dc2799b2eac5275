"""Folder: the folder of a run, written block by block.

    RUN/run.json                   manifest: settings, data, judges, timings
    RUN/journal.sqlite             every question to a model and every reply, with cost
    RUN/examples.parquet           the examples, with the block each came in
    RUN/judgements/KIND.parquet    who said what
    RUN/judgements/ledger.parquet  how each ask came out for each example
    RUN/scores.parquet             one row per metric and example
    RUN/estimates.json             the reported numbers
    RUN/rejected.jsonl             records left out with skip_bad, and why
    RUN/label_violations.jsonl     labels that break a hard rule
    RUN/label_ties.jsonl           labels on which annotators are split, left open
    RUN/progress.json              how far a run is that goes on

The finished blocks of an unfinished run are in ``RUN/parts``. A block is written completely or not
at all, so an interrupted run is resumed after the last one.

A file is read only if it matches its entry in ``run.json``, or in ``part.json`` of its block.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import polars as pl

from ragstone.errors import RunConflict
from ragstone.parquet import scan_parquet

from .calls.entries import FILE as JOURNAL
from .forms import Manifest
from .heartbeat import FILE as HEARTBEAT
from .lock import OUT, locked
from .parts import Parts, write_table
from .places import MANIFEST, PARTS, READY, places
from .run_files import RunFiles
from .settings import RunSettings
from .written import described, reading, signed, write_json


class Folder(RunFiles):
    """A run's folder, for writing and reading."""

    __slots__ = ()

    @property
    def parts(self) -> Parts:
        """The finished blocks of an unfinished run."""
        return Parts(self.path / PARTS)

    def locked(self) -> AbstractContextManager[None]:
        """Lock the folder against other processes that would write to it.

        Raises:
            RunConflict: Another process holds the lock, or this is not the folder of a run, in
                which case nothing is created in it.
        """
        return locked(self.path)

    def prepare(self, settings: RunSettings) -> Manifest | None:
        """Start a run in the folder, or resume the one it holds.

        Returns:
            The manifest of the run to resume; None for a new one.

        Raises:
            RunConflict: It holds something else, or a run with other data or
                settings; says which differ.
        """
        self.settle()
        held = self.form
        if held is None:
            self.parts.make()
            return None
        theirs, ours = held.settings.to_dict(), settings.to_dict()
        differing = {
            name: _differing(theirs.get(name), ours[name])
            for name in ours
            if theirs.get(name) != ours[name]
        }
        if differing:
            lines = [
                f"{self.path} holds a run with different {', '.join(differing)}.",
                *(
                    f"  {name}: there {_short(there)}, now {_short(now)}"
                    for name, (there, now) in differing.items()
                ),
                f"Name another folder with {OUT}, or delete this one.",
            ]
            raise RunConflict("\n".join(lines), differing=differing)
        self.parts.drop_what_does_not_follow()
        return held

    def begin_again(self) -> None:
        """Prepare to repeat a finished run; questions answered before come from its journal.

        Its tables and numbers stay until the new ones are complete.
        """
        self.parts.drop()
        self.parts.make()

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace ``run.json`` atomically; that of a finished run lists every file."""
        files = self._described() if manifest["finished"] else {}
        write_json(self.path / MANIFEST, signed({**manifest, "files": files}))
        self._forget()

    def add_other_asks(self, name: str, asks: Sequence[str], other: "Folder") -> None:
        """Add to a new table of judgements the finished run's rows of asks other than these."""
        tables = [scan_parquet(self.table(name))] if self.table(name).is_file() else []
        if other.has(name):
            tables.insert(0, other.finished(name).filter(pl.col("ask").is_in(asks).not_()))
        if tables:
            with reading(other.path):
                write_table(name, pl.concat(tables), self.table(name))

    def take_over(self, fresh: "Folder") -> None:
        """Replace this folder's files by those of another; ``settle`` completes that."""
        files = {**self.manifest["files"], **fresh._described()}
        write_json(fresh.path / MANIFEST, signed({**fresh.manifest, "files": files}))
        # The rename is atomic: before it the old run is intact, after it ``settle`` can finish.
        fresh.path.rename(self.path / READY)
        self.settle()

    def settle(self) -> None:
        """Move files that are ready to their places, ``run.json`` last."""
        ready = self.path / READY
        if not ready.is_dir():
            return
        (self.path / "judgements").mkdir(exist_ok=True)
        for place in (*places(), MANIFEST):
            if (ready / place).is_file():
                (ready / place).replace(self.path / place)
        shutil.rmtree(ready)
        self._forget()

    def drop(self, *, keep_folder: bool = False) -> None:
        """Delete the folder, or only the files that an unfinished run created in it."""
        if not keep_folder:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        for name in (MANIFEST, HEARTBEAT):
            (self.path / name).unlink(missing_ok=True)
        for entry in self.path.glob(f"{JOURNAL}*"):
            entry.unlink()
        self.parts.drop()

    def _described(self) -> dict[str, Any]:
        return {
            place: described(file) for place in places() if (file := self.path / place).is_file()
        }


def _differing(there: object, now: object) -> tuple[object, object]:
    """Of two lists what only one of them holds, so that no shared beginning hides it."""
    if isinstance(there, list) and isinstance(now, list):
        lost, new = ([x for x in a if x not in b] for a, b in ((there, now), (now, there)))
        return (lost, new) if lost or new else (there, now)
    return there, now


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 70 else text[:67] + "…"
