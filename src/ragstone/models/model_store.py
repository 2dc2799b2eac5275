"""Model store: downloaded models, pinned to a commit and to the hash of every file; file locks.

    CACHE/models/minilm/                    builtin:minilm, its files and its manifest
    CACHE/models/ORG--NAME@COMMIT/          the manifest of a hub model at a commit
    CACHE/models/ORG--NAME@COMMIT+onnx/     the same with the ONNX file as weights

CACHE is RAGSTONE_CACHE, or the system's cache folder. The files of a hub model are in
huggingface_hub's own cache, which other programs use too; the manifest says where. The manifest
is written last, so an interrupted download is never taken for a model.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ragstone.core.errors import ModelError
from ragstone.core.files import cache_folder, private_folder

from .tokenizer import small_file


@contextmanager
def locked(file: Path, *, note: Callable[[str], None], doing: str) -> Iterator[None]:
    """Hold an exclusive lock on ``file``; the system releases it when the process ends.

    On a file system without locks the work is done anyway: everything done under this lock is
    safe without it, only possibly done twice.
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


MANIFEST = "manifest.json"
VERSION = 1

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a model.

    Args:
        name: As a user writes it: ``builtin:minilm``, ``org/name``.
        licence: As its authors state it; empty if they do not.
        revision: As requested: a branch, a tag or a commit; empty for the builtin model.
        commit: The commit that was downloaded; empty for the builtin model.
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
        """The name that downloads these weights: ``onnx:org/name`` for an ONNX file."""
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
        fetched: Time of the download, in UTC, ISO 8601.
    """

    folder: Path
    origin: Origin
    fetched: str
    files: Mapping[str, StoredFile]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files.values())


def models_folder() -> Path:
    """Return the folder of the stored models."""
    return cache_folder() / "models"


def stored() -> list[Stored]:
    """Return every model in the store, sorted by name; models of one name, the latest download
    first.

    Folders without a readable manifest are ignored.
    """
    root = models_folder()
    folders = [folder for folder in root.iterdir() if folder.is_dir()] if root.is_dir() else []
    models = [read for model in sorted(folders) if (read := _read(model)) is not None]
    models.sort(key=lambda model: model.fetched, reverse=True)
    models.sort(key=lambda model: (model.origin.name, model.origin.weights))
    return models


def find(name: str, *, weights: str = "safetensors", revision: str = "") -> Stored | None:
    """Return the model of this name; without a revision, the latest download.

    Args:
        revision: A commit, at least its first 7 digits, or the revision that was requested when
            the model was downloaded.
    """
    for model in stored():
        origin = model.origin
        is_commit = len(revision) >= 7 and origin.commit.startswith(revision.lower())
        matches = not revision or revision == origin.revision or is_commit
        if origin.name == name and origin.weights == weights and matches:
            return model
    return None


def checked(model: Stored) -> Stored:
    """Return the model if its files exist with the right size; ``damage`` checks their hashes."""
    for path, expected in model.files.items():
        file = model.folder / path
        size = file.stat().st_size if file.is_file() else None
        if size != expected.size:
            got = "no such file" if size is None else f"{size:,}"
            raise ModelError(
                f"The stored model {model.origin.name} is damaged: {file}: "
                f"expected {expected.size:,} bytes, got {got}.\n"
                f"Download it again: ragstone models pull {model.origin.pulled_as}"
            )
    return model


def damage(model: Stored) -> list[str]:
    """Return the faults of the model's files, each of which is read and hashed; empty: none."""
    faults = []
    for path, expected in model.files.items():
        file = model.folder / path
        if not file.is_file():
            faults.append(f"{path}: expected {expected.size:,} bytes, got no such file")
        elif (actual := describe(file)) != expected:
            faults.append(
                f"{path}: expected {expected.size:,} bytes with SHA-256 {expected.sha256[:12]}…, "
                f"got {actual.size:,} with {actual.sha256[:12]}…"
            )
    return faults


def keep(name: str, origin: Origin, files: Iterable[str], folder: Path | None = None) -> Stored:
    """Add a model to the store by writing its manifest, with size and hash of each file."""
    home = models_folder() / name
    private_folder(home)
    fetched = datetime.now(UTC).isoformat(timespec="microseconds")
    described = {path: describe((folder or home) / path) for path in sorted(files)}
    at = None if folder is None else str(folder)
    manifest = _Manifest(
        version=VERSION, origin=origin, fetched=fetched, folder=at, files=described
    )
    # Renaming is atomic: a reader never sees half a manifest.
    unfinished = home / f".{MANIFEST}.{os.getpid()}"
    unfinished.write_bytes(MANIFESTS.dump_json(manifest, indent=2) + b"\n")
    unfinished.replace(home / MANIFEST)
    return Stored(folder or home, origin, fetched, described)


def describe(file: Path) -> StoredFile:
    """Return the file's size and SHA-256."""
    with file.open("rb") as content:
        digest = file_digest(content, "sha256").hexdigest()
        return StoredFile(content.tell(), digest)


@contextmanager
def writing() -> Iterator[None]:
    """Turn an ``OSError`` while writing to the store into a ``ModelError``."""
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"The model cannot be stored in {models_folder()}: {error.strerror or error}.\n"
            "Free some space there, or choose another folder: RAGSTONE_CACHE=FOLDER"
        ) from error


def _read(home: Path) -> Stored | None:
    try:
        manifest = MANIFESTS.validate_json(small_file(home / MANIFEST))
    except (OSError, ValidationError):
        return None
    folder = Path(manifest.folder or home)
    if manifest.version != VERSION or not folder.is_dir():
        return None
    return Stored(folder, manifest.origin, manifest.fetched, manifest.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manifest:
    version: int
    origin: Origin
    fetched: str
    folder: str | None = None
    files: dict[str, StoredFile]


MANIFESTS = TypeAdapter(_Manifest)
