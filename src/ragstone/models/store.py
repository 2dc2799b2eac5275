"""The store: models in the user's cache, each there whole or not at all.

    CACHE/models/minilm/                    builtin:minilm
    CACHE/models/ORG--NAME@COMMIT/          a model of the hub at one commit
    CACHE/models/ORG--NAME@COMMIT+onnx/     the same with its ONNX graph in place of its weights
    CACHE/embeddings.sqlite                 embeddings, kept across runs

CACHE is RAGSTONE_CACHE, or else where this system keeps caches. A model is put together in a
folder of its own and renamed when it is whole, so what a broken download leaves is never seen.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from ragstone.errors import ModelError
from ragstone.private import private_folder

from .small_file import small_file

MANIFEST = "manifest.json"
VERSION = 1
CHUNK = 1 << 20
PARTIAL = ".partial"

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a model comes from.

    Args:
        name: As a user writes it: ``builtin:minilm``, ``org/name``.
        source: The server or package it came from.
        licence: As its makers say; empty where they do not.
        revision: What was asked for: a branch, a tag or a commit; empty for the builtin model.
        commit: The commit it is; empty for the builtin model.
        weights: ``safetensors`` or ``onnx``.
    """

    name: str
    source: str
    licence: str
    revision: str
    commit: str
    weights: str

    @property
    def pulled_as(self) -> str:
        """By what name these weights are fetched: ``onnx:org/name`` where they are a graph."""
        return f"onnx:{self.name}" if self.weights == "onnx" else self.name


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as it was stored."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Stored:
    """A model in the store.

    Attributes:
        fetched: When, in UTC, ISO 8601.
        files: By path inside the folder.
    """

    folder: Path
    origin: Origin
    fetched: str
    files: Mapping[str, StoredFile]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files.values())


def cache_folder() -> Path:
    """Where Ragstone keeps what it can fetch or compute again: RAGSTONE_CACHE, or the system's."""
    if own := os.environ.get("RAGSTONE_CACHE"):
        return Path(own).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "ragstone"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local")).expanduser() / "ragstone"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/ragstone").expanduser()
    return Path("~/.cache/ragstone").expanduser()


def models_folder() -> Path:
    """Where the models are."""
    return cache_folder() / "models"


def stored() -> list[Stored]:
    """Every model in the store, by name; of one name, the last fetched first.

    Folders without a manifest that can be read are no models of ours and are passed over.
    """
    there = models_folder()
    folders = [one for one in there.iterdir() if one.is_dir()] if there.is_dir() else []
    found = [read for one in sorted(folders) if (read := _read(one)) is not None]
    found.sort(key=lambda one: one.fetched, reverse=True)
    found.sort(key=lambda one: (one.origin.name, one.origin.weights))
    return found


def find(name: str, *, weights: str = "safetensors", revision: str = "") -> Stored | None:
    """The model of this name; without a revision, the one fetched last.

    Args:
        revision: A commit, at least 7 digits of one, or what was asked for when it was fetched.
    """
    for one in stored():
        origin = one.origin
        wanted = not revision or revision == origin.revision or _is_commit(revision, origin.commit)
        if origin.name == name and origin.weights == weights and wanted:
            return one
    return None


def find_first(name: str, *, weights: Sequence[str], revision: str = "") -> Stored | None:
    """The model with the first of these kinds of weights that is there."""
    found = (find(name, weights=kind, revision=revision) for kind in weights)
    return next((one for one in found if one is not None), None)


def checked(model: Stored) -> Stored:
    """The model, its files there and of the right size; hashes are for ``damage``.

    Raises:
        ModelError: A file is missing or has another size.
    """
    for path, expected in model.files.items():
        file = model.folder / path
        size = file.stat().st_size if file.is_file() else None
        if size != expected.size:
            got = "no such file" if size is None else f"{size:,}"
            raise ModelError(
                f"The stored model {model.origin.name} is damaged: {file}: "
                f"expected {expected.size:,} bytes, got {got}.\n"
                f"Fetch it again: ragstone models pull {model.origin.pulled_as}"
            )
    return model


def damage(model: Stored) -> list[str]:
    """What is wrong with the model's files, each read and hashed; empty where nothing is."""
    faults = []
    for path, expected in model.files.items():
        file = model.folder / path
        if not file.is_file():
            faults.append(f"{path}: expected {expected.size:,} bytes, got no such file")
        elif (found := describe(file)) != expected:
            faults.append(
                f"{path}: expected {expected.size:,} bytes of SHA-256 {expected.sha256[:12]}…, "
                f"got {found.size:,} of {found.sha256[:12]}…"
            )
    return faults


def install(
    place: str,
    fill: Callable[[Path], tuple[str, Origin]],
    *,
    there: Callable[[], Stored | None],
    note: Note,
) -> Stored:
    """Put a model into the store, whole or not at all, once also where several processes ask.

    Args:
        place: What is being fetched, as a file name; processes wait for each other by it.
        fill: Writes the model's files into a folder and says under which name to store it, and
            where it comes from. What it leaves elsewhere beside that folder is thrown away.
        there: Looks whether the model is there, also after waiting for another process.

    Raises:
        ModelError: What ``fill`` raises, or the store cannot be written to.
    """
    models = models_folder()
    try:
        private_folder(models)
        with locked(models / f".{place}.lock", note=note, doing=f"fetching {place}"):
            if (known := there()) is not None:
                return known
            for leftover in models.glob(f".{place}.*{PARTIAL}"):
                shutil.rmtree(leftover, ignore_errors=True)
            work = Path(tempfile.mkdtemp(prefix=f".{place}.", suffix=PARTIAL, dir=models))
            try:
                ready = work / "model"
                ready.mkdir()
                name, origin = fill(ready)
                _write_manifest(ready, origin)
                _settle(ready, models / name, work / "replaced")
            finally:
                shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise ModelError(
            f"The model cannot be stored in {models}: {error.strerror or error}.\n"
            "Make room there, or name another folder: RAGSTONE_CACHE=FOLDER"
        ) from error
    model = _read(models / name)
    assert model is not None
    return model


def describe(file: Path) -> StoredFile:
    """The file's size and SHA-256."""
    digest = sha256()
    with file.open("rb") as handle:
        while chunk := handle.read(CHUNK):
            digest.update(chunk)
    return StoredFile(file.stat().st_size, digest.hexdigest())


@contextmanager
def locked(file: Path, *, note: Note, doing: str) -> Iterator[None]:
    """Hold ``file`` against other processes; it ends with the process, however that ends.

    A file system that has no locks is gone on with: what is done under one is safe without,
    only done twice.
    """
    with file.open("a+b") as handle:
        waiting = False
        while not _try_lock(handle.fileno()):
            if not waiting:
                note(f"Another process is {doing}; waiting for it.")
                waiting = True
            time.sleep(0.1)
        yield


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True


def _is_commit(revision: str, commit: str) -> bool:
    return len(revision) >= 7 and commit.startswith(revision.lower())


def _read(folder: Path) -> Stored | None:
    """The model of this folder, None where its manifest is missing or not ours."""
    try:
        kept = json.loads(small_file(folder / MANIFEST))
        if kept["version"] != VERSION:
            return None
        files = {path: StoredFile(**facts) for path, facts in kept["files"].items()}
        return Stored(folder, Origin(**kept["origin"]), kept["fetched"], files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _write_manifest(folder: Path, origin: Origin) -> None:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    manifest = {
        "version": VERSION,
        "origin": asdict(origin),
        "fetched": datetime.now(UTC).isoformat(timespec="microseconds"),
        "files": {file.relative_to(folder).as_posix(): asdict(describe(file)) for file in files},
    }
    text = json.dumps(manifest, indent=2) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def _settle(ready: Path, target: Path, replaced: Path) -> None:
    """Everything on disk first, then the name."""
    for path in (*ready.rglob("*"), ready):
        _flush(path)
    if target.exists():
        target.rename(replaced)
    ready.rename(target)
    _flush(target.parent)


def _flush(path: Path) -> None:
    if path.is_dir() and sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
