"""Remote folder: the folder of a run at a URL, with a copy on this machine in which it is made.

    URL/run.json                  written last: what is at the URL is a finished run, or none
    URL/examples/, scores/, …     as in a folder on the disk
    URL/unfinished/run.json       the settings of a run that goes on
    URL/unfinished/000000.json    the checksums of a shard's files, written after these
    URL/.lock                     whose machine writes, or has a run to finish here

    CACHE/runs/HASH/NAME/         the copy; HASH is that of the URL
    CACHE/runs/HASH/url           the URL
    CACHE/runs/HASH/known.json    the manifest at the URL that the copy goes with
    CACHE/runs/HASH/owner         how the lock names this machine

An unfinished run goes on only on the machine where it began, which holds the lock until then.
Of finished runs the URL is authoritative: a copy that goes with another manifest is made anew.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from ragstone.core.errors import (
    InputError,
    NothingThere,
    RagstoneError,
    RunConflict,
    StorageAway,
    room_for,
)
from ragstone.core.files import RunEntry, cache_folder, private_folder
from ragstone.core.messages import argument, call
from ragstone.core.remote_files import Remote, shown_url
from ragstone.core.sqlite import copy_database

from .checksums import UNFINISHED
from .folder import Folder
from .schemas import Estimate, ShardForm, place
from .shards import Shards

# The folder at the URL with what tells how far a run is.
OPEN = "unfinished"

URL, KNOWN, OWNER = "url", "known.json", "owner"
NOT_KEPT = (RunEntry.LOCK, RunEntry.HEARTBEAT, RunEntry.PARTS, RunEntry.READY)


class RemoteFolder(Folder):
    """The folder of a run at a URL; ``path`` is its copy on this machine."""

    def __init__(self, path: Path, remote: Remote) -> None:
        super().__init__(path)
        self.remote = remote

    @property
    def shown_as(self) -> str:
        """The URL, as messages name it."""
        return self.remote.name

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder on this machine and at the URL, and bring the copy up to date."""
        _make_place(self.path, self.remote)
        with Folder.locked(self):
            held_before = self._lock_url()
            try:
                self._fetch(goes_on=held_before)
                yield
            finally:
                with suppress(RagstoneError):
                    if not any(name.startswith(f"{OPEN}/") for name in self._names()):
                        self.remote.remove([RunEntry.LOCK])

    def kept(self, form: ShardForm) -> None:
        """Write the files of a shard to the URL, and then its line of the ledger."""
        if self.form is None or self.form.finished:
            return  # A finished run is replaced at its end, as a whole.
        self._give(form)

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace ``run.json`` of a run that goes on, here and at the URL."""
        Folder.write_manifest(self, manifest)
        self.remote.put(f"{OPEN}/{RunEntry.MANIFEST}", self.path / RunEntry.MANIFEST)

    def finish(
        self, shards: Shards, manifest: Mapping[str, Any], estimates: Sequence[Estimate]
    ) -> None:
        """Put everything in its place, here and then at the URL, ``run.json`` last."""
        Folder.finish(self, shards, manifest, estimates)
        self._publish()

    def drop(self, *, keep_folder: bool = False) -> None:  # noqa: ARG002
        """Delete what an unfinished run created, here and at the URL."""
        names = self._names()
        if RunEntry.MANIFEST not in names:
            self.remote.remove([name for name in names if _is_ours(name)])
        _empty(self.path)

    def _lock_url(self) -> bool:
        """Lock the folder at the URL; return whether this machine had locked it before."""
        # The same after a kill, for the lock on this machine tells whether that run goes on.
        file = self.path.parent / OWNER
        if not file.is_file():
            file.write_text(uuid4().hex)
        owner = file.read_bytes()
        if self.remote.create(RunEntry.LOCK, owner):
            return False
        if self.remote.read(RunEntry.LOCK) != owner:
            url = self.remote.name
            raise RunConflict(
                f"Another machine is writing a run into {url}, or was stopped while it did. Wait "
                "for it, run the same command again there, or name another folder with "
                f"{argument('out', 'FOLDER')}. If that machine is gone, delete {url}/.lock; the "
                "run then begins again here."
            )
        return True

    def _names(self) -> set[str]:
        try:
            return {self.remote.below(file) for file in self.remote.files()}
        except NothingThere:
            return set()

    def _fetch(self, *, goes_on: bool) -> None:
        """Bring the copy up to date with the URL, and the URL with what the copy has more."""
        names = self._names()
        if RunEntry.MANIFEST in names:
            _mirror(self.path, self.remote)
            Folder.settle(self)
            if (self.path / RunEntry.MANIFEST).read_bytes() != self.remote.read(RunEntry.MANIFEST):
                self._publish()  # It was made anew here, and could not be written there.
        elif f"{OPEN}/{RunEntry.MANIFEST}" in names and goes_on:
            Folder.settle(self)
            self._forget()
            if self.form is not None and self.form.finished:
                self._publish()  # It was killed while it did.
            else:
                self.parts.leave_out_damaged()
                for form in self.parts.ledger:
                    if _line(form.shard) not in names:
                        self._give(form)
        elif names - {RunEntry.LOCK} and f"{OPEN}/{RunEntry.MANIFEST}" not in names:
            raise RunConflict(
                f"{self.remote.name} is not empty and holds no run. Name another folder with "
                f"{argument('out', 'FOLDER')}."
            )
        else:
            _empty(self.path)
        self._forget()

    def _give(self, form: ShardForm) -> None:
        """Write the files of a shard to the URL, its line last."""
        for name in form.files:
            self.remote.put(_table(name, form.shard), self.parts.file(name, form.shard))
        self.remote.put(_line(form.shard), json.dumps(_checksums(form)).encode())

    def _put(self, name: str) -> None:
        """Write a file to the URL; of a database, a copy of one moment."""
        file = self.path / name
        if file.suffix != ".sqlite":
            self.remote.put(name, file)
            return
        with TemporaryDirectory(dir=self.path.parent) as folder, room_for(folder):
            copy = Path(folder) / name
            copy_database(file, copy)
            self.remote.put(name, copy)

    def _publish(self) -> None:
        names = self._names()
        if RunEntry.MANIFEST in names:
            self.remote.put(f"{OPEN}/{RunEntry.MANIFEST}", self.remote.read(RunEntry.MANIFEST))
            self.remote.remove([RunEntry.MANIFEST])
        mine = [name for name in _files_of(self.path) if name != RunEntry.MANIFEST]
        present = set[str]()
        for form in Shards(self.path).ledger:
            if (line := _line(form.shard)) in names:
                put_before = json.loads(self.remote.read(line)).items()
                same = _checksums(form).items() & put_before
                present |= {_table(name, form.shard) for name, _ in same}
        for name in mine:
            if name not in present:
                self._put(name)
        open_ = {name for name in names if name.startswith(f"{OPEN}/")}
        self.remote.remove(name for name in sorted(names - {*mine, *open_}) if _is_ours(name))
        self.remote.put(RunEntry.MANIFEST, self.path / RunEntry.MANIFEST)
        (self.path.parent / KNOWN).write_bytes((self.path / RunEntry.MANIFEST).read_bytes())
        self.remote.remove(sorted({*open_, f"{OPEN}/{RunEntry.MANIFEST}"}))
        with suppress(StorageAway):
            self.remote.remove_folder(OPEN)


def remote_folder(url: str) -> RemoteFolder:
    """The folder of a run at a URL; nothing is read yet."""
    remote = Remote(url.rstrip("/"))
    parts = url.rstrip("/").partition("://")[2].split("/")
    if not parts[-1] or "?" in url or not {".", ".."}.isdisjoint(parts):
        raise InputError(f"{remote.name} names no folder, such as s3://bucket/runs/NAME.")
    name = blake2b(remote.url.encode(), digest_size=16).hexdigest()
    return RemoteFolder(cache_folder() / "runs" / name / (remote.file_name or "run"), remote)


def mirrored(url: str) -> Path:
    """The copy of a finished run at a URL, brought up to date."""
    folder = remote_folder(url)
    remote, path = folder.remote, folder.path
    if remote.at(RunEntry.MANIFEST) is None:
        if remote.at(f"{OPEN}/{RunEntry.MANIFEST}") is not None:
            raise InputError(
                f"{remote.name} is not finished. To resume it, run the same evaluate command again "
                "on the machine where it began."
            )
        command = call("evaluate", argument("data", "DATA"), argument("out", remote.name))
        raise InputError(f"There is no run at {remote.name}: `{command}` makes one.")
    _make_place(path, remote)
    if not _goes_with(path, remote.read(RunEntry.MANIFEST)):
        with Folder(path).locked():
            _mirror(path, remote)
    return path


def url_of(path: Path) -> str | None:
    """The URL of which this folder is the copy; None if it is a run's own."""
    with suppress(OSError):
        if path.parent.parent == cache_folder() / "runs":
            return (path.parent / URL).read_text(encoding="utf-8")
    return None


def named(path: Path | None) -> str:
    """A run folder as a user names it: by its URL, if it is the copy of one."""
    return (path and url_of(path)) or str(path)


def refuse_copy(path: Path) -> None:
    """Refuse to change the copy of a run."""
    if (url := url_of(path)) is not None:
        raise InputError(
            f"{url} is read from a copy, and what is changed in that is lost. Copy the run to a "
            "folder on the disk, and change it there."
        )


def _make_place(path: Path, remote: Remote) -> None:
    private_folder(path)
    (path.parent / URL).write_text(shown_url(remote.url), encoding="utf-8")


def _goes_with(path: Path, content: bytes) -> bool:
    known = path.parent / KNOWN
    copied = (path / RunEntry.MANIFEST).is_file() and known.is_file()
    return copied and known.read_bytes() == content


def _mirror(path: Path, remote: Remote) -> None:
    """Copy a finished run, unless the copy goes with it; its files are verified when read."""
    content = remote.read(RunEntry.MANIFEST)
    if _goes_with(path, content):
        return
    _empty(path)
    # First, or what is cut off is the folder of no run.
    (path / RunEntry.MANIFEST).write_bytes(content)
    for file in remote.files():
        name = remote.below(file)
        if name in (RunEntry.LOCK, RunEntry.MANIFEST) or name.startswith(f"{OPEN}/"):
            continue
        into = path / name
        if not into.resolve().is_relative_to(path.resolve()):
            raise InputError(f"{remote.name} has a file {name} that lies outside of it.")
        into.parent.mkdir(parents=True, exist_ok=True)
        remote.fetch(file, into)
    (path.parent / KNOWN).write_bytes(content)


def _empty(path: Path) -> None:
    """Delete all in the copy but its lock."""
    (path.parent / KNOWN).unlink(missing_ok=True)
    entries = list(path.iterdir()) if path.is_dir() else []
    for entry in sorted(entries, key=lambda path_of: path_of.name == RunEntry.MANIFEST):
        if entry.name == RunEntry.LOCK:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _files_of(path: Path) -> list[str]:
    names = []
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        beside = name.endswith(("-wal", "-shm", UNFINISHED)) or name.split("/")[0] in NOT_KEPT
        if file.is_file() and not beside:
            names.append(name)
    return names


def _is_ours(name: str) -> bool:
    """Return whether a file at the URL belongs to a run, other than its lock and ``run.json``."""
    top = name.partition("/")[0]
    return top == OPEN or (top in {*RunEntry} and name not in (RunEntry.LOCK, RunEntry.MANIFEST))


def _table(name: str, shard: int) -> str:
    return f"{place(name)}/{shard:06d}.parquet"


def _checksums(form: ShardForm) -> dict[str, str]:
    return {name: noted.checksum for name, noted in form.files.items()}


def _line(shard: int) -> str:
    return f"{OPEN}/{shard:06d}.json"
