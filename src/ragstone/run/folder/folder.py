"""Run folder: the files of a run, written shard by shard and read whole or for some examples.

docs/run-folder.md lists the files and what is in them.

The tables of an unfinished run are in ``RUN/parts``, and take their places at its end. A shard
is written completely or not at all, so an interrupted run resumes with the missing shards. A
file is read only if it matches its entry in ``run.json`` or in the ledger.

To read a few examples, only their shards are opened, after their tables were verified in full.
Examples lie in small groups, because their texts are long.
"""

import json
import os
import shutil
import stat
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from ragstone.core.errors import InputError, RunConflict
from ragstone.core.files import RunEntry, private_folder
from ragstone.core.messages import argument
from ragstone.judgements import ASKS, KINDS
from ragstone.run.calls.journal_reader import Entry, entries
from ragstone.run.settings import RunSettings

from .checksums import UNFINISHED, collect, described, signed, write_json
from .run_files import RunFiles
from .schemas import FOR_ESTIMATES, Estimate, Manifest, ShardForm, place, tables
from .shards import CHOSEN, Shards, write_ledger

OUT = argument("out", "FOLDER")
# Tries to lock, and seconds between them, for ``is_held`` has the lock for a moment.
TRIES, PAUSE = 5, 0.02


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder against other processes; nothing is created in one that is no run's."""
    if folder.exists() and not folder.is_dir():
        raise RunConflict(f"{folder} is a file. Name a folder with {OUT}.")
    try:
        private_folder(folder)
    except (FileExistsError, NotADirectoryError) as error:
        raise RunConflict(f"{folder} is inside a file. Name a folder with {OUT}.") from error
    is_run = (folder / RunEntry.MANIFEST).exists() or (folder / RunEntry.READY).exists()
    if not is_run and not all(map(_before_a_run, folder.iterdir())):
        raise RunConflict(
            f"{folder} is not empty and holds no run. Name another folder with {OUT}."
        )
    descriptor = _opened(folder / RunEntry.LOCK)
    try:
        if not _lock(descriptor):
            raise RunConflict(
                f"Another run is writing into {folder}. Wait for it, or name another "
                f"folder with {OUT}."
            )
        yield
    finally:
        os.close(descriptor)


def is_held(folder: Path) -> bool | None:
    """Return whether a process writes to the folder; None where that cannot be told.

    Such as on a system without such locks, or of the run of another user.
    """
    try:
        import fcntl
    except ImportError:
        return None
    try:
        descriptor = os.open(folder / RunEntry.LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return False


def _before_a_run(entry: Path) -> bool:
    """Return whether an interrupted or damaged run may have left this entry.

    Or of a damaged one, of which what cannot be made anew was left.
    """
    if entry.name == RunEntry.PARTS:
        return entry.is_dir() and not entry.is_symlink() and not any(entry.iterdir())
    irreplaceable = entry.name.startswith(
        (RunEntry.JOURNAL, RunEntry.CORRECTIONS, RunEntry.BATCHES)
    )
    return irreplaceable or entry.name in (RunEntry.LOCK, RunEntry.MANIFEST + UNFINISHED)


def _opened(lock: Path) -> int:
    """Open the lock file without truncating it or following a symbolic link."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(lock, flags, 0o600)
    except OSError as error:
        if not lock.is_symlink() and not lock.is_dir():
            raise
        raise RunConflict(f"{lock} is a link or a folder, not a plain file: {_NOT_OURS}") from error
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise RunConflict(f"{lock} is not a plain file: {_NOT_OURS}")


_NOT_OURS = f"no run made it. Delete it, or name another folder with {OUT}."


def _lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    for tries_left in reversed(range(TRIES)):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if tries_left:
                time.sleep(PAUSE)
        else:
            return True
    return False


class Folder(RunFiles):
    """A run's folder, for writing and reading."""

    @property
    def parts(self) -> Shards:
        """The tables of an unfinished run."""
        return Shards(self.path / RunEntry.PARTS)

    @property
    def shown_as(self) -> str:
        """The path or URL in messages."""
        return str(self.path)

    def locked(self) -> AbstractContextManager[None]:
        """Lock the folder against other processes that would write to it."""
        return locked(self.path)

    def prepare(self, settings: RunSettings) -> Manifest | None:
        """Start a run in the folder, or resume the one it holds.

        Returns:
            The manifest of the run to resume; None for a new one.
        """
        self.settle()
        held = self.form
        if held is None:
            self.parts.path.mkdir(parents=True, exist_ok=True)
            return None
        held_settings, asked_for = held.settings.to_dict(), settings.to_dict()
        differing = {
            name: _differing(held_settings.get(name), asked_for[name])
            for name in asked_for
            if held_settings.get(name) != asked_for[name]
        }
        if differing:
            lines = [f"{self.shown_as} holds a run with different {', '.join(differing)}."]
            for name, (before, now) in differing.items():
                lines.append(f"  {name}: there {_short(before)}, now {_short(now)}")
            lines.append(f"Name another folder with {OUT}, or delete this one.")
            raise RunConflict("\n".join(lines), differing=differing)
        return held

    def check_there(self) -> None:
        """Look whether the folder is still the one that was locked."""
        if not (self.path / RunEntry.LOCK).is_file():
            raise InputError(
                f"{self.shown_as} was deleted while its run went on. Run the same command again."
            )

    def begin_again(self) -> None:
        """Prepare to judge from the beginning; questions answered before come from the journal.

        The tables and numbers of a finished run stay until the new ones are complete.
        """
        self.drop_parts()
        self.parts.path.mkdir(parents=True)

    def kept(self, form: ShardForm) -> None:
        """Called with each shard of an unfinished run as soon as it is done."""

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace ``run.json`` of a run that goes on."""
        write_json(self.path / RunEntry.MANIFEST, signed(manifest))
        self._forget()

    def finish(
        self, shards: Shards, manifest: Mapping[str, Any], estimates: Sequence[Estimate]
    ) -> None:
        """Put tables, estimates and ``run.json`` of a finished run in the place of what is there.

        Args:
            shards: The tables, in a folder of their own; what ``CHOSEN`` in it holds replaces
                them. The ledger may list others beside them, which lie in their places.
        """
        chosen = shards.path / CHOSEN
        source = Shards(chosen) if chosen.is_dir() else shards
        chosen.mkdir(exist_ok=True)
        heights = Counter[str]()

        def counted() -> Iterator[ShardForm]:
            for form in source.ledger:
                for name, noted in form.files.items():
                    heights[name] += noted.rows or 0
                yield form.model_copy(update={"piece": None, "alike": []})

        # Beside it, for the ledger may be read again, should the run be stopped now.
        following = chosen / f"{RunEntry.SHARDS}{UNFINISHED}"
        write_ledger(following, counted())
        following.replace(chosen / RunEntry.SHARDS)
        write_json(chosen / RunEntry.ESTIMATES, [estimate.to_dict() for estimate in estimates])
        files = {}
        for name in (RunEntry.ESTIMATES, RunEntry.SHARDS):
            files[name] = described(chosen / name).model_dump(exclude_none=True)
        whole = {**manifest, "tables": dict(sorted(heights.items())), "files": files}
        write_json(chosen / RunEntry.MANIFEST, signed(whole))
        # The rename is atomic: before it the old run is intact, after it ``settle`` can finish.
        shards.path.rename(self.path / RunEntry.READY)
        self.settle()

    def settle(self) -> None:
        """Move what is ready to its place, ``run.json`` last."""
        ready = self.path / RunEntry.READY
        if not ready.is_dir():
            return
        _take(ready / CHOSEN, ready)
        _take(ready, self.path)
        shutil.rmtree(ready)
        self._forget()

    def calls(self, ledger: pl.DataFrame) -> list[Entry]:
        """Return the model calls behind these lines of the ledger."""
        keys = ledger["requests"].explode().drop_nulls().unique(maintain_order=True)
        journal = self.path / RunEntry.JOURNAL
        return entries(journal, keys.to_list()) if len(keys) and journal.is_file() else []

    def drop_parts(self) -> None:
        """Delete the tables of an unfinished run."""
        shutil.rmtree(self.path / RunEntry.PARTS, ignore_errors=True)

    def drop(self, *, keep_folder: bool = False) -> None:
        """Delete the folder, or only the files that an unfinished run created in it."""
        if not keep_folder:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        for name in (RunEntry.MANIFEST, RunEntry.HEARTBEAT):
            (self.path / name).unlink(missing_ok=True)
        for name in (RunEntry.JOURNAL, RunEntry.BATCHES):
            for entry in self.path.glob(f"{name}*"):
                entry.unlink()
        shutil.rmtree(self.path / RunEntry.BATCH_FILES, ignore_errors=True)
        self.drop_parts()


def _take(new: Path, old: Path) -> None:
    files = (RunEntry.ESTIMATES, RunEntry.SHARDS, RunEntry.MANIFEST)
    for name in (*map(place, (*tables(), *FOR_ESTIMATES)), *files):
        if (new / name).is_dir():
            shutil.rmtree(old / name, ignore_errors=True)
        if (new / name).exists():
            (old / name).parent.mkdir(exist_ok=True)
            (new / name).replace(old / name)


def _differing(before: object, now: object) -> tuple[object, object]:
    """Return what only one of two lists holds, so that no shared beginning hides it."""
    if isinstance(before, list) and isinstance(now, list):
        lost, new = ([x for x in a if x not in b] for a, b in ((before, now), (now, before)))
        return (lost, new) if lost or new else (before, now)
    return before, now


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 70 else text[:67] + "…"


def of_examples(ledger: pl.LazyFrame, rows: pl.LazyFrame, kind: str) -> pl.LazyFrame:
    """The rows of a kind, each once for every example that the ledger says it is about.

    With the ``ask`` that they answer, and its ``status``.
    """
    counted = ledger.filter(pl.col("status").is_in(["ok", "vote"])).select(
        "shard", "example_id", "ask", "judge", "subject", "status"
    )
    keys = ["shard", "ask", "judge", "subject"]
    joined = counted.join(rows, on=keys, maintain_order="left_right")
    return joined.select("example_id", "ask", "status", *KINDS[kind].schema())


def of_no_example(kind: str) -> pl.DataFrame:
    """The same of a kind that the run has not judged."""
    texts = dict.fromkeys(("example_id", "ask", "status"), pl.String())
    return pl.DataFrame(schema={**texts, **KINDS[kind].schema()})


def judges_with_rows(folder: Path, ask: str) -> frozenset[str]:
    """The judges of a finished run that have a row of an ask."""
    table = Folder(folder).shards.scan(ASKS[ask].kind)
    rows = collect(table.filter(pl.col("ask") == ask).select(pl.col("judge").unique()), folder)
    return frozenset(rows["judge"].drop_nulls().to_list())
