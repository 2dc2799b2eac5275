"""Folder: where a run keeps everything, block by block until it is whole.

    RUN/run.json                   manifest: settings, data, judges, timings
    RUN/journal.sqlite             every question to a model and every reply, with cost
    RUN/examples.parquet           the examples, with the block each came in
    RUN/judgements/KIND.parquet    who said what
    RUN/judgements/ledger.parquet  how each ask came out for each example
    RUN/scores.parquet             one row a metric an example
    RUN/estimates.json             the reported numbers
    RUN/rejected.jsonl             records left out with skip_bad, and why
    RUN/label_violations.jsonl     labels that break a hard rule
    RUN/label_ties.jsonl           labels on which annotators are split, left open

While a run is under way its finished blocks lie in ``RUN/parts``; a block is
there whole or not at all, so a run that was stopped goes on behind the last.

Each file is read only if it is as ``run.json``, or ``part.json`` of its block, says.
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
from .lock import OUT, locked
from .parts import Parts, write_table
from .places import MANIFEST, PARTS, READY, places
from .run_files import RunFiles
from .settings import RunSettings
from .written import described, reading, signed, write_json


class Folder(RunFiles):
    """A run's folder, to be written and read."""

    __slots__ = ()

    @property
    def parts(self) -> Parts:
        """The finished blocks, while the run is under way."""
        return Parts(self.path / PARTS)

    def locked(self) -> AbstractContextManager[None]:
        """Hold the folder against another process that would write into it.

        Raises:
            RunConflict: Another process holds it, or it is no folder of a run; nothing is made
                in it then.
        """
        return locked(self.path)

    def prepare(self, settings: RunSettings) -> Manifest | None:
        """Begin a run in the folder, or go on with the one it holds.

        Returns:
            The manifest of the run to go on with; None for a new one.

        Raises:
            RunConflict: It holds something else, or a run of other data or
                settings; says which differ.
        """
        self.settle()
        held = self.form
        if held is None:
            self.parts.make()
            return None
        theirs, ours = held.settings.to_dict(), settings.to_dict()
        differing = [name for name in ours if theirs.get(name) != ours[name]]
        if differing:
            lines = [
                f"  {name}: there {_short(theirs.get(name))}, now {_short(ours[name])}"
                for name in differing
            ]
            raise RunConflict(
                "\n".join(
                    [
                        f"{self.path} holds a run with different {', '.join(differing)}.",
                        *lines,
                        f"Name another folder with {OUT}, or delete this one.",
                    ]
                )
            )
        self.parts.drop_what_does_not_follow()
        return held

    def begin_again(self) -> None:
        """Go through a finished run once more; its journal answers what has been answered.

        Its tables and numbers stay until the new ones are there.
        """
        self.parts.drop()
        self.parts.make()

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace ``run.json``, whole or not at all; that of a finished run notes every file."""
        files = self._described() if manifest["finished"] else {}
        write_json(self.path / MANIFEST, signed({**manifest, "files": files}))
        self._forget()

    def add_other_asks(self, name: str, asks: Sequence[str], other: "Folder") -> None:
        """To a new table of judgements, what the finished run says of other asks than these."""
        tables = [scan_parquet(self.table(name))] if self.table(name).is_file() else []
        if other.has(name):
            tables.insert(0, other.finished(name).filter(pl.col("ask").is_in(asks).not_()))
        if tables:
            with reading(other.path):
                write_table(pl.concat(tables), self.table(name))

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
        self._forget()

    def drop(self, *, keep_folder: bool = False) -> None:
        """Remove the folder; or only what an unfinished run put into it."""
        if not keep_folder:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        (self.path / MANIFEST).unlink(missing_ok=True)
        for entry in self.path.glob(f"{JOURNAL}*"):
            entry.unlink()
        self.parts.drop()

    def _described(self) -> dict[str, Any]:
        return {
            place: described(file) for place in places() if (file := self.path / place).is_file()
        }


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 70 else text[:67] + "…"
